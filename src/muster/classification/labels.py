"""Which labels an agent must carry, given what every query says of it. Pure; the controller and the commands call it.

    one key, in order of name: the first classification with a match or a failure has the key for this agent
    the label is absent or ours         it is set, changed or removed
    the label has a value set by hand   it stays, and the classification says that it is in the way

A mistake takes no label away: a query that does not compile leaves the labels that it had set, and comes after all
others of its key; labels that nobody claims stay as long as there is a classification whose own label is not known.

A value is ours when a classification of the key sets it (whether living or being deleted), when the agent's
annotation says that we set it, or when it is an error form, which nobody else may use. The annotation is written
together with the labels, so that a label is never left behind, whatever dies in between.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.classification.classification import Classification
from muster.classification.names import APPLIED, ERROR_PREFIX, LABEL_PREFIX
from muster.classification.outcomes import MATCH, NO_MATCH

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from muster.classification.outcomes import Outcome


class Taken(NamedTuple):
    """What keeps the label of a match out: the value that the key has, and whose it is; nobody's if set by hand."""

    value: str
    by: str

    def __str__(self) -> str:
        return f"{self.value}, from AgentClassification {self.by}" if self.by else f"{self.value}, set by hand"


@dataclass(frozen=True, slots=True)
class LabelPlan:
    """What to change on an agent. `missed` are the matches whose label another value keeps out, with the reason."""

    changes: Mapping[str, str | None]
    applied: Mapping[str, str]
    record: bool  # whether the annotation has to be written
    missed: Mapping[str, Taken]

    @property
    def is_empty(self) -> bool:
        return not self.changes and not self.record

    def applied_text(self) -> str | None:
        """The annotation's new text; None removes it."""
        if not self.applied:
            return None
        return json.dumps(dict(sorted(self.applied.items())), separators=(",", ":"))


_NOTHING: Mapping[str, str] = {}
_UNKNOWN: Final = Classification("", "", "", "")  # stands for a winner that is not known yet


def read_applied(annotations: Mapping[str, str] | None) -> Mapping[str, str]:
    """The labels that the agent's annotation says are ours. A text that is not ours says nothing."""
    text = (annotations or _NOTHING).get(APPLIED)
    if not text:
        return _NOTHING
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        return _NOTHING
    if not isinstance(found, dict) or not all(isinstance(value, str) for value in found.values()):
        return _NOTHING
    return found


def by_label(classifications: Iterable[Classification]) -> dict[str, list[Classification]]:
    """Classifications by the key they are about, each in order of name. Those without a label claim nothing."""
    groups: dict[str, list[Classification]] = {}
    for each in sorted(classifications, key=lambda each: each.name):
        if each.usable:
            groups.setdefault(each.label, []).append(each)
    return groups


def plan_labels(
    present: Mapping[str, str],
    applied: Mapping[str, str],
    groups: Mapping[str, Sequence[Classification]],
    said: Mapping[str, Outcome],
    *,
    hold: bool = False,
) -> LabelPlan:
    """`present` are the agent's labels, `applied` those recorded as ours, `groups` come from `by_label`, and `said`
    has what queries say of the agent, by their text. A label that hangs on a query that has not answered yet stays.
    With `hold`, labels of ours stay that nobody claims: somebody may, who cannot say so.
    """
    changes: dict[str, str | None] = {}
    ours: dict[str, str] = {}
    missed: dict[str, Taken] = {}
    for label, group in groups.items():
        current = present.get(label)
        winner = _winner(group, said, current)
        if winner is None and current is None:
            continue
        if winner is _UNKNOWN:
            if current is not None and _is_left_over(current, group):
                changes[label] = None
            elif (key := label[len(LABEL_PREFIX) :]) in applied:
                ours[key] = applied[key]
            continue
        owned = current is None or _is_ours(label, current, applied, group)
        if winner is None:
            if owned and current is not None and hold and not any(each.owns(current) for each in group):
                ours[label[len(LABEL_PREFIX) :]] = current
            elif owned:
                changes[label] = None
            continue
        outcome = said[winner.query]
        stays = outcome is MATCH or (outcome.invalid and current == winner.value)
        wanted = winner.value if stays else winner.error_value
        if owned:
            ours[label[len(LABEL_PREFIX) :]] = wanted
            if current != wanted:
                changes[label] = wanted
        if len(group) > 1 or not owned:
            kept = Taken(wanted, winner.name) if owned or current is None else Taken(current, "")
            missed |= {each.name: kept for each in group if each.value != kept.value and _matches(each, said)}
    for label, current in present.items():
        # What nobody claims any more.
        if label not in groups and label.startswith(LABEL_PREFIX) and _is_ours(label, current, applied, ()):
            if hold:
                ours[label[len(LABEL_PREFIX) :]] = current
            else:
                changes[label] = None
    return LabelPlan(changes, ours, ours != applied, missed)


def _winner(group: Sequence[Classification], said: Mapping[str, Outcome], current: str | None) -> Classification | None:
    """Who has the key: the first with a match or a failure. A query that does not compile keeps what it has set."""
    invalid: Classification | None = None
    for each in group:
        if each.deleting or (outcome := said.get(each.query)) is NO_MATCH:
            continue
        if outcome is None:
            return _UNKNOWN
        if not outcome.invalid or current == each.value:
            return each
        invalid = invalid or each
    return invalid


def _matches(classification: Classification, said: Mapping[str, Outcome]) -> bool:
    return not classification.deleting and said.get(classification.query) is MATCH


def _is_left_over(current: str, group: Sequence[Classification]) -> bool:
    """Whether only classifications that are being deleted set this value: they need not wait for what others say."""
    owners = [each for each in group if each.owns(current)]
    return bool(owners) and all(each.deleting for each in owners)


def _is_ours(label: str, current: str, applied: Mapping[str, str], group: Sequence[Classification]) -> bool:
    return (
        current.startswith(ERROR_PREFIX)
        or applied.get(label[len(LABEL_PREFIX) :]) == current
        or any(each.owns(current) for each in group)
    )
