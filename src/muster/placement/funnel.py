"""From the whole fleet to the selected clusters: how many each stage removed, counted by reason. Pure.

Thousands of clusters are counted with the masks that the schedule used, not listed.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from muster.placement.clauses import common_values, steps_of
from muster.placement.filters import PredicateFilter, TaintFilter
from muster.placement.pipeline import STANDARD
from muster.placement.ranking import left_out_groups
from muster.placement.taints import TAINTS, depends_on_time, without_times
from muster.placement.tolerations import taints_of, tolerance
from muster.selectors import Verdict
from muster.selectors.telling import error_class
from muster.values.messages import listed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from numpy.typing import NDArray

    from muster.placement.clauses import Step
    from muster.placement.cycle import Cycle
    from muster.placement.filters import Filter
    from muster.placement.pipeline import Profile
    from muster.placement.result import ScheduleResult
    from muster.selectors.paths import Path

SETS: Final = "ClusterSets"
PICK: Final = "Pick"
MISCONFIGURED: Final = "Misconfigured"
_EXAMPLES: Final = 3
# Taints that the controllers set and that say nothing else of a cluster.
_TAINTS_OF_CONTROLLERS: Final = frozenset(
    f"cluster.open-cluster-management.io/{name}" for name in ("unavailable", "unreachable")
)
_MOST_ASKED: Final = 2000  # clusters that a plugin's filter is asked about, one at a time


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Clusters that a stage removed for one reason. `values` are what they have instead, the most frequent first.

    `bare` is the reason without anything that a cluster holds, for those who may not read them.
    """

    reason: str
    count: int
    examples: tuple[str, ...]
    values: tuple[tuple[str, int], ...] = ()
    bare: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """A stage: how many were left before it and after it, and why the others went."""

    name: str
    before: int
    after: int
    reasons: tuple[ReasonCount, ...]


@dataclass(frozen=True, slots=True)
class _Group:
    rows: NDArray[np.intp]
    path: Path | None = None  # where the value stands that decided
    bare: str = ""  # the reason without values, where it has some


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
        refused = {f"the placement is misconfigured: {result.fault.message}": _Group(np.flatnonzero(before))}
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
    return (SETS, *(stage.name for stage in profile.filters), PICK)


def _stage(
    cycle: Cycle, name: str, before: NDArray[np.bool_], after: NDArray[np.bool_], groups: Mapping[str, _Group]
) -> FunnelStage:
    fleet = cycle.fleet
    reasons = [
        ReasonCount(
            reason,
            len(group.rows),
            tuple(sorted(fleet.names(group.rows[:_EXAMPLES].tolist()))),
            () if group.path is None else common_values(fleet, group.path, group.rows),
            group.bare or reason,
        )
        for reason, group in groups.items()
        if len(group.rows)
    ]
    ordered = tuple(sorted(reasons, key=lambda each: (-each.count, each.reason)))
    return FunnelStage(name, int(before.sum()), int(after.sum()), ordered)


def _removed(cycle: Cycle, stage: Filter | None, rows: NDArray[np.intp]) -> Mapping[str, _Group]:
    match stage:
        case PredicateFilter():
            return _not_matching(cycle, rows)
        case TaintFilter():
            return _not_tolerated(cycle, rows)
        case None:
            return {"removed by a filter that is not installed here": _Group(rows)}
        case _:
            return _in_its_own_words(cycle, stage, rows)


def _not_visible(cycle: Cycle, removed: NDArray[np.bool_]) -> Mapping[str, _Group]:
    leaving = removed & ~cycle.fleet.present
    if not cycle.visibility.bound:
        reason = f"no cluster set is bound to namespace {cycle.plan.namespace}"
    elif not cycle.visibility.eligible_names:
        wanted = listed(cycle.plan.cluster_sets)
        reason = f"none of the cluster sets that the placement names ({wanted}) is bound to {cycle.plan.namespace}"
    else:
        reason = f"in none of the cluster sets {listed(cycle.visibility.eligible_names)}"
    reads = list(frozenset[Any]().union(*(rule.reads for _, rule in cycle.visibility.eligible)))
    return {
        "being deleted": _Group(np.flatnonzero(leaving)),
        reason: _Group(np.flatnonzero(removed & ~leaving), reads[0] if len(reads) == 1 else None),
    }


