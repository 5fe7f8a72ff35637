"""Filters and scorers that report how long they take. What they decide stays as it is."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.placement import STANDARD, Plan, Profile
from muster.placement.schedule.filters import PredicateFilter
from muster.placement.schedule.scorers import DecisionScorer

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy as np
    from numpy.typing import NDArray

    from muster.placement import Cycle
    from muster.placement.schedule.filters import Filter
    from muster.placement.schedule.scorers import Scorer
    from muster.reasons import Reason
    from muster.selectors.paths import Path

_FILTER: Final = "filter"
_PRIORITIZER: Final = "prioritizer"


@dataclass(frozen=True, slots=True)
class _TimedPredicates(PredicateFilter):
    """The predicates' filter is asked for more than other filters, so it stays one."""

    report: Callable[[str, str, float], None] = lambda *_: None

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        started = time.perf_counter()
        passing = PredicateFilter.passes(self, cycle, candidates)
        self.report(_FILTER, self.name, time.perf_counter() - started)
        return passing


@dataclass(frozen=True, slots=True)
class _TimedFilter:
    inner: Filter
    report: Callable[[str, str, float], None]

    @property
    def name(self) -> str:
        return self.inner.name

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        started = time.perf_counter()
        passing = self.inner.passes(cycle, candidates)
        self.report(_FILTER, self.name, time.perf_counter() - started)
        return passing

    def why_not(self, cycle: Cycle, row: int) -> Reason | str | None:
        return self.inner.why_not(cycle, row)


@dataclass(frozen=True, slots=True)
class _TimedScorer:
    inner: Scorer
    report: Callable[[str, str, float], None]

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def reads(self) -> frozenset[Path]:
        return self.inner.reads

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        started = time.perf_counter()
        scores = self.inner.scores(cycle, rows)
        self.report(_PRIORITIZER, self.name, time.perf_counter() - started)
        return scores

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:
        return self.inner.warning(cycle, rows)


@dataclass(frozen=True, slots=True)
class _TimedDecisionScorer(_TimedScorer, DecisionScorer):
    """A scorer of decisions stays one, so that most clusters need not be looked at."""

    usual: int

    @property
    def usual_score(self) -> int:
        return self.usual


def _timed(scorer: Scorer, report: Callable[[str, str, float], None]) -> Scorer:
    if isinstance(scorer, DecisionScorer):
        return _TimedDecisionScorer(scorer, report, scorer.usual_score)
    return _TimedScorer(scorer, report)


def timed_profile(report: Callable[[str, str, float], None], profile: Profile = STANDARD) -> Profile:
    """The same filters, reporting."""
    return replace(
        profile,
        filters=tuple(
            _TimedPredicates(report=report) if isinstance(each, PredicateFilter) else _TimedFilter(each, report)
            for each in profile.filters
        ),
    )


def timed_plan(plan: Plan, report: Callable[[str, str, float], None]) -> Plan:
    """The same scorers, reporting."""
    scorers = tuple(replace(each, scorer=_timed(each.scorer, report)) for each in plan.scorers)
    return replace(plan, scorers=scorers)
