"""Conversions between types, with the limits and the error texts of cel-go."""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from muster.cel.checking.types import BOOL, DOUBLE, DURATION, INT, STRING, TIMESTAMP, UINT, Type
from muster.cel.values.model import NANOSECONDS, Duration, Timestamp, Uint
from muster.cel.values.numbers import MAX_INT, MAX_UINT, MIN_INT, check_int, check_uint
from muster.cel.values.timestamps import parse_duration, parse_timestamp
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.values.value import Value

_SIGNED = re.compile(r"[+-]?[0-9]+")
_UNSIGNED = re.compile(r"[0-9]+")
_FLOAT = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_HEX_FLOAT = re.compile(r"([+-]?)0[xX]([0-9a-fA-F]*)(?:\.([0-9a-fA-F]*))?[pP]([+-]?[0-9]+)")
_SPECIAL = re.compile(r"[+-]?(?:inf|infinity)|nan", re.IGNORECASE)
# Underscores may group digits, as in Go: each between two digits, or behind the 0x. By whether it is hexadecimal.
_MISPLACED = (
    re.compile("(?<![0-9])_|_(?![0-9])"),
    re.compile("(?<![0-9a-fA-FxX])_|_(?![0-9a-fA-F])"),
)
_BOOLS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True)
_BOOLS |= dict.fromkeys(("0", "f", "F", "FALSE", "false", "False"), False)
_LONGEST_INT = 4000  # digits; leading zeros aside nothing longer than 20 fits anyway


def conversion_error(source: Type, target: Type) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'", FailureKind.TYPE_CONVERSION)


def string_to_int(text: str) -> int:
    if _SIGNED.fullmatch(text) and len(text) < _LONGEST_INT and MIN_INT <= (number := int(text)) <= MAX_INT:
        return number
    raise conversion_error(STRING, INT)


def string_to_uint(text: str) -> Uint:
    if _UNSIGNED.fullmatch(text) and len(text) < _LONGEST_INT and (number := int(text)) <= MAX_UINT:
        return Uint(number)
    raise conversion_error(STRING, UINT)


def string_to_double(text: str) -> float:
    """Go's ParseFloat: decimal, hexadecimal with a p exponent, inf and nan; a number too large is an error."""
    if "_" in text and not _MISPLACED["0x" in text.lower()].search(text):
        text = text.replace("_", "")
    if _FLOAT.fullmatch(text):
        number = float(text)
        if not math.isinf(number):
            return number
    elif _SPECIAL.fullmatch(text):
        return float(text)
    elif (found := _HEX_FLOAT.fullmatch(text)) and (found[2] or found[3]):
        try:
            return float.fromhex(text)
        except OverflowError:
            pass
    raise conversion_error(STRING, DOUBLE)


def string_to_bool(text: str) -> bool:
    if text in _BOOLS:
        return _BOOLS[text]
    raise conversion_error(STRING, BOOL)


def string_to_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def string_to_duration(text: str) -> Duration:
    duration = parse_duration(text)
    if duration is None:
        raise conversion_error(STRING, DURATION)
    return duration


def string_to_timestamp(text: str) -> Timestamp:
    moment = parse_timestamp(text)
    if moment is None:
        raise conversion_error(STRING, TIMESTAMP)
    return moment


def bytes_to_string(data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


def double_to_int(number: float) -> int:
    """Cuts off the fraction. The smallest int itself is refused, as cel-go leaves room for rounding."""
    if not -(2.0**63) < number < 2.0**63:  # false for NaN too
        raise EvaluationError("integer overflow", FailureKind.INTEGER_OVERFLOW)
    return int(number)


def double_to_uint(number: float) -> Uint:
    if not 0 <= number < 2.0**64:
        raise EvaluationError("unsigned integer overflow", FailureKind.INTEGER_OVERFLOW)
    return Uint(int(number))


def int_to_uint(number: int) -> Uint:
    return check_uint(number)


def uint_to_int(number: int) -> int:
    return check_int(int(number))


def int_to_timestamp(seconds: int) -> Timestamp:
    return Timestamp(seconds * NANOSECONDS)


def timestamp_to_int(moment: Timestamp) -> int:
    return moment.seconds


def duration_to_int(duration: Duration) -> int:
    return duration.ns


def bool_to_string(value: bool) -> str:
    return "true" if value else "false"


def int_to_string(number: int) -> str:
    return str(int(number))


def identity(value: Value) -> Value:
    return value
