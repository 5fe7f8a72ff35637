"""Objects in rows: their JSON by name and number, and the order of their names. A fleet has columns and masks on top.

A row keeps its number as long as its object is there; the numbers of those that went are used again. Knows no selector.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, insort
from itertools import repeat
from typing import TYPE_CHECKING, Final
from weakref import WeakSet

import msgspec
import numpy as np

from muster.fleet.name_order import NameOrder
from muster.fleet.objects import FIRST_CAPACITY, MOST_PLAIN, StoredObjects
from muster.fleet.sections import find_sections
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from numpy.typing import NDArray

    from muster.fleet.shapes import Shape
    from muster.fleet.snapshots import Snapshot

DECODER: Final = msgspec.json.Decoder()


class ObjectRows:
    """All objects of one kind, as the bytes they came in."""

    def __init__(self, most_plain: int = MOST_PLAIN) -> None:
        """Of the JSON, so many bytes are kept as they came; the rest is packed."""
        self.generation = 0  # moves whenever an object comes or goes, and with it the meaning of a row
        self._row_of: dict[str, int] = {}
        self._names: list[str] = []
        self._objects = StoredObjects(most_plain)
        self._peeked: tuple[bytes | None, JsonObject] = (None, {})
        self._free: list[int] = []
        self._sorted: list[str] = []
        self._order: NameOrder | None = None
        self._rows: NDArray[np.intp] | None = None
        self._capacity = FIRST_CAPACITY
        self._snapshots: WeakSet[Snapshot] = WeakSet()  # those that somebody still looks at
        self._followed: list[set[int]] = []

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
        encoded = self._objects.at(row)
        if encoded is None:
            raise LookupError(f"row {row} holds no object")
        obj: JsonObject = DECODER.decode(encoded)
        return obj

    def _peek(self, row: int) -> JsonMapping:
        """The object in a row for those who only look: many selectors look at the object that has just changed."""
        stored = self._objects.stored[row]
        if self._peeked[0] is not stored or stored is None:
            self._peeked = (stored, self.load(row))
        return self._peeked[1]

    def encoded(self, rows: Iterable[int]) -> list[bytes]:
        """The objects in these rows as the JSON they came in, without rows that hold none."""
        return self._objects.of(rows)

    def encoded_at(self, row: int) -> bytes | None:
        return self._objects.at(row)

    def follow(self) -> set[int]:
        """A set that every row is put into whose object changes from now on; all that have one are in it already.
        Whoever follows takes them out."""
        changed = set(self._row_of.values())
        self._followed.append(changed)
        return changed

    def rows(self) -> NDArray[np.intp]:
        """All rows that hold an object, in ascending order."""
        if self._rows is None:
            self._rows = np.flatnonzero(self._objects.sizes)  # every object has bytes
        return self._rows

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
        return self._objects.stored[row] is not None

    def _take_over_rows(self, other: ObjectRows) -> None:
        """Have the same objects in the same rows. Objects and arrays of order are never changed in place."""
        self.generation = other.generation
        self._row_of, self._names = dict(other._row_of), list(other._names)
        self._free, self._sorted = list(other._free), list(other._sorted)
        self._objects = other._objects.copy()
        self._order, self._rows, self._capacity = other._order, other._rows, other._capacity

    # ----------------------------------------------------------------------------------------------- changing

    def _store(self, row: int, encoded: bytes | None) -> None:
        for snapshot in self._snapshots:
            snapshot.keep(row)
        for rows in self._followed:
            rows.add(row)
        self._objects.put(row, encoded)

    def loading(self) -> Loading:
        """For whoever has many objects that come bit by bit: they are rows when that is finished, all at once."""
        return Loading(self._take_in, StoredObjects(self._objects.most_plain))

    def _take_in(self, row_of: dict[str, int], objects: StoredObjects) -> None:
        if self._names:
            for name, at in row_of.items():
                encoded, objects.stored[at] = objects.at(at), None
                row = self._row_of.get(name)
                if row is None:
                    row = self._new_row(name, in_order=False)
                if encoded != self._objects.at(row):  # most are what they were
                    self._store(row, encoded)
        else:
            self._take_first(row_of, objects)
        self._sorted = sorted(self._row_of)
        self._order = self._rows = None

    def _take_first(self, row_of: dict[str, int], objects: StoredObjects) -> None:
        """Fill a fleet that never had a row, with the rows in the order of names: nothing needs sorting later."""
        self._names = sorted(row_of)
        count = len(self._names)
        while self._capacity < count:
            self._grow()
        if len(objects.stored) != count or self._names != list(row_of):  # a server lists them in this order
            order = array("q", map(row_of.__getitem__, self._names))  # numbers of Python would take four times the room
            row_of.update(zip(self._names, range(count), strict=True))
            objects.rearrange(order)
        objects.grow(self._capacity)
        self._row_of = row_of
        self._objects = objects
        self.generation += count
        for rows in self._followed:
            rows.update(range(count))

    def _new_row(self, name: str, *, in_order: bool) -> int:
        if self._free:
            row = self._free.pop()
            for snapshot in self._snapshots:
                snapshot.keep(row)
            self._names[row] = name
        else:
            row = len(self._names)
            self._names.append(name)
            self._objects.append()
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
        self._objects.grow(self._capacity)


class Loading:
    """Objects that come bit by bit. The later of two with one name counts."""

    def __init__(self, take_in: Callable[[dict[str, int], StoredObjects], None], empty: StoredObjects) -> None:
        self._take_in = take_in
        self._row_of: dict[str, int] = {}
        self._objects = empty

    def add(self, objects: Iterable[bytes], shapes: Iterable[Shape | None] = repeat(None)) -> None:
        """Raises msgspec's errors where one has no name: then nothing is taken in. `shapes`: what is known of them."""
        row_of, stored = self._row_of, self._objects
        for encoded, shape in zip(objects, shapes, strict=False):
            found = find_sections(encoded, shape)
            row_of[found.name] = stored.add(encoded, found)

    def finish(self) -> None:
        self._take_in(self._row_of, self._objects)
