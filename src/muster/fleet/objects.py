"""The objects in rows, as the JSON they came in. Where there are many, most of them are packed.

So much of them is kept as it came; beyond that, rows are packed page by page, those whose turn it is and that have not
changed since the last turn. Whoever reads an object gets what came, and does not see whether it was packed; columns of
labels and claims are read from pages (pages.py). A row that changes is unpacked with that. Knows no name and no column.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import numpy as np

from muster.fleet.packing import Packing, is_packed
from muster.fleet.pages import NO_PAGE, Page, Pages
from muster.fleet.sections import SectionReader, Sections

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from muster.fleet.sections import Found
    from muster.selectors.paths import Path

FIRST_CAPACITY: Final = 1024
MOST_PLAIN: Final = 2**28  # bytes of JSON that are kept as they came: of about 100,000 clusters
_CHUNK: Final = (
    256  # rows that are read or packed in one step: what that takes stays in the cache, and with the process
)
_CHUNK_BYTES: Final = 2**22  # and how much JSON
_AHEAD: Final = 32 * _CHUNK  # rows among which those in turn are looked for


class StoredObjects:
    """Objects by row. Rows are numbered from 0; whoever owns this says which are free."""

    def __init__(self, most_plain: int = MOST_PLAIN) -> None:
        self.sizes: NDArray[np.int64] = np.zeros(FIRST_CAPACITY, dtype=np.int64)  # in bytes; 0 where there is none
        self.stored: list[bytes | None] = []  # JSON, or packed
        self._sections = Sections()
        self._pages = Pages(FIRST_CAPACITY)
        self._packing: Packing | None = None
        self._plain_bytes = 0
        self.most_plain = most_plain
        self._turn = 0  # the row that is looked at next when some are packed

    def copy(self) -> StoredObjects:
        """The same objects, to be changed alone. No object is ever changed in place."""
        copied = StoredObjects(self.most_plain)
        copied.sizes, copied.stored = self.sizes.copy(), list(self.stored)
        copied._sections, copied._pages, copied._packing = self._sections.copy(), self._pages.copy(), self._packing
        copied._plain_bytes, copied._turn = self._plain_bytes, self._turn
        return copied

    # ------------------------------------------------------------------------------------------------- asking

    def plain(self, stored: bytes) -> bytes:
        """What is stored in a row, or was at any time, as it came."""
        return self._packing.unpack(stored) if self._packing is not None and is_packed(stored) else stored

    def at(self, row: int) -> bytes | None:
        stored = self.stored[row]
        return None if stored is None else self.plain(stored)

    def of(self, rows: Iterable[int]) -> list[bytes]:
        """Without rows that hold none."""
        return [self.plain(stored) for row in rows if (stored := self.stored[row]) is not None]

    def values(self, path: Path) -> Iterator[tuple[NDArray[np.intp], list[Hashable]]]:
        """What a column of the path holds, for all rows: some rows at a time, in ascending order, as they are then.

        Rows may change in the pauses; of those that do after it began, whoever changes them knows.
        """
        reader = SectionReader(path)
        if reader.kind is not None:
            return self._from_sections(reader.kind, reader)
        return ((rows, reader.whole(self.of(rows.tolist()))) for rows in self.chunks(np.flatnonzero(self.sizes)))

    def _from_sections(self, kind: int, reader: SectionReader) -> Iterator[tuple[NDArray[np.intp], list[Hashable]]]:
        """Pages first, then rows that are in none. Either become the other in the pauses, so that it goes on until
        there is nothing left of what was there in the beginning."""
        read = self._sections.read_by(reader)
        left = self.sizes > 0
        last = NO_PAGE
        while True:
            for page in self._pages.after(last):
                last = page
                rows, lines = self._pages.lines(page, kind, left)
                if len(rows):
                    left[rows] = False
                    yield rows, reader.values_of_lines(lines, partial(self._among, rows))
            waiting = np.flatnonzero(left & (self.sizes[: len(left)] > 0) & (self._pages.of[: len(left)] == NO_PAGE))
            if not len(waiting) and not self._pages.after(last):
                return
            for rows in self.chunks(waiting):
                there = rows[self._pages.of[rows] == NO_PAGE]
                left[there] = False
                yield there, read(there, self.stored)

    def _among(self, rows: NDArray[np.intp], places: list[int]) -> list[bytes]:
        return self.of(rows[places].tolist())

    def chunks(self, rows: NDArray[np.intp]) -> Iterator[NDArray[np.intp]]:
        """As many rows at a time as are read without a pause, without those that hold none by then."""
        start = 0
        while start < len(rows):
            end = self._end_of_chunk(rows, start)
            chunk = rows[start:end]
            # An object has bytes: to look at how many touches no object, and most of those would not be at hand.
            yield chunk[self.sizes[chunk] > 0]
            start = end

    def _end_of_chunk(self, rows: NDArray[np.intp], start: int) -> int:
        """Fewer rows where objects are large."""
        sizes = self.sizes[rows[start : start + _CHUNK]].cumsum()
        return start + min(int(sizes.searchsorted(_CHUNK_BYTES)) + 1, len(sizes))

    # ----------------------------------------------------------------------------------------------- changing

    def grow(self, capacity: int) -> None:
        if capacity <= len(self.sizes):
            return
        self.sizes = np.concatenate((self.sizes, np.zeros(capacity - len(self.sizes), dtype=np.int64)))
        self._pages.grow(capacity)

    def append(self) -> None:
        """There is one more row, which holds none."""
        self.stored.append(None)
        self._sections.append()

    def add(self, encoded: bytes, found: Found) -> int:
        """There is one more row, with an object."""
        row = len(self.stored)
        if row >= len(self.sizes):
            self.grow(2 * len(self.sizes))
        self.stored.append(encoded)
        self._sections.append(found)
        self.sizes[row] = len(encoded)
        self._plain_bytes += len(encoded)
        if self._plain_bytes > self.most_plain:
            self._pack_some()
        return row

    def put(self, row: int, encoded: bytes | None) -> None:
        """The object in a row is this one now."""
        if self._pages.of[row] == NO_PAGE:
            self._plain_bytes -= int(self.sizes[row])
        else:
            for other in self._pages.leave(row):
                self.stored[other] = self.at(other)
                self._plain_bytes += int(self.sizes[other])
        size = 0 if encoded is None else len(encoded)
        self.stored[row], self.sizes[row] = encoded, size
        self._sections.forget(row)
        self._plain_bytes += size
        if self._plain_bytes > self.most_plain:
            self._pack_some()

    def rearrange(self, order: Sequence[int]) -> None:
        """Only these rows, in this order."""
        capacity = len(self.sizes)
        new_rows = np.full(len(self.stored), NO_PAGE, dtype=np.intp)
        new_rows[order] = np.arange(len(order))
        self.stored = [self.stored[row] for row in order]
        self._sections.rearrange(order)
        sizes = self.sizes[order]
        self.sizes = np.zeros(capacity, dtype=np.int64)
        self.sizes[: len(order)] = sizes
        self._pages.rearrange(new_rows, capacity)
        self._plain_bytes = int(self.sizes[self._pages.of == NO_PAGE].sum())
        self._turn = 0

    def _pack_some(self) -> None:
        while self._plain_bytes > self.most_plain:
            rows = self._in_turn()
            numbers: list[int] = rows.tolist()
            lines = self._sections.lines(numbers, self.stored)
            if self._packing is None:
                self._packing = Packing(self.of(numbers))
            for row in numbers:
                self.stored[row] = self._packing.pack(self.stored[row] or b"")
                self._sections.forget(row)
            self._pages.add(Page(rows, lines))
            self._plain_bytes -= int(self.sizes[rows].sum())

    def _in_turn(self) -> NDArray[np.intp]:
        """The next rows that are not packed. There is one."""
        while True:
            begin, end = self._turn, self._turn + _AHEAD
            plain = (self.sizes[begin:end] > 0) & (self._pages.of[begin:end] == NO_PAGE)
            rows = np.flatnonzero(plain) + begin
            if len(rows):
                rows = rows[: self._end_of_chunk(rows, 0)]
                self._turn = int(rows[-1]) + 1
                return rows
            self._turn = end if end < len(self.stored) else 0
