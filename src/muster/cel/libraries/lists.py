"""cel-go's lists library in its versions 0 to 3, with the macro sortBy.

`distinct` compares every element with every other one (quadratic); `sort` and `sortBy` take n log n comparisons.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, list_of
from muster.cel.costs.meter import spend
from muster.cel.declarations import Function, Library, Macro
from muster.cel.libraries.declare import LIST_T, call, method
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.syntax.tree import Call, Comprehension, Expr, Ident, ListExpr, Select
from muster.cel.traversals import distinct
from muster.cel.values import Duration, Timestamp, Uint, compare, type_of
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.syntax.nodes import Builder
    from muster.cel.values.value import Value

LATEST = 3
MAX_RANGE = 1_000_000
_COMPARABLE = (INT, UINT, DOUBLE, BOOL, DURATION, TIMESTAMP, STRING, BYTES)
_COMPARABLE_CLASSES = frozenset({int, Uint, float, bool, Duration, Timestamp, str, bytes})
_INPUT = "@__sortBy_input__"


def slice_list(items: Value, start: int, end: int) -> list[Value]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        raise EvaluationError(f"cannot slice({start}, {end}), start index must be less than or equal to end index")
    if end > len(items):
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(items)}")
    return list(items[start:end])


def flatten(meter: Meter, items: Value, *depths: Value) -> list[Value]:
    """By one level unless told otherwise. Lenient, as in cel-go: what is in the list and no list stays."""
    depth = depths[0] if depths else 1
    if not isinstance(items, (list, tuple)) or type(depth) is not int:
        given = ", ".join(str(type_of(each)) for each in depths)
        raise EvaluationError(f"no such overload: {type_of(items)}.flatten({given})", FailureKind.NO_SUCH_OVERLOAD)
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    flat = list(items)
    for _ in range(depth):
        inside = sum(len(item) for item in flat if isinstance(item, (list, tuple)))
        spend(meter, len(flat) + inside)
        if not any(isinstance(item, (list, tuple)) for item in flat):
            break
        flat = [inner for item in flat for inner in (item if isinstance(item, (list, tuple)) else (item,))]
    return flat


def sort(meter: Meter, items: Value) -> list[Value]:
    """Lenient, as in cel-go: elements are looked at while sorting."""
    if not isinstance(items, (list, tuple)):
        # Strings and times would have been asked for a method of that name, hence the shorter text.
        raise _no_list(items, "sort")
    return sort_by_keys(meter, items, items)


def _no_list(given: Value, function: str) -> EvaluationError:
    receiver = isinstance(given, (str, Timestamp, Duration))
    return EvaluationError(
        "no such overload" if receiver else f"no such overload: {function}", FailureKind.NO_SUCH_OVERLOAD
    )


def sort_by_keys(meter: Meter, items: Value, keys: Value) -> list[Value]:
    """The elements in the order of their keys, which must be of one comparable type."""
    for given in (items, keys):
        if not isinstance(given, (list, tuple)):
            raise _no_list(given, "@sortByAssociatedKeys")
    if len(items) != len(keys):
        raise EvaluationError(
            "@sortByAssociatedKeys() expected a list of the same size as the associated keys list, "
            f"but got {len(items)} and {len(keys)} elements respectively"
        )
    if not items:
        return list(items)
    kind = type(keys[0])
    if kind not in _COMPARABLE_CLASSES:
        raise EvaluationError("list elements must be comparable")
    if any(type(key) is not kind for key in keys):
        raise EvaluationError("list elements must have the same type")
    order = _compare_loosely if kind is float else compare
    spend(meter, len(keys) * len(keys).bit_length())
    ranked = sorted(range(len(keys)), key=cmp_to_key(lambda a, b: order(keys[a], keys[b])))
    return [items[index] for index in ranked]


def _compare_loosely(a: float, b: float) -> int:
    """NaN has no place; it stays where it is relative to its neighbours, instead of failing the sort."""
    return (a > b) - (a < b)


def make_range(meter: Meter, count: int) -> list[int]:
    if count < 0:
        raise EvaluationError(f"lists.range: size must be non-negative, got {count}")
    if count > MAX_RANGE:
        raise EvaluationError(f"lists.range: size {count} exceeds maximum allowed ({MAX_RANGE})")
    spend(meter, count)
    return list(range(count))


def reverse(items: Value) -> list[Value]:
    return list(items[::-1])


_MAP = next(macro for macro in STANDARD_MACROS if macro.name == "map" and macro.arg_count == 2)


def _sort_by(make: Builder, target: Expr, args: tuple[Expr, ...]) -> Expr:
    """Binds the list to a variable, maps it to its keys, and sorts by them."""
    variable = make.new_ident(_INPUT)
    if not isinstance(target, (ListExpr, Select, Ident, Comprehension, Call)):
        raise make.error(
            target, "sortBy can only be applied to a list, identifier, comprehension, call or select expression"
        )
    keys = _MAP.expand(make, make.copy(variable), args)
    sorted_call = make.new_member_call("@sortByAssociatedKeys", make.copy(variable), keys)
    return make.new_fold(
        make.new_list(), ("#unused", ""), (_INPUT, target), make.new_literal(False), variable, sorted_call
    )


SORT_BY = Macro(
    "sortBy",
    True,
    2,
    _sort_by,
    doc="The list sorted by what the expression makes of each element.",
    examples={"[{'n': 2}, {'n': 1}].sortBy(e, e.n)": [{"n": 1}, {"n": 2}]},
)

_VERSION_0 = (
    Function(
        "slice",
        (method("list_slice", (LIST_T, INT, INT), LIST_T, slice_list),),
        doc="The elements from one position up to, not including, another one.",
        examples={"[1, 2, 3, 4].slice(1, 3)": [2, 3]},
    ),
)
_VERSION_1 = (
    Function(
        "flatten",
        (
            replace(method("list_flatten", (list_of(LIST_T),), LIST_T, flatten, metered=True), lenient=True),
            replace(method("list_flatten_int", (list_of(DYN), INT), list_of(DYN), flatten, metered=True), lenient=True),
        ),
        doc="A list of lists as one list, down to a depth (1 if not given).",
        examples={"[[1], [2, 3]].flatten()": [1, 2, 3], "[[[1]], [[2, 3]]].flatten(2)": [1, 2, 3]},
    ),
)
_VERSION_2 = (
    Function(
        "sort",
        tuple(
            replace(method(f"list_{kind.name}_sort", (list_of(kind),), list_of(kind), sort, metered=True), lenient=True)
            for kind in _COMPARABLE
        ),
        doc="The elements in ascending order.",
        examples={"[3, 1, 2].sort()": [1, 2, 3], "['b', 'a'].sort()": ["a", "b"]},
    ),
    Function(
        "@sortByAssociatedKeys",
        tuple(
            replace(
                method(
                    f"list_{kind.name}_sortByAssociatedKeys",
                    (LIST_T, list_of(kind)),
                    LIST_T,
                    sort_by_keys,
                    metered=True,
                ),
                lenient=True,
            )
            for kind in _COMPARABLE
        ),
        doc="What sortBy() calls.",
    ),
    Function(
        "lists.range",
        (call("lists_range", (INT,), list_of(INT), make_range, metered=True),),
        doc="The whole numbers from 0 up to, not including, the given one; a million at most.",
        examples={"lists.range(3)": [0, 1, 2]},
    ),
    Function(
        "reverse",
        (method("list_reverse", (LIST_T,), LIST_T, reverse),),
        doc="The elements of a list, or the characters of a text, from last to first.",
        examples={"[1, 2].reverse()": [2, 1]},
    ),
    Function(
        "distinct",
        (method("list_distinct", (LIST_T,), LIST_T, distinct, metered=True),),
        doc="Every element once, in the order of first appearance. Quadratic, except for strings.",
        examples={"[1, 2, 1].distinct()": [1, 2], "['b', 'a', 'b'].distinct()": ["b", "a"]},
    ),
)


def lists_library(version: int = LATEST) -> Library:
    """The library as it was in that version; 3 only changed costs."""
    functions = (*_VERSION_0, *(_VERSION_1 if version >= 1 else ()), *(_VERSION_2 if version >= 2 else ()))
    return Library("cel.lib.ext.lists", functions, (SORT_BY,) if version >= 2 else ())
