"""What queries can see of an inventory, as rows of short cells: equal cells, equal outcomes.

A query declares the paths that it reads. A layout has the paths of several queries in one order, and the row of an
inventory is what it holds at each of them. Results are kept under the cells of a query, and cells that did not change
say that a change of the inventory does not concern the query. Rosters keep the rows.
"""

from __future__ import annotations

from hashlib import blake2b
from operator import itemgetter
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from muster.jq import decoded_json
from muster.values.json import Json
from muster.values.paths import Path, Where, may_matter, project

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Hashable, Iterable


Cell: TypeAlias = str | int | bytes | None
"""A text or an integer is its own cell, so that the usual ones cost nothing; everything else is encoded."""
Row: TypeAlias = tuple[Cell, ...]
Key: TypeAlias = Cell | Row
"""The cells of one query: the cell itself where there is just one."""

_LONGEST_CELL: Final = 48
_TRUE: Final = b"true"  # not True, which equals 1
_FALSE: Final = b"false"
_ABSENT: Final = object()
_encode = msgspec.json.Encoder().encode


class Layout:
    """The paths that some queries read, each once."""

    __slots__ = ("_columns", "_looks", "paths")

    def __init__(self, paths: Iterable[Path] = ()) -> None:
        self.paths = frozenset(paths)
        ordered = sorted(self.paths, key=repr)
        self._columns = {path: number for number, path in enumerate(ordered)}
        self._looks = [_look_at(path) for path in ordered]

    def row(self, inventory: Json) -> Row:
        """What a decoded inventory holds at every path."""
        return tuple([look(inventory) for look in self._looks])

    def changed(self, row: Row, before: Row, layout_before: Layout) -> frozenset[Path]:
        """The paths at which a row differs from an earlier one, which may have been laid out in another way."""
        known = dict(zip(layout_before._columns, before, strict=True))
        found = zip(self._columns, row, strict=True)
        return frozenset(path for path, cell in found if path not in known or known[path] != cell)

    def key_of(self, paths: Collection[Path]) -> Callable[[Row], Key]:
        """From a row to the cells of a query that reads some of the paths."""
        columns = sorted(self._columns[path] for path in paths)
        return itemgetter(*columns) if columns else _nothing


def _nothing(_: Row) -> Key:
    return ()


def _look_at(path: Path) -> Callable[[Json], Cell]:
    """What a value holds at this path."""

    def look(value: Json) -> Cell:
        depth = 0
        for step in path:
            if type(step) is not str:
                return _short(_other(path, depth, value))
            if type(value) is not dict:
                return _short([depth, value])
            value = value.get(step, _ABSENT)
            if value is _ABSENT:
                return b"-%d" % depth  # which is not null
            depth += 1
        kind = type(value)
        if (kind is str and len(value) <= _LONGEST_CELL) or kind is int or value is None:
            cell: Cell = value
            return cell
        if kind is bool:
            return _TRUE if value else _FALSE
        return _short([depth, value])

    return look


def _other(path: Path, depth: int, value: Json) -> Json:
    """The steps that are not names: members chosen by a field are picked here, the rest is the language's business."""
    step = path[depth]
    if isinstance(step, Where) and depth == len(path) - 1 and type(value) is list:
        return [depth, [each for each in value if may_matter(each, step)]]
    return [-depth, _plain(project(value, path[depth:]))]


def _plain(seen: Hashable) -> Json:
    """A projection as JSON."""
    match seen:
        case tuple():
            return [_plain(each) for each in seen]
        case bytes():
            return seen.decode("latin-1")
        case type():
            return seen.__name__
        case _:
            return seen


def _short(value: Json) -> bytes:
    """Encoded; a long text as its digest."""
    try:
        encoded = _encode(value)
    except (OverflowError, RecursionError):  # an integer beyond 64 bits, or very deep
        encoded = decoded_json(value).encode()
    return encoded if len(encoded) <= _LONGEST_CELL else blake2b(encoded, digest_size=16).digest()
