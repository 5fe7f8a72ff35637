"""How classifications are told to people: outcomes, labels, the parts of a query. Several commands print them."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.classification import Outcome, Part, Report

_LONGEST_VALUE = 100
_WIDEST_PART = 60


def outcome_text(outcome: Outcome) -> str:
    return f"{outcome.verdict.value}: {outcome.text}" if outcome.text else outcome.verdict.value


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


def print_parts(parts: Sequence[Part]) -> None:
    """Every part of a query, and the values that it gave."""
    from muster.jq import short_json

    width = min(max((len(part.text) for part in parts), default=0), _WIDEST_PART)
    for part in parts:
        shown = [short_json(value, _LONGEST_VALUE) for value in part.values]
        more = [f"… {part.more} more"] if part.more else []
        sys.stdout.write(f"  {' '.join(part.text.split()).ljust(width)}  {', '.join(shown + more)}\n")


def shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_VALUE else text[:_LONGEST_VALUE] + "…"
