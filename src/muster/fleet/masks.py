"""A selector over the whole fleet: one verdict per row, evaluated once per distinct projection, kept up to date.

Objects that are equal in all that a selector reads share its verdict as far as the verdict itself says (`Match.up_to`):
what evaluation costs can depend on the rest of an object, so that one for which a budget may not be enough is evaluated
on its own. Every row has the verdict that evaluating its own object gives.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from muster.fleet.spans import span
from muster.selectors import Verdict
from muster.selectors.match import ANY_SIZE
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator

    from numpy.typing import NDArray

    from muster.fleet.columns import Column
    from muster.selectors import Selector

_MOST_REMEMBERED = 200_000
_KEY_SPACE = 2**62
_CHUNK = 8192  # rows that are grouped at once while a mask is filled
_CELLS = 8 * _CHUNK  # and rows times columns
_SMALL = 8 * _CHUNK  # combinations of values up to which a table of them takes less than sorting, and more rows at once
_NOTHING_KNOWN = (int(Verdict.NO), 0)


class Mask:
    """The verdicts of one selector. `columns` are those of the paths it reads; None when it reads the whole object."""

    def __init__(
        self,
        selector: Selector,
        columns: list[Column] | None,
        capacity: int,
        load: Callable[[int], JsonMapping],
        sizes: Callable[[], NDArray[np.int64]],
    ) -> None:
        self.selector = selector
        self.verdicts: NDArray[np.int8] = np.zeros(capacity, dtype=np.int8)
        self.subscribers: set[Hashable] = set()
        self.redo: set[int] = set()  # rows that have changed since they were evaluated
        self._has_errors: bool | None = False  # None: not known since the verdicts changed
        self._columns = columns
        self._load = load
        self._sizes = sizes  # of the objects in all rows, in bytes
        self._known: dict[tuple[int, ...], tuple[int, int]] = {}  # a verdict, and up to which size it holds
        self._own: set[int] = set()  # rows whose verdicts are of their own objects

    def take_over(self, other: Mask) -> None:
        """Have the verdicts of another mask of the same selector over the same rows. What it remembers by code is left
        behind: few rows will change here."""
        self.verdicts, self._own = other.verdicts.copy(), set(other._own)
        self._has_errors = None

    @property
    def selected(self) -> NDArray[np.bool_]:
        selected: NDArray[np.bool_] = self.verdicts == Verdict.YES
        return selected

    @property
    def has_errors(self) -> bool:
        """Whether the verdict on any row is an error."""
        if self._has_errors is None:
            self._has_errors = bool((self.verdicts == Verdict.ERROR).any())
        return self._has_errors

    def narrow(self, candidates: NDArray[np.bool_]) -> None:
        """Leave only those of the candidates that are selected."""
        candidates &= self._selected_now()

    def widen(self, candidates: NDArray[np.bool_]) -> None:
        """Add those that are selected to the candidates."""
        candidates |= self._selected_now()

    def _selected_now(self) -> NDArray[np.bool_]:
        """To be used at once: without errors the verdicts are ones and zeros, and need no copy."""
        return self.selected if self.has_errors else self.verdicts.view(np.bool_)

    def fill(self, rows: NDArray[np.intp], holds_object: Callable[[int], bool]) -> Iterator[None]:
        """Evaluate the given rows (all that hold an object), with a pause after every evaluation.

        The fleet may change in the pauses: rows that do are handed in through `redo` and looked at again at the end.
        """
        self.verdicts[:] = Verdict.NO
        self._has_errors = None
        self._known.clear()
        self._own.clear()
        self.redo = set()
        most = _CHUNK if self._columns is None or _combinations(self._columns) > _SMALL else 8 * _CHUNK
        size = max(min(most, _CELLS // max(len(self._columns or ()), 1)), 1)
        for start in range(0, len(rows), size):
            chunk = rows[start : start + size]
            if self._columns is None:
                yield from self._fill_each(chunk.tolist(), holds_object)
            else:
                yield from self._fill_groups(self._columns, chunk, holds_object)
        while self.redo:
            yield from self._fill_each([self.redo.pop()], holds_object)

    def catch_up(self, holds_object: Callable[[int], bool]) -> Iterator[None]:
        """Evaluate only the rows in `redo`, with a pause after every evaluation."""
        while self.redo:
            yield from self._fill_each([self.redo.pop()], holds_object)

    def _fill_each(self, rows: list[int], holds_object: Callable[[int], bool]) -> Iterator[None]:
        for row in rows:
            if holds_object(row):
                self.verdicts[row] = self._current(row)
                self._has_errors = None
                yield
            else:
                self.verdicts[row] = Verdict.NO
                self._has_errors = None

    def _fill_groups(
        self, columns: list[Column], rows: NDArray[np.intp], holds_object: Callable[[int], bool]
    ) -> Iterator[None]:
        """Rows with the same codes in all columns have the same verdict: one of them is evaluated.

        Where that one does not stand for another (it has changed meanwhile, a budget ended it, the other is larger than
        its verdict goes), that one is looked at by itself, at the end.
        """
        if self.redo:
            rows = rows[self._sizes()[rows] > 0]  # some have gone meanwhile, and have no codes
        groups = _grouped(columns, rows)
        by_group = np.zeros(groups.most, dtype=np.int8)
        up_to = np.full(groups.most, ANY_SIZE)
        own: dict[int, int] = {}
        for group, at in zip(groups.numbers.tolist(), groups.first.tolist(), strict=True):
            row = int(rows[at])
            if row in self.redo or not holds_object(row):
                up_to[group] = 0
                continue
            codes = self._codes(columns, row)
            known = self._known.get(codes)
            if known is None:
                own[row] = self._remember(codes, row)
                yield
                known = self._known.get(codes, _NOTHING_KNOWN)
            by_group[group], up_to[group] = known
        together = span(rows)
        self.verdicts[rows if together is None else together] = by_group[groups.of]
        self._has_errors = None
        if (up_to < ANY_SIZE).any():
            beyond = rows[self._sizes()[rows] > up_to[groups.of]]
            self.verdicts[beyond] = [own.get(row, Verdict.NO) for row in beyond.tolist()]
            self.redo.update(row for row in beyond.tolist() if row not in own)

    def _current(self, row: int) -> int:
        if self._columns is None:
            return self._match(row)[0]
        return self._remember(self._codes(self._columns, row), row)

    def rests_on_more(self, row: int) -> bool:
        """Whether the verdict on a row may have changed although nothing has that the selector reads."""
        if self._columns is None or row in self._own:
            return True
        known = self._known.get(self._codes(self._columns, row), _NOTHING_KNOWN)
        return bool(self._sizes()[row] > known[1])

    @staticmethod
    def _codes(columns: list[Column], row: int) -> tuple[int, ...]:
        return tuple(int(column.codes[row]) for column in columns)

    def update(self, row: int) -> bool:
        """Evaluate one row again; whether its verdict is another one now."""
        verdict = self._current(row)
        before = self.verdicts[row]
        if before == verdict:
            return False
        self.verdicts[row] = verdict
        if Verdict.ERROR in (verdict, before):
            self._has_errors = True if verdict == Verdict.ERROR else None
        return True

    def clear(self, row: int) -> bool:
        """The row has no object any more; whether that matters to anybody: it was selected, or an error."""
        mattered = self.verdicts[row] != Verdict.NO
        self.verdicts[row] = Verdict.NO
        self._has_errors = None
        self._own.discard(row)
        return bool(mattered)

    def grow(self, capacity: int) -> None:
        more = np.zeros(capacity - len(self.verdicts), dtype=np.int8)
        self.verdicts = np.concatenate((self.verdicts, more))

    def forget(self) -> None:
        """Codes have changed: what was remembered by code means nothing now."""
        self._known.clear()

    def _remember(self, codes: tuple[int, ...], row: int) -> int:
        """The verdict on a row: what is known of those that look the same, or else its own, known from now on."""
        size = self._sizes()[row]
        verdict, up_to = self._known.get(codes, _NOTHING_KNOWN)
        if size <= up_to:
            self._own.discard(row)
            return verdict
        verdict, own_up_to = self._match(row)
        if own_up_to > up_to:
            if len(self._known) >= _MOST_REMEMBERED:
                self._known.clear()
            self._known[codes] = verdict, own_up_to
        if size > own_up_to:
            self._own.add(row)
        else:
            self._own.discard(row)
        return verdict

    def _match(self, row: int) -> tuple[int, int]:
        """The verdict on one object, and up to which size it holds for others. Raises nothing but MemoryError."""
        try:
            match = self.selector.match(self._load(row))
        except MemoryError:  # the selector's fault: whoever watches evaluations sets it aside
            raise
        except Exception:  # an object that cannot be decoded, or a bug: either concerns this row and no other
            return int(Verdict.ERROR), 0
        return int(match.verdict), match.up_to


def _combinations(columns: list[Column]) -> int:
    """How many combinations of their values there could be."""
    return math.prod(max(column.distinct, 1) for column in columns)


class _Groups(NamedTuple):
    """Rows in groups whose numbers are less than `most`; not every number need be that of a group."""

    most: int
    of: NDArray[np.intp]  # the number of each row's group
    numbers: NDArray[np.intp]  # those that are of groups
    first: NDArray[np.intp]  # and where the first row of each is


def _grouped(columns: list[Column], rows: NDArray[np.intp]) -> _Groups:
    if (space := _combinations(columns)) > _SMALL:
        _, first, of = np.unique(_combined(columns, rows), return_index=True, return_inverse=True)
        return _Groups(len(first), of.reshape(-1), np.arange(len(first)), first)
    together = span(rows)
    of = np.zeros(len(rows), dtype=np.intp)  # of its own: codes may change in the pauses
    for column in columns:
        of *= column.distinct
        of += column.codes[rows if together is None else together]
    # Written from the last row to the first, so that the first one stays. Where no row is, nothing is read.
    first_of = np.full(space, -1, dtype=np.intp)
    first_of[of[::-1]] = np.arange(len(rows) - 1, -1, -1, dtype=np.intp)
    numbers = np.flatnonzero(first_of >= 0)
    return _Groups(space, of, numbers, first_of[numbers])


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
