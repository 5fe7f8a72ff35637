"""Order, equality, arithmetic and indexing of jq values: one place for what both evaluators and the builtins mean.

Values are None, bool, int, float, str, list and dict, never changed once made. Integers have any size; an operation
with a float is done in floats, as gojq does. Functions that look into a value or make one take the run's Meter first.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.budgets import OBJECT_CELLS, SHORT_TEXT
from muster.jq.errors import JqError
from muster.jq.values.encoding import preview

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

MAX_INT = (1 << 63) - 1
MIN_INT = -(1 << 63)
_REPEAT_LIMIT = (1 << 31) - 1

# ── numbers ─────────────────────────────────────────────────────────────────


def is_number(value: Value) -> bool:
    kind = type(value)
    return kind is int or kind is float


def to_float(number: Value) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def to_int(number: Value) -> int:
    """A number as an index: cut, and kept within 64 bits."""
    if isinstance(number, float):
        if number != number or number <= MIN_INT:
            return MIN_INT
        return MAX_INT if number >= MAX_INT else int(number)
    return int(min(max(number, MIN_INT), MAX_INT))


def to_int_ceil(number: Value) -> int:
    if isinstance(number, float) and math.isfinite(number):
        number = math.ceil(number)
    return to_int(number)


def go_int(number: float) -> int:
    """A float as Go's `int(x)` cuts it on amd64: what does not fit, and not-a-number, is the smallest integer."""
    return int(number) if MIN_INT <= number < MAX_INT else MIN_INT


def wrapped(number: int) -> int:
    """An integer as 64 bits with a sign hold it."""
    return (number - MIN_INT) % (1 << 64) + MIN_INT


def bounded(meter: Meter, number: int) -> int:
    """An integer result, charged when it is long."""
    if MIN_INT <= number <= MAX_INT:
        return number
    bits = number.bit_length()
    if bits > meter.limits.integer_bits:
        meter.exceeded("integer_bits")
    meter.grow(bits >> 6)
    return number


# ── order ───────────────────────────────────────────────────────────────────


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


# ── arithmetic ──────────────────────────────────────────────────────────────


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


# ── looking inside ──────────────────────────────────────────────────────────


def index(meter: Meter, value: Value, key: Value) -> Value:
    """`value[key]` for every kind of key."""
    kind = type(key)
    if kind is str:
        if type(value) is dict:
            if len(key) > SHORT_TEXT:
                meter.read(len(key))
            return value.get(key)
        if value is None:
            return None
        raise texts.expected_object(meter, value)
    if kind is int or kind is float:
        if type(value) is list or type(value) is str:
            position = to_int(key)
            size = len(value)
            if position < 0:
                position += size
            return value[position] if 0 <= position < size else None
        if value is None:
            return None
        raise texts.expected_array(meter, value)
    if kind is list:
        if type(value) is list:
            return positions(meter, value, key)
        if value is None:
            return None
        raise texts.expected_array(meter, value)
    if kind is dict:
        if value is None:
            return None
        if "start" not in key or "end" not in key:
            raise texts.expected_start_end(meter, key)
        return slice_of(meter, value, key["start"], key["end"])
    if type(value) is list:
        raise texts.index_not_number(meter, key)
    if type(value) is str:
        raise texts.index_not_number(meter, key, "a string")
    raise texts.key_not_string(meter, key)


def slice_of(meter: Meter, value: Value, start: Value, end: Value) -> Value:
    kind = type(value)
    if kind is list or kind is str:
        of = "an array" if kind is list else "a string"
        first, last = bounds(meter, len(value), start, end, of)
        if not first and last == len(value):
            return value  # all of it, and so still the value at its path
        meter.grow(last - first if kind is list else (last - first) >> 3)
        return value[first:last]
    if value is None:
        return None
    raise texts.expected_array(meter, value)


def bounds(meter: Meter, size: int, start: Value, end: Value, of: str = "an array") -> tuple[int, int]:
    """The positions that a slice means in something of this size."""
    first, last = 0, size
    if start is not None:
        if not is_number(start):
            raise texts.index_not_number(meter, start, of)
        first = _clamped(to_int(start), 0, size)
    if end is not None:
        if not is_number(end):
            raise texts.index_not_number(meter, end, of)
        last = _clamped(to_int_ceil(end), first, size)
    return first, last


def _clamped(position: int, least: int, size: int) -> int:
    if position < 0:
        position += size
    return min(max(position, least), size)


def positions(meter: Meter, items: list[Value], wanted: list[Value]) -> list[int]:
    """Where the wanted run of items begins."""
    size = len(wanted)
    if not size:
        return []
    meter.work(len(items))
    if size == 1 and type(wanted[0]) is str:  # Python's == says what jq says for a text
        text = wanted[0]
        meter.read(len(text) * len(items) if len(text) > SHORT_TEXT else 0)
        meter.grow(items.count(text))
        return [at for at, item in enumerate(items) if item == text]
    found: list[int] = []
    for at in range(len(items) - size + 1):
        compared = 0
        for one in wanted:
            if not equal(meter, items[at + compared], one):
                break
            compared += 1
        else:
            meter.grow(1)
            found.append(at)
        meter.work(compared)
    return found


def text_positions(meter: Meter, text: str, wanted: str) -> list[int]:
    """Where the wanted text begins, overlaps included; each find is charged for what it may have to compare."""
    found: list[int] = []
    if not wanted:
        return found
    meter.work(len(text))
    at = text.find(wanted)
    while at >= 0:
        meter.grow(1)
        meter.work(len(wanted))
        found.append(at)
        at = text.find(wanted, at + 1)
    return found


def members(meter: Meter, value: Value) -> list[Value]:
    """What `.[]` goes over: the items, or the values in the order of their keys."""
    if type(value) is list:
        return value
    if type(value) is dict:
        meter.steps -= (len(value) >> 2) + 1  # whoever goes over them pays for each, and finds out if that was too much
        return [value[key] for key in sorted(value)]
    raise texts.cannot_iterate(meter, value)


def members_or_nothing(meter: Meter, value: Value) -> list[Value]:
    """What `.[]?` goes over."""
    if type(value) is list:
        return value
    return [value[key] for key in sorted_keys(meter, value)] if type(value) is dict else []


def range_values(meter: Meter, start: Value, end: Value, step: Value) -> Iterator[Value]:
    """Numbers from start towards end, by step; charged one by one, because the reader may stop early."""
    for bound in (start, end, step):
        if not is_number(bound):
            raise texts.not_applicable(meter, "range", bound)
    if step == 0:
        return
    small = type(start) is int and type(step) is int and abs(start) <= MAX_INT and abs(step) <= MAX_INT
    if small and end == end:
        numbers: Iterable[int]
        if type(end) is float and math.isinf(end):
            numbers = itertools.count(start, step) if (end > 0) == (step > 0) else ()
        else:
            numbers = range(start, math.ceil(end) if step > 0 else math.floor(end), step)
        for number in numbers:
            meter.steps -= 1
            if meter.steps < 0:
                meter.refill()
            yield number
        return
    upwards = compare(meter, step, 0)
    at = start
    while upwards * compare(meter, at, end) < 0:
        meter.step()
        yield at
        at = add(meter, at, step)
