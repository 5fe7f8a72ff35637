"""The schedule: filter, score, pick, spread, group. Same arguments, same result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.placement import conditions
from muster.placement.filters import FILTERS, PredicateFilter
from muster.placement.groups import grouped
from muster.placement.result import ScheduleResult, ScorerResult, Stage
from muster.placement.spread import spread, with_topology
from muster.selectors import Verdict
from muster.selectors.paths import describe
from muster.selectors.telling import bare_reason
from muster.values.messages import listed

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.placement.cycle import Cycle
    from muster.placement.filters import Filter
    from muster.placement.result import Condition

_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class Profile:
    """Which filters a schedule uses, in order. Scorers come with the plan."""

    filters: tuple[Filter, ...]


STANDARD: Final = Profile(tuple(make() for make in FILTERS.values()))


def schedule(cycle: Cycle, profile: Profile = STANDARD) -> ScheduleResult:
    """Decide where the placement goes."""
    plan, fleet = cycle.plan, cycle.fleet
    available = cycle.visibility.available(fleet, cycle.decided.own)
    if plan.fault is not None:
        return _refused(cycle, available)
    # 1. Filter. Each stage sees what those before it have left.
    stages: list[Stage] = []
    passing = available
    for stage in profile.filters:
        passing = passing & stage.passes(cycle, passing)
        stages.append(Stage(stage.name, passing))
    feasible = fleet.in_order(passing)
    # 2. Score. Weights apply to the sum; clusters with a PreferNoSelect taint come after all others.
    results = tuple(
        ScorerResult(each.scorer.name, each.weight, each.scorer.scores(cycle, feasible)) for each in plan.scorers
    )
    totals = np.zeros(len(feasible), dtype=np.int64)
    for result in results:
        totals += result.weight * result.scores
    # 3. Pick. By dislike, then total, then name, so that equal clusters never flap.
    taints = cycle.standings
    wanted = len(feasible) if plan.number is None else plan.number
    merit = _merit(totals, taints.disliked[feasible])
    if plan.spread:
        ranked = spread(fleet, plan.spread, feasible[np.argsort(-merit, kind="stable")], wanted)
        shortfall = (min(wanted, len(feasible)) if plan.number is None else wanted) - len(ranked)
    else:
        ranked = feasible[_best(merit, wanted)]
        shortfall = 0 if plan.number is None else wanted - len(ranked)
    # 4. Group. Decisions are shown by name unless the placement asks for the order of scores.
    shown = ranked
    if not plan.by_score:
        selected = np.zeros_like(passing)
        selected[ranked] = True
        shown = fleet.in_order(selected)
    failing = _failing(cycle, available, profile)
    return ScheduleResult(
        cycle=cycle,
        available=available,
        stages=tuple(stages),
        feasible=feasible,
        scorers=results,
        totals=totals,
        ranked=ranked,
        groups=grouped(fleet, plan.groups, shown),
        unscheduled=max(shortfall, 0),
        conditions=_conditions(cycle, int(available.sum()), len(ranked), max(shortfall, 0), failing),
        warning=warning_of(cycle, feasible),
        failing=failing,
        # When the first toleration that a selected cluster needs comes to its end.
        requeue_at=min((taints.ends[row] for row in ranked.tolist() if row in taints.ends), default=None)
        if taints.ends
        else None,
    )


def _merit(totals: NDArray[np.int64], disliked: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The totals, those of disliked clusters moved below all others."""
    if not disliked.any():
        return totals
    span = int(totals.max()) - int(totals.min()) + 1
    return totals - np.where(disliked, np.int64(span), np.int64(0))


def _best(merit: NDArray[np.int64], wanted: int) -> NDArray[np.intp]:
    """The places of the best, best first; of equals the first. Sorts only what is taken."""
    if wanted >= len(merit):
        return np.argsort(-merit, kind="stable")
    if wanted <= 0:
        return np.array([], dtype=np.intp)
    least = np.partition(merit, len(merit) - wanted)[len(merit) - wanted]
    better = np.flatnonzero(merit > least)
    taken = np.concatenate((better, np.flatnonzero(merit == least)[: wanted - len(better)]))
    return taken[np.argsort(-merit[taken], kind="stable")]


def why_not(result: ScheduleResult, name: str, profile: Profile = STANDARD) -> str | None:
    """Why a cluster is not selected; None when it is."""
    cycle = result.cycle
    row = cycle.fleet.row(name)
    if row is None:
        return "there is no such cluster"
    if result.fault is not None:
        return f"the placement is misconfigured: {result.fault}"
    if not result.available[row]:
        return _why_unavailable(cycle, row)
    for stage in profile.filters:
        if reason := stage.why_not(cycle, row):
            return f"{stage.name}: {reason}"
    if row in result.ranked:
        return None
    return f"it fits, but {len(result.ranked)} of {len(result.feasible)} fitting clusters are wanted; " + _why_behind(
        result, row
    )


