"""Many cases at once through a peer: each asks question after question, and the peer gets all that wait as one batch.

A comparison is a generator: it yields questions, is sent the answers, and returns an `Outcome`. Who asks what, and what
an answer means, is the comparison's matter. Used where one case takes several questions (placements, resolutions).
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from tests.differential.dropping import shrunk
from tests.differential.peer import Lost, Peer
from tests.differential.report import Difference, Progress, Report

_BATCH: Final = 32
_MOST_SHRUNK: Final = 12  # differences; more are only counted


class UnansweredError(Exception):
    """The peer said nothing, or could not read the question."""


@dataclass
class Outcome:
    """What a case gave: the rules it fell under, and the differences, each of which begins with the field."""

    rules: set[str] = field(default_factory=set)
    differences: list[str] = field(default_factory=list)


Asking: TypeAlias = Generator[dict[str, Any], Any, Outcome]


@dataclass(frozen=True)
class Comparison:
    """How cases are made and compared. The same seed and number make the same case."""

    case_of: Callable[[int, int], Any]
    compared: Callable[[Any], Asking]


def answer_of(answer: Any) -> dict[str, Any]:
    """What the peer answered. Raises UnansweredError."""
    if isinstance(answer, Lost):
        raise UnansweredError(answer.why)
    if answer.get("panic") or answer.get("unanswered"):
        raise UnansweredError(answer.get("panic") or answer["unanswered"])
    found: dict[str, Any] = answer
    return found


def compare(
    comparison: Comparison,
    report: Report,
    peer: Peer,
    programs: int | None,
    seconds: float | None,
    fresh: int = 0,
) -> None:
    """So many cases, or what fits into the time, but one batch at least. The peer is begun anew after `fresh` cases."""
    until = None if seconds is None else time.monotonic() + seconds
    number = 0
    progress = Progress(report.name)
    while (programs is None or number < programs) and (until is None or number == 0 or time.monotonic() < until):
        size = _BATCH if programs is None else min(_BATCH, programs - number)
        cases = [comparison.case_of(report.seed, number + place) for place in range(size)]
        for place, outcome in enumerate(outcomes(comparison, peer, cases)):
            _count(comparison, report, peer, cases[place], outcome, number + place)
        number += size
        progress.at(report)
        if fresh and number % fresh < _BATCH:
            peer.stop()


def outcomes(comparison: Comparison, peer: Peer, cases: Sequence[Any]) -> list[Outcome | None]:
    """In their order; None where the peer gave no answer."""
    found: list[Outcome | None] = [None] * len(cases)
    running: dict[int, tuple[Asking, dict[str, Any]]] = {}
    for place, case in enumerate(cases):
        asking = comparison.compared(case)
        running[place] = (asking, next(asking))
    while running:
        places = list(running)
        answers = peer.ask([running[place][1] for place in places])
        for place, answer in zip(places, answers, strict=True):
            asking, _ = running.pop(place)
            try:
                running[place] = (asking, asking.send(answer))
            except StopIteration as end:
                found[place] = end.value
            except UnansweredError:
                pass
    return found


def _count(comparison: Comparison, report: Report, peer: Peer, case: Any, outcome: Outcome | None, number: int) -> None:
    report.compared += 1
    if outcome is None:
        report.lost += 1
    elif outcome.differences:
        report.found(_difference(comparison, report, peer, case, outcome, number))
    elif outcome.rules:
        report.rules[" + ".join(sorted(outcome.rules))] += 1
    else:
        report.equal += 1


def _difference(
    comparison: Comparison, report: Report, peer: Peer, case: Any, outcome: Outcome, number: int
) -> Difference:
    """The case made as small as it gets with a difference in the same field."""
    name = outcome.differences[0].partition(":")[0]
    last = outcome

    def still(smaller: Any) -> bool:
        nonlocal last
        try:
            (again,) = outcomes(comparison, peer, [smaller])
        except (KeyError, AttributeError, TypeError, ValueError, IndexError):
            return False  # it is no case any more
        if again is None or not again.differences or again.differences[0].partition(":")[0] != name:
            return False
        last = again
        return True

    smallest = shrunk(case, still) if len(report.differences) < _MOST_SHRUNK else case
    ours, _, theirs = last.differences[0].partition(" instead of ")
    return Difference(json.dumps(smallest), ours, theirs, report.seed, f"{name}, case {number}")
