"""Kubernetes quantities: `500m`, `1.5Gi`, `12e6`; exact arithmetic, and the canonical text that Kubernetes prints.

Kubernetes keeps a quantity either as an int64 with a decimal exponent or, if that does not do, as a big decimal, and
which of the two it is shows: only the former can be an integer. So it is kept here too. Used by CEL and the scheduler.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum
from functools import total_ordering

from muster.errors import MusterError
from muster.values.remembering import remembered

WRONG_FORMAT = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
WRONG_NUMBER = "unable to parse numeric part of quantity"
WRONG_SUFFIX = "unable to parse quantity's suffix"

_SHAPE = re.compile(r"([+-]?)0*([0-9]*)(?:\.([0-9]*))?([eEinumkKMGTP]*[-+]?[0-9]*)")
_INT64 = 2**63
_NANO = -9  # the smallest exponent that is kept
_MOST_DIGITS = 4000  # of one number; Kubernetes has no limit and can be made to run out of memory
_DECIMAL_DIGITS = 18  # that surely fit into an int64
_BINARY_DIGITS = 15


class Format(Enum):
    """How a quantity was written, and is written again."""

    DECIMAL_EXPONENT = "DecimalExponent"
    DECIMAL_SI = "DecimalSI"
    BINARY_SI = "BinarySI"


_DECIMAL_SUFFIXES = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY_SUFFIXES = {"Ki": 10, "Mi": 20, "Gi": 30, "Ti": 40, "Pi": 50, "Ei": 60}
_SUFFIX_OF_POWER = {power: suffix for suffix, power in _DECIMAL_SUFFIXES.items()}
_SUFFIX_OF_SHIFT = {shift: suffix for suffix, shift in _BINARY_SUFFIXES.items()}


class InvalidQuantityError(MusterError):
    """A text that is no quantity, or a result that none can hold, in the words of Kubernetes."""


@total_ordering
@dataclass(frozen=True, slots=True, eq=False)
class Quantity:
    """`number` times ten to the `exponent`. `is_small`: kept as an int64, which is what makes it an integer."""

    number: int
    exponent: int
    format: Format
    is_small: bool = True
    text: str = ""  # as it was written, when that is the canonical form

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Quantity) and self.compare(other) == 0

    def __lt__(self, other: Quantity) -> bool:
        return self.compare(other) < 0

    def __hash__(self) -> int:
        return hash(_without_tens(self.number, self.exponent) if self.number else (0, 0))

    def __str__(self) -> str:
        return self.text or _canonical(self)

    @property
    def sign(self) -> int:
        return (self.number > 0) - (self.number < 0)

    def compare(self, other: Quantity) -> int:
        """-1, 0 or 1. Sizes are compared first, so that no exponent makes it slow."""
        if self.sign != other.sign or not self.number:
            return (self.sign > other.sign) - (self.sign < other.sign)
        size, other_size = (_digits(q.number) + q.exponent for q in (self, other))
        if size != other_size:
            return self.sign if size > other_size else -self.sign
        low = min(self.exponent, other.exponent)
        mine: int = self.number * 10 ** (self.exponent - low)
        theirs: int = other.number * 10 ** (other.exponent - low)
        return (mine > theirs) - (mine < theirs)

    def as_int64(self) -> int | None:
        """The value as an int64, if it is kept as one and is whole."""
        if not self.is_small or self.exponent < 0 or self.exponent > _DECIMAL_DIGITS:
            return 0 if self.is_small and self.exponent > 0 and not self.number else None
        value: int = self.number * 10**self.exponent
        return value if -_INT64 <= value < _INT64 else None

    def approximate_float(self) -> float:
        """The value as a double, rounded as Kubernetes rounds: number and power of ten on their own."""
        try:
            base = float(self.number)
        except OverflowError:
            base = float("inf") if self.number > 0 else float("-inf")
        if self.exponent == 0:
            return base
        if self.exponent > 308:
            return base * float("inf")
        return base * float(f"1e{max(self.exponent, -324)}")

    def add(self, other: Quantity) -> Quantity:
        return _sum(self, other, other.number)

    def subtract(self, other: Quantity) -> Quantity:
        return _sum(self, other, -other.number)


def of_int(number: int) -> Quantity:
    """A whole number, such as CEL adds to quantities."""
    return Quantity(number, 0, Format.DECIMAL_EXPONENT)


@remembered(4096)
def parse(text: str) -> Quantity:
    """Read a quantity; raises InvalidQuantityError."""
    shape = _SHAPE.fullmatch(text)
    if shape is None or not text:
        raise InvalidQuantityError(WRONG_FORMAT)
    sign, whole, fraction, suffix = shape.groups()
    whole = whole or "0"
    fraction = fraction or ""
    power, shift, written = _interpret(suffix)
    if text == "0":
        return Quantity(0, 0, Format.DECIMAL_SI, text=text)
    small = _parse_small(sign, whole, fraction, power, shift, written)
    if small is not None:
        return _with_text(small, text, whole + fraction, shift)
    return _parse_big(sign, whole, fraction, power, shift, written)


def is_quantity(text: str) -> bool:
    try:
        parse(text)
    except InvalidQuantityError:
        return False
    return True


def _interpret(suffix: str) -> tuple[int, int, Format]:
    """The power of ten, the power of two, and the format that the suffix stands for."""
    if suffix in _DECIMAL_SUFFIXES:
        return _DECIMAL_SUFFIXES[suffix], 0, Format.DECIMAL_SI
    if suffix in _BINARY_SUFFIXES:
        return 0, _BINARY_SUFFIXES[suffix], Format.BINARY_SI
    if suffix[:1] in {"e", "E"} and re.fullmatch("[+-]?[0-9]{1,19}", suffix[1:]):
        power = int(suffix[1:])
        if -_INT64 <= power < _INT64:
            return (power + 2**31) % 2**32 - 2**31, 0, Format.DECIMAL_EXPONENT  # Kubernetes cuts it to 32 bits
    raise InvalidQuantityError(WRONG_SUFFIX)


def _parse_small(sign: str, whole: str, fraction: str, power: int, shift: int, written: Format) -> Quantity | None:
    """The quantity as an int64, if it has few enough digits and nothing smaller than a billionth."""
    if written is Format.BINARY_SI:
        room = _BINARY_DIGITS - len(whole) - shift * 3 // 10 - 1
        if fraction or room < 0:
            return None
    elif len(whole) + len(fraction) > _DECIMAL_DIGITS:
        return None
    exponent = power - len(fraction)
    if exponent < _NANO:
        return None
    number = int(whole + fraction) << shift
    if number >= _INT64:
        return None
    return Quantity(-number if sign == "-" else number, exponent, written)


def _with_text(quantity: Quantity, text: str, digits: str, shift: int) -> Quantity:
    """Keep the text where Kubernetes is sure that it is canonical."""
    if quantity.format is Format.BINARY_SI:
        canonical = shift % 10 == 0 and int(digits) & 0x07 != 0
    else:
        canonical = quantity.exponent % 3 == 0 and not digits.endswith("000") and digits[0] != "0"
    return Quantity(quantity.number, quantity.exponent, quantity.format, text=text) if canonical else quantity


def _parse_big(sign: str, whole: str, fraction: str, power: int, shift: int, written: Format) -> Quantity:
    """The quantity as a big decimal: billionths at least, rounded away from zero; binary ones end at 2^63-1."""
    digits = (whole + fraction).lstrip("0")
    exponent = power - len(fraction)
    if len(whole + fraction) + max(exponent, 0) > _MOST_DIGITS:
        raise InvalidQuantityError(WRONG_NUMBER)
    if not digits:
        return Quantity(0, exponent, written, is_small=False)
    number = int(digits) << shift
    if exponent >= _NANO:
        number *= 10 ** (exponent - _NANO)
    elif _NANO - exponent > _MOST_DIGITS:
        number = 1
    else:
        number = -(-number // 10 ** (_NANO - exponent))
    if written is Format.BINARY_SI:
        one = 10**-_NANO
        if number > (_INT64 - 1) * one:
            return Quantity((_INT64 - 1) * (-1 if sign == "-" else 1), 0, written, is_small=False)
        if number < one:
            written = Format.DECIMAL_SI
    return Quantity(-number if sign == "-" else number, _NANO, written, is_small=False)


def _sum(left: Quantity, right: Quantity, addend: int) -> Quantity:
    written = right.format if not left.number else left.format
    if left.is_small and right.is_small:
        if not addend:
            return Quantity(left.number, left.exponent, written)
        if not left.number:
            return Quantity(addend, right.exponent, written)
    low = min(left.exponent, right.exponent)
    if max(left.exponent, right.exponent) - low > _MOST_DIGITS:
        raise InvalidQuantityError("the quantities are too far apart to be added")
    mine = left.number * 10 ** (left.exponent - low)
    theirs = addend * 10 ** (right.exponent - low)
    fits = all(-_INT64 <= number < _INT64 for number in (mine, theirs, mine + theirs))
    return Quantity(mine + theirs, low, written, is_small=left.is_small and right.is_small and fits)


def _canonical(quantity: Quantity) -> str:
    """The number without needless zeros, with the largest suffix that leaves no fraction."""
    if not quantity.number:
        return "0"
    if quantity.format is Format.BINARY_SI:
        number = _whole(quantity)
        if number is not None and abs(number) >= 1024:
            shift = 0
            while number % 1024 == 0:
                number //= 1024
                shift += 10
            return f"{number}{_SUFFIX_OF_SHIFT.get(shift, '')}"
    number, exponent = _without_tens(quantity.number, quantity.exponent)
    number *= 10 ** (exponent % 3)
    exponent -= exponent % 3
    if quantity.format is Format.DECIMAL_EXPONENT:
        return f"{number}e{exponent}" if exponent else str(number)
    return f"{number}{_SUFFIX_OF_POWER.get(exponent, '')}"


def _whole(quantity: Quantity) -> int | None:
    """The value, if it has no fraction."""
    if quantity.exponent >= 0:
        return int(quantity.number * 10**quantity.exponent)
    number, exponent = _without_tens(quantity.number, quantity.exponent)
    return number * 10**exponent if exponent >= 0 else None


def _without_tens(number: int, exponent: int) -> tuple[int, int]:
    while number % 10 == 0:
        number //= 10
        exponent += 1
    return number, exponent


def _digits(number: int) -> int:
    return len(str(abs(number)))