def _not_matching(cycle: Cycle, rows: NDArray[np.intp]) -> Mapping[str, _Group]:
    """Grouped by the condition of each predicate that did not hold."""
    predicates = [steps_of(cycle.fleet, parts, rows) for parts in cycle.plan.predicates]
    failing = [_failing(steps, len(rows)) for steps in predicates]
    groups: dict[str, _Group] = {}
    for places in _alike(failing):
        found, combination = rows[places], [int(each[places[0]]) for each in failing]
        texts = [
            _text(cycle, number, predicates[number], code, int(found[0])) for number, code in enumerate(combination)
        ]
        reason = "; ".join(f"predicate {number}: {text}" for number, (text, _) in enumerate(texts, start=1))
        bare = "; ".join(f"predicate {number}: {text}" for number, (_, text) in enumerate(texts, start=1))
        path = _path(predicates[0], combination[0]) if len(combination) == 1 else None
        groups[reason] = _Group(found, path, bare)
    return groups


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


def _text(cycle: Cycle, predicate: int, steps: Sequence[Step], code: int, example: int) -> tuple[str, str]:
    """Why a condition does not hold; the same without values."""
    clause = [clause for step in steps for clause in step.clauses][code // 2]
    if code % 2 == 0:
        text = f"{clause.text} is false" if clause.text.startswith("'") else f"{clause.text} does not hold"
        return text, text
    cluster = cycle.fleet.load(example)
    matches = (part.match(cluster) for part in cycle.plan.predicates[predicate])
    error = next((match.reason for match in matches if match.verdict is Verdict.ERROR), "")
    if not error:
        return f"{clause.text} failed", f"{clause.text} failed"
    cause = error.rpartition("failed: ")[2]
    return f"{clause.text} failed: {cause}", f"{clause.text} failed: {error_class(cause)}"


def _path(steps: Sequence[Step], code: int) -> Path | None:
    return None if code % 2 else [clause for step in steps for clause in step.clauses][code // 2].path


def _not_tolerated(cycle: Cycle, rows: NDArray[np.intp]) -> Mapping[str, _Group]:
    """By the taint in the way: settled once per set of taints, and one by one where it depends on the time."""
    column = cycle.fleet.column(TAINTS)
    timeless = column.derive(without_times)
    codes = timeless.codes(column.codes[rows]).astype(np.int64) * 2 + cycle.decided.own[rows]
    groups: dict[str, list[NDArray[np.intp]]] = {}
    bare: dict[str, str] = {}
    for code in np.unique(codes).tolist():
        found = rows[codes == code]
        taints = timeless.values[code // 2]
        one_by_one = isinstance(taints, tuple) and depends_on_time(cycle, taints)
        for some in np.split(found, len(found)) if one_by_one else (found,):
            exact = taints_of(column.values[column.codes[int(some[0])]])
            taint = tolerance(exact, cycle.plan.tolerations, cycle.now, decided=bool(code % 2)).blocked_by
            reason = f"taint {taint} is not tolerated"
            groups.setdefault(reason, []).append(some)
            known = taint is not None and taint.key in _TAINTS_OF_CONTROLLERS and not taint.value
            bare[reason] = reason if known else "a taint is not tolerated"
    return {reason: _Group(np.concatenate(parts), bare=bare[reason]) for reason, parts in groups.items()}


def _in_its_own_words(cycle: Cycle, stage: Filter, rows: NDArray[np.intp]) -> Mapping[str, _Group]:
    """For filters of plugins: what they say of each cluster, as far as they are asked."""
    groups: dict[str, list[int]] = {}
    for row in rows[:_MOST_ASKED].tolist():
        groups.setdefault(stage.why_not(cycle, row) or "removed", []).append(row)
    bare = f"removed by {stage.name}"
    found = {reason: _Group(np.array(some, dtype=np.intp), bare=bare) for reason, some in groups.items()}
    if len(rows) > _MOST_ASKED:
        found[f"removed by {stage.name}, which was not asked why for each of so many"] = _Group(rows[_MOST_ASKED:])
    return found
