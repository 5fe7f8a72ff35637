"""OLM's resolver and constraints beside ours, over generated catalogs, subscriptions and constraints.

The published resolver (`peer/`) and our dialect of it get the same catalogs; outcome, error and text are compared, and
our own dialect where OLM has nothing to refuse. Expressions are the matter of `tests.differential.cel`.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

from tests.differential.building import build
from tests.differential.lockstep import Comparison, compare
from tests.differential.olm.catalogs import a_row
from tests.differential.olm.comparing import read, resolved
from tests.differential.olm.constraints import a_constraint, as_text
from tests.differential.peer import Peer
from tests.differential.report import Report

_FRESH: Final = 12_000  # the peer's catalogs have timers that keep everything for half an hour


def row_of(seed: int, number: int) -> dict[str, Any]:
    return a_row(random.Random(f"resolutions/{seed}/{number}"))


def constraint_of(seed: int, number: int) -> Any:
    chance = random.Random(f"constraints/{seed}/{number}")
    return as_text(chance, a_constraint(chance))


COMPARISONS: Final = {"resolutions": Comparison(row_of, resolved), "constraints": Comparison(constraint_of, read)}


def run(*, seed: int, programs: int | None, seconds: float | None, every_version: bool) -> list[Report]:
    """There is one version of the peer."""
    program = build(Path(__file__).parent / "peer")
    reports = []
    for kind, comparison in COMPARISONS.items():
        report = Report(f"olm {kind} (OLM 0.46.0)", seed)
        share = None if seconds is None else seconds / len(COMPARISONS)
        with Peer(program) as peer:
            compare(comparison, report, peer, programs, share, _FRESH)
        reports.append(report)
    return reports
