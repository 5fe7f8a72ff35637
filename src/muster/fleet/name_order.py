"""The order of names as rows, at one moment: whoever holds it can put rows in order later, whatever comes or goes."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray

_FEW: Final = 16  # of so many rows one: to sort those takes less than to go through all
_AHEAD: Final = 8  # times as many as are wanted are looked at first
_LEAST: Final = 512


class NameOrder:
    """All rows that hold an object, by name. Nobody changes the array."""

    def __init__(self, rows: NDArray[np.intp], capacity: int) -> None:
        self.rows = rows
        self._capacity = capacity
        self.in_place = bool((rows[1:] > rows[:-1]).all())  # as they are after a load: names and rows go together

    def of(self, mask: NDArray[np.bool_]) -> NDArray[np.intp]:
        """The rows of a mask."""
        return np.flatnonzero(mask) if self.in_place else self.rows[mask[self.rows]]

    @cached_property
    def ranks(self) -> NDArray[np.int32]:
        """The place of every row in the order of names."""
        ranks = np.zeros(self._capacity, dtype=np.int32)
        ranks[self.rows] = np.arange(len(self.rows), dtype=np.int32)
        return ranks

    def sorted(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """These rows, of which there is none twice."""
        if len(rows) * _FEW > self._capacity:
            mask = np.zeros(self._capacity, dtype=np.bool_)
            mask[rows] = True
            return self.of(mask)
        return np.sort(rows) if self.in_place else rows[np.argsort(self.ranks[rows])]

    def first(self, are_wanted: Callable[[NDArray[np.intp]], NDArray[np.bool_]], count: int) -> NDArray[np.intp]:
        """The first rows that are wanted, so many at most: mostly they are near the beginning, and no others are asked
        for."""
        found: list[NDArray[np.intp]] = []
        start, size = 0, max(_AHEAD * count, _LEAST)
        while count > 0 and start < len(self.rows):
            part = self.rows[start : start + size]
            part = part[are_wanted(part)][:count]
            found.append(part)
            count -= len(part)
            start, size = start + size, 4 * size
        return np.concatenate(found) if found else np.array([], dtype=np.intp)
