"""The filters: which of the available clusters stay, and for one cluster why it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from muster.placement.taints import TAINTS
from muster.placement.tolerations import taints_of, tolerance
from muster.selectors import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from muster.placement.cycle import Cycle


class Filter(Protocol):
    """A stage of the funnel. `passes` looks at the candidates only; what it says of other rows does not matter."""

    @property
    def name(self) -> str: ...

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]: ...

    def why_not(self, cycle: Cycle, row: int) -> str | None:
        """Why the cluster does not pass; None when it does."""


@dataclass(frozen=True, slots=True)
class PredicateFilter:
    """At least one predicate holds, all parts of it."""

    name: str = "Predicate"

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        if not cycle.plan.predicates:
            return candidates
        passing = np.zeros_like(candidates)
        for parts in cycle.plan.predicates:
            mask = candidates.copy()
            for part in parts:
                mask &= cycle.fleet.mask(part).selected
            passing |= mask
        return passing

    def why_not(self, cycle: Cycle, row: int) -> str | None:
        cluster = cycle.fleet.load(row)
        reasons = []
        for number, parts in enumerate(cycle.plan.predicates, start=1):
            failing = next((match for part in parts if not (match := part.match(cluster))), None)
            if failing is None:
                return None
            kind = "cannot be evaluated: " if failing.verdict is Verdict.ERROR else ""
            reasons.append(f"predicate {number}: {kind}{failing.reason}")
        return "; ".join(reasons) or None

    def errors(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Candidates for which a part of some predicate could not be evaluated, and that nothing else selected."""
        failing = np.zeros_like(candidates)
        selected = np.zeros_like(candidates)
        masks = [cycle.fleet.mask(part) for parts in cycle.plan.predicates for part in parts]
        if not any((mask.verdicts == Verdict.ERROR).any() for mask in masks):
            return failing
        for parts in cycle.plan.predicates:
            before = candidates.copy()
            for part in parts:
                verdicts = cycle.fleet.mask(part).verdicts
                failing |= before & (verdicts == Verdict.ERROR)
                before &= verdicts == Verdict.YES
            selected |= before
        return failing & ~selected


@dataclass(frozen=True, slots=True)
class TaintFilter:
    """Every taint is tolerated."""

    name: str = "TaintToleration"

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        return candidates & ~cycle.standings.blocked

    def why_not(self, cycle: Cycle, row: int) -> str | None:
        column = cycle.fleet.column(TAINTS)
        taints = taints_of(column.values[column.codes[row]])
        own = bool(cycle.decided.own[row])
        standing = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own)
        return None if standing.blocked_by is None else f"taint {standing.blocked_by} is not tolerated"


FILTERS: Mapping[str, Callable[[], Filter]] = {"Predicate": PredicateFilter, "TaintToleration": TaintFilter}
