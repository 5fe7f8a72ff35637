"""The fleet at one moment, for questions that are answered a bit at a time while it changes.

Objects are immutable bytes, so that a snapshot costs a copy of the columns somebody wants, and of references to what
changes while it is looked at. Objects that are equal in all that is read form a group, of which one is looked at; for
which of the others that holds is said by what was found (see `Match.up_to`), and here is how large each of them is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from numpy.typing import NDArray

    from muster.selectors.paths import Path

_SMALL: Final = 2**21  # numbers up to which a table of them is faster than sorting


@dataclass(frozen=True, slots=True)
class Groups:
    """`of[i]` is the group of the i-th row; `first` are the rows that stand for theirs."""

    of: NDArray[np.int64]
    first: NDArray[np.intp]


class Snapshot:
    """Rows as they were: in the order of names, with the codes of the columns that were asked for.

    Names and objects are the fleet's own lists; whoever changes a row says so first, and what it was is kept here.
    """

    def __init__(
        self,
        names: Sequence[str],
        encoded: Sequence[bytes | None],
        order: NDArray[np.intp],
        codes: Mapping[Path, NDArray[np.int32]] | None = None,
        sizes: NDArray[np.int64] | None = None,
    ) -> None:
        self.order = order
        self._sizes = sizes
        self._names = names
        self._encoded = encoded
        self._codes = codes or {}
        self._kept: dict[int, tuple[str, bytes | None]] = {}

    def keep(self, row: int) -> None:
        """A row is about to change."""
        if row not in self._kept and row < len(self._encoded):
            self._kept[row] = self._names[row], self._encoded[row]

    def name(self, row: int) -> str:
        kept = self._kept.get(row)
        return self._names[row] if kept is None else kept[0]

    def encoded(self, row: int) -> bytes | None:
        kept = self._kept.get(row)
        return self._encoded[row] if kept is None else kept[1]

    def sizes(self, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """How large the objects of rows were, in bytes; 0 where nobody measured."""
        return np.zeros(len(rows), dtype=np.int64) if self._sizes is None else self._sizes[rows]

    def groups(self, rows: NDArray[np.intp], paths: Collection[Path] | None) -> Groups:
        """Rows that are equal at these paths; with None, or without columns of them, each stands for itself."""
        if paths is None or not self._codes.keys() >= set(paths):
            return Groups(np.arange(len(rows), dtype=np.int64), rows)
        of = np.zeros(len(rows), dtype=np.int64)
        size = 1
        for path in paths:
            codes = self._codes[path][rows].astype(np.int64)
            most = int(codes.max(initial=0)) + 1
            of, size = of * most + codes, size * most
            if size > _SMALL:
                of, size = _renumbered(of, size)
        of, size = _renumbered(of, size)
        first = np.zeros(size, dtype=np.intp)
        first[of[::-1]] = rows[::-1]
        return Groups(of, first)


def _renumbered(of: NDArray[np.int64], size: int) -> tuple[NDArray[np.int64], int]:
    """The same groups, numbered from 0 without gaps."""
    if size <= _SMALL:
        there = np.zeros(size, dtype=np.bool_)
        there[of] = True
        return (np.cumsum(there) - 1)[of], int(there.sum())
    found, inverse = np.unique(of, return_inverse=True)
    return inverse.reshape(-1).astype(np.int64), len(found)
