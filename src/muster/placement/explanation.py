"""Why a placement selected what it did: the funnel with reasons, and the way of one cluster through it. Pure.

Made from a schedule's own record, so that it cannot say anything else than what was decided. The funnel groups clusters
by reason with the masks that the schedule used; thousands of clusters are counted, not listed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.placement.pipeline import STANDARD, why_not
from muster.placement.taints import TAINTS
from muster.placement.tolerations import taints_of, tolerance
from muster.selectors import Verdict
from muster.selectors.cel import CelSelector
from muster.selectors.cel_reasons import findings
from muster.selectors.labels import LabelSelector

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from muster.placement.cycle import Cycle
    from muster.placement.pipeline import Profile
    from muster.placement.result import ScheduleResult
    from muster.selectors import Selector

_EXAMPLES: Final = 3


@dataclass(frozen=True, slots=True)
class ReasonCount:
    """Clusters that a stage removed for one reason."""

    reason: str
    count: int
    examples: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FunnelStage:
    """A stage: how many were left before it and after it, and why the others went."""

    name: str
    before: int
    after: int
    reasons: tuple[ReasonCount, ...]


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at for a cluster: what, whether it let the cluster pass, and the details."""

    name: str
    passed: bool
    reason: str
    details: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ClusterExplanation:
    """The way of one cluster through a placement."""

    cluster: str
    selected: bool
    summary: str
    checks: tuple[Check, ...]
    scores: tuple[tuple[str, int, int], ...] = ()  # scorer, weight, score
    total: int | None = None
    rank: int | None = None


def funnel(result: ScheduleResult) -> tuple[FunnelStage, ...]:
    """From the whole fleet to the selected clusters. Counts add up: what a stage removes is listed by reason."""
    cycle = result.cycle
    everything = np.zeros(cycle.fleet.capacity, dtype=np.bool_)
    everything[cycle.fleet.rows()] = True
    stages = [_stage("ClusterSets", everything, result.available, _not_visible(cycle, everything & ~result.available))]
    before = result.available
    for stage in result.stages:
        removed = before & ~stage.passing
        reasons = _not_matching(cycle, removed) if stage.name == "Predicate" else _by_why_not(result, removed)
        if stage.name == "TaintToleration":
            reasons = _not_tolerated(cycle, removed)
        stages.append(_stage(stage.name, before, stage.passing, reasons))
        before = stage.passing
    selected = np.zeros_like(everything)
    selected[result.ranked] = True
    if result.fault is None:
        wanted = "all" if cycle.plan.number is None else str(cycle.plan.number)
        beyond = {f"fits, but ranks below the {wanted} that are wanted": np.flatnonzero(before & ~selected)}
        stages.append(_stage("Pick", before, selected, _counted(cycle, beyond)))
    return tuple(stages)


def explain_cluster(result: ScheduleResult, name: str, profile: Profile = STANDARD) -> ClusterExplanation:
    """Everything that was looked at for one cluster. Raises KeyError when there is no such cluster."""
    cycle = result.cycle
    row = cycle.fleet.row(name)
    if row is None:
        raise KeyError(name)
    reason = why_not(result, name, profile)
    checks = [*_set_checks(cycle, row), *_predicate_checks(cycle, row), _taint_check(cycle, row)]
    place = np.flatnonzero(result.feasible == row)
    scores: tuple[tuple[str, int, int], ...] = ()
    total = rank = None
    if len(place):
        at = int(place[0])
        scores = tuple((each.name, each.weight, int(each.scores[at])) for each in result.scorers)
        total = int(result.totals[at])
        rank = int(np.flatnonzero(result.ranked == row)[0]) + 1 if row in result.ranked else None
    summary = "selected" if reason is None else reason
    return ClusterExplanation(name, reason is None, summary, tuple(checks), scores, total, rank)


# ------------------------------------------------------------------------------------------------------- one cluster


def _set_checks(cycle: Cycle, row: int) -> Iterator[Check]:
    cluster = cycle.fleet.load(row)
    for name, rule in cycle.visibility.eligible:
        match = rule.match(cluster)
        yield Check(f"set {name}", bool(match), match.reason)
    for name, why in cycle.visibility.broken:
        yield Check(f"set {name}", passed=False, reason=f"cannot be evaluated: {why}")


def _predicate_checks(cycle: Cycle, row: int) -> Iterator[Check]:
    cluster = cycle.fleet.load(row)
    for number, parts in enumerate(cycle.plan.predicates, start=1):
        for part in parts:
            match = part.match(cluster)
            details: tuple[str, ...] = ()
            if isinstance(part, CelSelector) and not match:
                variables = {"managedCluster": part.view(cluster)}
                details = tuple(str(each) for program in part.programs for each in findings(program, variables))
            yield Check(f"predicate {number}", bool(match), match.reason, details)


