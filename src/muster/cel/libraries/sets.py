"""cel-go's sets library: lists looked at as sets. Every function compares all pairs (the product of both sizes)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL
from muster.cel.costs.charge import LIBRARY, Charge
from muster.cel.costs.operands import CallEstimate
from muster.cel.costs.ranges import MAX, ONE
from muster.cel.costs.runtime import Price, size_of
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import LIST_T, call
from muster.cel.traversals import has_element, shares_element

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.cel.costs.charge import Tariff
    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments, Operand
    from muster.cel.values.value import Value


def contains_all(meter: Meter, items: Value, wanted: Value) -> bool:
    return all(has_element(meter, items, item) for item in wanted)


def equivalent(meter: Meter, a: Value, b: Value) -> bool:
    return contains_all(meter, a, b) and contains_all(meter, b, a)


def intersects(meter: Meter, a: Value, b: Value) -> bool:
    return shares_element(meter, a, b)


def _all_pairs(times: int) -> Mapping[Tariff, Charge]:
    """Every element of one list is compared with every one of the other, so many times."""

    def cost(args: Sequence[Value], _: Value) -> int:
        return min(1 + size_of(args[0]) * size_of(args[1]) * times, MAX)

    def estimate(_: Operand | None, args: Arguments) -> CallEstimate:
        return CallEstimate(args[0].size_or_hint().times(args[1].size_or_hint()).scaled(times).plus(ONE))

    return {LIBRARY: Charge(Price(cost), estimate)}


_ONE_WAY, _BOTH_WAYS = _all_pairs(1), _all_pairs(2)


SETS = Library(
    "cel.lib.ext.sets",
    (
        Function(
            "sets.contains",
            (call("list_sets_contains_list", (LIST_T, LIST_T), BOOL, contains_all, metered=True, charges=_ONE_WAY),),
            doc="Whether the first list has every element of the second. Compares all pairs.",
            examples={"sets.contains([1, 2, 3], [3, 1])": True},
        ),
        Function(
            "sets.equivalent",
            (call("list_sets_equivalent_list", (LIST_T, LIST_T), BOOL, equivalent, metered=True, charges=_BOTH_WAYS),),
            doc="Whether both lists have the same elements, however often and in any order. Compares all pairs.",
            examples={"sets.equivalent([1, 1, 2], [2, 1])": True},
        ),
        Function(
            "sets.intersects",
            (call("list_sets_intersects_list", (LIST_T, LIST_T), BOOL, intersects, metered=True, charges=_ONE_WAY),),
            doc="Whether the lists have an element in common. Compares all pairs.",
            examples={"sets.intersects([1, 2], [3, 4])": False},
        ),
    ),
)
