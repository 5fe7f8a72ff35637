"""Prices and estimates that several libraries share. What only one function needs stands beside it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.cel.checking.types import Kind
from muster.cel.costs.charge import Charge
from muster.cel.costs.operands import CallEstimate, Operand
from muster.cel.costs.ranges import ONE
from muster.cel.costs.runtime import TRAVERSAL, Price, content_size, size_of, traversal
from muster.cel.traversals import tree_traversal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cel.costs.meter import Meter
    from muster.cel.costs.operands import Arguments
    from muster.cel.values.value import Value


# --- cel-go


def _first(args: Sequence[Value], _: Value) -> int:
    return traversal(content_size(args[0]))


FIRST_WALKED = Price(_first, inline="ceil(len({0}) * 0.1)")  # of a text that is walked over once


# --- Kubernetes


def _parse(args: Sequence[Value], _: Value) -> int:
    return traversal(size_of(args[0])) if args else 0


def _twice(args: Sequence[Value], _: Value) -> int:
    # The factor is doubled before the size is multiplied, as Kubernetes does: rounding depends on it.
    return math.ceil(float(size_of(args[0])) * 2 * TRAVERSAL) if args else 0


def _parsing(_: Operand | None, args: Arguments) -> CallEstimate | None:
    return CallEstimate(args[0].size_or_hint().scaled(TRAVERSAL)) if args else None


PARSED_PRICE = Price(_parse, inline="ceil(len({0}) * 0.1)")
WALKED_TWICE_PRICE = Price(_twice, inline="ceil(len({0}) * 2 * 0.1)")
PARSED = Charge(PARSED_PRICE, _parsing)  # of reading a quantity, a version, an address …


def element_of(operand: Operand) -> Operand | None:
    """What a list holds, by its path."""
    if not operand.type.params:
        return None
    path = (*operand.path, "@items") if operand.path else ()
    return Operand(path, operand.type.params[0], None, None, operand.hints)


def per_element(target: Operand) -> CallEstimate | None:
    """One for each element, and a tenth of each text; None when nothing is known of the elements."""
    element = element_of(target)
    if element is None:
        return None
    cost = ONE
    if element.type.kind in {Kind.STRING, Kind.BYTES}:
        cost = cost.plus(element.size_or_hint().scaled(TRAVERSAL))
    return CallEstimate(target.size_or_hint().times(cost))


def _walk(meter: Meter, args: Sequence[Value], _: Value) -> int:
    return tree_traversal(meter, args[0]) if args else 0


def _walking(target: Operand | None, _: Arguments) -> CallEstimate | None:
    if target is None:
        return None
    return per_element(target) or CallEstimate(target.size_or_hint().scaled(TRAVERSAL))


LIST_WALKED_PRICE = Price(_walk, metered=True)
LIST_WALKED = Charge(LIST_WALKED_PRICE, _walking)  # of looking at everything in a list, or at all of a text
