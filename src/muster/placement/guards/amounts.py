"""How many and how long, as people write them in guards: `3`, `10%`, `1h30m`. A text is a value or a `Fault`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Final

from muster.values.faults import Fault

_MOST: Final = 1_000_000_000
_DIGITS: Final = frozenset("0123456789")
_UNITS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86_400}
_LONGEST: Final = timedelta(days=366)
_MOST_LETTERS: Final = 40


@dataclass(frozen=True, slots=True)
class Amount:
    """A number of clusters, or a share of those that are decided."""

    number: int
    is_percent: bool = False

    def of(self, decided: int) -> int:
        """How many that are of so many. A share is rounded down: 10% of five clusters is none."""
        return decided * self.number // 100 if self.is_percent else self.number

    def __str__(self) -> str:
        return f"{self.number}%" if self.is_percent else str(self.number)


def parse_amount(text: str) -> Amount | Fault:
    """`3`, or `10%`."""
    is_percent = text.endswith("%")
    number = parse_number(text[:-1] if is_percent else text)
    if isinstance(number, Fault) or (is_percent and number > 100):
        return Fault(f"{shown(text)} is neither a number such as 3 nor a percentage from 0% to 100%")
    return Amount(number, is_percent)


def parse_number(text: str) -> int | Fault:
    """A whole number from 0 on."""
    if not text or len(text) > 10 or not _DIGITS.issuperset(text) or int(text) > _MOST:
        return Fault(f"{shown(text)} is not a number from 0 to {_MOST}")
    return int(text)


def parse_duration(text: str) -> timedelta | Fault:
    """`90s`, `10m`, `1h30m`, `2d`: at most a year."""
    seconds, digits = 0, ""
    for letter in text[:_MOST_LETTERS]:
        if letter in _DIGITS:
            digits += letter
        elif digits and len(digits) <= 9 and letter in _UNITS:
            seconds += int(digits) * _UNITS[letter]
            digits = ""
        else:
            return _no_duration(text)
    if digits or not text or len(text) > _MOST_LETTERS or seconds > _LONGEST.total_seconds():
        return _no_duration(text)
    return timedelta(seconds=seconds)


def _no_duration(text: str) -> Fault:
    return Fault(f"{shown(text)} is not a time such as 90s, 10m, 1h30m or 2d, at most 366d")


def duration_text(length: timedelta) -> str:
    """The shortest way to write it.

    >>> duration_text(timedelta(minutes=90))
    '1h30m'
    """
    left = int(length.total_seconds())
    text = ""
    for unit, seconds in reversed(_UNITS.items()):
        count, left = divmod(left, seconds)
        text += f"{count}{unit}" if count else ""
    return text or "0s"


def shown(text: str) -> str:
    """What of a text is repeated in a fault."""
    return repr(text if len(text) <= _MOST_LETTERS else f"{text[:_MOST_LETTERS]}…")
