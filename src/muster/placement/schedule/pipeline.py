"""The schedule: filter, score, pick, spread, group. Same arguments, same result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.placement.explain.ranking import topologies
from muster.placement.schedule import conditions
from muster.placement.schedule.candidates import Candidates
from muster.placement.schedule.filters import FILTERS, PredicateFilter
from muster.placement.schedule.groups import grouped
from muster.placement.schedule.result import ScheduleResult, Stage
from muster.placement.schedule.spread import spread, with_topology
from muster.reasons import Code, Reason, Subject, bare, sentence
from muster.selectors import Verdict
from muster.selectors.paths import describe

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from muster.placement.schedule.cycle import Cycle
    from muster.placement.schedule.filters import Filter
    from muster.placement.schedule.result import Concluded

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
    # 2. Score. Weights apply to the sum; clusters with a PreferNoSelect taint come after all others.
    candidates = Candidates.of(cycle, passing)
    # 3. Pick. By dislike, then total, then name, so that equal clusters never flap.
    picked: NDArray[np.intp] | None = None
    wanted = candidates.count if plan.number is None else plan.number
    if plan.spread:
        picked = spread(fleet, plan.spread, candidates.ranked, wanted)
    elif wanted < candidates.count:
        picked = candidates.best(wanted)
    taken = candidates.count if picked is None else len(picked)
    shortfall = max(wanted - taken, 0)
    # 4. Group. Decisions are shown by name unless the placement asks for the order of scores.
    if plan.by_score:
        shown = candidates.ranked if picked is None else picked
    else:
        shown = candidates.rows if picked is None else fleet.ordered(picked)
    failing = _failing(cycle, available, profile)
    ends = cycle.taint_verdicts.ends
    return ScheduleResult(
        cycle=cycle,
        available=available,
        stages=tuple(stages),
        candidates=candidates,
        picked=picked,
        groups=grouped(fleet, plan.groups, shown),
        unscheduled=shortfall,
        concluded=_conditions(cycle, int(np.count_nonzero(available)), taken, shortfall, failing),
        warning="" if candidates.by_decisions else warning_of(cycle, candidates.rows),
        failing=failing,
        # When the first toleration that a selected cluster needs comes to its end.
        requeue_at=min((ends[row] for row in shown.tolist() if row in ends), default=None) if ends else None,
    )


def why_not(result: ScheduleResult, name: str, profile: Profile = STANDARD) -> str | None:
    """Why a cluster is not selected, in words; None when it is."""
    reason = reason_against(result, name, profile)
    return None if reason is None else sentence(reason)


def reason_against(result: ScheduleResult, name: str, profile: Profile = STANDARD) -> Reason | None:
    """Why a cluster is not selected; None when it is."""
    reason = _why_not(result, name, profile)
    return None if reason is None else reason.about(cluster=name)


def _why_not(result: ScheduleResult, name: str, profile: Profile) -> Reason | None:
    cycle = result.cycle
    row = cycle.fleet.row(name)
    if row is None:
        return Reason(Code.NO_SUCH_CLUSTER)
    if result.fault is not None:
        return Reason(Code.PLACEMENT_MISCONFIGURED, parameters={"fault": str(result.fault)})
    if not result.available[row]:
        return _why_unavailable(cycle, row)
    for stage in profile.filters:
        if reason := objection(stage, cycle, row):
            return reason.about(stage=stage.name)
    if row in result.ranked:
        return None
    given = {"taken": len(result.ranked), "fitting": len(result.feasible)}
    return Reason(Code.NOT_PICKED, parameters={**given}, parts=(_why_behind(result, row),))


def objection_before_scores(cycle: Cycle, name: str, profile: Profile = STANDARD) -> Reason | None:
    """Why a cluster is not selected, where that is known without scoring anybody; None where it takes the schedule.
    Nothing is evaluated for that on other clusters.

    A reason without a stage is about cluster sets.
    """
    row = cycle.fleet.row(name)
    if row is None or cycle.plan.fault is not None:
        return None
    if not cycle.visibility.has(cycle.fleet, row, cycle.decided.own):
        return _why_unavailable(cycle, row).about(cluster=name)
    for stage in profile.filters:
        if reason := objection(stage, cycle, row):
            return reason.about(stage=stage.name, cluster=name)
    return None


def objection(stage: Filter, cycle: Cycle, row: int) -> Reason | None:
    """What a filter has against a cluster. The words of a plugin may quote whatever it has seen."""
    said = stage.why_not(cycle, row)
    if isinstance(said, str):
        return Reason(Code.FILTER_OBJECTS, parameters={"filter": stage.name}, values={"text": said}) if said else None
    return said


def _why_behind(result: ScheduleResult, row: int) -> Reason:
    """What puts a fitting cluster behind those that are taken: what decided, not what also is so."""
    cycle, disliked = result.cycle, result.cycle.taint_verdicts.disliked
    for constraint in cycle.plan.spread:
        if constraint.required and not with_topology(cycle.fleet, constraint, np.array([row]))[0]:
            return Reason(Code.TOPOLOGY_MISSING, parameters={"topology": describe(constraint.path)})
    if cycle.plan.spread:
        return Reason(Code.SPREAD_OVER, parameters={"topologies": topologies(cycle.plan.spread)})
    taken = result.ranked
    if disliked[row] and len(taken) and not disliked[taken].all():
        count = int((~disliked[result.feasible]).sum())
        return Reason(Code.TAINT_DISLIKED, parameters={"others": count})
    place = int(np.flatnonzero(result.feasible == row)[0])
    peers = result.feasible[disliked[result.feasible] == disliked[row]]
    totals = np.zeros(cycle.fleet.capacity, dtype=np.int64)
    totals[result.feasible] = result.totals
    better = int((totals[peers] > totals[row]).sum())
    given = {"score": int(result.totals[place]), "better": better, "disliked": bool(disliked[row])}
    return Reason(Code.SCORE_TOO_LOW, parameters={**given})


def _why_unavailable(cycle: Cycle, row: int) -> Reason:
    if not cycle.fleet.present[row]:
        return Reason(Code.CLUSTER_DELETING)
    if (nothing := no_sets(cycle)) is not None:
        return nothing
    cluster, unknown = cycle.fleet.load(row), set(cycle.visibility.unknown)
    parts = [rule.match(cluster).why.about(cluster_set=name) for name, rule in cycle.visibility.eligible]
    for name, why in cycle.visibility.broken:
        if name in unknown:
            parts.append(Reason(Code.SET_UNUSABLE, Subject(cluster_set=name), {"fault": why}))
    return Reason(Code.IN_NO_SET, parameters={"sets": tuple(cycle.visibility.eligible_names)}, parts=tuple(parts))


def no_sets(cycle: Cycle) -> Reason | None:
    """Why a placement has no sets to choose from; None when it has some."""
    namespace = cycle.plan.namespace
    if not cycle.visibility.bound:
        return Reason(Code.NO_SET_BOUND, parameters={"namespace": namespace})
    if not cycle.visibility.eligible_names:
        return Reason(Code.NAMED_SETS_NOT_BOUND, parameters={"namespace": namespace, "sets": cycle.plan.cluster_sets})
    return None


def _refused(cycle: Cycle, available: NDArray[np.bool_]) -> ScheduleResult:
    nothing = np.array([], dtype=np.intp)
    return ScheduleResult(
        cycle=cycle,
        available=available,
        stages=(),
        candidates=Candidates(cycle, np.zeros_like(available), cycle.fleet.name_order),
        picked=nothing,
        groups=(),
        unscheduled=0,
        concluded=_conditions(cycle, int(np.count_nonzero(available)), 0, 0, nothing),
        fault=cycle.plan.fault,
    )


def warning_of(cycle: Cycle, rows: NDArray[np.intp]) -> str:
    """The last scorer that has something to say of these clusters is heard, as upstream does. It may name them."""
    warnings = [each.scorer.warning(cycle, rows) for each in cycle.plan.scorers]
    return next((text for text in reversed(warnings) if text), "")


def _failing(cycle: Cycle, available: NDArray[np.bool_], profile: Profile) -> NDArray[np.intp]:
    """In the order of names: rows are in the order of arrival, which is another one after a restart."""
    if not any(cycle.fleet.mask(part).has_errors for parts in cycle.plan.predicates for part in parts):
        return np.array([], dtype=np.intp)
    masks = [stage.errors(cycle, available) for stage in profile.filters if isinstance(stage, PredicateFilter)]
    failing = np.logical_or.reduce(masks) if masks else np.zeros(0, dtype=np.bool_)
    return cycle.fleet.in_order(failing) if failing.any() else np.array([], dtype=np.intp)


def _conditions(
    cycle: Cycle, available: int, selected: int, unscheduled: int, failing: NDArray[np.intp]
) -> dict[str, Concluded]:
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
    reasons = [error for row in failing[:_EXAMPLES].tolist() if (error := first_error(cycle, row)) is not None]
    if errors := conditions.evaluated(plan, len(failing), [bare(each) for each in reasons]):
        found[conditions.EVALUATED] = errors
    return found


def first_error(cycle: Cycle, row: int) -> Reason | None:
    """What went wrong when the predicates were evaluated on a cluster."""
    cluster = cycle.fleet.load(row)
    for parts in cycle.plan.predicates:
        for part in parts:
            match = part.match(cluster)
            if match.verdict is Verdict.ERROR:
                return match.why.about(cluster=cycle.fleet.name(row))
            if not match:
                break
    return None
