"""From the whole fleet to the selected clusters: how many each stage removed, counted by reason. Pure.

Thousands of clusters are counted with the masks that the schedule used, not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.placement.explain.clauses import common_values, steps_of
from muster.placement.explain.explained import FunnelStage, ReasonCount
from muster.placement.explain.ranking import left_out_groups
from muster.placement.schedule.filters import PredicateFilter, TaintFilter, not_tolerated
from muster.placement.schedule.pipeline import STANDARD, no_sets, objection
from muster.placement.schedule.taints import TAINTS, depends_on_time
from muster.placement.schedule.tolerations import taints_of, tolerance, without_times
from muster.reasons import Code, Reason
from muster.selectors import Verdict

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from numpy.typing import NDArray

    from muster.placement.explain.clauses import Step
    from muster.placement.schedule.cycle import Cycle
    from muster.placement.schedule.filters import Filter
    from muster.placement.schedule.pipeline import Profile
    from muster.placement.schedule.result import ScheduleResult
    from muster.selectors.paths import Path

SETS: Final = "ClusterSets"
PICK: Final = "Pick"
MISCONFIGURED: Final = "Misconfigured"
_EXAMPLES: Final = 3
_MOST_ASKED: Final = 2000  # clusters that a plugin's filter is asked about, one at a time


@dataclass(frozen=True, slots=True)
class _Group:
    rows: NDArray[np.intp]
    path: Path | None = None  # where the value stands that decided

    def joined(self, other: _Group) -> _Group:
        return _Group(np.concatenate((self.rows, other.rows)), self.path)


Groups = dict[Reason, _Group]


def funnel(result: ScheduleResult, profile: Profile = STANDARD) -> tuple[FunnelStage, ...]:
    """From the whole fleet to the selected clusters. Counts add up: what a stage removes is listed by reason."""
    cycle = result.cycle
    everything = np.zeros(cycle.fleet.capacity, dtype=np.bool_)
    everything[cycle.fleet.rows()] = True
    stages = [_stage(cycle, SETS, everything, result.available, _not_visible(cycle, everything & ~result.available))]
    before = result.available
    selected = np.zeros_like(everything)
    selected[result.ranked] = True
    if result.fault is not None:
        fault = Reason(Code.PLACEMENT_MISCONFIGURED, parameters={"fault": result.fault.message})
        refused = {fault: _Group(np.flatnonzero(before))}
        return (*stages, _stage(cycle, MISCONFIGURED, before, selected, refused))
    filters = {stage.name: stage for stage in profile.filters}
    for stage in result.stages:
        rows = np.flatnonzero(before & ~stage.passing)
        groups = _removed(cycle, filters.get(stage.name), rows) if len(rows) else {}
        stages.append(_stage(cycle, stage.name, before, stage.passing, groups))
        before = stage.passing
    beyond = left_out_groups(result, np.flatnonzero(before & ~selected))
    stages.append(_stage(cycle, PICK, before, selected, {reason: _Group(rows) for reason, rows in beyond.items()}))
    return tuple(stages)


def stage_names(result: ScheduleResult, profile: Profile = STANDARD) -> tuple[str, ...]:
    """The stages of the funnel in order."""
    if result.fault is not None:
        return (SETS, MISCONFIGURED)
    return all_stages(profile)


def all_stages(profile: Profile = STANDARD) -> tuple[str, ...]:
    """The stages that a placement without a fault has."""
    return (SETS, *(stage.name for stage in profile.filters), PICK)


def _stage(cycle: Cycle, name: str, before: NDArray[np.bool_], after: NDArray[np.bool_], groups: Groups) -> FunnelStage:
    fleet = cycle.fleet
    reasons = [
        ReasonCount(
            reason,
            len(group.rows),
            tuple(sorted(fleet.names(group.rows[:_EXAMPLES].tolist()))),
            () if group.path is None else common_values(fleet, group.path, group.rows),
        )
        for reason, group in groups.items()
        if len(group.rows)
    ]
    ordered = tuple(sorted(reasons, key=lambda each: (-each.count, each.reason)))
    return FunnelStage(name, int(before.sum()), int(after.sum()), ordered)


def _removed(cycle: Cycle, stage: Filter | None, rows: NDArray[np.intp]) -> Groups:
    match stage:
        case PredicateFilter():
            return _not_matching(cycle, rows)
        case TaintFilter():
            return _not_tolerated(cycle, rows)
        case None:
            return {Reason(Code.FILTER_NOT_INSTALLED): _Group(rows)}
        case _:
            return _in_its_own_words(cycle, stage, rows)


def _not_visible(cycle: Cycle, removed: NDArray[np.bool_]) -> Groups:
    leaving = removed & ~cycle.fleet.present
    outside = Reason(Code.IN_NO_SET, parameters={"sets": tuple(cycle.visibility.eligible_names)})
    rules = (rule for _, rule in cycle.visibility.eligible)
    reads = list(dict.fromkeys(path for rule in rules for path in rule.reads))
    return {
        Reason(Code.CLUSTER_DELETING): _Group(np.flatnonzero(leaving)),
        no_sets(cycle) or outside: _Group(np.flatnonzero(removed & ~leaving), reads[0] if len(reads) == 1 else None),
    }


def _not_matching(cycle: Cycle, rows: NDArray[np.intp]) -> Groups:
    """Grouped by the condition of each predicate that did not hold."""
    predicates = [steps_of(cycle.fleet, parts, rows) for parts in cycle.plan.predicates]
    failing = [_failing(steps, len(rows)) for steps in predicates]
    groups: Groups = {}
    for places in _alike(failing):
        found, combination = rows[places], [int(each[places[0]]) for each in failing]
        parts = tuple(
            _why(cycle, number, predicates[number], code, int(found[0])).about(predicate=number + 1)
            for number, code in enumerate(combination)
        )
        path = _path(predicates[0], combination[0]) if len(combination) == 1 else None
        _add(groups, Reason(Code.NO_PREDICATE_HOLDS, parts=parts), _Group(found, path))
    return groups


def _add(groups: Groups, reason: Reason, group: _Group) -> None:
    groups[reason] = groups[reason].joined(group) if reason in groups else group


def _alike(columns: Sequence[NDArray[np.int64]]) -> Iterator[NDArray[np.intp]]:
    """The places at which all columns have the same numbers, group by group. The numbers are small."""
    combined = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        _, combined = np.unique(combined * (int(column.max()) + 1) + column, return_inverse=True)
    for number in range(int(combined.max()) + 1):
        yield np.flatnonzero(combined == number)


def _failing(steps: Sequence[Step], count: int) -> NDArray[np.int64]:
    """Per row: twice the number of the condition that decided, counted over all steps, plus one for an error."""
    found = np.full(count, -1, dtype=np.int64)
    passed = 0
    for step in steps:
        place, verdict = step.deciding()
        fresh = (found < 0) & (place >= 0)
        found[fresh] = 2 * (passed + place[fresh]) + (verdict[fresh] == Verdict.ERROR)
        passed += len(step.clauses)
    # Together they may cost too much where each alone does not: then it is the last one that was not reached.
    return np.where(found < 0, 2 * (passed - 1) + 1, found)


def _why(cycle: Cycle, predicate: int, steps: Sequence[Step], code: int, example: int) -> Reason:
    """Why a condition does not hold."""
    clause = [clause for step in steps for clause in step.clauses][code // 2]
    if code % 2 == 0:
        return clause.fails
    cluster = cycle.fleet.load(example)
    matches = (part.match(cluster) for part in cycle.plan.predicates[predicate])
    return clause.failing(next((match.why for match in matches if match.verdict is Verdict.ERROR), None))


def _path(steps: Sequence[Step], code: int) -> Path | None:
    return None if code % 2 else [clause for step in steps for clause in step.clauses][code // 2].path


def _not_tolerated(cycle: Cycle, rows: NDArray[np.intp]) -> Groups:
    """By the taint in the way: settled once per set of taints, and one by one where it depends on the time."""
    column = cycle.fleet.column(TAINTS)
    timeless = column.derive(without_times)
    codes = timeless.codes(column.codes[rows]).astype(np.int64) * 2 + cycle.decided.own[rows]
    groups: dict[Reason, list[NDArray[np.intp]]] = {}
    for code in sorted(set(codes.tolist())):  # what `np.unique` imports for this takes longer
        found = rows[codes == code]
        taints = timeless.values[code // 2]
        one_by_one = isinstance(taints, tuple) and depends_on_time(cycle, taints)
        for some in np.split(found, len(found)) if one_by_one else (found,):
            exact = taints_of(column.values[column.codes[int(some[0])]])
            taint = tolerance(exact, cycle.plan.tolerations, cycle.now, decided=bool(code % 2)).blocked_by
            reason = Reason(Code.TAINT_NOT_TOLERATED) if taint is None else not_tolerated(taint)
            groups.setdefault(reason, []).append(some)
    return {reason: _Group(np.concatenate(parts)) for reason, parts in groups.items()}


def _in_its_own_words(cycle: Cycle, stage: Filter, rows: NDArray[np.intp]) -> Groups:
    """For filters of plugins: what they say of each cluster, as far as they are asked."""
    groups: dict[Reason, list[int]] = {}
    silent = Reason(Code.FILTER_OBJECTS, parameters={"filter": stage.name}, values={"text": "removed"})
    for row in rows[:_MOST_ASKED].tolist():
        groups.setdefault(objection(stage, cycle, row) or silent, []).append(row)
    found = {reason: _Group(np.array(some, dtype=np.intp)) for reason, some in groups.items()}
    if len(rows) > _MOST_ASKED:
        found[Reason(Code.FILTER_NOT_ASKED, parameters={"filter": stage.name})] = _Group(rows[_MOST_ASKED:])
    return found
