"""Where a fitting cluster stands among the others that fit, and what it would take to be selected."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import numpy as np

from muster.placement.explain.explained import ScorerScore
from muster.placement.schedule.spread import with_topology
from muster.reasons import Code, Reason
from muster.selectors.paths import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.placement.schedule.result import ScheduleResult
    from muster.placement.schedule.spread import SpreadConstraint
    from muster.reasons import Parameter


class Standing(msgspec.Struct, frozen=True):
    """A fitting cluster: its scores, its place by score among all that fit (from 1), and why it is or is not taken."""

    scores: tuple[ScorerScore, ...]
    total: int
    rank: int
    cut: Reason


def standing(result: ScheduleResult, row: int) -> Standing | None:
    """None for a cluster that does not fit."""
    places = np.flatnonzero(result.feasible == row)
    if len(places) == 0:
        return None
    at = int(places[0])
    scores = tuple(ScorerScore(each.name, each.weight, int(each.scores[at])) for each in result.scorers)
    return Standing(scores, int(result.totals[at]), int(ranks(result)[at]), _cut(result, row))


def ranks(result: ScheduleResult) -> NDArray[np.int64]:
    """The places of the feasible rows: clusters with a PreferNoSelect taint last, then by score, then by name."""
    disliked = result.cycle.taint_verdicts.disliked[result.feasible]
    order = np.lexsort((np.arange(len(disliked)), -result.totals, disliked))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(1, len(order) + 1)
    return places


def left_out(result: ScheduleResult, row: int) -> Reason:
    """Why a cluster that fits is not selected, in general terms: clusters with the same answer are counted together."""
    plan = result.cycle.plan
    for constraint in plan.spread:
        if constraint.required and not with_topology(result.cycle.fleet, constraint, np.array([row]))[0]:
            return Reason(Code.TOPOLOGY_MISSING, parameters={"topology": describe(constraint.path)})
    wanted = len(result.feasible) if plan.number is None else plan.number
    if plan.spread:
        place = int(ranks(result)[np.flatnonzero(result.feasible == row)[0]])
        if place <= wanted:
            return Reason(Code.SPREAD_UNEVENLY, parameters={"topologies": topologies(plan.spread)})
    return Reason(Code.RANK_TOO_LOW, parameters={"wanted": wanted})


def left_out_groups(result: ScheduleResult, rows: NDArray[np.intp]) -> dict[Reason, NDArray[np.intp]]:
    """The same for many rows at once."""
    plan = result.cycle.plan
    if not plan.spread:
        return {left_out(result, int(rows[0])): rows} if len(rows) else {}
    places = np.zeros(result.cycle.fleet.capacity, dtype=np.int64)
    places[result.feasible] = ranks(result)
    wanted = len(result.feasible) if plan.number is None else plan.number
    homeless = np.zeros(len(rows), dtype=np.int64)
    for number, constraint in enumerate(plan.spread, start=1):
        if constraint.required:
            homeless[(homeless == 0) & ~with_topology(result.cycle.fleet, constraint, rows)] = number
    # Who has no place in the spread is out whatever its rank.
    kinds = np.where(homeless > 0, homeless + 1, places[rows] <= wanted)
    return {left_out(result, int(rows[kinds == kind][0])): rows[kinds == kind] for kind in np.unique(kinds)}


def _cut(result: ScheduleResult, row: int) -> Reason:
    """Why above or below the cut, with the cluster on its other side."""
    fleet, plan = result.cycle.fleet, result.cycle.plan
    fitting, taken = len(result.feasible), len(result.ranked)
    given: dict[str, Parameter] = {"taken": taken, "fitting": fitting}
    if plan.number is not None:
        given["wanted"] = plan.number
    is_taken = bool((result.ranked == row).any())
    if is_taken and taken == fitting:
        return Reason(Code.ALL_TAKEN, parameters=given)
    if plan.spread:
        given["topologies"] = topologies(plan.spread)
        if is_taken:
            return Reason(Code.TAKEN_IN_SPREAD, parameters=given)
        return Reason(Code.LEFT_OUT_OF_SPREAD, parameters=given, parts=(left_out(result, row),))
    if taken == 0:
        return Reason(Code.NONE_TAKEN, parameters=given)
    totals = np.zeros(fleet.capacity, dtype=np.int64)
    totals[result.feasible] = result.totals
    if is_taken:
        out = int(result.feasible[ranks(result) == taken + 1][0])
        given["score"] = int(totals[out])
        return Reason(Code.ABOVE_THE_CUT, parameters=given, clusters={"other": fleet.name(out)})
    last = int(result.ranked[-1])
    given["score"] = int(totals[last])
    disliked = result.cycle.taint_verdicts.disliked
    if disliked[row] and not disliked[last]:
        given["tie"] = "taint"
    elif totals[row] == totals[last]:
        given["tie"] = "name"
    return Reason(Code.BELOW_THE_CUT, parameters=given, clusters={"other": fleet.name(last)})


def topologies(constraints: tuple[SpreadConstraint, ...]) -> tuple[str, ...]:
    """What a placement is spread over, as people say it."""
    return tuple(describe(each.path) for each in constraints)
