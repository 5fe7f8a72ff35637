"""The scorers (upstream: prioritizers): a number per cluster, higher is better, before its weight applies."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, Protocol

import numpy as np

from muster.errors import MusterError
from muster.fleet.scores import EXPIRED, item_values
from muster.selectors.paths import key_path, score_path
from muster.values.quantity import parse as parse_quantity

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping, Sequence

    from numpy.typing import NDArray

    from muster.placement.schedule.cycle import Cycle
    from muster.selectors.paths import Path

_MOST: Final = 100
# What one cluster can have: billions of processors, or more bytes than an int64 counts, are a mistake of the writer.
RESOURCES: Final[Mapping[str, float]] = MappingProxyType({"cpu": 1e9, "memory": float(2**63 - 1)})
_USUAL: Final = {"cpu": re.compile("[0-9]{1,9}m?").fullmatch, "memory": re.compile("[0-9]{1,9}(?:[KMG]i)?").fullmatch}
_NOT_KNOWN: Final = float("nan")
_SHOWN: Final = 40  # characters of a figure that cannot be used


class Scorer(Protocol):
    """Scores the given rows. `reads` are the paths it depends on, so that a change wakes the placement."""

    @property
    def name(self) -> str: ...

    @property
    def reads(self) -> frozenset[Path]: ...

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]: ...

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:
        """Something the user should know about these scores."""


class DecisionScorer:
    """A scorer that looks at decisions and at nothing else: clusters for which there are none have the same score.

    What a cycle holds of decisions never changes, so that such scores can be computed at any time.
    """

    __slots__ = ()

    @property
    def usual_score(self) -> int:
        """Of clusters for which there are no decisions."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class SteadyScorer(DecisionScorer):
    """Clusters that are decided already are better than others."""

    name: str = "Steady"
    reads: frozenset[Path] = frozenset()

    @property
    def usual_score(self) -> int:
        return 0

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        return cycle.decided.own.take(rows) * np.int64(_MOST)

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None


@dataclass(frozen=True, slots=True)
class BalanceScorer(DecisionScorer):
    """Clusters with fewer decisions of other placements are better."""

    name: str = "Balance"
    reads: frozenset[Path] = frozenset()

    @property
    def usual_score(self) -> int:
        return _MOST

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        counts, peak = cycle.decided.foreign.take(rows), cycle.decided.foreign_peak
        if peak >= len(rows):
            return _balance(counts, peak)
        return _balance(np.arange(peak + 1), peak).take(counts)  # counts are few, and clusters many

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None


def _balance(counts: NDArray[np.integer], peak: int) -> NDArray[np.int64]:
    # Truncated before it is doubled, as upstream does: scores are even numbers.
    halves = np.trunc(_MOST * (0.5 - counts / max(peak, 1))).astype(np.int64)
    return np.where(counts == 0, np.int64(_MOST), 2 * halves)


@dataclass(frozen=True, slots=True)
class ResourceScorer:
    """Clusters with more of a resource to give are better. Those that report no figures are in the middle.

    A figure beyond sense is none: one cluster that claims to be endless would make all others equally bad.
    """

    name: str
    resource: str

    @property
    def reads(self) -> frozenset[Path]:
        return frozenset({self._allocatable, self._capacity})

    @property
    def _allocatable(self) -> Path:
        return key_path("status", "allocatable", self.resource)

    @property
    def _capacity(self) -> Path:
        return key_path("status", "capacity", self.resource)

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        result = np.zeros(len(rows), dtype=np.int64)
        if len(rows) == 0:
            return result
        amounts = self._amounts(cycle, self._allocatable, rows)
        known = ~np.isnan(amounts) & ~np.isnan(self._amounts(cycle, self._capacity, rows))
        if not known.any():
            return result
        least, most = amounts[known].min(), amounts[known].max()
        if least == most:
            result[known] = _MOST
        else:
            result[known] = np.trunc(((amounts[known] - least) / (most - least) - 0.5) * 2 * _MOST).astype(np.int64)
        return result

    def _amounts(self, cycle: Cycle, path: Path, rows: NDArray[np.intp]) -> NDArray[np.float64]:
        column = cycle.fleet.column(path)
        amounts = column.derive(_Amount(self.resource))
        return np.array([*amounts.values, _NOT_KNOWN], dtype=np.float64)[amounts.codes(column.codes[rows])]

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:  # noqa: ARG002 - the protocol's signature
        return None


