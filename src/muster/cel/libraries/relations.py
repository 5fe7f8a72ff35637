"""Equality, order and membership: `==`, `!=`, `<`, `<=`, `>`, `>=`, `in`, indexing and `size`."""

from __future__ import annotations

from operator import ge, gt, le, lt
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, BYTES, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, Type
from muster.cel.costs.charge import KUBERNETES, LANGUAGE, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import ONE, Range
from muster.cel.costs.runtime import EQUALITY, TRAVERSAL, Price, content_size
from muster.cel.declarations import Function, Overload
from muster.cel.libraries.declare import LIST_A, MAP_AB, NOTHING, A, B, call, method
from muster.cel.running.dispatch import list_index
from muster.cel.running.qualify import lookup
from muster.cel.traversals import equals, has_element
from muster.cel.values import OpaqueValue, compare, contains
from muster.cel.values.messages import EmptyValue
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def not_equals(meter: Meter, a: Value, b: Value) -> bool:
    return not equals(meter, a, b)


def in_list(meter: Meter, item: Value, items: Value) -> bool:
    return has_element(meter, items, item)


def in_map(key: Value, container: Value) -> bool:
    return contains(container, key)


def index_list(items: Value, index: Value) -> Value:
    """A double that is a whole number is an index too, as with dynamic values it may be all there is."""
    position = list_index(index)
    if 0 <= position < len(items):
        return items[position]
    raise EvaluationError(f"index out of bounds: {position}", FailureKind.INDEX_OUT_OF_BOUNDS)


# --- costs

_LONGEST_FORMAT_NAME = 64
_CHEAP_TO_COMPARE = frozenset({"net.IP", "net.CIDR", "kubernetes.Quantity", "kubernetes.Semver"})


def _smaller(_: Operand | None, args: Arguments) -> CallEstimate:
    largest = min(args[0].known_size().max, args[1].known_size().max)
    return CallEstimate(Range(1 if largest > 0 else 0, largest).scaled(TRAVERSAL))


def _opaque(args: Sequence[Value], _: Value) -> int | None:
    # Kubernetes' own values cost 1 to compare; optionals and the empty message are cel-go's.
    return 1 if isinstance(args[0], OpaqueValue) and not isinstance(args[0], EmptyValue) else None


def _opaque_size(_: Operand | None, args: Arguments) -> CallEstimate | None:
    if len(args) != 2 or args[0].type != args[1].type:
        return None
    name = args[0].type.name
    if name in _CHEAP_TO_COMPARE:
        return CallEstimate(ONE)
    if name == "kubernetes.NamedFormat":
        return CallEstimate(Range(1, _LONGEST_FORMAT_NAME).scaled(TRAVERSAL))
    if name == "kubernetes.URL":
        largest = args[1].size.max if args[1].size is not None else 1
        return CallEstimate(Range(1, largest).scaled(TRAVERSAL))
    return None


def _elements(args: Sequence[Value], _: Value) -> int:
    return content_size(args[1])


def _elements_size(_: Operand | None, args: Arguments) -> CallEstimate:
    return CallEstimate(args[1].known_size().scaled(1))


_COMPARED = {LANGUAGE: Charge(EQUALITY, _smaller)}
_EQUAL = {**_COMPARED, KUBERNETES: Charge(Price(_opaque, declines=True), _opaque_size)}
_AMONG = {LANGUAGE: Charge(Price(_elements, inline="len({1})"), _elements_size)}


_COMPARABLE: tuple[tuple[str, Type, Type], ...] = (
    ("bool", BOOL, BOOL),
    ("int64", INT, INT),
    ("int64_double", INT, DOUBLE),
    ("int64_uint64", INT, UINT),
    ("uint64", UINT, UINT),
    ("uint64_double", UINT, DOUBLE),
    ("uint64_int64", UINT, INT),
    ("double", DOUBLE, DOUBLE),
    ("double_int64", DOUBLE, INT),
    ("double_uint64", DOUBLE, UINT),
    ("string", STRING, STRING),
    ("bytes", BYTES, BYTES),
    ("timestamp", TIMESTAMP, TIMESTAMP),
    ("duration", DURATION, DURATION),
)
_EXACT = frozenset(
    {"bool", "int64", "int64_uint64", "uint64", "uint64_int64", "string", "bytes", "timestamp", "duration"}
)


