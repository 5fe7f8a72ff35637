"""Order and equality of jq values, for both evaluators and the builtins.

Values are None, bool, int, float, str, list and dict, never changed once made.
Functions that look into a value or make one take the run's Meter first.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from muster.jq.budgets import SHORT_TEXT
from muster.jq.values.numbers import MAX_INT, MIN_INT, is_number, to_float

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


def _rank(value: Value) -> int:
    if value is None:
        return 0
    if value is False:
        return 1
    if value is True:
        return 2
    kind = type(value)
    if kind is str:
        return 4
    if kind is list:
        return 5
    return 6 if kind is dict else 3


def compare(meter: Meter, left: Value, right: Value) -> int:
    """-1, 0 or 1 in jq's total order; not-a-number is below every number, itself included.

    Visits are charged: one value may hold another a million times over without taking memory for it.
    """
    rank = _rank(left)
    other = _rank(right)
    if rank != other:
        return -1 if rank < other else 1
    if rank == 3:
        return _compare_numbers(meter, left, right)
    if rank == 4:
        if len(left) > SHORT_TEXT:
            meter.read(len(left))
        return -1 if left < right else int(left != right)
    if rank == 5:
        meter.work(len(left))
        meter.step()
        for one, two in zip(left, right, strict=False):
            if order := compare(meter, one, two):
                return order
        return (len(left) > len(right)) - (len(left) < len(right))
    if rank == 6:
        keys = sorted_keys(meter, left)
        if order := compare(meter, keys, sorted_keys(meter, right)):
            return order
        for key in keys:
            if order := compare(meter, left[key], right[key]):
                return order
    return 0


def _compare_numbers(meter: Meter, left: Value, right: Value) -> int:
    if type(left) is float or type(right) is float:
        left = to_float(left)
        right = to_float(right)
        if left < right or left != left:
            return -1
        return 0 if left == right else 1
    if left > MAX_INT or left < MIN_INT:
        meter.read(left.bit_length() >> 2)
    return int(left > right) - int(left < right)


def equal(meter: Meter, left: Value, right: Value) -> bool:
    kind = type(left)
    if kind is str:
        if len(left) > SHORT_TEXT:
            meter.read(len(left))
        return bool(left == right)
    if kind is int:
        if type(right) is int:
            if left > MAX_INT or left < MIN_INT:
                meter.read(left.bit_length() >> 2)
            return bool(left == right)
        return type(right) is float and to_float(left) == right
    if kind is float:
        return is_number(right) and left == to_float(right)
    if kind is list:
        if type(right) is not list or len(left) != len(right):
            return False
        meter.work(len(left))
        return all(equal(meter, one, two) for one, two in zip(left, right, strict=True))
    if kind is dict:
        if type(right) is not dict or len(left) != len(right):
            return False
        meter.work(4 * len(left))
        meter.read(sum(map(len, left)))
        return left.keys() == right.keys() and all(equal(meter, item, right[key]) for key, item in left.items())
    return left is right


def not_equal(meter: Meter, left: Value, right: Value) -> bool:
    return not equal(meter, left, right)


def less(meter: Meter, left: Value, right: Value) -> bool:
    return compare(meter, left, right) < 0


def less_or_equal(meter: Meter, left: Value, right: Value) -> bool:
    return compare(meter, left, right) <= 0


def greater(meter: Meter, left: Value, right: Value) -> bool:
    return compare(meter, left, right) > 0


def greater_or_equal(meter: Meter, left: Value, right: Value) -> bool:
    return compare(meter, left, right) >= 0


def sort_key(meter: Meter) -> Callable[[Value], Value]:
    """A key for Python's sort that orders as jq does."""
    return functools.cmp_to_key(functools.partial(compare, meter))


def sorted_values(meter: Meter, items: list[Value]) -> list[Value]:
    """A stable sort; texts or integers alone are left to Python's own order."""
    meter.grow(len(items))
    meter.work(len(items) * 8)
    if has_python_order(meter, items):
        return sorted(items)
    return sorted(items, key=sort_key(meter))


def has_python_order(meter: Meter, items: list[Value]) -> bool:
    """Whether Python's own order will do: texts alone, or integers alone. How long they are is charged."""
    kinds = set(map(type, items))
    if kinds == {str}:
        meter.step(sum(map(len, items)) >> 7)
        return True
    if kinds == {int}:
        meter.step(sum(map(int.bit_length, items)) >> 10)
        return True
    return False


def sorted_keys(meter: Meter, value: dict[str, Value]) -> list[str]:
    """An object's keys in order."""
    meter.steps -= (len(value) >> 2) + 1
    if meter.steps < 0:
        meter.refill()
    return sorted(value)
