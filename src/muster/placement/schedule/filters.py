"""The filters: which of the available clusters stay, and for one cluster why it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from muster.placement.schedule.taints import TAINTS
from muster.placement.schedule.tolerations import taints_of, tolerance
from muster.reasons import Code, Reason
from muster.selectors import Verdict
from muster.selectors.paths import project

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from muster.placement.schedule.cycle import Cycle
    from muster.placement.schedule.tolerations import Taint

# Taints that the controllers set and that say nothing else of a cluster.
_TAINTS_OF_CONTROLLERS: Final = frozenset(
    f"cluster.open-cluster-management.io/{name}" for name in ("unavailable", "unreachable")
)


class Filter(Protocol):
    """A stage of the funnel. `passes` looks at the candidates only; what it says of other rows does not matter."""

    @property
    def name(self) -> str: ...

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]: ...

    def why_not(self, cycle: Cycle, row: int) -> Reason | str | None:
        """Why the cluster does not pass; None when it does. Filters of plugins answer in words of their own."""


@dataclass(frozen=True, slots=True)
class PredicateFilter:
    """At least one predicate holds, all parts of it."""

    name: str = "Predicate"

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        passing: NDArray[np.bool_] | None = None
        for parts in cycle.plan.predicates:
            mask = candidates.copy()
            for part in parts:
                cycle.fleet.mask(part).narrow(mask)
            passing = mask if passing is None else passing | mask
        return candidates if passing is None else passing

    def why_not(self, cycle: Cycle, row: int) -> Reason | None:
        cluster = cycle.fleet.load(row)
        reasons = []
        for number, parts in enumerate(cycle.plan.predicates, start=1):
            failing = next((match for part in parts if not (match := part.match(cluster))), None)
            if failing is None:
                return None
            reasons.append(failing.why.about(predicate=number))
        return Reason(Code.NO_PREDICATE_HOLDS, parts=tuple(reasons)) if reasons else None

    def errors(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Candidates for which a part of some predicate could not be evaluated, and that nothing else selected."""
        failing = np.zeros_like(candidates)
        if not any(cycle.fleet.mask(part).has_errors for parts in cycle.plan.predicates for part in parts):
            return failing
        selected = np.zeros_like(candidates)
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
        return np.greater(candidates, cycle.taint_verdicts.blocked)  # one and not the other

    def why_not(self, cycle: Cycle, row: int) -> Reason | None:
        taints = taints_of(project(cycle.fleet.load(row), TAINTS))
        own = bool(cycle.decided.own[row])
        verdict = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=own)
        return None if verdict.blocked_by is None else not_tolerated(verdict.blocked_by)


def not_tolerated(taint: Taint) -> Reason:
    """That a taint keeps a cluster out. Of taints that controllers set, everybody may know."""
    told = {"taint": str(taint)}
    if taint.key in _TAINTS_OF_CONTROLLERS and not taint.value:
        return Reason(Code.TAINT_NOT_TOLERATED, parameters={**told})
    return Reason(Code.TAINT_NOT_TOLERATED, values={**told})


FILTERS: Mapping[str, Callable[[], Filter]] = {"Predicate": PredicateFilter, "TaintToleration": TaintFilter}
