"""Looking inside jq values: by key, slice and position, one member after the other; and ranges of numbers.

Both evaluators and the builtins go through it. Functions that look into a value or make one take the run's Meter first.
"""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING

from muster.jq import error_texts as texts
from muster.jq.budgets import SHORT_TEXT
from muster.jq.values.arithmetic import add
from muster.jq.values.numbers import MAX_INT, is_number, to_int, to_int_ceil
from muster.jq.values.ordering import compare, equal, sorted_keys

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


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
