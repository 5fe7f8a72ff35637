"""What a constraint asks of a bundle, and what came near to it, in words. A part of `operator_words.py`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code
from muster.reasons.templates import about, filled, names, worded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason

_MOST_RANGES: Final = 4  # of versions; of more, the rest is counted
API: Final = "{kind} ({group}/{version})"
_ANYTHING: Final = "of any kind"


def _said(reason: Reason) -> str:
    """A part of a sentence."""
    return worded(reason, REQUIREMENT_WORDS)


def _all_asked(reason: Reason) -> str:
    return " and ".join(map(_said, reason.parts)) or _ANYTHING


def _any_asked(reason: Reason) -> str:
    joined = " or ".join(map(_said, reason.parts)) or "that cannot be"
    return f"({joined})" if len(reason.parts) > 1 else joined


def _none_asked(reason: Reason) -> str:
    return " and ".join(f"other than one {_said(each)}" for each in reason.parts) or _ANYTHING


def versions(reason: Reason) -> str:
    """Many versions in few words."""
    ranges = names(reason, "versions")
    if len(ranges) > _MOST_RANGES:
        return f"{', '.join(ranges[:_MOST_RANGES])} and {len(ranges) - _MOST_RANGES} more"
    return ", ".join(ranges)


def _of_bundle(reason: Reason, text: str) -> str:
    return f"{reason.subject.bundle}: {text}" if reason.subject.bundle else text


def messages(reason: Reason) -> str:
    """What the author says of it."""
    said = "; ".join(names(reason, "messages"))
    return f" ({said})" if said else ""


def _package_unknown(reason: Reason) -> str:
    close = reason.parameters.get("close")
    return f"no catalog has a package {reason.subject.package}" + (f"; did you mean {close}?" if close else "")


def _property_differs(reason: Reason) -> str:
    sort = reason.parameters.get("not")
    trap = f", which is not {sort}" if sort else ""
    return _of_bundle(reason, "it has {property} = {value}".format(**reason.parameters) + trap)


def _rule_false(reason: Reason) -> str:
    return _of_bundle(reason, f"{reason.subject.expression} is false{_properties(reason)}{messages(reason)}")


def _rule_failed(reason: Reason) -> str:
    failed = f"{reason.subject.expression} failed: {reason.parameters['message']}"
    return _of_bundle(reason, f"{failed}{_properties(reason)}{messages(reason)}")


def _properties(reason: Reason) -> str:
    found = ", ".join(names(reason, "properties"))
    return f"; it has {found}" if found else "; it has no such property"


def _member(template: str) -> Callable[[Reason], str]:
    return lambda reason: _of_bundle(reason, template.format(_said(reason.parts[0])) + messages(reason))


REQUIREMENT_WORDS: Final[Mapping[str, Callable[[Reason], str]]] = {
    Code.RULE_ASKED: about("for which {subject.expression}"),
    Code.PACKAGE_ASKED: about("of package {subject.package} in {range}"),
    Code.API_ASKED: filled(f"that provides {API}"),
    Code.LABEL_ASKED: filled("with the label {label}"),
    Code.PROPERTY_ASKED: filled("with the property {property} = {value}"),
    Code.ALL_ASKED: _all_asked,
    Code.ANY_ASKED: _any_asked,
    Code.NONE_ASKED: _none_asked,
    Code.VERSIONS_PRESENT: lambda reason: f"{reason.subject.package} is there in {versions(reason)}",
    Code.PACKAGE_UNKNOWN: _package_unknown,
    Code.APIS_PRESENT: lambda reason: f"there is {', '.join(names(reason, 'apis'))}",
    Code.LABELS_PRESENT: lambda reason: f"there is the label {', '.join(names(reason, 'labels'))}",
    Code.PROPERTY_DIFFERS: _property_differs,
    Code.RULE_FALSE: _rule_false,
    Code.RULE_FAILED: _rule_failed,
    Code.MEMBER_MET: _member("it is one {}"),
    Code.MEMBER_UNMET: _member("it is no operator {}"),
    Code.NOT_A_CANDIDATE: about(
        "{subject.bundle}: it would do, but cannot be chosen: its channel or catalog cannot be used, or skips it"
    ),
}
