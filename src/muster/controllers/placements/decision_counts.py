"""How often each cluster is decided for, by all placements together, as an array over the fleet's rows."""

from __future__ import annotations

from collections import Counter
from itertools import repeat
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from muster.fleet import Fleet


NOTHING: Final[Mapping[str, int]] = MappingProxyType({})
_FEW: Final = 64  # of so many rows one: to take those out one by one takes less than to count all


class DecisionCounts:
    """Counts by name; the array follows by what has changed, and is made anew when clusters come or go."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._by_name: Counter[str] = Counter()
        self._by_row: NDArray[np.int32] = np.zeros(fleet.capacity, dtype=np.int32)
        self._elsewhere: dict[str, int] = {}  # of clusters that are not in the fleet
        self._counted: NDArray[np.intp] | None = None  # rows that are decided for, as long as no count changes
        self._generation = -1
        self.total = 0  # of all clusters together
        self._changed: set[str] = set()

    def fork(self, fleet: Fleet) -> DecisionCounts:
        """The same counts over a fork of the fleet, to be changed alone."""
        self._bring_up_to_date()  # once, not again in every fork
        fork = DecisionCounts(fleet)
        fork._by_name, fork._by_row, fork._elsewhere = self._by_name.copy(), self._by_row.copy(), {**self._elsewhere}
        fork._generation = self._generation
        return fork

    def of(self, cluster: str) -> int:
        return self._by_name.get(cluster, 0)

    def add(self, clusters: Iterable[str]) -> None:
        names = list(clusters)
        self._by_name.update(names)
        self.total += len(names)
        self._changed.update(names)

    def subtract(self, clusters: Iterable[str]) -> None:
        for name in clusters:
            self.total -= 1
            self._by_name[name] -= 1
            if not self._by_name[name]:
                del self._by_name[name]
            self._changed.add(name)

    @property
    def rows(self) -> NDArray[np.intp]:
        """The rows of clusters that are decided for by anybody."""
        self._bring_up_to_date()
        if self._counted is None:
            self._counted = np.flatnonzero(self._by_row != 0)
        return self._counted

    def without(
        self, rows: NDArray[np.intp], others: Iterable[str], more: Mapping[str, int] = NOTHING
    ) -> tuple[NDArray[np.int32], int]:
        """The counts by row without these, and the highest of any cluster, also of those that are not in the fleet.

        A row counts as often as it is named; `others` are names that have none. `more` are further counts, by name.
        """
        self._bring_up_to_date()
        if len(rows) * _FEW < len(self._by_row):
            counts = self._by_row.copy()
            np.subtract.at(counts, rows, 1)
        else:
            counts = self._by_row - np.bincount(rows, minlength=len(self._by_row)).astype(np.int32)
        elsewhere = dict(self._elsewhere) if self._elsewhere else self._elsewhere
        for name in others:
            if name in elsewhere:
                elsewhere[name] -= 1
        for name, count in more.items():
            if (row := self._fleet.row(name)) is not None:
                counts[row] -= count
            elif name in elsewhere:
                elsewhere[name] -= count
        return counts, max(int(counts.max(initial=0)), max(elsewhere.values(), default=0))

    def _bring_up_to_date(self) -> None:
        if self._generation != self._fleet.generation:
            self._generation = self._fleet.generation
            self._by_row = np.zeros(self._fleet.capacity, dtype=np.int32)
            self._elsewhere = {}
            self._counted = None
            self._changed = set(self._by_name)
        if not self._changed:
            return
        self._counted = None
        names = list(self._changed)
        rows = self._fleet.rows_of(names)
        counts = np.fromiter(map(self._by_name.get, names, repeat(0)), dtype=np.int32, count=len(names))
        self._by_row[rows[rows >= 0]] = counts[rows >= 0]
        for at in np.flatnonzero(rows < 0).tolist():
            if counts[at]:
                self._elsewhere[names[at]] = int(counts[at])
            else:
                self._elsewhere.pop(names[at], None)
        self._changed.clear()
