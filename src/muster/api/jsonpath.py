r"""The JSONPath of printer columns, as a Kubernetes server reads it: `.a.b`, `.a[*].b`, `.a[?(@.type=="X")].b`,
`.a['k']`, `.a\.b/c`, slices, unions, wildcards and `..`.

Compiled once per column (`jsonpath_text` reads it). A path that leads nowhere gives no values, and so does one that
asks for what an object cannot answer, such as an index beyond the end: a server shows an empty cell for both. Called
by `api.table` and by custom kinds. Not the templates of `kubectl -o jsonpath`.
"""

from __future__ import annotations

import operator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from muster.api.jsonpath_text import (
    Constant,
    Descent,
    Every,
    Field,
    PathText,
    Slice,
    Union,
    Where,
    Word,
    read_path,
)
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.api.jsonpath_text import Step

#: Values that one path may look at in one object. What a path with many `..` would find could be without end.
MOST_VALUES: Final = 10_000

_COMPARISONS: Final[dict[str, Callable[[Json, Json], bool]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


class _CannotError(Exception):
    """The object is not made for this path: nothing is shown."""


class _Walk:
    """One path over one object, with what it may still look at."""

    def __init__(self) -> None:
        self._left = MOST_VALUES

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            raise _CannotError

    def along(self, steps: Sequence[Step], values: list[Json]) -> list[Json]:
        for step in steps:
            self.spend(1 + len(values))
            values = list(self._next(step, values))
        return values

    def _next(self, step: Step, values: list[Json]) -> Iterator[Json]:
        match step:
            case Field(name):
                yield from (value[name] for value in values if isinstance(value, dict) and name in value)
            case Every():
                for value in values:
                    parts = _parts(value)
                    self.spend(len(parts))
                    yield from parts
            case Descent():
                yield from self._descended(values)
            case Slice():
                yield from self._sliced(step, values)
            case Union(ways):
                for way in ways:
                    yield from self.along(way, values)
            case Where():
                for value in values:
                    yield from self._chosen(step, value)
            case Constant(value, once=once):
                yield from [value] if once else [value] * len(values)
            case Word():
                raise _CannotError

    def _descended(self, values: Sequence[Json]) -> Iterator[Json]:
        """Everything that has something in it, outermost first. A text is something with characters in it."""
        waiting = list(reversed(values))
        while waiting:
            self.spend(1)
            value = waiting.pop()
            if isinstance(value, str):
                yield from [value] if value else []
            elif parts := _parts(value):
                yield value
                waiting.extend(reversed(parts))

    def _sliced(self, wanted: Slice, values: Sequence[Json]) -> Iterator[Json]:
        for value in values:
            if value is None:
                continue
            if not isinstance(value, list):
                raise _CannotError
            size = len(value)
            start = wanted.start + size if wanted.start < 0 else wanted.start
            stop = size if wanted.stop is None else wanted.stop
            if stop < 0 or (stop == 0 and wanted.single):
                stop += size
            if start == stop:
                return
            if not (0 <= start < size and start < stop <= size and wanted.step > 0):
                raise _CannotError
            yield from value[start : stop : wanted.step]

    def _chosen(self, wanted: Where, value: Json) -> Iterator[Json]:
        if not isinstance(value, list):
            raise _CannotError
        for each in value:
            if wanted.operator == "exists":
                if self._exists(wanted, each):
                    yield each
                continue
            left, right = self.along(wanted.left, [each]), self.along(wanted.right, [each])
            if not left or not right:
                continue
            if len(left) > 1 or len(right) > 1:
                raise _CannotError
            if _compared(wanted.operator, left[0], right[0]):
                yield each

    def _exists(self, wanted: Where, value: Json) -> bool:
        try:
            return bool(self.along(wanted.left, [value]))
        except _CannotError:
            self.spend(0)  # raises again if it was for want of room
            return True  # a server takes what it cannot look into for something


def _parts(value: Json) -> list[Json]:
    """What is in a value; in a text there are bytes."""
    match value:
        case dict():
            return list(value.values())
        case list():
            return value
        case str():
            return list(value.encode())
        case _:
            return []


def _compared(sign: str, left: Json, right: Json) -> bool:
    """Only values of one type can be compared; there is an order of numbers and of texts."""
    compare = _COMPARISONS.get(sign)
    ordered = sign not in ("==", "!=")
    if compare is None or type(left) is not type(right) or not isinstance(left, bool | int | float | str):
        raise _CannotError
    if ordered and isinstance(left, bool):
        raise _CannotError
    return compare(left, right)


@dataclass(frozen=True, slots=True)
class Path:
    """A compiled path."""

    steps: PathText

    def values(self, obj: Json) -> list[Json]:
        try:
            return _Walk().along(self.steps, [obj])
        except _CannotError:
            return []

    def first(self, obj: Json) -> Json:
        """The first value, or None."""
        found = self.values(obj)
        return found[0] if found else None


@lru_cache(maxsize=512)
def compile_path(text: str) -> Path:
    """Raises InvalidObjectError for what a server cannot read either."""
    return Path(read_path(text))
