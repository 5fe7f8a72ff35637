"""What is wrong with catalogs, in words: findings in constraints and channels, and what cannot be read at all.

A part of `operator_words.py`. What is said of broken channels are the Operator Lifecycle Manager's words.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code
from muster.reasons.requirement_words import REQUIREMENT_WORDS
from muster.reasons.templates import about, always, filled, names, worded
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason

CHANNEL: Final = "channel {subject.channel} of package {subject.package}"


def _said(reason: Reason) -> str:
    """A part of a sentence."""
    return worded(reason, REQUIREMENT_WORDS, CATALOG_WORDS)


def _range(text: str) -> Callable[[Reason], str]:
    return lambda reason: f"the range {reason.parameters['range']!r} {text.format(**reason.parameters)}"


def _several_kinds(reason: Reason) -> str:
    kinds = names(reason, "kinds")
    return f"several kinds in one constraint ({', '.join(kinds)}): only {kinds[0]} counts"


def _empty_list(reason: Reason) -> str:
    kind = reason.parameters["kind"]
    return f"{kind} without constraints {'matches nothing' if kind == 'any' else 'matches every bundle'}"


def _nothing_meets(reason: Reason) -> str:
    asked, *near = reason.parts
    return f"nothing here is an operator {_said(asked)}" + (f" ({_said(near[0])})" if near else "")


def _contradict(reason: Reason) -> str:
    return f"it needs {reason.subject.package} in {' and '.join(names(reason, 'ranges'))}, which no version is"


def _in_channel(reason: Reason) -> str:
    return f"in channel {go_quote(reason.subject.channel)} of package {go_quote(reason.subject.package)}"


def _without_head(reason: Reason) -> str:
    return f"no channel heads (entries not replaced by another entry) found {_in_channel(reason)}"


def _several_heads(reason: Reason) -> str:
    chains = names(reason, "chains")
    return (
        "a unique replacement chain within a channel is required to determine the relative order between channel"
        f" entries, but {len(chains)} replacement chains were found {_in_channel(reason)}: {', '.join(chains)}"
    )


def _cycle(reason: Reason) -> str:
    head = go_quote(reason.subject.bundle)
    return f"a cycle exists in the chain of replacement beginning with {head} {_in_channel(reason)}"


def _twice_listed(reason: Reason) -> str:
    return about("channel {subject.channel} of package {subject.package} lists ")(reason) + (
        f"{', '.join(names(reason, 'entries'))} more than once"
    )


def _ambiguous(reason: Reason) -> str:
    text = "multiple name matches for status.installedCSV of subscription {namespace}/{want}: "
    return text.format(**reason.parameters) + ", ".join(names(reason, "bundles"))


CATALOG_WORDS: Final[Mapping[str, Callable[[Reason], str]]] = {
    Code.CONSTRAINT_INVALID: filled("{message}"),
    Code.CONSTRAINT_MEANINGLESS: filled("properties of type {property} mean nothing"),
    Code.CONSTRAINT_LARGE: filled("{bytes} bytes; {documented} are documented as the most, {most} are taken"),
    Code.CONSTRAINT_DEEP: filled("nested more than {documented} levels deep, the documented limit"),
    Code.FIELD_SPELLING: filled("write {field}, not {written}"),
    Code.SEVERAL_KINDS: _several_kinds,
    Code.EMPTY_LIST: _empty_list,
    Code.RANGE_HYPHEN: _range("is no hyphen range: write >=a <=b"),
    Code.RANGE_EMPTY: _range("matches nothing: an excluded wildcard is not what it looks like"),
    Code.RANGE_HAS_PRERELEASES: _range("contains pre-releases of {version}, such as {version}-rc.1"),
    Code.TOP_LEVEL_NOT: always(
        "a top-level not is met by almost every bundle, mostly by this one itself, and so says nothing"
    ),
    Code.MEETS_ITSELF: lambda reason: f"it meets its own requirement of an operator {_said(reason.parts[0])}",
    Code.NOTHING_MEETS: _nothing_meets,
    Code.RANGES_CONTRADICT: _contradict,
    Code.CHANNEL_UNORDERED: lambda reason: (
        f"channel {reason.subject.channel} of {reason.subject.package} has no single order: {_said(reason.parts[0])}"
    ),
    Code.CHANNEL_WITHOUT_HEAD: _without_head,
    Code.CHANNEL_WITH_SEVERAL_HEADS: _several_heads,
    Code.CHANNEL_CYCLE: _cycle,
    Code.CHANNEL_TWICE: about(f"{CHANNEL} is there twice, with different entries"),
    Code.ENTRIES_UNREADABLE: about(f"{CHANNEL}: unreadable entries: {{message}}"),
    Code.ENTRIES_TWICE: _twice_listed,
    Code.ENTRY_WITHOUT_BUNDLE: about(f"{CHANNEL} lists {{subject.bundle}}, which no bundle is"),
    Code.BUNDLE_WITHOUT_CHANNEL: about("bundle {subject.bundle} is in no channel of package {subject.package}"),
    Code.BUNDLE_TWICE: about(
        "bundle {subject.bundle} of package {subject.package} is there twice, with different contents"
    ),
    Code.BUNDLE_UNUSABLE: about("{subject.bundle}: {message}"),
    Code.BUNDLE_DIRECTORY_INVALID: filled("{message}"),
    Code.VALUE_TOO_DEEP: about(
        "bundle {subject.bundle} of package {subject.package}: the value of {property} nests deeper than {most} levels"
    ),
    Code.PACKAGE_TWICE: about("package {subject.package} is there twice, with default channels {first} and {second}"),
    Code.DEPRECATIONS_UNREADABLE: about("unreadable deprecations of package {subject.package}: {message}"),
    Code.BLOB_UNREADABLE: filled("unreadable blob: {message}"),
    Code.BLOB_NOT_JSON: filled("not a blob of JSON values: {message}"),
    Code.BLOB_TOO_LARGE: filled("a blob of more than {most} bytes"),
    Code.BLOB_WITHOUT_SCHEMA: always("a blob without a schema"),
    Code.DOCUMENT_TOO_LARGE: filled("a document of more than {most} bytes"),
    Code.JSON_INVALID: filled("not valid JSON: {message} (the blob begins in line {line})"),
    Code.YAML_INVALID: filled("not valid YAML: {message}"),
    Code.FILE_UNREADABLE: filled("{message}"),
    Code.GZIP_BROKEN: filled("not a whole gzip file: {message}"),
    Code.GZIP_INVALID: filled("not a gzip file: {message}"),
    Code.UNPACKED_TOO_LARGE: filled("more than {most} bytes when it is unpacked"),
    Code.FILE_NAME_UNKNOWN: always(
        "the name of a value says what it is: .json, .ndjson, .yaml or .yml, or one of them in .gz"
    ),
    Code.CATALOG_UNAVAILABLE: filled("{message}"),
    Code.INSTALLED_UNREADABLE: filled("{message}"),
    Code.INSTALLED_AMBIGUOUS: _ambiguous,
}
