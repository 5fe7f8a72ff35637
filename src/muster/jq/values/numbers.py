"""Texts to numbers, as gojq reads them in queries and in `tonumber`. Used by the parser and the builtins."""

from __future__ import annotations

import math
import re

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
