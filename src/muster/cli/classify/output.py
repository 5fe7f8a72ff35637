"""How classifications are told to people: outcomes, labels, the parts of a query. Several commands print them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.api.fleet_classification import ClassificationFare, OutcomeCount, QueryPart, Said, TakenLabel
    from muster.classification import Report
    from muster.values.json import Json, JsonObject

_LONGEST_VALUE = 100
_WIDEST_PART = 60
_WORDS = {"Matched": "match", "Unmatched": "no match", "Failed": "error"}


def verdict_word(said: Said | OutcomeCount) -> str:
    return _WORDS[said.verdict]


def outcome_text(said: Said | OutcomeCount) -> str:
    return f"{verdict_word(said)}: {said.error}" if said.error else verdict_word(said)


def plain_reason(said: Said | OutcomeCount) -> JsonObject:
    """Why, for programs."""
    import msgspec

    from muster.classification import Outcome, Verdict
    from muster.reasons import Code

    found: JsonObject = msgspec.to_builtins(Outcome(Verdict(verdict_word(said)), said.error, code=Code(said.code)).why)
    return found


def taken_text(taken: TakenLabel) -> str:
    from muster.classification.labels import Taken

    return str(Taken(taken.value, taken.by))


def report_of(fare: ClassificationFare) -> Report:
    """How a classification would fare, as its status says it."""
    from muster.classification import Report

    conditions = {each.type: (each.status, each.reason, each.message) for each in fare.conditions}
    return Report(fare.matched, fare.errors, conditions)


def label_text(labels: Mapping[str, str]) -> str:
    return ",".join(f"{key}={value}" for key, value in labels.items())


def trouble(report: Report) -> str:
    """What is not as it should be, the gravest first; empty when all is well."""
    for kind, good in (
        ("QueryValid", "True"),
        ("QueryPaused", "False"),
        ("QueryErrors", "False"),
        ("LabelsApplied", ""),
    ):
        status, _, message = report.conditions.get(kind, (good, "", ""))
        if status != good:
            return message
    return ""


def plain_conditions(report: Report) -> list[dict[str, str]]:
    """Conditions as JSON has them."""
    return [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, (status, reason, message) in report.conditions.items()
    ]


def plain_parts(parts: Sequence[QueryPart]) -> list[JsonObject]:
    return [{"text": part.text, "values": list(part.values), "more": part.more} for part in parts]


def print_parts(parts: Sequence[QueryPart]) -> None:
    """Every part of a query, and the values that it gave."""
    width = min(max((len(part.text) for part in parts), default=0), _WIDEST_PART)
    for part in parts:
        shown = [_shown(value) for value in part.values]
        more = [f"… {part.more} more"] if part.more else []
        sys.stdout.write(f"  {' '.join(part.text.split()).ljust(width)}  {', '.join(shown + more)}\n")


def _shown(value: Json) -> str:
    """As JSON, or as much of it as an answer has."""
    from muster.jq import short_json

    if isinstance(value, str) and value.endswith("…") and len(value) > _LONGEST_VALUE:
        return f"{value[:_LONGEST_VALUE]}…"
    return short_json(value, _LONGEST_VALUE)
