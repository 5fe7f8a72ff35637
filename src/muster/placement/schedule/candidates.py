"""The clusters that fit, and who of them is best, looking at no more of them than need be.

By decisions alone nearly all clusters score the same: those that no placement has decided for. Then only the others are
scored one by one, and the rest follow in the order of names. Arrays over everybody that fits are made when somebody
asks, from what the schedule saw: masks, the order of names and decisions, none of which changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple

import numpy as np

from muster.placement.schedule.scorers import DecisionScorer

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from muster.fleet.name_order import NameOrder
    from muster.placement.schedule.cycle import Cycle

_FEW: Final = 2  # of so many rows one: to score those alone takes less than to score all


@dataclass(frozen=True, slots=True)
class ScorerResult:
    """A scorer's numbers for the feasible rows, before its weight."""

    name: str
    weight: int
    scores: NDArray[np.int64]


class _Unusual(NamedTuple):
    """Rows, in the order of names, that may have another total than the usual one."""

    usual: int
    rows: NDArray[np.intp]
    totals: NDArray[np.int64]


@dataclass(frozen=True)
class Candidates:
    """Rows that have passed all filters. Whatever else is here follows from that."""

    cycle: Cycle
    passing: NDArray[np.bool_]
    order: NameOrder

    @classmethod
    def of(cls, cycle: Cycle, passing: NDArray[np.bool_]) -> Candidates:
        found = cls(cycle, passing, cycle.fleet.name_order)
        if not found.by_decisions:
            found.scorers  # noqa: B018 - scorers that read the fleet read it now: later it is another one
        return found

    @cached_property
    def count(self) -> int:
        return int(np.count_nonzero(self.passing))

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """In the order of names."""
        return self.order.of(self.passing)

    @cached_property
    def scorers(self) -> tuple[ScorerResult, ...]:
        return tuple(
            ScorerResult(each.scorer.name, each.weight, each.scorer.scores(self.cycle, self.rows))
            for each in self.cycle.plan.scorers
        )

    @cached_property
    def totals(self) -> NDArray[np.int64]:
        """The weighted sums of the scores."""
        totals = np.zeros(len(self.rows), dtype=np.int64)
        for result in self.scorers:
            totals += result.scores if result.weight == 1 else result.weight * result.scores
        return totals

    def totals_of(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Of some of them: where decisions alone count, nobody else is scored for that."""
        if self.by_decisions:
            return self._scored(rows)
        totals = np.zeros(len(self.passing), dtype=np.int64)
        totals[self.rows] = self.totals
        return totals[rows]

    def _scored(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        totals = np.zeros(len(rows), dtype=np.int64)
        for each in self.cycle.plan.scorers:
            totals += each.weight * each.scorer.scores(self.cycle, rows)
        return totals

    @cached_property
    def ranked(self) -> NDArray[np.intp]:
        """All of them, best first."""
        return self.best(self.count)

    def best(self, wanted: int) -> NDArray[np.intp]:
        """The best rows, so many at most, best first: by dislike, then total, then name, so that equals never flap."""
        unusual = self._unusual if self.by_decisions else None
        if unusual is None:
            return self.rows[best_places(self.merit, wanted)]
        found: list[NDArray[np.intp]] = []
        for part in self._levels(unusual, wanted):
            found.append(part[:wanted])
            wanted -= len(found[-1])
            if wanted <= 0:
                break
        return np.concatenate(found)

    @property
    def merit(self) -> NDArray[np.int64]:
        """The totals, those of disliked clusters moved below all others."""
        taints = self.cycle.taint_verdicts
        below = np.flatnonzero(taints.disliked[self.rows]) if taints.dislikes else ()
        if not len(below):
            return self.totals
        merit = self.totals.copy()
        merit[below] -= int(merit.max()) - int(merit.min()) + 1
        return merit

    @property
    def by_decisions(self) -> bool:
        """Whether decisions are all that is scored: then nobody has a warning either."""
        return all(isinstance(each.scorer, DecisionScorer) for each in self.cycle.plan.scorers)

    @cached_property
    def _unusual(self) -> _Unusual | None:
        """None where these are many."""
        rows = self.cycle.decided.rows
        rows = rows[self.passing[rows]]
        if len(rows) * _FEW > len(self.passing):
            return None
        rows = self.order.sorted(rows)
        scorers = self.cycle.plan.scorers
        usual = sum(
            each.weight * each.scorer.usual_score for each in scorers if isinstance(each.scorer, DecisionScorer)
        )
        return _Unusual(usual, rows, self._scored(rows))

    def _levels(self, unusual: _Unusual, wanted: int) -> Iterator[NDArray[np.intp]]:
        """Rows from the best to the worst; of those with the usual total no more than are wanted."""
        rows, totals = unusual.rows, unusual.totals
        others = np.zeros_like(self.passing)
        others[rows[totals != unusual.usual]] = True
        taints = self.cycle.taint_verdicts
        for disliked in (False, True) if taints.dislikes else (None,):

            def are_usual(rows: NDArray[np.intp], disliked: bool | None = disliked) -> NDArray[np.bool_]:
                usual = self.passing[rows] & ~others[rows]
                return usual if disliked is None else usual & (taints.disliked[rows] == disliked)

            here = np.ones(len(rows), dtype=np.bool_) if disliked is None else taints.disliked[rows] == disliked
            better = np.flatnonzero(here & (totals > unusual.usual))
            yield rows[better[best_places(totals[better], wanted)]]
            yield self.order.first(are_usual, wanted)
            worse = np.flatnonzero(here & (totals < unusual.usual))
            yield rows[worse[best_places(totals[worse], wanted)]]


def best_places(merit: NDArray[np.int64], wanted: int) -> NDArray[np.intp]:
    """The places of the best, best first; of equals the first. Sorts only what is taken."""
    if wanted >= len(merit):
        return np.argsort(-merit, kind="stable")
    if wanted <= 0:
        return np.array([], dtype=np.intp)
    top = np.flatnonzero(merit == merit.max())
    if len(top) >= wanted:  # most are equal where nothing tells them apart
        return top[:wanted]
    least = np.partition(merit, len(merit) - wanted)[len(merit) - wanted]
    better = np.flatnonzero(merit > least)
    taken = np.concatenate((better, np.flatnonzero(merit == least)[: wanted - len(better)]))
    return taken[np.argsort(-merit[taken], kind="stable")]
