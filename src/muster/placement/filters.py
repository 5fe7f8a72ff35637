"""The filters: which of the available clusters stay, and for one cluster why it does not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from muster.placement.tolerations import Tolerance, taints_of, tolerance
from muster.selectors import Verdict
from muster.selectors.paths import key_path

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from numpy.typing import NDArray

    from muster.placement.cycle import Cycle

TAINTS: Final = key_path("spec", "taints")


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
        for parts in cycle.plan.predicates:
            before = candidates.copy()
            for part in parts:
                verdicts = cycle.fleet.mask(part).verdicts
                failing |= before & (verdicts == Verdict.ERROR)
                before &= verdicts == Verdict.YES
        return failing


@dataclass(frozen=True, slots=True)
class TaintFilter:
    """Every taint is tolerated."""

    name: str = "TaintToleration"

    def passes(self, cycle: Cycle, candidates: NDArray[np.bool_]) -> NDArray[np.bool_]:
        passing = candidates.copy()
        for rows, standing in tolerances(cycle, candidates):
            if standing.blocked_by is not None:
                passing[rows] = False
        return passing

    def why_not(self, cycle: Cycle, row: int) -> str | None:
        standing = tolerance_of(cycle, row)
        if standing.blocked_by is None:
            return None
        return f"taint {standing.blocked_by} is not tolerated"


def tolerances(cycle: Cycle, candidates: NDArray[np.bool_]) -> list[tuple[NDArray[np.intp], Tolerance]]:
    """Candidates that have taints, grouped by how these stand against the tolerations."""
    column = cycle.fleet.column(TAINTS)
    groups: list[tuple[NDArray[np.intp], Tolerance]] = []
    own = cycle.decided.own
    tainted = np.flatnonzero(candidates & _tainted_codes(column.values)[column.codes])
    if len(tainted) == 0:
        return groups
    codes = column.codes[tainted]
    order = np.argsort(codes, kind="stable")
    tainted, codes = tainted[order], codes[order]
    starts = np.flatnonzero(np.concatenate(([True], codes[1:] != codes[:-1])))
    for start, rows in zip(starts, np.split(tainted, starts[1:]), strict=True):
        taints = taints_of(column.values[codes[start]])
        for is_own in (False, True):
            chosen = rows[own[rows] == is_own]
            if len(chosen):
                standing = tolerance(taints, cycle.plan.tolerations, cycle.now, decided=is_own)
                groups.append((chosen, standing))
    return groups


def tolerance_of(cycle: Cycle, row: int) -> Tolerance:
    column = cycle.fleet.column(TAINTS)
    taints = taints_of(column.values[column.codes[row]])
    return tolerance(taints, cycle.plan.tolerations, cycle.now, decided=bool(cycle.decided.own[row]))


def _tainted_codes(values: list[object]) -> NDArray[np.bool_]:
    """Which codes stand for taints; the last entry answers for rows without an object."""
    flags = [isinstance(value, bytes) and value != b"[]" for value in values]
    return np.array([*flags, False], dtype=np.bool_)


FILTERS: Mapping[str, Callable[[], Filter]] = {"Predicate": PredicateFilter, "TaintToleration": TaintFilter}
