"""Numbers as gojq has them: integers of any size and floats, how one becomes the other, and how texts become either.

Used by the parser, the operations and the builtins.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

MAX_INT = (1 << 63) - 1
MIN_INT = -(1 << 63)
_VALID = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\Z", re.ASCII)
_DIGITS_AT_ONCE = 4000
MAX_DIGITS = 40_000
"""Of one integer that is read: reading is worse than linear. As long as the largest that arithmetic makes."""


class TooManyDigitsError(ValueError):
    """An integer that is too long to be read."""

    def __init__(self) -> None:
        super().__init__(f"an integer has more than {MAX_DIGITS:,} digits")


def is_number_text(text: str) -> bool:
    return _VALID.match(text) is not None


def parse_number(text: str) -> int | float:
    """An integer of any size, or the nearest float; too large for a float is an infinity."""
    if any(mark in text for mark in ".eE"):
        value = float(text)
        return value if math.isfinite(value) else math.copysign(math.inf, value)
    return parse_integer(text)


def parse_integer(text: str) -> int:
    """Long texts are halved, because CPython refuses them at once. Raises TooManyDigitsError."""
    if len(text) <= _DIGITS_AT_ONCE:
        return int(text)
    if len(text) > MAX_DIGITS:
        raise TooManyDigitsError
    if text[0] in "+-":
        value = parse_integer(text[1:])
        return -value if text[0] == "-" else value
    split = len(text) // 2
    shift: int = 10 ** (len(text) - split)
    return parse_integer(text[:split]) * shift + parse_integer(text[split:])


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
