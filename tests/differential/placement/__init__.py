"""OCM's placement controller beside our scheduler, over generated fleets, placements and changes.

The published scheduling controller (`peer/`) looks at the objects of a case with listers that hold exactly these; our
scheduler gets the same. Decisions, order, groups, pages, scores, conditions and messages are compared at every look.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any, Final

from tests.differential.building import build
from tests.differential.lockstep import Comparison, compare
from tests.differential.peer import Peer
from tests.differential.placement.changes import a_case
from tests.differential.placement.comparing import compared
from tests.differential.report import Report


def case_of(seed: int, number: int) -> dict[str, Any]:
    return a_case(random.Random(f"placement/{seed}/{number}"))


PLACEMENTS: Final = Comparison(case_of, compared)


def run(*, seed: int, programs: int | None, seconds: float | None, every_version: bool) -> list[Report]:
    """There is one version of the peer."""
    program = build(Path(__file__).parent / "peer")
    report = Report("placement (OCM 1.2.0)", seed)
    with Peer(program) as peer:
        compare(PLACEMENTS, report, peer, programs, seconds)
    return [report]
