"""The clusters that came nearest without being selected: those for which the fewest things would have to change."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from muster.placement.explain.clauses import steps_of
from muster.placement.explain.explained import NearMiss
from muster.placement.explain.funnel import PICK, SETS
from muster.placement.explain.ranking import ranks
from muster.placement.schedule.pipeline import reason_against

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.placement.schedule.pipeline import Profile
    from muster.placement.schedule.result import ScheduleResult


def near_misses(
    result: ScheduleResult, profile: Profile, most: int, *, everywhere: bool = True
) -> tuple[NearMiss, ...]:
    """At most so many, nearest first: by failed conditions, then by how far they came, then by rank and name.

    Not `everywhere`: only clusters that the placement may choose from, for somebody who may not know of others. Which
    of them are nearest would tell what they hold.
    """
    fleet = result.cycle.fleet
    if result.fault is not None or most <= 0:
        return ()
    out = np.zeros(fleet.capacity, dtype=np.bool_)
    out[fleet.rows()] = True
    out[result.ranked] = False
    rows = np.flatnonzero(out & fleet.present & (result.available | everywhere))
    if len(rows) == 0:
        return ()
    failures, reached = _failures(result, rows), _reached(result, rows)
    places = np.zeros(fleet.capacity, dtype=np.int64)
    places[result.feasible] = ranks(result)
    order = np.lexsort((fleet.ranks[rows], places[rows], -reached, failures))[:most]
    names = [SETS, *(stage.name for stage in result.stages), PICK]
    found = []
    for at in order.tolist():
        name = fleet.name(int(rows[at]))
        if (reason := reason_against(result, name, profile)) is not None:
            found.append(NearMiss(name, int(failures[at]), names[int(reached[at])], reason))
    return tuple(found)


def _failures(result: ScheduleResult, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Conditions of the nearest predicate that fail, sets, taints and plugins counting one each."""
    cycle = result.cycle
    count = (~result.available[rows]).astype(np.int64) + cycle.taint_verdicts.blocked[rows]
    if cycle.plan.predicates:
        each = [
            np.sum([step.failures() for step in steps_of(cycle.fleet, parts, rows)], axis=0, dtype=np.int64)
            for parts in cycle.plan.predicates
            if parts
        ]
        if len(each) == len(cycle.plan.predicates):  # a predicate without conditions fails for nobody
            count += np.min(each, axis=0)
    before = result.available
    for stage in result.stages:
        if stage.name not in ("Predicate", "TaintToleration"):
            count += before[rows] & ~stage.passing[rows]
        before = stage.passing
    return count


def _reached(result: ScheduleResult, rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """The number of stages that the cluster has passed: the place of the one that removed it."""
    passed = result.available[rows].astype(np.int64)
    for stage in result.stages:
        passed += stage.passing[rows]
    return passed
