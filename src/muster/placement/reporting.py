"""Reports from a schedule's own record, so that they cannot say anything else than what was decided. Pure.

The controllers' process calls it for explanations and dry runs that the hub asks for.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import UNSET

from muster.placement.conditions import EVALUATED
from muster.placement.funnel import ReasonCount, funnel
from muster.placement.near_misses import near_misses
from muster.placement.pipeline import STANDARD, first_error
from muster.placement.ranking import ranks
from muster.placement.report import (
    CheckReport,
    ClusterReport,
    ClusterScores,
    ConditionReport,
    DecisionReport,
    DiffReport,
    FailureReport,
    FailuresReport,
    Names,
    NearMissReport,
    ObservationReport,
    PlacementReport,
    ReasonReport,
    ReportMetadata,
    ScoreReport,
    ScorerReport,
    ScoresReport,
    StageReport,
    ValueCount,
    Window,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.placement.explanation import ClusterExplanation
    from muster.placement.funnel import FunnelStage
    from muster.placement.result import ScheduleResult

_MOST_REASONS: Final = 50  # of one stage
_NEAR: Final = 5  # clusters that came near
_EXAMPLES: Final = 3  # clusters on which expressions failed
_WARNS: Final = "a scorer warns of some clusters; those who may get them are told"
_LONGEST_TEXT: Final = 1000  # characters of one reason; expressions can be long


def report_of(
    result: ScheduleResult,
    present: Sequence[str],
    window: Window,
    *,
    revision: str = "",
    examples: bool = True,
    values: bool = True,
) -> PlacementReport:
    """Everything about a schedule. `present` are the decisions that stand; without a revision it is a dry run.

    Without examples nothing is evaluated again, not even for a few clusters. Without values, what is said of many
    clusters together has nothing in it that any of them holds; what is said of one stands beside its name.
    """
    plan = result.cycle.plan
    # With a fault nothing is decided: what stands, stays.
    selected = list(present) if result.fault is not None else result.selected
    gained, lost = sorted(set(selected) - set(present)), sorted(set(present) - set(selected))
    sizes = (len(selected), len(result.feasible), len(gained), len(lost))
    more = window.offset + window.limit < max(sizes)
    return PlacementReport(
        metadata=ReportMetadata(plan.name, plan.namespace, revision, str(window.offset + window.limit) if more else ""),
        dry_run=not revision,
        fleet=len(result.cycle.fleet),
        selected=len(selected),
        unscheduled=result.unscheduled,
        conditions=tuple(_conditions(result)),
        funnel=tuple(_stage(stage if values else _bare(stage)) for stage in funnel(result)),
        decisions=tuple(_decisions(result, window)),
        scores=_scores(result, window),
        diff=DiffReport(len(present), _names(gained, window), _names(lost, window)),
        failures=_failures(result, _EXAMPLES if examples else 0),
        near_misses=tuple(
            NearMissReport(each.cluster, each.failures, each.stage, _shortened(each.reason))
            for each in near_misses(result, STANDARD, _NEAR if examples else 0)
        ),
        notes=(_shortened(result.warning) if values else _WARNS,) if result.warning else (),
        wanted=UNSET if plan.number is None else plan.number,
    )


def cluster_report(explanation: ClusterExplanation) -> ClusterReport:
    """The way of one cluster, to be put into a report."""
    return ClusterReport(
        explanation.cluster,
        explanation.selected,
        explanation.stage,
        _shortened(explanation.summary),
        tuple(
            CheckReport(
                each.name,
                each.passed,
                _shortened(each.reason),
                each.field,
                tuple(
                    ObservationReport(
                        _shortened(seen.text), _shortened(seen.value), _shortened(seen.short), seen.is_error
                    )
                    for seen in each.observed
                ),
            )
            for each in explanation.checks
        ),
        tuple(ScoreReport(each.scorer, each.weight, each.score) for each in explanation.scores),
        UNSET if explanation.total is None else explanation.total,
        UNSET if explanation.rank is None else explanation.rank,
        explanation.cut,
    )


def _conditions(result: ScheduleResult) -> Iterable[ConditionReport]:
    for kind, condition in result.conditions.items():
        message = condition.message
        if kind == EVALUATED:
            # The sentence without its reasons, which stand apart, with the clusters that may be named.
            message = f"{_failing(result)} clusters are not selected because an expression failed"
        yield ConditionReport(kind, condition.status, condition.reason, _shortened(message))


def _bare(stage: FunnelStage) -> FunnelStage:
    """The stage with bare reasons. Those that are the same now become one."""
    alike: dict[str, ReasonCount] = {}
    for each in stage.reasons:
        known = alike.get(each.bare)
        count, examples = (known.count, known.examples) if known else (0, ())
        merged = (*examples, *each.examples)[:_EXAMPLES]
        alike[each.bare] = ReasonCount(each.bare, count + each.count, merged, bare=each.bare)
    ordered = sorted(alike.values(), key=lambda each: (-each.count, each.reason))
    return replace(stage, reasons=tuple(ordered))


def _failing(result: ScheduleResult) -> int:
    return 0 if result.failing is None else len(result.failing)


def _failures(result: ScheduleResult, most: int) -> FailuresReport:
    cycle, rows = result.cycle, [] if result.failing is None else result.failing[:most].tolist()
    examples = tuple(FailureReport(cycle.fleet.name(row), _shortened(first_error(cycle, row))) for row in rows)
    reasons = dict.fromkeys(_shortened(first_error(cycle, row, values=False)) for row in rows)
    return FailuresReport(_failing(result), examples, tuple(reasons))


def _stage(stage: FunnelStage) -> StageReport:
    listed, others = stage.reasons[:_MOST_REASONS], stage.reasons[_MOST_REASONS:]
    return StageReport(
        stage.name,
        stage.before,
        stage.after,
        tuple(
            ReasonReport(
                _shortened(each.reason),
                each.count,
                each.examples,
                tuple(ValueCount(_shortened(value), count) for value, count in each.values),
            )
            for each in listed
        ),
        len(others),
        sum(each.count for each in others),
    )


def _names(names: Sequence[str], window: Window) -> Names:
    return Names(len(names), tuple(names[window.offset : window.offset + window.limit]))


def _decisions(result: ScheduleResult, window: Window) -> Iterable[DecisionReport]:
    """The pages that the window, which runs over the clusters of all of them, falls on."""
    start, end = window.offset, window.offset + window.limit
    for page in result.pages():
        size = len(page.clusters)
        shown = page.clusters[max(start, 0) : max(end, 0)]
        if shown or not (size or window.offset):
            yield DecisionReport(page.name, page.group_name, page.group_index, Names(size, shown))
        start, end = start - size, end - size


def _scores(result: ScheduleResult, window: Window) -> ScoresReport:
    fleet, feasible = result.cycle.fleet, result.feasible
    chosen = np.zeros(fleet.capacity, dtype=np.bool_)
    chosen[result.ranked] = True
    place = np.zeros(fleet.capacity, dtype=np.intp)
    place[feasible] = np.arange(len(feasible))
    ordered = feasible[np.argsort(ranks(result))]
    shown = ordered[window.offset : window.offset + window.limit].tolist()
    return ScoresReport(
        tuple(ScorerReport(each.name, each.weight) for each in result.scorers),
        len(feasible),
        tuple(
            ClusterScores(
                fleet.name(row),
                bool(chosen[row]),
                rank,
                int(result.totals[place[row]]),
                tuple(int(each.scores[place[row]]) for each in result.scorers),
            )
            for rank, row in enumerate(shown, start=window.offset + 1)
        ),
    )


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_TEXT else f"{text[:_LONGEST_TEXT]}…"