def _taint_check(cycle: Cycle, row: int) -> Check:
    column = cycle.fleet.column(TAINTS)
    taints = taints_of(column.values[column.codes[row]])
    own = bool(cycle.decided.own[row])
    standing = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own)
    if standing.blocked_by is not None:
        return Check("taints", passed=False, reason=f"{standing.blocked_by} is not tolerated")
    shown = ", ".join(map(str, taints)) or "none"
    if standing.until is not None:
        return Check("taints", passed=True, reason=f"{shown}, tolerated until {standing.until:%Y-%m-%dT%H:%M:%SZ}")
    if standing.disliked:
        return Check("taints", passed=True, reason=f"{shown}: ranks after clusters without it")
    return Check("taints", passed=True, reason=f"{shown}, tolerated" if taints else "none")


# -------------------------------------------------------------------------------------------------------- the funnel


def _stage(
    name: str, before: NDArray[np.bool_], after: NDArray[np.bool_], reasons: tuple[ReasonCount, ...]
) -> FunnelStage:
    return FunnelStage(name, int(before.sum()), int(after.sum()), reasons)


def _counted(cycle: Cycle, groups: dict[str, NDArray[np.intp]]) -> tuple[ReasonCount, ...]:
    found = [
        ReasonCount(reason, len(rows), tuple(sorted(cycle.fleet.names(rows[:_EXAMPLES].tolist()))))
        for reason, rows in groups.items()
        if len(rows)
    ]
    return tuple(sorted(found, key=lambda each: (-each.count, each.reason)))


def _not_visible(cycle: Cycle, removed: NDArray[np.bool_]) -> tuple[ReasonCount, ...]:
    leaving = removed & ~cycle.fleet.present
    if not cycle.visibility.bound:
        reason = "no cluster set is bound to the placement's namespace"
    elif not cycle.visibility.eligible:
        reason = "none of the cluster sets that the placement names is bound to its namespace"
    else:
        reason = f"in none of the cluster sets {', '.join(name for name, _ in cycle.visibility.eligible)}"
    groups = {"being deleted": np.flatnonzero(leaving), reason: np.flatnonzero(removed & ~leaving)}
    return _counted(cycle, groups)


def _not_matching(cycle: Cycle, removed: NDArray[np.bool_]) -> tuple[ReasonCount, ...]:
    """Grouped by the first part of each predicate that did not hold."""
    rows = np.flatnonzero(removed)
    if len(rows) == 0:
        return ()
    firsts = np.array([_first_failing(cycle, parts, rows) for parts in cycle.plan.predicates])
    combinations, inverse = np.unique(firsts, axis=1, return_inverse=True)
    groups: dict[str, NDArray[np.intp]] = {}
    for at, combination in enumerate(combinations.T.tolist()):
        reasons = [
            f"predicate {number}: {_failing_text(cycle.plan.predicates[number - 1], code)}"
            for number, code in enumerate(combination, start=1)
        ]
        groups["; ".join(reasons)] = rows[inverse.reshape(-1) == at]
    return _counted(cycle, groups)


def _first_failing(cycle: Cycle, parts: tuple[Selector, ...], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """Per row: twice the place of the first part that is not a yes, plus one when that is an error."""
    found = np.full(len(rows), -1, dtype=np.int64)
    for place, part in enumerate(parts):
        verdicts = cycle.fleet.mask(part).verdicts[rows]
        fails = (found < 0) & (verdicts != Verdict.YES)
        found[fails] = 2 * place + (verdicts[fails] == Verdict.ERROR)
    return found


def _failing_text(parts: tuple[Selector, ...], code: int) -> str:
    part, is_error = parts[code // 2], code % 2 == 1
    if isinstance(part, CelSelector):
        text = " and ".join(f"'{program.text}'" for program in part.programs)
        return f"{text} {'failed' if is_error else 'is false'}"
    if isinstance(part, LabelSelector):
        return f"{part.noun}s do not satisfy {part.requirements}"
    return "does not match"


def _not_tolerated(cycle: Cycle, removed: NDArray[np.bool_]) -> tuple[ReasonCount, ...]:
    column = cycle.fleet.column(TAINTS)
    blocked = cycle.standings.blocked & removed
    groups: dict[str, list[int]] = {}
    for row in np.flatnonzero(blocked).tolist():
        taints = taints_of(column.values[column.codes[row]])
        own = bool(cycle.decided.own[row])
        taint = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own).blocked_by
        groups.setdefault(f"taint {taint} is not tolerated", []).append(row)
    return _counted(cycle, {reason: np.array(rows, dtype=np.intp) for reason, rows in groups.items()})


def _by_why_not(result: ScheduleResult, removed: NDArray[np.bool_]) -> tuple[ReasonCount, ...]:
    """For filters of plugins: their own words, cluster by cluster."""
    groups: dict[str, list[int]] = {}
    for row in np.flatnonzero(removed).tolist():
        reason = why_not(result, result.cycle.fleet.name(row)) or "removed"
        groups.setdefault(reason, []).append(row)
    return _counted(result.cycle, {reason: np.array(rows, dtype=np.intp) for reason, rows in groups.items()})