@dataclass(frozen=True, slots=True)
class _Amount:
    """From what a column over quantities holds to a number; NaN where nothing is known."""

    resource: str

    def __call__(self, projection: Hashable) -> float:
        match projection:
            case str():
                return _amount(self.resource, projection)
            case (kind, number) if kind in (int, float):
                return _amount(self.resource, number)
            case _:
                return _NOT_KNOWN


def amount_fault(resource: str, given: object) -> str:
    """Why an amount of a resource cannot be used; empty when it can."""
    if isinstance(given, str) and (usual := _USUAL.get(resource)) is not None and usual(given):
        return ""
    if np.isnan(_amount(resource, given)):
        shown = str(given) if isinstance(given, str | float) else "the value"
        return f"{shown[:_SHOWN]} is not an amount that one cluster can have"
    return ""


def _amount(resource: str, given: object) -> float:
    """A quantity; NaN when it is none, or beyond sense. JSON numbers are quantities too."""
    most = RESOURCES.get(resource, float(2**63 - 1))
    if isinstance(given, bool) or not isinstance(given, str | int | float) or (isinstance(given, int) and given > most):
        return _NOT_KNOWN
    try:
        amount = parse_quantity(str(given)).approximate_float()
    except (MusterError, ValueError, OverflowError):
        return _NOT_KNOWN
    return amount if -most <= amount <= most else _NOT_KNOWN


@dataclass(frozen=True, slots=True)
class AddOnScorer:
    """What an add-on says of each cluster; nothing said, or said too long ago, counts 0."""

    resource: str
    score: str

    @property
    def name(self) -> str:
        return f"AddOn/{self.resource}/{self.score}"

    @property
    def reads(self) -> frozenset[Path]:
        return frozenset({score_path(self.resource)})

    def scores(self, cycle: Cycle, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        column = cycle.fleet.column(score_path(self.resource))
        values = column.derive(_ScoreValue(self.score))
        return np.array([*values.values, 0], dtype=np.int64)[values.codes(column.codes[rows])]

    def warning(self, cycle: Cycle, rows: NDArray[np.intp]) -> str | None:
        column = cycle.fleet.column(score_path(self.resource))
        if EXPIRED not in column.values:
            return None
        expired = rows[column.codes[rows] == column.code(EXPIRED)]
        if len(expired) == 0:
            return None
        shown = " ".join(f"{name}/{self.resource}" for name in cycle.fleet.names(expired[:10].tolist()))
        return f"AddOnPlacementScores {shown} expired"


@dataclass(frozen=True, slots=True)
class _ScoreValue:
    """From what a column over scores holds to the value of one item: 0 when there is none."""

    name: str

    def __call__(self, projection: Hashable) -> int:
        return self.of_many([projection])[0]

    def of_many(self, projections: Sequence[Hashable]) -> list[int]:
        known = item_values([each for each in projections if isinstance(each, bytes)], self.name)
        return [next(known) if isinstance(each, bytes) else 0 for each in projections]


def _allocatable_cpu() -> Scorer:
    return ResourceScorer("ResourceAllocatableCPU", "cpu")


def _allocatable_memory() -> Scorer:
    return ResourceScorer("ResourceAllocatableMemory", "memory")


BUILT_IN: Mapping[str, Callable[[], Scorer]] = {
    "Balance": BalanceScorer,
    "Steady": SteadyScorer,
    "ResourceAllocatableCPU": _allocatable_cpu,
    "ResourceAllocatableMemory": _allocatable_memory,
}
