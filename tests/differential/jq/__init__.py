"""gojq beside muster.jq: generated queries, in both, compared.

A case is a query with its input. It is run by gojq, by our generated code and by our plain evaluator; outputs, their
types, what is printed, the class and the text of an error have to be the same, or what a rule of docs/differences.md
says.
What a query reads is checked too: an input that has nothing else gives the same.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Final

from tests.differential.building import build
from tests.differential.jq.generator import Case, cases
from tests.differential.jq.outcomes import Outcome, compiled, difference, ours, theirs
from tests.differential.jq.projections import indistinguishable
from tests.differential.jq.rules import Compared, rule_of
from tests.differential.jq.shrinking import shrunk
from tests.differential.peer import Peer
from tests.differential.report import Difference, Progress, Report

if TYPE_CHECKING:
    from muster.jq import Program

SOURCE: Final = Path(__file__).with_name("peer")
BATCH: Final = 250
SHRUNK: Final = 20
"""Differences that are made smaller; there may be thousands."""


def run(*, seed: int, programs: int | None, seconds: float | None, every_version: bool) -> list[Report]:
    """Compare so many queries, or for so many seconds. There is one version of gojq: the one we follow."""
    del every_version
    program = build(SOURCE)
    report = Report("jq", seed)
    deadline = None if seconds is None else time.monotonic() + seconds
    written = cases(seed)
    progress = Progress("jq")
    with Peer(program) as peer:
        while (programs is None or report.compared < programs) and (deadline is None or time.monotonic() < deadline):
            size = BATCH if programs is None else min(BATCH, programs - report.compared)
            batch = list(islice(written, size))
            for case, answer in zip(batch, peer.ask([case.question for case in batch]), strict=True):
                _judge(report, peer, case, theirs(answer))
            progress.at(report)
    return [report]


def _judge(report: Report, peer: Peer, case: Case, expected: Outcome) -> None:
    report.compared += 1
    if not expected.known:
        report.lost += 1
    verdict = judged(peer, case, expected)
    if verdict is None:
        report.equal += 1
    elif isinstance(verdict, str):
        report.rules[verdict] += 1
    else:
        shown = _smallest(peer, case, verdict) if len(report.differences) < SHRUNK else verdict
        report.found(replace(shown, seed=report.seed))


def judged(peer: Peer, case: Case, expected: Outcome) -> Difference | str | None:
    """None when all agree, the name of the rule that says why not, or the difference."""
    program = compiled(case.query)
    got = program if isinstance(program, Outcome) else ours(program, case.input, case.zone)
    if not isinstance(program, Outcome) and (fault := _own_fault(program, case, got)) is not None:
        return fault
    if not expected.known and got.ending != "budget":
        return None
    what = difference(got, expected)
    if what is None and not expected.copied:
        return None
    rule = rule_of(Compared(case, got, expected, peer))
    if rule is not None:
        return rule
    return _different(what or "text", case, got, expected)


def _own_fault(program: Program, case: Case, got: Outcome) -> Difference | None:
    """What needs no peer: the plain evaluator says the same, and what is not read does not matter."""
    if got.ending == "internal":
        return _different("internal error", case, got, got)
    plain = ours(program, case.input, case.zone, plain=True)
    if "budget" not in (got.ending, plain.ending) and difference(got, plain) is not None:
        return _different("back ends", case, got, plain)
    for other in indistinguishable(program, case.input):
        changed = ours(program, other, case.zone)
        if "budget" not in (got.ending, changed.ending) and difference(got, changed) is not None:
            return _different("reads", case, got, changed)
    return None


def _different(what: str, case: Case, got: Outcome, expected: Outcome) -> Difference:
    program = case.query if case.zone == "UTC" else f"{case.query}   in {case.zone}"
    return Difference(f"{program}   on {str(case.input)[:200]}", got.shown(), expected.shown(), 0, what)


def _smallest(peer: Peer, case: Case, found: Difference) -> Difference:
    """Shrunk as long as the same thing differs."""
    best = found

    def still(smaller: Case) -> bool:
        nonlocal best
        verdict = judged(peer, smaller, theirs(peer.ask([smaller.question])[0]))
        if not isinstance(verdict, Difference) or verdict.what != found.what:
            return False
        best = verdict
        return True

    shrunk(case, still)
    return best
