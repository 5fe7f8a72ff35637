"""Objects in rows: their JSON by name and number, and the order of their names. A fleet has columns and masks on top.

A row keeps its number as long as its object is there; the numbers of those that went are used again. Knows no selector.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from itertools import count, islice, repeat
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import msgspec
import numpy as np

from muster.fleet.name_order import NameOrder
from muster.fleet.sections import Sections, find_sections
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from numpy.typing import NDArray

    from muster.fleet.shapes import Shape
    from muster.fleet.snapshots import Snapshot

FIRST_CAPACITY: Final = 1024
_CHUNK: Final = 256  # rows that are filled in one step: what that takes stays in the cache, and with the process
_AT_ONCE: Final = 1000  # objects of a first load
_CHUNK_BYTES: Final = 2**22  # and of how much JSON


DECODER: Final = msgspec.json.Decoder()


class ObjectRows:
    """All objects of one kind, as the bytes they came in."""

    def __init__(self) -> None:
        self.generation = 0  # moves whenever an object comes or goes, and with it the meaning of a row
        self._row_of: dict[str, int] = {}
        self._names: list[str] = []
        self._encoded: list[bytes | None] = []
        self._sections = Sections()
        self._peeked: tuple[bytes | None, JsonObject] = (None, {})
        self._free: list[int] = []
        self._sorted: list[str] = []
        self._order: NameOrder | None = None
        self._rows: NDArray[np.intp] | None = None
        self._capacity = FIRST_CAPACITY
        self._snapshots: WeakSet[Snapshot] = WeakSet()  # those that somebody still looks at
        self._followed: list[set[int]] = []
        self._sizes: NDArray[np.int64] = np.zeros(FIRST_CAPACITY, dtype=np.int64)  # of the objects, in bytes

    def __len__(self) -> int:
        return len(self._row_of)

    def __contains__(self, name: str) -> bool:
        return name in self._row_of

    @property
    def capacity(self) -> int:
        """The length of every array over rows; those without an object are in none of the masks."""
        return self._capacity

    def row(self, name: str) -> int | None:
        return self._row_of.get(name)

    def rows_of(self, names: Sequence[str]) -> NDArray[np.intp]:
        """The rows of many names at once; -1 for those that are not here."""
        return np.fromiter(map(self._row_of.get, names, repeat(-1)), dtype=np.intp, count=len(names))

    def name(self, row: int) -> str:
        return self._names[row]

    def names(self, rows: Iterable[int]) -> list[str]:
        names = self._names
        return [names[row] for row in rows]

    def load(self, row: int) -> JsonObject:
        """The object in a row, decoded."""
        encoded = self._encoded[row]
        if encoded is None:
            raise LookupError(f"row {row} holds no object")
        obj: JsonObject = DECODER.decode(encoded)
        return obj

    def _peek(self, row: int) -> JsonMapping:
        """The object in a row for those who only look: many selectors look at the object that has just changed."""
        if self._peeked[0] is not self._encoded[row] or self._encoded[row] is None:
            self._peeked = (self._encoded[row], self.load(row))
        return self._peeked[1]

    def encoded(self, rows: Iterable[int]) -> list[bytes]:
        """The objects in these rows as the JSON they came in, without rows that hold none."""
        return [encoded for row in rows if (encoded := self._encoded[row]) is not None]

    def encoded_at(self, row: int) -> bytes | None:
        return self._encoded[row]

    def follow(self) -> set[int]:
        """A set that every row is put into whose object changes from now on; all that have one are in it already.
        Whoever follows takes them out."""
        changed = set(self._row_of.values())
        self._followed.append(changed)
        return changed

    def rows(self) -> NDArray[np.intp]:
        """All rows that hold an object, in ascending order."""
        if self._rows is None:
            self._rows = np.flatnonzero(self._sizes)  # every object has bytes
        return self._rows

    def chunks(self) -> Iterator[NDArray[np.intp]]:
        """All rows, as many at once as are worked on without a pause, each with an object when its turn comes."""
        rows, start = self.rows(), 0
        while start < len(rows):
            end = self._end_of_chunk(rows, start)
            # An object has bytes: to look at how many touches no object, and most of those would not be at hand.
            yield rows[start:end][self._sizes[rows[start:end]] > 0]
            start = end

    def _end_of_chunk(self, rows: NDArray[np.intp], start: int) -> int:
        """As many rows as are filled without a pause: fewer where objects are large."""
        sizes = self._sizes[rows[start : start + _CHUNK]].cumsum()
        return start + min(int(sizes.searchsorted(_CHUNK_BYTES)) + 1, len(sizes))

    def in_order(self, mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows of a mask in the order of their names."""
        return self.name_order.of(mask)

    def ordered(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """These rows, of which there is none twice, in the order of their names."""
        return self.name_order.sorted(rows)

    @property
    def name_order(self) -> NameOrder:
        """The order as it is now, for those who ask later what it was."""
        if self._order is None:
            self._order = NameOrder(self._by_name(), self._capacity)
        return self._order

    @property
    def ranks(self) -> NDArray[np.int32]:
        """The place of every row in the order of names."""
        return self.name_order.ranks

    def _by_name(self) -> NDArray[np.intp]:
        return np.fromiter(map(self._row_of.__getitem__, self._sorted), dtype=np.intp, count=len(self._sorted))

    def _holds_object(self, row: int) -> bool:
        return self._encoded[row] is not None

    def _take_over_rows(self, other: ObjectRows) -> None:
        """Have the same objects in the same rows. Objects and arrays of order are never changed in place."""
        self.generation = other.generation
        self._row_of, self._names = dict(other._row_of), list(other._names)
        self._encoded, self._free, self._sorted = list(other._encoded), list(other._free), list(other._sorted)
        self._sections = other._sections.copy()
        self._order, self._rows = other._order, other._rows
        self._capacity, self._sizes = other._capacity, other._sizes.copy()

    # ----------------------------------------------------------------------------------------------- changing

    def _store(self, row: int, encoded: bytes | None) -> None:
        for snapshot in self._snapshots:
            snapshot.keep(row)
        for rows in self._followed:
            rows.add(row)
        self._encoded[row] = encoded
        self._sections.forget(row)
        self._sizes[row] = len(encoded) if encoded is not None else 0

    def _store_many(self, objects: Iterable[bytes], shapes: Iterable[Shape | None]) -> None:
        if self._names:
            # All are read before the first is stored: one without a name leaves what was.
            for found, encoded in [(find_sections(*each), each[0]) for each in zip(objects, shapes, strict=False)]:
                row = self._row_of.get(found.name)
                if row is None:
                    row = self._new_row(found.name, in_order=False)
                self._store(row, encoded)
                self._sections.put(row, found)
        else:
            self._store_first(objects, shapes)
        self._sorted = sorted(self._row_of)
        self._order = self._rows = None

    def _store_first(self, objects: Iterable[bytes], shapes: Iterable[Shape | None]) -> None:
        """Fill a fleet that never had a row, all at once, with the rows in the order of names: nothing needs sorting
        later. One without a name leaves it empty."""
        row_of: dict[str, int] = {}
        stored: list[bytes | None] = []
        sections = Sections()
        each = zip(objects, shapes, strict=False)
        while some := list(islice(each, _AT_ONCE)):
            found = [find_sections(encoded, shape) for encoded, shape in some]
            # Of two objects with one name the last counts.
            row_of.update(zip([one.name for one in found], count(len(stored)), strict=False))
            stored += [encoded for encoded, _ in some]
            sections.extend(found)
        self._names = sorted(row_of)
        size = len(self._names)
        if len(stored) != size or self._names != list(row_of):  # a server lists them in this order
            order = array("q", map(row_of.__getitem__, self._names))  # numbers of Python would take four times the room
            row_of.update(zip(self._names, range(size), strict=True))
            stored = [stored[at] for at in order]
            sections.rearrange(order)
        self._row_of = row_of
        self._encoded = stored
        self._sections = sections
        self.generation += size
        while self._capacity < size:
            self._grow()
        self._sizes[:size] = np.fromiter((len(each or b"") for each in stored), np.int64, size)
        for rows in self._followed:
            rows.update(range(size))

    def _new_row(self, name: str, *, in_order: bool) -> int:
        if self._free:
            row = self._free.pop()
            for snapshot in self._snapshots:
                snapshot.keep(row)
            self._names[row] = name
        else:
            row = len(self._names)
            self._names.append(name)
            self._encoded.append(None)
            self._sections.append()
            if row >= self._capacity:
                self._grow()
        self._row_of[name] = row
        self.generation += 1
        if in_order:
            insort(self._sorted, name)
            self._order = self._rows = None
        return row

    def _free_row(self, name: str, row: int) -> None:
        """The object is gone: its row holds none from now on."""
        del self._row_of[name]
        del self._sorted[bisect_left(self._sorted, name)]
        self._order = self._rows = None
        self._store(row, None)
        self._free.append(row)
        self.generation += 1

    def _grow(self) -> None:
        self._capacity *= 2
        self._order = self._rows = None
        self._sizes = np.concatenate((self._sizes, np.zeros_like(self._sizes)))
