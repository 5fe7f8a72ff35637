"""Generated CEL expressions in cel-go, with the libraries of Kubernetes, OCM and OLM, and in our engine.

`run` is called by tests.differential. The ordinary form asks the newest peer, the real API servers of 1.28 and 1.33,
OCM and OLM; the long form the newest peer in every environment as well.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from tests.differential.cel.comparison import Verdict, judge
from tests.differential.cel.generator import program
from tests.differential.cel.peers import LONG, ORDINARY, Peers
from tests.differential.cel.shrinking import shrunk
from tests.differential.report import Difference, Progress, Report

if TYPE_CHECKING:
    from tests.differential.cel.generator import Program

BATCH: Final = 100
SHRUNK: Final = 8  # differences of one report that are made small; the others are shown as they are


def run(*, seed: int, programs: int | None, seconds: float | None, every_version: bool) -> list[Report]:
    """Compare so many programs, or for so long; `programs` are those of all peers together."""
    asked = LONG if every_version else ORDINARY
    with Peers() as peers:
        for name in dict.fromkeys(peer for peer, _ in asked):
            peers.start(name)  # builds, which counts for no time
        reports = [Report(f"cel {environment} in {peer}", seed) for peer, environment in asked]
        ends = None if seconds is None else time.monotonic() + seconds
        each = None if programs is None else -(-programs // len(asked))
        first = 0
        progress = Progress("cel")
        while each is None or first < each:
            size = BATCH if each is None else min(BATCH, each - first)
            for report, (peer, environment) in zip(reports, asked, strict=True):
                _compare(peers, peer, environment, report, first, size)
            first += size
            progress.at(*reports)
            if ends is not None and time.monotonic() >= ends:
                break
    return reports


def _compare(peers: Peers, peer: str, environment: str, report: Report, first: int, size: int) -> None:
    batch = [program(environment, report.seed, index) for index in range(first, first + size)]
    verdicts = judge(peers, peer, environment, [(each.text, each.chosen) for each in batch])
    for made, verdict in zip(batch, verdicts, strict=True):
        report.compared += 1
        if verdict.lost:
            report.lost += 1
        elif verdict.rule:
            report.rules[verdict.rule] += 1
        elif not verdict.what:
            report.equal += 1
        else:
            report.found(_difference(peers, peer, made, verdict, len(report.differences) < SHRUNK))


def _difference(peers: Peers, peer: str, made: Program, verdict: Verdict, small: bool) -> Difference:
    text = made.text
    if small:

        def differs(candidate: str) -> bool:
            return judge(peers, peer, made.environment, [(candidate, made.chosen)])[0].what == verdict.what

        text = shrunk(text, differs)
        verdict = judge(peers, peer, made.environment, [(text, made.chosen)])[0]
    return Difference(text, verdict.ours, verdict.theirs, made.seed, f"{verdict.what} (program {made.index})")
