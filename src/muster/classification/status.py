"""What the status of a classification says, and whether its finalizer may go. Pure; controller and commands call it."""

from __future__ import annotations

from dataclasses import dataclass
from heapq import nsmallest
from typing import TYPE_CHECKING, Final

from muster.classification.names import LABELS_APPLIED, QUERY_ERRORS, QUERY_PAUSED, QUERY_VALID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.classification.classification import Classification
    from muster.classification.roster import Roster, Tally

_EXAMPLES: Final = 3
_LONGEST: Final = 1_000
SOMETIMES: Final = (QUERY_PAUSED, LABELS_APPLIED)
"""Conditions that are there only while they have something to say."""


@dataclass(frozen=True, slots=True)
class Report:
    """Counts, and conditions as (status, reason, message) by type."""

    matched: int
    errors: int
    conditions: Mapping[str, tuple[str, str, str]]


def report(roster: Roster, classification: Classification) -> Report:
    """How a classification of the roster fares."""
    tally = roster.tally(classification.name)
    query = roster.query(classification)
    conditions = {
        QUERY_VALID: _validity(classification.fault or query.fault),
        QUERY_ERRORS: _errors(tally),
    }
    if query.is_paused and query.paused is not None:
        conditions[QUERY_PAUSED] = ("True", "BudgetExhausted", _shortened(query.paused.text))
    if tally.missed:
        conditions[LABELS_APPLIED] = ("False", "LabelTaken", _missed(classification, tally))
    return Report(len(tally.matched), len(tally.failed), conditions)


def may_go(roster: Roster, classification: Classification) -> bool:
    """Whether a classification that is being deleted has left no label behind.

    A twin that stays answers for the label of both, and the agents that carry it are its own.
    """
    return not roster.tally(classification.name).carrying or roster.has_living_twin(classification)


def _validity(fault: str) -> tuple[str, str, str]:
    if fault:
        return ("False", "QueryIsNotValid", _shortened(fault))
    return ("True", "QueryIsValid", "The query is valid")


def _errors(tally: Tally) -> tuple[str, str, str]:
    count = len(tally.failed)
    if not count:
        return ("False", "NoQueryErrors", "No Agents failed to apply the classification")
    message = f"{count} Agents failed to apply the classification"
    examples = nsmallest(_EXAMPLES, tally.failed)
    text = next((tally.failed[name] for name in examples if tally.failed[name]), "")
    if text:
        message += f": {text}"
    return ("True", "HasQueryErrors", f"{_shortened(message)} (for example {', '.join(examples)})")


def _missed(classification: Classification, tally: Tally) -> str:
    count = len(tally.missed)
    shown = ", ".join(f"{name} ({tally.missed[name]})" for name in nsmallest(_EXAMPLES, tally.missed))
    return f"{count} matching Agents carry another value of {classification.label}: {shown}"


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
