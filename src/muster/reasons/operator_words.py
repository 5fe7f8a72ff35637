"""Reasons about operators in words: who asks for one, plans, conflicts, fixes and outcomes.

A part of `words.py`, which says every code; `requirement_words.py` and `catalog_words.py` are parts of this one. Some
of these sentences are the Operator Lifecycle Manager's, which people search the web for. What a resolution says in that
program's own words is in `resolution/telling/upstream_words.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.catalog_words import CATALOG_WORDS, CHANNEL
from muster.reasons.codes import Code
from muster.reasons.requirement_words import API, REQUIREMENT_WORDS, messages, versions
from muster.reasons.templates import about, always, filled, names, worded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason

_REFERENCED: Final = "in the catalog referenced by subscription {want}"


def _said(reason: Reason) -> str:
    """A part of a sentence."""
    return worded(reason, OPERATOR_WORDS)


def _asking(template: str) -> Callable[[Reason], str]:
    """A sentence of the bundle that asks, and `{asked}`, what it asks of another one."""
    return lambda reason: template.format(
        asked=_said(reason.parts[0]), subject=reason.subject, messages=messages(reason)
    )


def _blocked(reason: Reason) -> str:
    asked, blocked, *others = reason.parts
    more = ", and so on" if others else ""
    return f"it needs an operator {_said(asked)}, but {_said(blocked)}{more}{messages(reason)}"


def _no_direct_update(reason: Reason) -> str:
    subject = reason.subject
    why = "there is no direct update"
    if subject.channel:
        why = f"channel {subject.channel} of {subject.package} has no direct update of it"
    return f"{subject.package} stays at {subject.bundle}: {why}"


def _other_channel(reason: Reason) -> str:
    text = "{subject.package} comes from channel {subject.channel}, not from its default channel {default}"
    broken = ", which is broken" if reason.parameters.get("broken") else ""
    return text.format(subject=reason.subject, **reason.parameters) + broken


def _deprecation(reason: Reason) -> str:
    subject = reason.subject
    what = f"package {subject.package}"
    if subject.bundle:
        what = subject.bundle
    elif subject.channel:
        what = f"channel {subject.channel} of {subject.package}"
    return f"{what} is deprecated: {reason.parameters['message']}"


def _who(reason: Reason) -> str:
    """The versions of a package that a fact is about."""
    if reason.parameters.get("every"):
        return f"every version of {reason.subject.package}"
    return f"{reason.subject.package} {versions(reason)}".rstrip()


def _of_versions(text: str) -> Callable[[Reason], str]:
    return lambda reason: f"{_who(reason)} {text}"


def _want_possible(reason: Reason) -> str:
    installed, found = reason.subject.bundle, versions(reason)
    scope = f"which can be {found}"
    if installed:
        scope = f"which is {installed} now" + (f" and can be updated to {found}" if found else "")
    return f"you want {reason.parameters['want']} ({scope})"


def _want_impossible(reason: Reason) -> str:
    return f"you want {reason.parameters['want']}, but {_said(reason.parts[0])}"


def _versions_need(reason: Reason) -> str:
    asked, *offers = reason.parts
    offered = ""
    if offers:
        more = reason.parameters.get("more", 0)
        rest = f" or one of {more} more packages" if more else ""
        offered = f", which is {' or '.join(map(_who, offers))}{rest}"
    return f"{_needing(reason)} an operator {_said(asked)}{offered}"


def _versions_need_unmet(reason: Reason) -> str:
    return f"{_needing(reason)} an operator {_said(reason.parts[0])}, and there is none"


def _needing(reason: Reason) -> str:
    single = reason.parameters.get("single") or reason.parameters.get("every")
    return f"{_who(reason)} {'needs' if single else 'need'}"


def _versions_need_more(reason: Reason) -> str:
    return f"{_who(reason)} need {reason.parameters['of']} in {reason.parameters['more']} more ranges"


def _no_version_in_range(reason: Reason) -> str:
    channel = f" in channel {reason.subject.channel}" if reason.subject.channel else ""
    return f"no version of package {reason.subject.package}{channel} is within {reason.parameters['range']}"


def _drop(reason: Reason) -> str:
    *first, last = names(reason, "wants")
    return f"drop {', '.join(first)} and {last}" if first else f"drop {last}"


def _refused(reason: Reason) -> str:
    """Several faults are one error, written as Kubernetes writes an aggregate."""
    faults = names(reason, "faults")
    return faults[0] if len(faults) == 1 else f"[{', '.join(faults)}]"


def _entry(reason: Reason) -> str:
    catalog, subject = reason.parameters.get("catalog"), reason.subject
    return f"{subject.bundle} ({catalog}, {subject.channel})" if catalog else f"{subject.bundle} (installed)"


def _cannot_be(reason: Reason) -> str:
    lead = "preferred, but it cannot be" if reason.parameters.get("preferred") else "it cannot be"
    return f"{_entry(reason)}: {lead}:"


OPERATOR_WORDS: Final[Mapping[str, Callable[[Reason], str]]] = {
    **REQUIREMENT_WORDS,
    **CATALOG_WORDS,
    Code.WANTED: filled("you want {want}"),
    Code.INSTALLED_UNOWNED: always("it is installed and no want owns it"),
    Code.OPERATOR_NEEDED: _asking("{subject.bundle} needs an operator {asked}"),
    Code.OPERATOR_WISHED: _asking("{subject.bundle} would like an operator {asked}"),
    Code.BUNDLE_DEPRECATED: always("it is deprecated"),
    Code.BUNDLE_UNREADABLE: filled("it cannot be read: {pointer}: {message}"),
    Code.PACKAGE_NOT_ALLOWED: about("package {subject.package} is not among those allowed"),
    Code.NEED_UNMET: _asking("it needs an operator {asked}, and there is none{messages}"),
    Code.NEED_BLOCKED: _blocked,
    Code.PACKAGE_TAKEN: about("{by} of package {subject.package} is chosen already"),
    Code.API_TAKEN: filled(f"{{by}} provides {API} already"),
    Code.NEEDS_CONFLICT: always("what it needs does not go together with the rest"),
    Code.NO_UPDATE_FITS: about("{subject.package} stays at {subject.bundle}: no update of it fits"),
    Code.NO_DIRECT_UPDATE: _no_direct_update,
    Code.FALLS_BACK: about("{subject.package} falls back from {preferred} to {subject.bundle}"),
    Code.OTHER_CHANNEL: _other_channel,
    Code.WISH_UNMET: _asking("{subject.bundle} would like an operator {asked}: nothing provides it"),
    Code.WISH_DOES_NOT_FIT: _asking(
        "{subject.bundle} would like an operator {asked}: nothing that provides it fits the rest"
    ),
    Code.DEPRECATION_NOTED: _deprecation,
    Code.WANT_POSSIBLE: _want_possible,
    Code.WANT_IMPOSSIBLE: _want_impossible,
    Code.VERSIONS_NEED: _versions_need,
    Code.VERSIONS_NEED_UNMET: _versions_need_unmet,
    Code.VERSIONS_NEED_MORE: _versions_need_more,
    Code.OFFERED: _who,
    Code.ONE_VERSION_ONLY: about("only one version of {subject.package} can be installed"),
    Code.ONE_PROVIDER_ONLY: filled(f"only one operator can provide {API}"),
    Code.INSTALLED_STAYS: about("{subject.bundle} is installed and nothing you want replaces it"),
    Code.UPDATE_TAKES_PLACE: about("an update of {subject.bundle} takes its place"),
    Code.VERSIONS_DEPRECATED: _of_versions("is deprecated"),
    Code.VERSIONS_UNUSABLE: _of_versions("cannot be used"),
    Code.RANGE_INVALID: lambda reason: (
        f"the range {reason.parameters['range']!r} of " + "{want} is no range: {message}".format(**reason.parameters)
    ),
    Code.CATALOGS_EMPTY: always("no catalog has any operator"),
    Code.CATALOG_HAS_NONE: filled(
        "no operators found from catalog {catalog} in namespace {namespace} referenced by subscription {want}"
    ),
    Code.PACKAGE_NOT_FOUND: about(f"no operators found in package {{subject.package}} {_REFERENCED}"),
    Code.CHANNEL_NOT_FOUND: about(f"no operators found in {CHANNEL} {_REFERENCED}"),
    Code.START_NOT_FOUND: about(f"no operators found with name {{start}} in {CHANNEL} {_REFERENCED}"),
    Code.CHANNEL_BROKEN: lambda reason: f"the channel of {reason.subject.package} is broken: {_said(reason.parts[0])}",
    Code.NO_UPDATE_IN_RANGE: about("no direct update of {subject.bundle} is within {range}, and neither is {version}"),
    Code.NO_VERSION_IN_RANGE: _no_version_in_range,
    Code.AUTHOR_SAYS: filled("“{message}”"),
    Code.PROVIDERS: lambda reason: f"{', '.join(names(reason, 'packages'))} do",
    Code.DROP_WANTS: _drop,
    Code.UNINSTALL: about("uninstall {subject.bundle}"),
    Code.ALLOW_PACKAGE: about("allow package {subject.package}"),
    Code.ALLOW_VERSION: about("allow {subject.package} {version}"),
    Code.BEGIN_ELSEWHERE: about("do not begin {subject.package} at {start}"),
    Code.USE_CHANNEL: about("use channel {subject.channel} of {subject.package}"),
    Code.NOT_DECIDED: filled("not decided in {seconds} s"),
    Code.INPUT_REFUSED: _refused,
    Code.BUNDLE_CHOSEN: about("{subject.package}: {subject.bundle} is chosen"),
    Code.OTHERS_PREFERRED: about("{subject.package}: it could meet a requirement, but others were preferred"),
    Code.NOTHING_ASKS: about("{subject.package}: nothing asks for it"),
    Code.NO_CATALOG_HAS: about("{subject.package}: no catalog has it"),
    Code.LESS_PREFERRED: lambda reason: f"{_entry(reason)}: possible, but less preferred",
    Code.CANNOT_BE: _cannot_be,
    Code.MORE_LESS_PREFERRED: filled("and {more} more that were less preferred"),
}
