"""Kubernetes' list functions: isSorted, sum, min, max, indexOf, lastIndexOf, and since version 1 includes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, Type, list_of
from muster.cel.costs.charge import KUBERNETES, Charge
from muster.cel.costs.formulas import LIST_WALKED, LIST_WALKED_PRICE, per_element
from muster.cel.costs.operands import CallEstimate
from muster.cel.declarations import Function, Library
from muster.cel.libraries.arithmetic import add_durations, add_int, add_uint
from muster.cel.libraries.declare import LIST_A, A, method
from muster.cel.traversals import equals, first_index, last_index
from muster.cel.values import Duration, Uint, compare, kind_of
from muster.cel.values.equality import ORDERED
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value

LATEST = 1
_COMPARABLE: tuple[tuple[str, Type], ...] = (
    ("int", INT),
    ("uint", UINT),
    ("double", DOUBLE),
    ("bool", BOOL),
    ("duration", DURATION),
    ("timestamp", TIMESTAMP),
    ("string", STRING),
    ("bytes", BYTES),
)


def _add_double(a: float, b: float) -> float:
    return a + b


_SUMMABLE: tuple[tuple[str, Type, Value, Callable[[Value, Value], Value]], ...] = (
    ("int", INT, 0, add_int),
    ("uint", UINT, Uint(0), add_uint),
    ("double", DOUBLE, 0.0, _add_double),
    ("duration", DURATION, Duration(0), add_durations),
)


_KINDS = frozenset(kind.kind for _, kind in _COMPARABLE)


def _order(a: Value, b: Value) -> int | None:
    """How the values compare; nothing where they do not, since Kubernetes overlooks that here (NaN, mixed types)."""
    try:
        return compare(a, b)
    except EvaluationError:
        return None


def _with_order(item: Value) -> Value:
    """The element, if its type has an order at all."""
    if type(item) not in ORDERED and kind_of(item) not in _KINDS:
        raise EvaluationError("no such overload")
    return item


def is_sorted(items: Value) -> bool:
    before: Value = None
    for index, item in enumerate(items):
        if _with_order(item) is not before and index and _order(before, item) == 1:
            return False
        before = item
    return True


def _sum_from(zero: Value, add: Callable[[Value, Value], Value]) -> Callable[[Value], Value]:
    def total(items: Value) -> Value:
        result = zero
        for item in items:
            if type(item) is not type(zero):
                raise EvaluationError("no such overload", FailureKind.NO_SUCH_OVERLOAD)
            result = add(result, item)
        return result

    return total


def _pick(name: str, replaced_when: int) -> Callable[[Value], Value]:
    def pick(items: Value) -> Value:
        if not items:
            raise EvaluationError(f"{name} called on empty list")
        best = _with_order(items[0])
        for item in items[1:]:
            if _order(best, _with_order(item)) == replaced_when:
                best = item
        return best

    return pick


minimum = _pick("min", 1)
maximum = _pick("max", -1)


def includes(meter: Meter, target: Value, wanted: Value) -> bool:
    """Whether a list has the value, or, of anything else, whether it is the value."""
    if isinstance(target, (list, tuple)):
        return first_index(meter, target, wanted) >= 0
    return equals(meter, target, wanted)


def _includes(target: Operand | None, _: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    return per_element(target) or CallEstimate(target.size_or_hint())


_WALKED = {KUBERNETES: LIST_WALKED}
_INCLUDES = {KUBERNETES: Charge(LIST_WALKED_PRICE, _includes)}


_VERSION_0 = (
    Function(
        "isSorted",
        tuple(method(f"list_{name}_is_sorted_bool", (list_of(kind),), BOOL, is_sorted) for name, kind in _COMPARABLE),
        doc="Whether the elements are in ascending order.",
        examples={"[1, 2, 2].isSorted()": True, "['b', 'a'].isSorted()": False},
        charges=_WALKED,
    ),
    Function(
        "sum",
        tuple(
            method(f"list_{name}_sum_{name}", (list_of(kind),), kind, _sum_from(zero, add))
            for name, kind, zero, add in _SUMMABLE
        ),
        doc="The sum of numbers or durations; 0 for an empty list.",
        examples={"[1, 2, 3].sum()": 6, "[].sum()": 0},
        charges=_WALKED,
    ),
    Function(
        "max",
        tuple(method(f"list_{name}_max_{name}", (list_of(kind),), kind, maximum) for name, kind in _COMPARABLE),
        doc="The greatest element; an error for an empty list.",
        examples={"[1, 3, 2].max()": 3},
        charges=_WALKED,
    ),
    Function(
        "min",
        tuple(method(f"list_{name}_min_{name}", (list_of(kind),), kind, minimum) for name, kind in _COMPARABLE),
        doc="The least element; an error for an empty list.",
        examples={"['b', 'a'].min()": "a"},
        charges=_WALKED,
    ),
    Function(
        "indexOf",
        (method("list_a_index_of_int", (LIST_A, A), INT, first_index, metered=True),),
        doc="Where an element, or a part of a text, first occurs; -1 if it does not.",
        examples={"[1, 2, 2].indexOf(2)": 1, "[1].indexOf(5)": -1},
        charges=_WALKED,
    ),
    Function(
        "lastIndexOf",
        (method("list_a_last_index_of_int", (LIST_A, A), INT, last_index, metered=True),),
        doc="Where an element, or a part of a text, last occurs; -1 if it does not.",
        examples={"[1, 2, 2].lastIndexOf(2)": 2},
        charges=_WALKED,
    ),
)
_VERSION_1 = (
    Function(
        "includes",
        (method("list_includes_dyn_dyn", (DYN, DYN), BOOL, includes, metered=True),),
        doc="Whether a list has the value; for anything but a list, whether it equals the value.",
        examples={"[1, 2].includes(2)": True, "'a'.includes('a')": True},
        charges=_INCLUDES,
    ),
)


def lists_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    return Library("kubernetes.lists", (*_VERSION_0, *(_VERSION_1 if version >= 1 else ())))
