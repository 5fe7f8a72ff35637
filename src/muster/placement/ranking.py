"""Where a fitting cluster stands among the others that fit, and what it would take to be selected."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from muster.placement.spread import with_topology
from muster.selectors.paths import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.placement.result import ScheduleResult
    from muster.placement.spread import SpreadConstraint


class ScorerScore(NamedTuple):
    """What one scorer gave a cluster, before its weight."""

    scorer: str
    weight: int
    score: int


@dataclass(frozen=True, slots=True)
class Standing:
    """A fitting cluster: its scores, its place by score among all that fit (from 1), and why it is or is not taken."""

    scores: tuple[ScorerScore, ...]
    total: int
    rank: int
    cut: str


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
    disliked = result.cycle.standings.disliked[result.feasible]
    order = np.lexsort((np.arange(len(disliked)), -result.totals, disliked))
    places = np.empty(len(order), dtype=np.int64)
    places[order] = np.arange(1, len(order) + 1)
    return places


def left_out(result: ScheduleResult, row: int) -> str:
    """Why a cluster that fits is not selected, in general terms: clusters with the same answer are counted together."""
    plan = result.cycle.plan
    for constraint in plan.spread:
        if constraint.required and not with_topology(result.cycle.fleet, constraint, np.array([row]))[0]:
            return f"fits, but has no {describe(constraint.path)}, over which the placement must be spread"
    wanted = len(result.feasible) if plan.number is None else plan.number
    if plan.spread:
        place = int(ranks(result)[np.flatnonzero(result.feasible == row)[0]])
        if place <= wanted:
            return (
                f"fits and scores high enough, but would spread the placement unevenly over {_topologies(plan.spread)}"
            )
    return f"fits, but ranks below the {wanted} that are wanted"


def left_out_groups(result: ScheduleResult, rows: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
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


def _cut(result: ScheduleResult, row: int) -> str:
    """Why above or below the cut, with the cluster on its other side."""
    fleet, plan = result.cycle.fleet, result.cycle.plan
    fitting, taken = len(result.feasible), len(result.ranked)
    wanted = f"{plan.number} wanted" if plan.number is not None else "all are wanted"
    is_taken = bool((result.ranked == row).any())
    if is_taken and taken == fitting:
        return f"above the cut: all {fitting} that fit are taken ({wanted})"
    if plan.spread:
        deed = "taken" if is_taken else left_out(result, row)
        return f"{deed}: {taken} of {fitting} that fit are taken ({wanted}), spread over {_topologies(plan.spread)}"
    if taken == 0:
        return f"below the cut: none of {fitting} that fit is taken ({wanted})"
    totals = np.zeros(fleet.capacity, dtype=np.int64)
    totals[result.feasible] = result.totals
    if is_taken:
        out = result.feasible[ranks(result) == taken + 1]
        other = f"the first that is not taken is {_scored(result, totals, int(out[0]))}"
        return f"above the cut: {taken} of {fitting} that fit are taken ({wanted}); {other}"
    last = int(result.ranked[-1])
    disliked = result.cycle.standings.disliked
    if disliked[row] and not disliked[last]:
        tie = "; a cluster with a PreferNoSelect taint ranks after all without one"
    else:
        tie = "; equal scores go by name" if totals[row] == totals[last] else ""
    other = f"the last one taken is {_scored(result, totals, last)}"
    return f"below the cut: {taken} of {fitting} that fit are taken ({wanted}); {other}{tie}"


def _scored(result: ScheduleResult, totals: NDArray[np.int64], row: int) -> str:
    return f"{result.cycle.fleet.name(row)} with {int(totals[row])}"


def _topologies(constraints: tuple[SpreadConstraint, ...]) -> str:
    return ", ".join(describe(each.path) for each in constraints)
