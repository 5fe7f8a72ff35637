"""Paths into JSON, and what a value holds there: how expressions, queries and selectors say what they read.

A path is a tuple of steps, hence hashable; the empty path is the whole value. It stands for everything below it, and
for the way to it: whether that way is there.

    "field"             a field of an object
    7                   a position in a list
    Key("bool", True)   any other constant key, which no JSON has
    Where("name", "a")  of a list, the elements whose field is that text, and those that have no text there, since
                        looking at them may fail. It leaves the others out of what is read, and only their number counts
                        for anything: for what it costs to pass them by (see SIZE). Always the last step
    PRESENT             only whether the value before it is there. Always the last step, as the following ones are
    OBJECT, ARRAY       only whether it is an object, or a list, because a step inside can fail
    SIZE                only how much is in it: what a cost can depend on where a result does not

`project` gives what a value holds at a path as a key that is equal only for what cannot be told apart by reading that
path. CEL and jq find out which paths a text reads; selectors and the fleet keep columns of them. Nobody here knows what
reads, or what an object means.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Final, TypeAlias

import msgspec

from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Iterable
    from collections.abc import Set as AbstractSet


@dataclass(frozen=True, slots=True)
class Where:
    """The elements of a list whose `field` is `value`, for example the claims with one name."""

    field: str
    value: str


@dataclass(frozen=True, slots=True)
class Key:
    """A constant key that is neither a text nor a whole number. With its type: in Python True equals 1 and 1.0."""

    kind: str
    value: bool | float


class Aspect(Enum):
    """The last step of a path that asks only this of the value before it."""

    PRESENT = "whether it is there"
    OBJECT = "whether it is an object"
    ARRAY = "whether it is a list"
    SIZE = "how much is in it"

    def __repr__(self) -> str:
        return self.name


PRESENT: Final = Aspect.PRESENT
OBJECT: Final = Aspect.OBJECT
ARRAY: Final = Aspect.ARRAY
SIZE: Final = Aspect.SIZE

Step: TypeAlias = str | int | Key | Where | Aspect
Path: TypeAlias = tuple[Step, ...]
WHOLE: Final[Path] = ()

_NONE: Final[frozenset[Path]] = frozenset()


# --- which path says what of another


def covers(path: Path, other: Path) -> bool:
    """Whether who reads the path sees all that is at the other one."""
    return other[: len(path)] == path


def shortest(paths: Iterable[Path]) -> frozenset[Path]:
    """The paths, without those that another one covers or learns on its way."""
    every = set(paths)
    kept = {path for path in every if not any(path[:size] in every for size in range(len(path)))}
    return frozenset(path for path in kept if not _is_learnt(path, kept))


def _is_learnt(path: Path, every: Iterable[Path]) -> bool:
    """Whether an aspect is known to whoever takes another of these paths."""
    if not path or not isinstance(path[-1], Aspect):
        return False
    place, aspect = path[:-1], path[-1]
    return any(
        len(other) > len(place) and covers(place, other) and other != path and _tells(other[len(place)], aspect)
        for other in every
    )


def _tells(step: Step, aspect: Aspect) -> bool:
    """Whether to take the step is to learn that of the value it starts from."""
    match aspect:
        case Aspect.PRESENT:
            return True
        case Aspect.OBJECT:
            return isinstance(step, str)
        case Aspect.ARRAY:
            return isinstance(step, int)
        case Aspect.SIZE:
            return False


# --- what is there


def project(value: Json, path: Path, gone_when_empty: AbstractSet[Path] = _NONE) -> Hashable:
    """The value at the path, hashable, with its type.

    What is missing is told apart by how far the path led, and values of different types are never equal (in Python
    `True == 1 == 1.0`). `gone_when_empty`: what is not there when there is nothing in it.
    """
    for depth, step in enumerate(path):
        if isinstance(step, str) and type(value) is dict:
            if step not in value:
                return (depth,)
            value = value[step]
            if not value and path[: depth + 1] in gone_when_empty:
                return (depth,)
        elif isinstance(step, Aspect):
            return _aspect(value, step, depth)
        elif type(value) is not list:
            return (depth, frozen(value))
        elif isinstance(step, Where):
            value = [each for each in value if may_matter(each, step)]
        elif isinstance(step, int):
            if not 0 <= step < len(value):
                return (depth,)
            value = value[step]
        else:
            return (depth, frozen(value))
    return value if type(value) is str else frozen(value)


def _aspect(value: Json, aspect: Aspect, depth: int) -> Hashable:
    match aspect:
        case Aspect.PRESENT:
            return True
        case Aspect.OBJECT | Aspect.ARRAY:
            wanted = dict if aspect is Aspect.OBJECT else list
            return True if type(value) is wanted else (depth, frozen(value))
        case Aspect.SIZE:
            return len(value) if isinstance(value, str | list | dict) else (depth, type(value))


def may_matter(element: Json, where: Where) -> bool:
    """Whether an element of a list belongs to what is read by `where`."""
    if type(element) is not dict:
        return True
    found = element.get(where.field)
    return type(found) is not str or found == where.value


def frozen(value: Json) -> Hashable:
    """Anything but a text: bytes of its JSON for lists and objects, a pair with the type for the rest."""
    if isinstance(value, Mapping | list):
        return encoded(value)
    kind = type(value)
    if kind is float and value == 0.0 and str(value) == "-0.0":
        return kind, "-0.0"  # in Python it equals 0.0, but is not written so
    return (kind, value)


def encoded(value: Json) -> bytes:
    """JSON of any JSON value; what the fast encoder refuses (great depth, huge numbers) in a form of our own."""
    try:
        return msgspec.json.encode(value)
    except (RecursionError, OverflowError, ValueError, msgspec.MsgspecError):
        return _flat(value)


def _flat(value: Json) -> bytes:
    """The same for every equal value and different for others, whatever the depth: visited without recursion."""
    pieces: list[str] = []
    waiting = [value]
    while waiting:
        each = waiting.pop()
        match each:
            case Mapping():
                pieces.append(f"{{{len(each)}")
                for key, inner in each.items():
                    waiting += (inner, key)
            case list():
                pieces.append(f"[{len(each)}")
                waiting += each
            case int() if not isinstance(each, bool):
                pieces.append(f"int {each:x}")  # decimal digits are limited, these are not
            case _:
                pieces.append(f"{type(each).__name__} {each!r}")
    return "\n".join(pieces).encode("utf-8", "surrogatepass")
