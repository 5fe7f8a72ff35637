"""A selector over the whole fleet: one verdict per row, evaluated once per distinct projection, kept up to date."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from muster.selectors import Verdict

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

    from numpy.typing import NDArray

    from muster.fleet.columns import Column
    from muster.selectors import Selector

_MOST_REMEMBERED = 200_000
_KEY_SPACE = 2**62


class Mask:
    """The verdicts of one selector. `columns` are those of the paths it reads; None when it reads the whole object."""

    def __init__(
        self,
        selector: Selector,
        columns: list[Column] | None,
        capacity: int,
        load: Callable[[int], Mapping[str, Any]],
    ) -> None:
        self.selector = selector
        self.verdicts: NDArray[np.int8] = np.zeros(capacity, dtype=np.int8)
        self.subscribers: set[Hashable] = set()
        self._columns = columns
        self._load = load
        self._known: dict[tuple[int, ...], int] = {}

    @property
    def selected(self) -> NDArray[np.bool_]:
        selected: NDArray[np.bool_] = self.verdicts == Verdict.YES
        return selected

    def evaluate_all(self, rows: NDArray[np.intp]) -> None:
        """Fill the mask for the given rows (all that hold an object)."""
        self.verdicts[:] = Verdict.NO
        self._known.clear()
        if len(rows) == 0:
            return
        if self._columns is None:
            for row in rows:
                self.verdicts[row] = self._verdict(int(row))
        elif not self._columns:
            self.verdicts[rows] = self._verdict(int(rows[0]))
        elif len(self._columns) == 1:
            self._evaluate_column(self._columns[0], rows)
        else:
            self._evaluate_columns(self._columns, rows)

    def _evaluate_column(self, column: Column, rows: NDArray[np.intp]) -> None:
        codes = column.codes[rows]
        representative = np.full(column.distinct, -1, dtype=np.intp)
        representative[codes] = rows  # any row with the code will do
        by_code = np.zeros(column.distinct, dtype=np.int8)
        for code in np.flatnonzero(representative >= 0):
            by_code[code] = self._remember((int(code),), int(representative[code]))
        self.verdicts[rows] = by_code[codes]

    def _evaluate_columns(self, columns: list[Column], rows: NDArray[np.intp]) -> None:
        combined = _combined(columns, rows)
        _, first, inverse = np.unique(combined, return_index=True, return_inverse=True)
        by_group = np.zeros(len(first), dtype=np.int8)
        for group, at in enumerate(first):
            row = int(rows[at])
            by_group[group] = self._remember(tuple(int(column.codes[row]) for column in columns), row)
        self.verdicts[rows] = by_group[inverse.reshape(-1)]

    def update(self, row: int) -> bool:
        """Evaluate one row again; whether its verdict is another one now."""
        if self._columns is None:
            verdict = self._verdict(row)
        else:
            verdict = self._remember(tuple(int(column.codes[row]) for column in self._columns), row)
        if self.verdicts[row] == verdict:
            return False
        self.verdicts[row] = verdict
        return True

    def clear(self, row: int) -> bool:
        """The row has no object any more; whether it was selected."""
        was_selected = self.verdicts[row] == Verdict.YES
        self.verdicts[row] = Verdict.NO
        return bool(was_selected)

    def grow(self, capacity: int) -> None:
        more = np.zeros(capacity - len(self.verdicts), dtype=np.int8)
        self.verdicts = np.concatenate((self.verdicts, more))

    def forget(self) -> None:
        """Codes have changed: what was remembered by code means nothing now."""
        self._known.clear()

    def _remember(self, codes: tuple[int, ...], row: int) -> int:
        verdict = self._known.get(codes)
        if verdict is None:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            verdict = self._known[codes] = self._verdict(row)
        return verdict

    def _verdict(self, row: int) -> int:
        return int(self.selector.match(self._load(row)).verdict)


def _combined(columns: list[Column], rows: NDArray[np.intp]) -> NDArray[np.int64]:
    """One number per row that stands for its codes in all columns; renumbered where the product would overflow."""
    combined = columns[0].codes[rows].astype(np.int64)
    size = columns[0].distinct
    for column in columns[1:]:
        if size * column.distinct >= _KEY_SPACE:
            _, combined = np.unique(combined, return_inverse=True)
            size = len(rows)
        combined = combined * column.distinct + column.codes[rows]
        size *= column.distinct
    return combined
