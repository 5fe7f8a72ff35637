"""Reasons of guards in words: what would be removed, and what holds it. A part of `words.py`, which says every code."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.reasons.codes import Code
from muster.reasons.templates import always, filled, names
from muster.values.messages import listed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.reasons.reason import Reason

_NAMED: Final = 20
_ROOM: Final = 8_192  # bytes of the names, and of the reasons


def held(reason: Reason, said: Callable[[Reason], str]) -> str:
    """`said` words a part: what clusters would go for may be any reason."""
    given = reason.parameters
    holding = [said(each) for each in reason.parts if each.code != Code.WOULD_GO]
    causes = [said(each) for each in reason.parts if each.code == Code.WOULD_GO]
    count = int(given["count"]) if isinstance(given["count"], int) else 0
    shown = listed(names(reason, "names"), most=_NAMED, room=_ROOM)
    more = f" and {count - len(names(reason, 'names'))} more" if count > len(names(reason, "names")) else ""
    text = f"{count} of {given['decided']} clusters would be removed and stay for now: {shown}{more}"
    text += f". Held because {listed(holding, '; ', room=_ROOM)}"
    if given.get("revoked"):
        text += f". {given['revoked']} of them are in no cluster set any more that is bound to {given['namespace']}"
    if given.get("gone"):
        text += f". {given['gone']} of them do not exist any more"
    if causes:
        text += f". Would go: {listed(causes, '; ', room=_ROOM)}"
    command = "muster approve placement {namespace}/{name} --digest {digest}".format(**given)
    return f"{text}. `{command}` lets exactly this change through"


def would_go(reason: Reason, said: Callable[[Reason], str]) -> str:
    shown = listed(names(reason, "names"), most=_NAMED, room=_ROOM)
    return f"{shown}: {said(reason.parts[0])}" if reason.parts else shown


def _frozen(reason: Reason) -> str:
    until = reason.parameters["until"]
    return f"removals are frozen by {reason.parameters['owner']}" + (f" until {until}" if until else "")


def _too_many(reason: Reason) -> str:
    given = reason.parameters
    most, allowed = str(given["most"]), _clusters(given["allowed"])
    share = (
        f"{most} within {given['window']}, which is {allowed}" if "%" in most else f"{allowed} within {given['window']}"
    )
    return f"{given['owner']} allows removing {share}: {given['asked']} would go now, and {given['removed']} went"


def _clusters(count: object) -> str:
    return "1 cluster" if count == 1 else f"{count} clusters"


GUARD_WORDS: Final[Mapping[str, Callable[[Reason], str]]] = {
    Code.HELD_IN_DECISION: always("would be removed, and a guard holds it"),
    Code.TOO_MANY_REMOVALS: _too_many,
    Code.TOO_FEW_LEFT: filled("{owner} wants at least {fewest} clusters left, and {left} would be"),
    Code.REMOVALS_FROZEN: _frozen,
    Code.QUIET_TIME: filled("clusters go when they have been unwanted for {quiet}; the last of these at {until}"),
    Code.OUTSIDE_HOURS: filled("{owner} allows removals only in these hours: {hours}"),
    Code.FLEET_BRAKE: filled(
        "the brake of the fleet is on: {most} of {decided} decisions may go within {window}, which is {allowed}; "
        "{asked} would go now, and {removed} went"
    ),
    Code.GUARD_UNREADABLE: filled("a guard of {owner} cannot be read, and lets nothing go: {fault}"),
    Code.GUARD_UNREMEMBERED: filled("what guards must remember cannot be written down: {fault}"),
    Code.APPROVAL_OUTDATED: filled("the approval names another change ({approved})"),
}
