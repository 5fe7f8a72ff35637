"""cel-go's lists library in its versions 0 to 3, with the macro sortBy.

`distinct` compares every element with every other one (quadratic); `sort` and `sortBy` take n log n comparisons, but
cost as much as if they did the same. Version 3 brought the costs.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cmp_to_key
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, BYTES, DOUBLE, DURATION, DYN, INT, STRING, TIMESTAMP, UINT, list_of
from muster.cel.costs.charge import LIBRARY, Charge
from muster.cel.costs.meter import spend
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import MAX, ONE, Range, exactly, wrapped
from muster.cel.costs.runtime import LIST, TRAVERSAL, Price, size_of
from muster.cel.declarations import Function, Library, Macro
from muster.cel.libraries.declare import LIST_T, call, method, uncharged
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.syntax.tree import Call, Comprehension, Expr, Ident, ListExpr, Select
from muster.cel.traversals import distinct
from muster.cel.values import Duration, Timestamp, Uint, compare, type_of
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.cel.checking.types import Type
    from muster.cel.costs.charge import Tariff
    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.costs.runtime import Formula
    from muster.cel.declarations import Overload
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

# --- costs


def _new_list(size: float) -> int:
    return min(int(size) + 1 + LIST, MAX)


def _new_list_size(factor: float, size: Range) -> CallEstimate:
    return CallEstimate(size.scaled(factor).plus(ONE).plus(exactly(LIST)), size)


def _output(_: Sequence[Value], result: Value) -> int:
    return _new_list(size_of(result))


def _slice_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    size = target.size_or_hint()
    return _new_list_size(1, exactly(wrapped(args[1].literal_int(size.max) - args[0].literal_int(0))))


def _range_size(_: Operand | None, args: Arguments) -> CallEstimate:
    return _new_list_size(1, exactly(args[0].literal_int(MAX)))


def _same_size(target: Operand | None, _: Arguments) -> CallEstimate | None:
    return _new_list_size(1, target.size_or_hint()) if target is not None else None


def _flatten(args: Sequence[Value], _: Value) -> int:
    depth = args[1] if len(args) == 2 and isinstance(args[1], int) else 1
    return _new_list(float(size_of(args[0])) * (depth if depth >= 0 else 1))


def _flatten_size(target: Operand | None, args: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    return _new_list_size(float(args[0].literal_int(MAX) if args else 1), target.size_or_hint())


def _all_pairs(index: int) -> Formula:
    """As if every element of the list at that position were compared with every other one."""

    def cost(args: Sequence[Value], _: Value) -> int | None:
        values = args[index] if index < len(args) else None
        if not isinstance(values, (list, tuple)):
            return None
        factor = 2.0
        if values and isinstance(values[0], (str, bytes)):
            factor += TRAVERSAL
        return _new_list(float(len(values) ** 2) * factor)

    return cost


_PAIRS_PRICE = Price(_all_pairs(0), declines=True)
_KEY_PAIRS_PRICE = Price(_all_pairs(1), declines=True)


def _pairs(texts: bool = False) -> Mapping[Tariff, Charge]:
    """Of the list itself."""

    def estimate(target: Operand | None, _: Arguments) -> CallEstimate | None:
        if target is None:
            return None
        size = target.size_or_hint()
        return _new_list_size(2.0 + (TRAVERSAL if texts else 0), size.times(size))

    return {LIBRARY: Charge(_PAIRS_PRICE, estimate)}


def _key_pairs(texts: bool) -> Mapping[Tariff, Charge]:
    """Of the keys beside the list."""

    def estimate(_: Operand | None, args: Arguments) -> CallEstimate:
        size = args[0].size_or_hint()
        return _new_list_size(2.0 + (TRAVERSAL if texts else 0), size.times(size))

    return {LIBRARY: Charge(_KEY_PAIRS_PRICE, estimate)}


_OUTPUT_PRICE = Price(_output, needs_result=True)
_SLICED = {LIBRARY: Charge(_OUTPUT_PRICE, _slice_size)}
_RANGE = {LIBRARY: Charge(_OUTPUT_PRICE, _range_size)}
_REVERSED = {LIBRARY: Charge(_OUTPUT_PRICE, _same_size)}
_FLATTENED = {LIBRARY: Charge(Price(_flatten), _flatten_size)}


def _sorting(kind: Type) -> Overload:
    charges = _pairs(texts=kind in {STRING, BYTES})
    overload = method(f"list_{kind.name}_sort", (list_of(kind),), list_of(kind), sort, metered=True, charges=charges)
    return replace(overload, lenient=True)


def _sorting_by(kind: Type) -> Overload:
    name, charges = f"list_{kind.name}_sortByAssociatedKeys", _key_pairs(texts=kind in {STRING, BYTES})
    overload = method(name, (LIST_T, list_of(kind)), LIST_T, sort_by_keys, metered=True, charges=charges)
    return replace(overload, lenient=True)


def _flattening(overload_id: str, args: tuple[Type, ...], result: Type) -> Overload:
    overload = method(overload_id, args, result, flatten, metered=True, charges=_FLATTENED)
    return replace(overload, lenient=True)


_VERSION_0 = (
    Function(
        "slice",
        (method("list_slice", (LIST_T, INT, INT), LIST_T, slice_list, charges=_SLICED),),
        doc="The elements from one position up to, not including, another one.",
        examples={"[1, 2, 3, 4].slice(1, 3)": [2, 3]},
    ),
)
_VERSION_1 = (
    Function(
        "flatten",
        (
            _flattening("list_flatten", (list_of(LIST_T),), LIST_T),
            _flattening("list_flatten_int", (list_of(DYN), INT), list_of(DYN)),
        ),
        doc="A list of lists as one list, down to a depth (1 if not given).",
        examples={"[[1], [2, 3]].flatten()": [1, 2, 3], "[[[1]], [[2, 3]]].flatten(2)": [1, 2, 3]},
    ),
)
_VERSION_2 = (
    Function(
        "sort",
        tuple(map(_sorting, _COMPARABLE)),
        doc="The elements in ascending order.",
        examples={"[3, 1, 2].sort()": [1, 2, 3], "['b', 'a'].sort()": ["a", "b"]},
    ),
    Function(
        "@sortByAssociatedKeys",
        tuple(map(_sorting_by, _COMPARABLE)),
        doc="What sortBy() calls.",
    ),
    Function(
        "lists.range",
        (call("lists_range", (INT,), list_of(INT), make_range, metered=True, charges=_RANGE),),
        doc="The whole numbers from 0 up to, not including, the given one; a million at most.",
        examples={"lists.range(3)": [0, 1, 2]},
    ),
    Function(
        "reverse",
        (method("list_reverse", (LIST_T,), LIST_T, reverse, charges=_REVERSED),),
        doc="The elements of a list, or the characters of a text, from last to first.",
        examples={"[1, 2].reverse()": [2, 1]},
    ),
    Function(
        "distinct",
        (method("list_distinct", (LIST_T,), LIST_T, distinct, metered=True, charges=_pairs()),),
        doc="Every element once, in the order of first appearance. Quadratic, except for strings.",
        examples={"[1, 2, 1].distinct()": [1, 2], "['b', 'a', 'b'].distinct()": ["b", "a"]},
    ),
)


def lists_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    functions = (*_VERSION_0, *(_VERSION_1 if version >= 1 else ()), *(_VERSION_2 if version >= 2 else ()))
    if version < 3:
        functions = tuple(map(uncharged, functions))
    return Library("cel.lib.ext.lists", functions, (SORT_BY,) if version >= 2 else ())
