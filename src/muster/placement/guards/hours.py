"""Hours in which removals may happen: `Mon-Fri 09:00-16:00 Europe/Berlin`. Pure; the time is handed in.

hours  = window {";" window} [zone]
window = [days] times
days   = day ["-" day] {"," day ["-" day]}        Mon-Fri,Sun; every day if left out
times  = HH:MM-HH:MM {"," HH:MM-HH:MM}            22:00-04:00 ends on the day after; 24:00 is the end of a day
zone   = UTC, or a name of the time zone database
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING, Final

from muster.placement.guards.amounts import shown
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import tzinfo

_DAYS: Final = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_ALL: Final = frozenset(range(7))
_MINUTES: Final = 24 * 60
_LONGEST: Final = 500
_EXAMPLE: Final = "hours such as 'Mon-Fri 09:00-16:00 UTC'"


@dataclass(frozen=True, slots=True)
class Window:
    """A part of some days, in minutes since midnight; one that ends before it begins ends on the day after."""

    days: frozenset[int]
    start: int
    end: int

    def openings(self, day: datetime) -> tuple[datetime, datetime] | None:
        """When it opens and closes that begins on this day, if any."""
        if day.weekday() not in self.days:
            return None
        length = self.end - self.start if self.end > self.start else self.end - self.start + _MINUTES
        opens = _at(day, self.start)
        # The end by the clock on the wall: an hour more or less when clocks are changed in between.
        closes = _at(day + timedelta(days=(self.start + length) // _MINUTES), (self.start + length) % _MINUTES)
        return opens, closes


def _at(day: datetime, minutes: int) -> datetime:
    return datetime.combine(day.date(), time(minutes // 60, minutes % 60), day.tzinfo).astimezone(UTC)


@dataclass(frozen=True, slots=True)
class Hours:
    """When removals may happen, with the text that says so."""

    text: str
    windows: tuple[Window, ...]
    zone: tzinfo

    def is_open(self, moment: datetime) -> bool:
        return any(opens <= moment < closes for opens, closes in self._around(moment, -1, 1))

    def next_opening(self, moment: datetime) -> datetime | None:
        """When they open next, after the moment."""
        return min((opens for opens, _ in self._around(moment, 0, 9) if opens > moment), default=None)

    def _around(self, moment: datetime, first: int, last: int) -> Iterator[tuple[datetime, datetime]]:
        try:
            today = moment.astimezone(self.zone)
            days = [today + timedelta(days=number) for number in range(first, last)]
        except OverflowError:  # at one end of time
            return
        for day in days:
            for window in self.windows:
                if (found := window.openings(day)) is not None:
                    yield found


def parse_hours(text: str) -> Hours | Fault:
    """Hours as the module describes them."""
    if len(text) > _LONGEST:
        return Fault(f"{shown(text)} is longer than {_LONGEST} characters")
    parts = [part.split() for part in text.split(";")]
    zone: tzinfo | Fault = UTC
    if parts[-1] and ":" not in parts[-1][-1]:
        zone = _zone(parts[-1].pop())
    if isinstance(zone, Fault):
        return zone
    windows: list[Window] = []
    for words in parts:
        found = _windows(words)
        if found is None:
            return Fault(f"{shown(text)} are not {_EXAMPLE}")
        windows += found
    return Hours(text, tuple(windows), zone)


def _windows(words: list[str]) -> list[Window] | None:
    if not 1 <= len(words) <= 2:
        return None
    days = _days(words[0]) if len(words) == 2 else _ALL
    spans = [_span(span) for span in words[-1].split(",")]
    if days is None or None in spans:
        return None
    return [Window(days, *span) for span in spans if span is not None]


def _days(text: str) -> frozenset[int] | None:
    found: set[int] = set()
    for part in text.lower().split(","):
        first, dash, last = part.partition("-")
        if first not in _DAYS or (dash and last not in _DAYS):
            return None
        start = _DAYS.index(first)
        length = (_DAYS.index(last) - start) % 7 if dash else 0
        found.update((start + step) % 7 for step in range(length + 1))
    return frozenset(found)


def _span(text: str) -> tuple[int, int] | None:
    start, end = map(_minutes, text.split("-")) if text.count("-") == 1 else (None, None)
    if start is None or end is None or start in (end, _MINUTES):
        return None
    return start, end


def _minutes(text: str) -> int | None:
    if len(text) != 5 or text[2] != ":" or not (text[:2] + text[3:]).isascii() or not (text[:2] + text[3:]).isdigit():
        return None
    found = int(text[:2]) * 60 + int(text[3:])
    return found if found <= _MINUTES and int(text[3:]) < 60 else None


def _zone(name: str) -> tzinfo | Fault:
    if name in ("UTC", "Z"):
        return UTC
    try:
        from zoneinfo import ZoneInfo

        return ZoneInfo(name)
    except (OSError, ValueError):  # no such zone is an OSError or a KeyError, by what is asked for
        return Fault(f"there is no time zone {shown(name)} here; UTC is always there")
    except KeyError:
        return Fault(f"there is no time zone {shown(name)} here; UTC is always there")
