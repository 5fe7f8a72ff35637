"""Sections of rows whose objects are packed, many rows to a page: a column of one label reads the labels of all of them
at once, and unpacks none of the objects.

A page never changes. A row leaves it when its object changes; one that hardly anybody is left in is given up, so that
what nobody reads takes no more than some times the room of what somebody does. Knows no path and no object.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

NO_PAGE: Final = -1
_LEVEL: Final = 2
_LEAST: Final = 4  # of so many rows one must still be there
_FEW: Final = 32  # rows that are no page
_NO_ROWS: Final = np.array([], dtype=np.intp)


class Page:
    """Rows, and for each kind of section one line per row."""

    __slots__ = ("_kinds", "rows")

    def __init__(self, rows: NDArray[np.intp], kinds: Sequence[Sequence[bytes]]) -> None:
        """No line may hold the end of one."""
        self.rows = rows
        self._kinds = tuple(_packed(b"\n".join(lines)) for lines in kinds)

    def lines(self, kind: int) -> list[bytes]:
        size, packed = self._kinds[kind]
        return zlib.decompressobj().decompress(packed, max(size, 1)).split(b"\n")

    def part(self, places: NDArray[np.intp]) -> Page:
        """Of some of its rows alone."""
        kinds = [self.lines(kind) for kind in range(len(self._kinds))]
        return Page(self.rows[places], [[lines[place] for place in places.tolist()] for lines in kinds])

    def moved(self, rows: NDArray[np.intp]) -> Page:
        """The same sections, of other rows."""
        page = Page(rows, ())
        page._kinds = self._kinds
        return page


def _packed(text: bytes) -> tuple[int, bytes]:
    return len(text), zlib.compress(text, _LEVEL)


class Pages:
    """All pages, and which of them each row is in."""

    def __init__(self, capacity: int) -> None:
        self.of: NDArray[np.int64] = np.full(capacity, NO_PAGE, dtype=np.int64)
        self._pages: dict[int, Page] = {}
        self._left: dict[int, int] = {}  # how many rows are in each
        self._next = 0

    def copy(self) -> Pages:
        copied = Pages(0)
        copied.of, copied._next = self.of.copy(), self._next
        copied._pages, copied._left = dict(self._pages), dict(self._left)
        return copied

    def grow(self, capacity: int) -> None:
        more = np.full(capacity - len(self.of), NO_PAGE, dtype=np.int64)
        self.of = np.concatenate((self.of, more))

    def add(self, page: Page) -> None:
        self._pages[self._next] = page
        self._left[self._next] = len(page.rows)
        self.of[page.rows] = self._next
        self._next += 1

    def leave(self, row: int) -> list[int]:
        """A row is in no page any more. Those that are left in a page that hardly anybody is left in go to one of their
        own, or are in none either if they are too few: then these are they."""
        number = int(self.of[row])
        self.of[row] = NO_PAGE
        self._left[number] -= 1
        page = self._pages[number]
        if self._left[number] * _LEAST >= len(page.rows):
            return []
        places = self._places(number, page)
        del self._pages[number], self._left[number]
        if len(places) >= _FEW:
            self.add(page.part(places))
            return []
        left: list[int] = page.rows[places].tolist()
        self.of[left] = NO_PAGE
        return left

    def _places(self, number: int, page: Page) -> NDArray[np.intp]:
        """Where in a page those rows are that are still in it."""
        return np.flatnonzero((page.rows != NO_PAGE) & (self.of[page.rows] == number))

    def after(self, number: int) -> list[int]:
        """The pages that have come after one."""
        return [each for each in self._pages if each > number]

    def lines(self, number: int, kind: int, among: NDArray[np.bool_]) -> tuple[NDArray[np.intp], list[bytes]]:
        """Those of the rows that are still in a page, in ascending order, and their lines. None if it is gone."""
        page = self._pages.get(number)
        if page is None:
            return _NO_ROWS, []
        places = self._places(number, page)
        places = places[page.rows[places] < len(among)]
        places = places[among[page.rows[places]]]
        if not len(places):
            return _NO_ROWS, []
        rows = page.rows[places]
        if not (rows[1:] > rows[:-1]).all():
            in_order = np.argsort(rows)
            places, rows = places[in_order], rows[in_order]
        lines = page.lines(kind)
        return rows, [lines[place] for place in places.tolist()]

    def rearrange(self, new_rows: NDArray[np.intp], capacity: int) -> None:
        """Every row is another one now; NO_PAGE for those that are gone."""
        pages, self._pages, self._left = self._pages, {}, {}
        self.of = np.full(capacity, NO_PAGE, dtype=np.int64)
        for number, page in pages.items():
            rows = new_rows[page.rows]
            there = rows[rows != NO_PAGE]
            if len(there):
                self._pages[number], self._left[number] = page.moved(rows), len(there)
                self.of[there] = number
