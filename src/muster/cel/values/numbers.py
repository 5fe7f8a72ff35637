"""The limits of int64 and uint64, and doubles as Go prints them."""

from __future__ import annotations

import math

from muster.cel.values.model import Uint
from muster.errors import EvaluationError, FailureKind

MIN_INT = -(2**63)
MAX_INT = 2**63 - 1
MAX_UINT = 2**64 - 1


def check_int(number: int) -> int:
    """The number, if it fits into 64 bits with sign."""
    if -0x8000000000000000 <= number <= 0x7FFFFFFFFFFFFFFF:
        return number
    raise EvaluationError("integer overflow", FailureKind.INTEGER_OVERFLOW)


def check_uint(number: int) -> Uint:
    """The number as an unsigned one, if it fits into 64 bits."""
    if 0 <= number <= 0xFFFFFFFFFFFFFFFF:
        return Uint(number)
    raise EvaluationError("unsigned integer overflow", FailureKind.INTEGER_OVERFLOW)


def int_text(number: int) -> str:
    """The digits of a number. CEL's own fit into 64 bits; Python refuses to write out what an input may bring."""
    if -MAX_UINT <= number <= MAX_UINT:
        return int.__repr__(number)
    return f"{'-' if number < 0 else ''}{abs(number):#x}"


def format_double(number: float) -> str:
    """The shortest text that reads back as the number, as Go's %g writes it: 1e+06, 0.0001, +Inf, NaN."""
    special = _special(number)
    if special is not None:
        return special
    sign = "-" if number < 0 else ""
    digits, exponent = shortest_digits(abs(number))
    if -4 <= exponent < 6:
        return sign + plain_decimal(digits, exponent)
    fraction = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{fraction}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def format_plain(number: float) -> str:
    """The shortest text without an exponent, as Go's strconv writes it with 'f' and no precision."""
    special = _special(number)
    if special is not None:
        return special
    return ("-" if number < 0 else "") + plain_decimal(*shortest_digits(abs(number)))


def _special(number: float) -> str | None:
    if number != number:
        return "NaN"
    if math.isinf(number):
        return "+Inf" if number > 0 else "-Inf"
    if number == 0:
        return "-0" if math.copysign(1.0, number) < 0 else "0"
    return None


def shortest_digits(number: float) -> tuple[str, int]:
    """The shortest significant digits of a positive number, and the exponent of the first one."""
    mantissa, _, exponent = repr(number).partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    leading = len(whole + fraction) - len(digits)
    return digits.rstrip("0") or "0", int(exponent or "0") + len(whole) - 1 - leading


def plain_decimal(digits: str, exponent: int) -> str:
    """The digits written without an exponent."""
    if exponent < 0:
        return "0." + "0" * (-exponent - 1) + digits
    if exponent + 1 >= len(digits):
        return digits + "0" * (exponent + 1 - len(digits))
    return f"{digits[: exponent + 1]}.{digits[exponent + 1 :]}"
