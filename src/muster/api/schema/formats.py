"""The string formats that schemas name. A format that is not listed is documentation and checks nothing."""

from __future__ import annotations

import re
from datetime import date
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_date_time = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})[tT]([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](?:.[0-9]+)?(?:[zZ]|[+-][0-9]{2}:[0-9]{2})"
).fullmatch
_base64 = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})").fullmatch
_day = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})").fullmatch


def is_date_time(text: str) -> bool:
    """RFC 3339, with a day that exists."""
    match = _date_time(text)
    return match is not None and _exists(match.group(1), match.group(2), match.group(3))


def is_date(text: str) -> bool:
    match = _day(text)
    return match is not None and _exists(match.group(1), match.group(2), match.group(3))


def is_base64(text: str) -> bool:
    return _base64(text) is not None


def _exists(year: str, month: str, day: str) -> bool:
    if "01" <= day <= "28" and "01" <= month <= "12" and year != "0000":
        return True
    try:
        date(int(year), int(month), int(day))
    except ValueError:
        return False
    return True


FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    "date-time": is_date_time,
    "date": is_date,
    "byte": is_base64,
}
