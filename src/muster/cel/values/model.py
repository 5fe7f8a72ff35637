"""The values of CEL that Python has no type for, and the type of any value.

None, bool, int, float, str, bytes, list (or tuple) and dict stand for themselves, so that JSON is used as it is.
Interpreter, generated code and libraries work on these; nothing here knows of functions or trees.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from muster.cel.checking import types
from muster.cel.values.maps import MapValue
from muster.errors import EvaluationError, FailureKind, InvalidObjectError

if TYPE_CHECKING:
    from muster.cel.checking.types import Kind, Type
    from muster.cel.values.value import Value

MIN_TIMESTAMP_NS = -62_135_596_800 * 10**9  # 0001-01-01T00:00:00Z
MAX_TIMESTAMP_NS = 253_402_300_799 * 10**9 + 999_999_999  # 9999-12-31T23:59:59.999999999Z
NANOSECONDS = 10**9  # per second


class Uint(int):
    """An unsigned integer. Arithmetic on it gives plain ints: whoever computes wraps the result again."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"{int(self)}u"


@dataclass(frozen=True, slots=True, order=True)
class Timestamp:
    """A point in time: nanoseconds since 1970-01-01T00:00:00Z, within the years 1 to 9999.

    `offset` (seconds east of UTC) is how it was written; it shows in `string(t)` and nowhere else.
    """

    ns: int
    offset: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        try:
            if not MIN_TIMESTAMP_NS <= self.ns <= MAX_TIMESTAMP_NS:
                raise EvaluationError("timestamp overflow", FailureKind.TIMESTAMP_OVERFLOW)
        except TypeError:
            raise InvalidObjectError("ns", "expected a number of nanoseconds") from None

    @property
    def seconds(self) -> int:
        return self.ns // NANOSECONDS

    @property
    def nanos(self) -> int:
        return self.ns % NANOSECONDS


@dataclass(frozen=True, slots=True, order=True)
class Duration:
    """A span of time in nanoseconds, within the 64 bits of Go's time.Duration (about 292 years)."""

    ns: int

    def __post_init__(self) -> None:
        try:
            if not -(2**63) <= self.ns < 2**63:  # cel-go computes durations as int64
                raise EvaluationError("integer overflow", FailureKind.INTEGER_OVERFLOW)
        except TypeError:
            raise InvalidObjectError("ns", "expected a number of nanoseconds") from None


@dataclass(frozen=True, slots=True)
class TypeValue:
    """A type as a value: what `type(x)` gives and what `int` or `list` mean when named alone.

    Types are equal when their names are: at run time a list is a list, whatever it holds.
    """

    type: Type

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TypeValue) and self.type.name == other.type.name

    def __hash__(self) -> int:
        return hash(self.type.name)

    def __str__(self) -> str:
        return self.type.name


@dataclass(frozen=True, slots=True, eq=False)
class OptionalValue:
    """A value that may be absent. Compare with `equals`, since what is inside may need it."""

    present: bool
    content: Value = None

    @property
    def value(self) -> Value:
        """What is inside; the error of `optional.none().value()` when nothing is."""
        if not self.present:
            raise EvaluationError("optional.none() dereference", FailureKind.OPTIONAL_NONE)
        return self.content

    def __repr__(self) -> str:
        if not self.present:
            return "optional.none()"
        inside = type(self.content).__name__ if isinstance(self.content, _CONTAINERS) else repr(self.content)
        return f"optional({inside})"


_CONTAINERS = (list, tuple, Mapping, OptionalValue)  # which may hold too much to be shown
OPTIONAL_NONE = OptionalValue(present=False)


def optional(value: Value) -> OptionalValue:
    """A present optional."""
    return OptionalValue(present=True, content=value)


class OpaqueValue:
    """The base of the values that libraries bring: subclasses name their type and are compared with `==`."""

    __slots__ = ()
    cel_type: ClassVar[Type]


LIST_OF_DYN = types.list_of(types.DYN)
MAP_OF_DYN = types.map_of(types.DYN, types.DYN)
OPTIONAL_OF_DYN = types.optional_of(types.DYN)

_BY_CLASS: dict[type, Type] = {
    str: types.STRING,
    int: types.INT,
    bool: types.BOOL,
    float: types.DOUBLE,
    type(None): types.NULL,
    dict: MAP_OF_DYN,
    MapValue: MAP_OF_DYN,
    list: LIST_OF_DYN,
    tuple: LIST_OF_DYN,
    Uint: types.UINT,
    bytes: types.BYTES,
    Timestamp: types.TIMESTAMP,
    Duration: types.DURATION,
    TypeValue: types.TYPE,
    OptionalValue: OPTIONAL_OF_DYN,
}


_TAKEN = "CEL takes None, bool, int, float, str, bytes, list, tuple, dict, and the values that muster.cel has"


def type_of(value: Value) -> Type:
    """The runtime type: lists, maps and optionals are of dyn, as nobody looks at what they hold."""
    found = _BY_CLASS.get(type(value))
    if found is not None:
        return found
    if isinstance(value, OpaqueValue):
        return value.cel_type
    for base in type(value).__mro__[1:]:  # a str enum is a string, an OrderedDict a map
        if base in _BY_CLASS:
            return _BY_CLASS[base]
    raise EvaluationError(f"unsupported value of Python type '{type(value).__name__}': {_TAKEN}")


def kind_of(value: Value) -> Kind:
    return type_of(value).kind


def no_such_overload(function: str, *args: Value) -> EvaluationError:
    """What cel-go says when no overload of a function takes the values it was given."""
    return EvaluationError(
        f"no such overload: {function}({', '.join(type_of(arg).name for arg in args)})", FailureKind.NO_SUCH_OVERLOAD
    )
