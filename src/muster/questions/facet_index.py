"""Which cluster has which label, claim, version, condition and taint: one number per value, kept up to date when asked.

Between questions it costs next to nothing: clusters that have changed are read again when somebody asks. Counting is
one pass over all entries for some of the clusters, and none at all for all of them. Room is taken by what is there, not
by keys times clusters, whatever a tenant calls his labels.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from muster.api.reading import Reader
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from numpy.typing import NDArray

    from muster.fleet import Fleet
    from muster.questions.sharing import Work

_AT_ONCE: Final = 16  # clusters that are read again without a pause
_LONGEST: Final = 1024  # characters of a value
_NO_ROW: Final = -1
_FIRST: Final = 4096
_MANY: Final = 10_000  # clusters, which take some tenths of a second
LABEL, CLAIM, VERSION, CONDITION, TAINT = "label", "claim", "version", "condition", "taint"


class _Metadata(msgspec.Struct, frozen=True):
    labels: dict[str, str] = msgspec.field(default_factory=dict)


class _Claim(msgspec.Struct, frozen=True):
    name: str = ""
    value: str = ""


class _Version(msgspec.Struct, frozen=True):
    kubernetes: str = ""


class _Condition(msgspec.Struct, frozen=True):
    type: str = ""
    status: str = ""


class _Taint(msgspec.Struct, frozen=True):
    key: str = ""
    effect: str = ""


class _Spec(msgspec.Struct, frozen=True):
    taints: tuple[_Taint, ...] = ()


class _Status(msgspec.Struct, frozen=True, rename="camel"):
    cluster_claims: tuple[_Claim, ...] = ()
    version: _Version = _Version()
    conditions: tuple[_Condition, ...] = ()


class _Cluster(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    status: _Status = _Status()


_READER: Final = Reader(_Cluster)
Entry = tuple[str, str, str]  # facet, key, value


def _entries(encoded: bytes) -> Iterator[Entry]:
    """What a cluster has; a key once."""
    found = _READER.read(encoded)
    if isinstance(found, Fault):
        return
    cluster = found.obj
    for key, value in cluster.metadata.labels.items():
        yield LABEL, key, value[:_LONGEST]
    for key, value in {each.name: each.value for each in cluster.status.cluster_claims}.items():
        yield CLAIM, key, value[:_LONGEST]
    if cluster.status.version.kubernetes:
        yield VERSION, "", cluster.status.version.kubernetes[:_LONGEST]
    for key, value in {each.type: each.status for each in cluster.status.conditions}.items():
        yield CONDITION, key, value[:_LONGEST]
    effects: dict[str, set[str]] = {}
    for taint in cluster.spec.taints:
        effects.setdefault(taint.key, set()).add(taint.effect)
    for key, each in effects.items():
        yield TAINT, key, ", ".join(sorted(each))


class Key:
    """The values of one key, and the number of each."""

    __slots__ = ("_array", "_unsorted", "_values", "number", "numbers")

    def __init__(self, number: int) -> None:
        self.number = number
        self.numbers: dict[str, int] = {}
        self._values: list[str] = []
        self._unsorted: list[str] = []
        self._array: NDArray[np.int64] | None = None

    def add(self, value: str, number: int) -> None:
        self.numbers[value] = number
        self._unsorted.append(value)
        self._array = None

    def drop(self, value: str) -> None:
        del self.numbers[value]
        self._array = None

    def ordered(self) -> tuple[list[str], NDArray[np.int64]]:
        """Values in their order, and their numbers."""
        if self._array is None:
            there = dict.fromkeys(each for each in (*self._values, *self._unsorted) if each in self.numbers)
            self._values, self._unsorted = sorted(there), []
            numbers = (self.numbers[value] for value in self._values)
            self._array = np.fromiter(numbers, dtype=np.int64, count=len(self._values))
        return self._values, self._array


class FacetIndex:
    """Entries of all clusters of a fleet."""

    def __init__(self, fleet: Fleet) -> None:
        self.keys: dict[tuple[str, str], Key] = {}
        self._fleet = fleet
        self._changed = fleet.follow()  # rows to be read again
        self._entries_of: dict[int, tuple[int, int]] = {}  # by row: where its entries begin, and how many
        self._what: list[Entry] = []  # by number
        self._free: list[int] = []
        self._free_keys: list[int] = []
        self._most_keys = 0
        self._key_of: NDArray[np.int32] = np.zeros(_FIRST, dtype=np.int32)  # by number
        self._counts: list[int] = []  # by number
        self._counted: NDArray[np.int64] | None = None  # the same, while no number is new
        self._numbers: NDArray[np.int32] = np.zeros(_FIRST, dtype=np.int32)
        self._owners: NDArray[np.int32] = np.zeros(_FIRST, dtype=np.int32)
        self._end = 0
        self._dead = 0
        self._is_complete = False

    @property
    def is_warming(self) -> bool:
        """Whether so much has never been read that whoever asks had better come back."""
        return not self._is_complete and len(self._changed) > _MANY

    def catch_up(self) -> Work[None]:
        """Read what has changed, with pauses while that is much. What comes after it is of the moment it ends at."""
        number = 0
        while self._changed:
            row = self._changed.pop()
            self._put(row, self._fleet.encoded_at(row))
            number += 1
            if number % _AT_ONCE == 0:
                yield False
        self._is_complete = True

    def counts(self, among: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        """How many clusters have each entry, by number; among some rows, or all."""
        if among is None:
            if self._counted is None:
                self._counted = np.array(self._counts, dtype=np.int64)
            return self._counted
        seen = np.append(among, False)  # the last is for entries that nobody has any more
        numbers = self._numbers[: self._end][seen[self._owners[: self._end]]]
        return np.bincount(numbers, minlength=len(self._what)).astype(np.int64)

    def rows_of(self, names: Iterable[str]) -> NDArray[np.bool_]:
        """The rows of these clusters, to count among."""
        mask = np.zeros(self._fleet.capacity, dtype=np.bool_)
        mask[[row for name in names if (row := self._fleet.row(name)) is not None]] = True
        return mask

    def of_keys(self, counts: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many clusters have each key, by its number, from counts of its values."""
        sums = np.bincount(self._key_of[: len(counts)], weights=counts, minlength=self._most_keys)
        return sums.astype(np.int64)

    def _put(self, row: int, encoded: bytes | None) -> None:
        # What it has now is counted before what it had is taken off: a value that stays is never forgotten in between.
        numbers = [] if encoded is None else [self._number(entry) for entry in _entries(encoded)]
        for number in numbers:
            self._count(number, 1)
        self._take_out(row)
        if not numbers:
            return
        if self._end + len(numbers) > len(self._numbers):
            self._make_room(self._end + len(numbers))
        begin, end = self._end, self._end + len(numbers)
        self._numbers[begin:end] = numbers
        self._owners[begin:end] = row
        self._end = end
        self._entries_of[row] = begin, len(numbers)

    def _take_out(self, row: int) -> None:
        begin, count = self._entries_of.pop(row, (0, 0))
        for number in self._numbers[begin : begin + count].tolist():
            self._count(number, -1)
            if not self._counts[number]:
                self._forget(number)
        self._owners[begin : begin + count] = _NO_ROW
        self._dead += count

    def _count(self, number: int, more: int) -> None:
        self._counts[number] += more
        if self._counted is not None:
            if number < len(self._counted):
                self._counted[number] += more
            else:
                self._counted = None

    def _number(self, entry: Entry) -> int:
        facet, key, value = entry
        held = self.keys.get((facet, key))
        if held is None:
            held = self.keys[facet, key] = Key(self._new_key())
        number = held.numbers.get(value)
        if number is None:
            if self._free:
                number = self._free.pop()
                self._what[number] = entry
            else:
                number = len(self._what)
                self._what.append(entry)
                self._counts.append(0)
                if number >= len(self._key_of):
                    self._key_of = np.concatenate((self._key_of, np.zeros_like(self._key_of)))
            self._key_of[number] = held.number
            held.add(value, number)
        return number

    def _new_key(self) -> int:
        if self._free_keys:
            return self._free_keys.pop()
        self._most_keys += 1
        return self._most_keys - 1

    def _forget(self, number: int) -> None:
        facet, key, value = self._what[number]
        held = self.keys[facet, key]
        held.drop(value)
        if not held.numbers:
            del self.keys[facet, key]
            self._free_keys.append(held.number)
        self._free.append(number)

    def _make_room(self, wanted: int) -> None:
        """Close the gaps where half is gaps, else have twice as much."""
        if self._dead * 2 > self._end:
            kept = self._owners[: self._end] != _NO_ROW
            place = np.cumsum(kept) - 1
            self._entries_of = {row: (int(place[at]), count) for row, (at, count) in self._entries_of.items()}
            self._end = int(kept.sum())
            self._numbers[: self._end] = self._numbers[: len(kept)][kept]
            self._owners[: self._end] = self._owners[: len(kept)][kept]
            wanted -= self._dead
            self._dead = 0
        while wanted > len(self._numbers):
            self._numbers = np.concatenate((self._numbers, np.zeros_like(self._numbers)))
            self._owners = np.concatenate((self._owners, np.zeros_like(self._owners)))
