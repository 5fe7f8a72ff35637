"""JSON text to values, as gojq reads it: `fromjson`, `tonumber`, and what those outside a run call.

Text that Python's reader does not take is gone over by json_scanning.py, which words the fault as gojq does.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from muster.errors import InvalidObjectError
from muster.jq.values.encoding import without_surrogates
from muster.jq.values.numbers import TooManyDigitsError, parse_integer
from muster.values.quoting import go_byte

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value


class InvalidJsonError(InvalidObjectError, ValueError):
    """Text that is not one JSON value: Go's sentence for the first thing that is wrong, and where."""

    def __init__(self, message: str, offset: int) -> None:
        self.message = message
        self.offset = offset
        super().__init__("", message)


def _reject_constant(name: str) -> Value:
    raise ValueError(name)


def _integer(text: str) -> int:
    try:
        return parse_integer(text)
    except TooManyDigitsError as fault:
        raise InvalidJsonError(str(fault), 0) from None


_DECODER = json.JSONDecoder(parse_constant=_reject_constant, parse_int=_integer)
_WHITE = " \t\n\r"


def read_json(meter: Meter, text: str, start: int = 0) -> tuple[Value, int]:
    """The JSON value that begins at `start` (after white space), and where it ends."""
    meter.grow(len(text) - start)
    meter.work(len(text) - start)
    while start < len(text) and text[start] in _WHITE:
        start += 1
    try:
        value, end = _DECODER.raw_decode(text, start)
        if "\\u" in text or not text.isascii():
            value = _whole_characters(meter, value)
    except InvalidJsonError:
        raise
    except ValueError as error:
        raise _fault(meter, text, start) from error
    except RecursionError:
        return _read_deep(meter, text, start)
    if type(value) in (int, float) and _breaks_off(text[start:end], text[end : end + 1]):
        raise _fault(meter, text, start)
    return value, end


def _whole_characters(meter: Meter, value: Value) -> Value:
    """All texts of a decoded value without lone surrogates."""
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, list):
        meter.work(len(value))
        return [_whole_characters(meter, item) for item in value]
    if isinstance(value, dict):
        meter.work(len(value))
        return {without_surrogates(key): _whole_characters(meter, item) for key, item in value.items()}
    return value


def read_scalar(meter: Meter, text: str) -> Value:
    """A text, number, boolean or null that is known to be valid."""
    meter.work(len(text))
    value = _DECODER.decode(text)
    return without_surrogates(value) if isinstance(value, str) else value


def read_whole_json(meter: Meter, text: str) -> Value:
    """One JSON value, nothing after it but white space."""
    value, end = read_json(meter, text)
    rest = text[end:].lstrip(_WHITE)
    if rest:
        raise InvalidJsonError(f"invalid character {go_byte(rest[0])} after top-level value", len(text) - len(rest))
    return value


def _breaks_off(number: str, following: str) -> bool:
    """Whether a number goes on behind what could be read of it: `1.`, `1e`."""
    has_exponent = "e" in number or "E" in number
    return (following == "." and "." not in number and not has_exponent) or (
        following in ("e", "E") and not has_exponent
    )


def _fault(meter: Meter, text: str, start: int) -> InvalidJsonError:
    """Found by a scanner of our own, which is loaded only when something is wrong."""
    from muster.jq.values.json_scanning import first_fault

    return first_fault(meter, text, start)


def _read_deep(meter: Meter, text: str, start: int) -> tuple[Value, int]:
    """By the same scanner: Python's own reader ends at about a thousand levels."""
    from muster.jq.values.json_scanning import read_deep

    return read_deep(meter, text, start)
