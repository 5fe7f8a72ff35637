"""Moments as objects carry them, and arithmetic on them that cannot fail. Everything that reads a time reads it here.

What a schema lets through as a time is more than Python's datetime holds: offsets of 99 hours, the year 0, leap
seconds, thirty digits of a fraction, sums beyond the year 9999. A text is a moment or a `Fault`, never an exception;
moments beyond what can be held are the first or the last one that can. All moments are in UTC.
"""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from functools import lru_cache
from typing import Final

from muster.values.faults import Fault

__all__ = ["FIRST", "LAST", "Fault", "later", "parse_time", "time_text"]
FIRST: Final = datetime.min.replace(tzinfo=UTC)
LAST: Final = datetime.max.replace(tzinfo=UTC)
_SHAPE: Final = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[Tt]([0-9]{2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:[Zz]|([+-])([0-9]{2}):([0-9]{2}))"
)
_LONGEST: Final = 128  # characters; a fraction of thirty digits is well within
_SHOWN: Final = 40
_DAY: Final = 86_400
_LEAP_YEAR: Final = 400  # stands for the year 0, which Python does not know
_BEFORE_YEAR_ONE: Final = date(_LEAP_YEAR + 1, 1, 1).toordinal() - 1
_LAST_SECOND: Final = date.max.toordinal() * _DAY + _DAY - 1


def parse_time(text: object) -> datetime | Fault:
    """RFC 3339: with upper or lower case letters, leap seconds, any digits of a fraction, any offset up to a day.

    An offset of more than 24 hours is none: no clock shows it, so nobody can say which moment was meant.
    """
    if not isinstance(text, str) or len(text) > _LONGEST:
        return Fault(f"{_shown(text)} is not a time such as 2030-01-31T12:00:00Z")
    return _parsed(text)


@lru_cache(maxsize=16_384)
def _parsed(text: str) -> datetime | Fault:
    """Clusters are looked at with every heartbeat, and mostly have the same times as before."""
    found = _SHAPE.fullmatch(text)
    if found is None:
        return Fault(f"{_shown(text)} is not a time such as 2030-01-31T12:00:00Z")
    year, month, day, hour, minute, second = (int(digits) for digits in found.groups()[:6])
    fraction, sign, hours, minutes = found.groups()[6:]
    if hour > 23 or minute > 59 or second > 60:
        return Fault(f"{_shown(text)} is not a time: there is no {found[4]}:{found[5]}:{found[6]}")
    try:
        ordinal = date(year or _LEAP_YEAR, month, day).toordinal() - (0 if year else _BEFORE_YEAR_ONE)
    except ValueError:
        return Fault(f"{_shown(text)} is not a time: there is no day {found[1]}-{found[2]}-{found[3]}")
    offset = int(hours or 0) * 3600 + int(minutes or 0) * 60
    if offset > _DAY or int(minutes or 0) > 59:
        return Fault(f"{_shown(text)} is not a time: an offset is at most 24:00")
    seconds = ordinal * _DAY + hour * 3600 + minute * 60 + second + (offset if sign == "-" else -offset)
    if seconds < _DAY:  # ordinals begin with 1
        return FIRST
    if seconds > _LAST_SECOND:
        return LAST
    midnight = datetime.combine(date.fromordinal(seconds // _DAY), datetime.min.time(), UTC)
    return midnight + timedelta(seconds=seconds % _DAY, microseconds=int((fraction or "0")[:6].ljust(6, "0")))


def later(moment: datetime, seconds: float) -> datetime:
    """The moment some seconds after another one, or before it; the first or the last one there is beyond these."""
    try:
        return moment + timedelta(seconds=seconds)
    except (OverflowError, ValueError):  # a ValueError is NaN
        return LAST if seconds > 0 else FIRST


def time_text(moment: datetime) -> str:
    """As metadata and conditions carry times: UTC, whole seconds, a year of four digits."""
    try:
        moment = moment.astimezone(UTC)
    except OverflowError:  # an offset at one end of time
        moment = moment.replace(tzinfo=UTC)
    return moment.replace(microsecond=0, tzinfo=None).isoformat() + "Z"


def _shown(text: object) -> str:
    shown = repr(text) if isinstance(text, str) else f"a {type(text).__name__}"
    return shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}…"
