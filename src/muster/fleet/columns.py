"""Dictionary-encoded columns: the distinct values of one path, and a code per row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from muster.fleet.spans import span

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable

    from numpy.typing import NDArray

T = TypeVar("T")
_NO_CODE = -1
_MOST_COMPUTED = 16  # masks, and what is made of them, that a column keeps for those who ask again


class _Codes(dict["Hashable", int]):
    """Numbers values in the order in which they are first asked for, and lists them in that order."""

    def __init__(self, values: list[Hashable]) -> None:
        super().__init__((value, code) for code, value in enumerate(values))
        self._values = values

    def __missing__(self, value: Hashable) -> int:
        code = self[value] = len(self._values)
        self._values.append(value)
        return code


class Derived:
    """A function of a column's values: computed once per distinct value, with codes of its own.

    A function that does many at once sooner than one by one has a method `of_many` for it.
    """

    def __init__(self, function: Callable[[Hashable], Hashable]) -> None:
        self.values: list[Hashable] = []
        self._function = function
        self._code_of = _Codes(self.values)
        self._codes: list[int] = []
        self._array: NDArray[np.int32] = np.array([_NO_CODE], dtype=np.int32)

    def copy(self) -> Derived:
        copied = Derived(self._function)
        copied.values = list(self.values)
        copied._code_of = _Codes(copied.values)
        copied._codes, copied._array = list(self._codes), self._array
        return copied

    def follow(self, values: list[Hashable]) -> None:
        """Take in the values that have come since last time."""
        if len(self._codes) == len(values):
            return
        new = values[len(self._codes) :]
        together = getattr(self._function, "of_many", None)
        results = map(self._function, new) if together is None else together(new)
        self._codes += map(self._code_of.__getitem__, results)
        self._array = np.array([*self._codes, _NO_CODE], dtype=np.int32)

    @property
    def by_code(self) -> NDArray[np.int32]:
        """The code here for each code of the column, and -1 at the end, for rows without an object."""
        return self._array

    def codes(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """From codes of the column to codes of this; -1 stays -1."""
        return self._array[codes]


class Column:
    """One path over the whole fleet. Rows without an object have the code -1."""

    def __init__(self, capacity: int) -> None:
        self.codes: NDArray[np.int32] = np.full(capacity, _NO_CODE, dtype=np.int32)
        self.values: list[Hashable] = []
        self._code_of = _Codes(self.values)
        self._derived: dict[Callable[[Hashable], Hashable], Derived] = {}
        self._computed: dict[Hashable, Any] = {}

    def copy(self) -> Column:
        """The same values on the same rows, to be changed alone."""
        copied = Column(0)
        copied.codes, copied.values = self.codes.copy(), list(self.values)
        copied._code_of = _Codes(copied.values)
        copied._derived = {function: each.copy() for function, each in self._derived.items()}
        return copied

    def derive(self, function: Callable[[Hashable], Hashable]) -> Derived:
        """The column seen through a function, which must be hashable and always give the same results."""
        derived = self._derived.get(function)
        if derived is None:
            derived = self._derived[function] = Derived(function)
        derived.follow(self.values)
        return derived

    @property
    def distinct(self) -> int:
        """How many values it has seen since it was last rebuilt."""
        return len(self.values)

    def code(self, value: Hashable) -> int:
        """The code of a value, given one now if it is new."""
        return self._code_of[value]

    def fill(self, rows: NDArray[np.intp], values: list[Hashable]) -> None:
        """Set many rows at once, which are in ascending order."""
        codes = np.fromiter(map(self._code_of.__getitem__, values), dtype=np.int32, count=len(values))
        together = span(rows)
        self.codes[rows if together is None else together] = codes
        self._computed.clear()

    def computed(self, key: Hashable, compute: Callable[[], T]) -> T:
        """What follows from the codes and the key, kept as long as no row changes. Nobody may change it."""
        known: T | None = self._computed.get(key)
        if known is None:
            known = compute()
            if len(self._computed) >= _MOST_COMPUTED:
                self._computed.clear()
            self._computed[key] = known
        return known

    def put(self, row: int, value: Hashable) -> bool:
        """Set a row; whether that changed anything."""
        code = self.code(value)
        if self.codes[row] == code:
            return False
        self.codes[row] = code
        self._computed.clear()
        return True

    def clear(self, row: int) -> None:
        self.codes[row] = _NO_CODE
        self._computed.clear()

    def grow(self, capacity: int) -> None:
        more = np.full(capacity - len(self.codes), _NO_CODE, dtype=np.int32)
        self.codes = np.concatenate((self.codes, more))
        self._computed.clear()

    def forget_unused(self) -> bool:
        """Drop values that no row has any more; whether codes have changed. Called when they far outnumber the rows."""
        used = np.unique(self.codes[self.codes != _NO_CODE])
        if len(used) == len(self.values):
            return False
        new_codes = np.full(len(self.values) + 1, _NO_CODE, dtype=np.int32)
        new_codes[used] = np.arange(len(used), dtype=np.int32)
        self.codes = new_codes[self.codes]  # -1 takes the last entry, which stays -1
        self.values = [self.values[code] for code in used]
        self._code_of = _Codes(self.values)
        self._derived.clear()
        self._computed.clear()
        return True
