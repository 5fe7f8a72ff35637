"""What one schedule sees: the plan, the fleet, the visible sets, the time, and what has been decided so far."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from muster.placement.schedule.taints import TaintVerdicts, taint_verdicts

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from numpy.typing import NDArray

    from muster.fleet import Fleet
    from muster.placement.schedule.plan import Plan
    from muster.placement.schedule.sets import Visibility


@dataclass(frozen=True)
class Decided:
    """Decisions that stand: this placement's own, and how often other placements have decided for each cluster."""

    own: NDArray[np.bool_]
    foreign: NDArray[np.int32]
    foreign_peak: int  # the highest count of any cluster, also of those that are not in the fleet
    known_rows: NDArray[np.intp] | None = None

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """All rows that are decided for by anybody, and perhaps others: no other rows are."""
        if self.known_rows is not None:
            return self.known_rows
        return np.flatnonzero(self.own | (self.foreign != 0))


def decided(fleet: Fleet, own: Iterable[str], foreign: Mapping[str, int]) -> Decided:
    """From names and counts. A controller that keeps the arrays up to date needs no such call."""
    mask = np.zeros(fleet.capacity, dtype=np.bool_)
    for name in own:
        if (row := fleet.row(name)) is not None:
            mask[row] = True
    counts = np.zeros(fleet.capacity, dtype=np.int32)
    for name, count in foreign.items():
        if (row := fleet.row(name)) is not None:
            counts[row] = count
    return Decided(mask, counts, max(foreign.values(), default=0))


@dataclass(frozen=True)
class Cycle:
    """The one argument of filters and scorers: a new fact reaches them without new parameters."""

    plan: Plan
    fleet: Fleet
    visibility: Visibility
    now: datetime
    decided: Decided

    @cached_property
    def taint_verdicts(self) -> TaintVerdicts:
        """How the taints of all clusters stand against the tolerations; several stages ask."""
        return taint_verdicts(self)