def _relation(prefix: str, python: Callable[[Value, Value], bool]) -> tuple[Overload, ...]:
    """One overload per pair of types. Where a double is involved, NaN and rounding need `compare`."""

    def by_comparison(a: Value, b: Value) -> bool:
        return python(compare(a, b), 0)

    return tuple(
        call(
            f"{prefix}_{name}",
            (left, right),
            BOOL,
            python if name in _EXACT else by_comparison,
            charges=_COMPARED if name in {"string", "bytes"} else NOTHING,
        )
        for name, left, right in _COMPARABLE
    )


FUNCTIONS = (
    Function(
        "_==_",
        (call("equals", (A, A), BOOL, equals, metered=True, charges=_EQUAL),),
        doc="Whether two values are equal: deep for lists and maps, by value for numbers. NaN equals nothing.",
        examples={"1 == 1": True, "[1, 2] == [2, 1]": False, "dyn(3) == 3.0": True, "{'a': 1} == {'a': 1}": True},
    ),
    Function(
        "_!=_",
        (call("not_equals", (A, A), BOOL, not_equals, metered=True, charges=_COMPARED),),
        doc="Whether two values differ.",
        examples={"1 != 2": True, "'a' != 'a'": False},
    ),
    Function(
        "_<_",
        _relation("less", lt),
        doc="Whether the first value comes before the second.",
        examples={"-2 < 3": True, "'cat' < 'cab'": False, "duration('1ms') < duration('1s')": True},
    ),
    Function(
        "_<=_",
        _relation("less_equals", le),
        doc="Whether the first value comes before the second or equals it.",
        examples={"3 <= 3": True, "b'b' <= b'a'": False},
    ),
    Function(
        "_>_",
        _relation("greater", gt),
        doc="Whether the first value comes after the second.",
        examples={"3 > 2": True, "false > true": False},
    ),
    Function(
        "_>=_",
        _relation("greater_equals", ge),
        doc="Whether the first value comes after the second or equals it.",
        examples={"2.5 >= 2.5": True, "1u >= 2u": False},
    ),
    Function(
        "@in",
        (
            call("in_list", (A, LIST_A), BOOL, in_list, metered=True, charges=_AMONG),
            call("in_map", (A, MAP_AB), BOOL, in_map),
        ),
        doc="Written `in`: whether a list has the value, or a map the key. Looks at every element of the list.",
        examples={"2 in [1, 2, 3]": True, "'a' in {'b': 1}": False},
    ),
    Function(
        "_[_]",
        (call("index_list", (LIST_A, INT), A, index_list), call("index_map", (MAP_AB, A), B, lookup)),
        doc="The element of a list at a position, counted from 0, or the value of a map under a key.",
        examples={"[1, 2, 3][1]": 2, "{'key': 'value'}['key']": "value"},
    ),
    Function(
        "size",
        (
            call("size_bytes", (BYTES,), INT, len),
            method("bytes_size", (BYTES,), INT, len),
            call("size_list", (LIST_A,), INT, len),
            method("list_size", (LIST_A,), INT, len),
            call("size_map", (MAP_AB,), INT, len),
            method("map_size", (MAP_AB,), INT, len),
            call("size_string", (STRING,), INT, len),
            method("string_size", (STRING,), INT, len),
        ),
        doc="How many code points, bytes, elements or entries there are.",
        examples={"size('håll')": 4, "[1, 2].size()": 2, "size({'a': 1})": 1, "b'abc'.size()": 3},
    ),
)
