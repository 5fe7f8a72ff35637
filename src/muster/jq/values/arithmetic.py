"""Arithmetic of jq values, for both evaluators and the builtins.

Integers have any size; an operation with a float is done in floats, as gojq does.
Functions that look into a value or make one take the run's Meter first.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.budgets import OBJECT_CELLS
from muster.jq.errors import JqError
from muster.jq.values.encoding import preview
from muster.jq.values.numbers import bounded, is_number, to_float, to_int
from muster.jq.values.ordering import equal

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_REPEAT_LIMIT = (1 << 31) - 1


def add(meter: Meter, left: Value, right: Value) -> Value:
    kind = type(left)
    other = type(right)
    if kind is int and other is int:
        return bounded(meter, left + right)
    if (kind is int or kind is float) and (other is int or other is float):
        return to_float(left) + to_float(right)
    if kind is other:
        if kind is str:
            meter.grow_text(len(left) + len(right))
            return left + right
        if kind is list or kind is dict:
            if not left:
                return right
            if not right:
                return left
            meter.grow((len(left) + len(right)) * (1 if kind is list else 2))
            meter.work(len(left) + len(right))
            return left + right if kind is list else {**left, **right}
    if left is None:
        return right
    if right is None:
        return left
    raise texts.cannot_combine(meter, "add", left, right)


def subtract(meter: Meter, left: Value, right: Value) -> Value:
    kind = type(left)
    other = type(right)
    if kind is int and other is int:
        return bounded(meter, left - right)
    if (kind is int or kind is float) and (other is int or other is float):
        return to_float(left) - to_float(right)
    if kind is list and other is list:
        return _without(meter, left, right)
    raise texts.cannot_combine(meter, "subtract", left, right)


def _without(meter: Meter, items: list[Value], unwanted: list[Value]) -> list[Value]:
    meter.grow(len(items))
    meter.work(len(items) + len(unwanted))
    texts_only = {item for item in unwanted if type(item) is str}
    rest = [item for item in unwanted if type(item) is not str]
    kept = []
    for item in items:
        if type(item) is str:
            if item not in texts_only:
                kept.append(item)
            continue
        meter.work(len(rest))
        if not any(equal(meter, item, other) for other in rest):
            kept.append(item)
    return kept


def multiply(meter: Meter, left: Value, right: Value) -> Value:
    kind = type(left)
    other = type(right)
    if kind is int and other is int:
        if left.bit_length() + right.bit_length() > meter.limits.integer_bits + 1:
            meter.exceeded("integer_bits")
        return bounded(meter, left * right)
    if (kind is int or kind is float) and (other is int or other is float):
        return to_float(left) * to_float(right)
    if kind is dict and other is dict:
        return _merged(meter, left, right)
    if kind is str and is_number(right):
        return _repeated(meter, left, to_float(right))
    if other is str and is_number(left):
        return _repeated(meter, right, to_float(left))
    raise texts.cannot_combine(meter, "multiply", left, right)


def _merged(meter: Meter, left: dict[str, Value], right: dict[str, Value]) -> dict[str, Value]:
    meter.grow(OBJECT_CELLS + 2 * (len(left) + len(right)))
    meter.work(len(left) + len(right))
    merged = dict(left)
    for key, item in right.items():
        mine = merged.get(key)
        both = type(mine) is dict and type(item) is dict
        merged[key] = _merged(meter, mine, item) if both else item  # type: ignore[arg-type]  # both are objects then
    return merged


def _repeated(meter: Meter, text: str, count: float) -> str | None:
    if count < 0 or count != count:
        return None
    times = int(min(count, _REPEAT_LIMIT))
    if 4 * len(text) * times >= _REPEAT_LIMIT:
        meter.work(len(text))
        if len(text.encode("utf-8", "surrogateescape")) * times >= _REPEAT_LIMIT:
            raise JqError(f"repeat string result too large: {preview(meter, text)} * {preview(meter, count)}")
    meter.grow_text(len(text) * times)
    return text * times


def divide(meter: Meter, left: Value, right: Value) -> Value:
    kind = type(left)
    other = type(right)
    if (kind is int or kind is float) and (other is int or other is float):
        if right == 0:
            raise texts.cannot_divide(meter, "divide", *_of_one_kind(left, right))
        if kind is int and other is int:
            meter.division(left.bit_length(), right.bit_length())
            whole, rest = divmod(left, right)
            if not rest:
                return bounded(meter, whole)
        return to_float(left) / to_float(right)
    if kind is str and other is str:
        return split_text(meter, left, right) if left else []
    raise texts.cannot_combine(meter, "divide", left, right)


def split_text(meter: Meter, text: str, separator: str) -> list[str]:
    if not separator:
        meter.grow(len(text) * 2)
        return list(text)
    meter.grow_text(len(text))
    meter.work(len(text))
    meter.grow(text.count(separator) * 8)
    return text.split(separator)


def modulo(meter: Meter, left: Value, right: Value) -> Value:
    kind = type(left)
    other = type(right)
    if not ((kind is int or kind is float) and (other is int or other is float)):
        raise texts.cannot_combine(meter, "modulo", left, right)
    dividend, divisor = left, right
    if kind is float or other is float:
        if left != left or right != right:
            return math.nan
        dividend = to_int(to_float(left))
        divisor = to_int(to_float(right))
    if divisor == 0:
        raise texts.cannot_divide(meter, "modulo", *_of_one_kind(left, right))
    meter.division(dividend.bit_length(), divisor.bit_length())
    rest = bounded(meter, abs(dividend) % abs(divisor))
    return -rest if dividend < 0 else rest


def _of_one_kind(left: float, right: float) -> tuple[float, float]:
    """Two numbers as they are computed with: both floats where one is."""
    return (left, right) if type(left) is type(right) else (to_float(left), to_float(right))


def negate(meter: Meter, value: Value) -> Value:
    if is_number(value):
        return -value if type(value) is float else bounded(meter, -value)
    raise texts.cannot_unary(meter, "negate", value)


def plus(meter: Meter, value: Value) -> Value:
    if is_number(value):
        return value
    raise texts.cannot_unary(meter, "plus", value)
