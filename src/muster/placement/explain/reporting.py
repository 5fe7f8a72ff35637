"""Reports from a schedule's own record, so that they cannot say anything else than what was decided. Pure.

The controllers' process calls it for explanations and dry runs that the hub asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from msgspec import UNSET
from msgspec.structs import replace

from muster.placement.explain.explained import NOBODY, NearMiss, ReasonCount, ValueCount
from muster.placement.explain.funnel import funnel
from muster.placement.explain.near_misses import near_misses
from muster.placement.explain.ranking import ranks
from muster.placement.explain.report import (
    LONGEST_TEXT,
    ClusterScores,
    ConditionReport,
    DecisionReport,
    DiffReport,
    FailureReport,
    FailuresReport,
    Names,
    Note,
    PlacementReport,
    ReportMetadata,
    ScorerReport,
    ScoresReport,
    Window,
    shortened,
    told,
    with_remarks,
)
from muster.placement.schedule.conditions import EVALUATED
from muster.placement.schedule.pipeline import STANDARD, first_error
from muster.reasons import Code, Reason, bare, bounded, redacted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.placement.explain.explained import Check, ClusterExplanation, FunnelStage
    from muster.placement.schedule.result import ScheduleResult

_MOST_REASONS: Final = 50  # of one stage
_NEAR: Final = 5  # clusters that came near
_EXAMPLES: Final = 3  # clusters on which expressions failed


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
    report = PlacementReport(
        metadata=ReportMetadata(plan.name, plan.namespace, revision, str(window.offset + window.limit) if more else ""),
        dry_run=not revision,
        fleet=len(result.cycle.fleet),
        selected=len(selected),
        unscheduled=result.unscheduled,
        conditions=tuple(_conditions(result)),
        funnel=tuple(_bounded_stage(stage if values else _bare(stage)) for stage in funnel(result)),
        decisions=tuple(_decisions(result, window)),
        scores=_scores(result, window),
        diff=DiffReport(len(present), _names(gained, window), _names(lost, window)),
        failures=_failures(result, _EXAMPLES if examples else 0),
        near_misses=tuple(
            NearMiss(each.cluster, each.failures, each.stage, _bounded(each.why), told(each.why))
            for each in near_misses(result, STANDARD, _NEAR if examples else 0, everywhere=values)
        ),
        wanted=UNSET if plan.number is None else plan.number,
    )
    return with_remarks(report, (_warning(result, values=values),)) if result.warning else report


def cluster_report(explanation: ClusterExplanation) -> ClusterExplanation:
    """The way of one cluster, to be put into a report: no text is longer than others."""
    cut = explanation.cut_why
    return replace(
        explanation,
        why=_bounded(explanation.why),
        summary=told(explanation.why),
        checks=tuple(map(_bounded_check, explanation.checks)),
        cut_why=None if cut is None else _bounded(cut),
    )


def note(why: Reason) -> Note:
    """Something beside, for a report."""
    return Note(_bounded(why), told(why))


def _bounded(why: Reason) -> Reason:
    return bounded(why, LONGEST_TEXT)


def _bounded_check(check: Check) -> Check:
    observed = tuple(
        replace(each, text=shortened(each.text), value=shortened(each.value), short=shortened(each.short))
        for each in check.observed
    )
    return replace(check, why=_bounded(check.why), reason=told(check.why), observed=observed)


def _warning(result: ScheduleResult, *, values: bool) -> Note:
    return note(Reason(Code.SCORER_WARNS, values={"text": result.warning} if values else {}))


def _conditions(result: ScheduleResult) -> Iterable[ConditionReport]:
    for kind, (status, why) in result.concluded.items():
        if kind == EVALUATED:
            why = replace(why, parts=())  # they stand apart, with the clusters that may be named
        yield ConditionReport(kind, status, str(why.code), _bounded(why), told(why))


def _bare(stage: FunnelStage) -> FunnelStage:
    """The stage with reasons that have no values. Those that are the same now become one."""
    alike: dict[Reason, ReasonCount] = {}
    for each in stage.reasons:
        why = redacted(each.why, NOBODY)
        known = alike.get(why)
        count, examples = (known.count, known.examples) if known else (0, ())
        alike[why] = ReasonCount(why, count + each.count, (*examples, *each.examples)[:_EXAMPLES])
    ordered = sorted(alike.values(), key=lambda each: (-each.count, each.reason))
    return replace(stage, reasons=tuple(ordered))


def _failing(result: ScheduleResult) -> int:
    return 0 if result.failing is None else len(result.failing)


def _failures(result: ScheduleResult, most: int) -> FailuresReport:
    cycle, rows = result.cycle, [] if result.failing is None else result.failing[:most].tolist()
    found = [(cycle.fleet.name(row), error) for row in rows if (error := first_error(cycle, row)) is not None]
    examples = tuple(FailureReport(name, _bounded(error), told(error)) for name, error in found)
    reasons = tuple(dict.fromkeys(bare(error) for _, error in found))
    return FailuresReport(_failing(result), examples, tuple(map(told, reasons)), reasons)


def _bounded_stage(stage: FunnelStage) -> FunnelStage:
    listed, others = stage.reasons[:_MOST_REASONS], stage.reasons[_MOST_REASONS:]
    reasons = tuple(
        replace(
            each,
            why=_bounded(each.why),
            reason=shortened(each.reason),
            bare=shortened(each.bare),
            values=tuple(ValueCount(shortened(value.value), value.count) for value in each.values),
        )
        for each in listed
    )
    count = sum(each.count for each in others)
    return replace(stage, reasons=reasons, other_reasons=len(others), other_count=count)


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