def _why_behind(result: ScheduleResult, row: int) -> str:
    """What puts a fitting cluster behind those that are taken: what decided, not what also is so."""
    cycle, disliked = result.cycle, result.cycle.standings.disliked
    for constraint in cycle.plan.spread:
        if constraint.required and not with_topology(cycle.fleet, constraint, np.array([row]))[0]:
            return f"it has no {describe(constraint.path)}, over which the placement must be spread"
    if cycle.plan.spread:
        return f"they are spread over {', '.join(describe(each.path) for each in cycle.plan.spread)}"
    taken = result.ranked
    if disliked[row] and len(taken) and not disliked[taken].all():
        count = int((~disliked[result.feasible]).sum())
        return f"it has a PreferNoSelect taint that is not tolerated, and the {count} without one come first"
    place = int(np.flatnonzero(result.feasible == row)[0])
    peers = result.feasible[disliked[result.feasible] == disliked[row]]
    totals = np.zeros(cycle.fleet.capacity, dtype=np.int64)
    totals[result.feasible] = result.totals
    better = int((totals[peers] > totals[row]).sum())
    also = " with a PreferNoSelect taint" if disliked[row] else ""
    return f"its score is {int(result.totals[place])}, {better} clusters{also} have more"


def _why_unavailable(cycle: Cycle, row: int) -> str:
    if not cycle.fleet.present[row]:
        return "the cluster is being deleted"
    if not cycle.visibility.bound:
        return "no cluster set is bound to the placement's namespace"
    if not cycle.visibility.eligible_names:
        return "none of the cluster sets that the placement names is bound to its namespace"
    cluster, unknown = cycle.fleet.load(row), set(cycle.visibility.unknown)
    reasons = [f"{name}: {rule.match(cluster).reason}" for name, rule in cycle.visibility.eligible]
    reasons += [f"{name}: cannot be evaluated: {why}" for name, why in cycle.visibility.broken if name in unknown]
    return f"it is in none of the placement's cluster sets ({listed(reasons, '; ')})"


def _refused(cycle: Cycle, available: NDArray[np.bool_]) -> ScheduleResult:
    nothing = np.array([], dtype=np.intp)
    return ScheduleResult(
        cycle=cycle,
        available=available,
        stages=(),
        feasible=nothing,
        scorers=(),
        totals=np.array([], dtype=np.int64),
        ranked=nothing,
        groups=(),
        unscheduled=0,
        conditions=_conditions(cycle, int(available.sum()), 0, 0, nothing),
        fault=cycle.plan.fault,
    )


def warning_of(cycle: Cycle, rows: NDArray[np.intp]) -> str:
    """The last scorer that has something to say of these clusters is heard, as upstream does. It may name them."""
    warnings = [each.scorer.warning(cycle, rows) for each in cycle.plan.scorers]
    return next((text for text in reversed(warnings) if text), "")


def _failing(cycle: Cycle, available: NDArray[np.bool_], profile: Profile) -> NDArray[np.intp]:
    """In the order of names: rows are in the order of arrival, which is another one after a restart."""
    masks = [stage.errors(cycle, available) for stage in profile.filters if isinstance(stage, PredicateFilter)]
    failing = np.logical_or.reduce(masks) if masks else np.zeros(0, dtype=np.bool_)
    return cycle.fleet.in_order(failing) if failing.any() else np.array([], dtype=np.intp)


def _conditions(
    cycle: Cycle, available: int, selected: int, unscheduled: int, failing: NDArray[np.intp]
) -> dict[str, Condition]:
    plan = cycle.plan
    found = {
        conditions.MISCONFIGURED: conditions.configured(plan.fault),
        conditions.SATISFIED: conditions.satisfied(
            plan,
            cycle.visibility,
            available=available,
            selected=selected,
            unscheduled=unscheduled,
            fault=plan.fault,
        ),
    }
    if broken := conditions.sets_usable(cycle.visibility):
        found[conditions.SETS_USABLE] = broken
    reasons = [first_error(cycle, row, values=False) for row in failing[:_EXAMPLES].tolist()]
    if errors := conditions.evaluated(plan, len(failing), reasons):
        found[conditions.EVALUATED] = errors
    return found


def first_error(cycle: Cycle, row: int, *, values: bool = True) -> str:
    """What went wrong when the predicates were evaluated on a cluster; without values, only the class of the error."""
    cluster = cycle.fleet.load(row)
    for parts in cycle.plan.predicates:
        for part in parts:
            match = part.match(cluster)
            if match.verdict is Verdict.ERROR:
                return match.reason if values else bare_reason(part, match)
            if not match:
                break
    return ""
