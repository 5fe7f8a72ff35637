"""Calendar arithmetic for any year, and writing times by a format. Reading them is in date_parsing.py.

Python's datetime ends at the year 9999; queries do not. A Moment is a point in time seen from a zone. Formats follow
the strftime of gojq, flags and widths included. Beyond what 64 bits of seconds hold, dates wrap around as Go's do.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import TYPE_CHECKING

from muster.jq.values.numbers import wrapped

if TYPE_CHECKING:
    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
WEEKDAYS = ("Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday")
COMPOSED = {
    "c": "a b e H:M:S Y",
    "+": "a b e H:M:S Z Y",
    "v": "e-b-Y",
    "r": "I:M:S p",
    "F": "Y-m-d",
    "D": "m/d/y",
    "x": "m/d/y",
    "T": "H:M:S",
    "X": "H:M:S",
    "R": "H:M",
}
"""Directives that stand for several others."""

MAX_WIDTH = 1024
_DIRECTIVE_STEPS, _COMPOSED_STEPS = 3, 16  # about their microseconds
_DAY = 86_400
_BILLION = 1_000_000_000
_EARLIEST = -62_135_596_800
_LATEST = 253_402_300_799
_CYCLE = 146_097 * _DAY  # 400 years: the calendar, weekdays included, and so every rule of a zone, repeats itself
_ABSOLUTE_YEARS = 292_277_022_400
_ABSOLUTE_DAYS = _ABSOLUTE_YEARS // 400 * 146_097 + 719_468
"""Go counts days and seconds from the March before that many years before the year 0, without a sign."""


def days_from_civil(year: int, month: int, day: int) -> int:
    """Days since 1970-01-01 in the proleptic Gregorian calendar; the month may lie outside 1 to 12."""
    year, month = _normal(year, month - 1, 12)
    month += 1
    year -= month <= 2
    century, of_century = divmod((year + _ABSOLUTE_YEARS) % (1 << 64), 100)
    of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5
    days = (146_097 * century) % (1 << 64) // 4 + 1461 * of_century // 4 + of_year + day - 1
    return wrapped(days) - _ABSOLUTE_DAYS


def _normal(high: int, low: int, base: int) -> tuple[int, int]:
    """What is too much, or too little, in the lower part goes into the higher one."""
    extra, low = divmod(low, base)
    return wrapped(high + extra), low


def civil_from_days(days: int) -> tuple[int, int, int]:
    era, of_era = divmod(days + 719_468, 146_097)
    year_of_era = (of_era - of_era // 1460 + of_era // 36_524 - of_era // 146_096) // 365
    of_year = of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * of_year + 2) // 153
    day = of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day


@dataclass(frozen=True, slots=True)
class Moment:
    """Seconds since 1970, nanoseconds, and how the zone shows them."""

    seconds: int
    nanoseconds: int
    offset: int = 0
    zone: str = "UTC"

    @property
    def _local(self) -> int:
        return (self.seconds + self.offset + _ABSOLUTE_DAYS * _DAY) % (1 << 64) - _ABSOLUTE_DAYS * _DAY

    @property
    def local_days(self) -> int:
        return self._local // _DAY

    @property
    def date(self) -> tuple[int, int, int]:
        return civil_from_days(self.local_days)

    @property
    def clock(self) -> tuple[int, int, int]:
        of_day = self._local % _DAY
        return of_day // 3600, of_day // 60 % 60, of_day % 60

    @property
    def weekday(self) -> int:
        """From Sunday, which is 0."""
        return (self.local_days + 4) % 7

    @property
    def year_day(self) -> int:
        """From 1."""
        return self.local_days - days_from_civil(self.date[0], 1, 1) + 1

    @property
    def iso_week(self) -> tuple[int, int]:
        thursday = self.local_days - (self.weekday + 6) % 7 + 3
        year = civil_from_days(thursday)[0]
        return year, (thursday - days_from_civil(year, 1, 1)) // 7 + 1

    @property
    def epoch(self) -> float:
        return self.seconds + self.nanoseconds / 1e9


def moment_at(seconds: int, nanoseconds: int, zone: tzinfo) -> Moment:
    """A point in time, as the zone shows it."""
    seconds, nanoseconds = _normal(seconds, nanoseconds, _BILLION)
    if zone is UTC:
        return Moment(seconds, nanoseconds)
    shown = datetime.fromtimestamp(_within_datetime(seconds), zone)
    return Moment(seconds, nanoseconds, _offset(shown), shown.tzname() or "")


def moment_of(fields: tuple[int, int, int, int, int, int, int], zone: tzinfo) -> Moment:
    """Year, month, day, hour, minute, second and nanosecond on the clocks of a zone; each may overflow."""
    year, month, day, hour, minute, second, nanosecond = fields
    second, nanosecond = _normal(second, nanosecond, _BILLION)
    minute, second = _normal(minute, second, 60)
    hour, minute = _normal(hour, minute, 60)
    day, hour = _normal(day, hour, 24)
    local = wrapped(days_from_civil(year, month, day) * _DAY + hour * 3600 + minute * 60 + second)
    if zone is UTC:
        return Moment(local, nanosecond)
    # As Go looks for it: the zone's offset when its clocks are taken for UTC, and, if that was the wrong one, when they
    # are taken for what they would then be.
    offset = moment_at(local, 0, zone).offset
    offset = moment_at(local - offset, 0, zone).offset
    return moment_at(local - offset, nanosecond, zone)


def _within_datetime(seconds: int) -> int:
    """A second that datetime knows and in which a zone shows the same offset."""
    if seconds > _LATEST - _DAY:
        return seconds - (seconds - _LATEST + _DAY + _CYCLE - 1) // _CYCLE * _CYCLE
    return max(seconds, _EARLIEST + _DAY)


def _offset(shown: datetime) -> int:
    return int((shown.utcoffset() or timedelta(0)).total_seconds())


def broken_down(moment: Moment) -> list[Value]:
    """The eight numbers that jq calls a broken down time."""
    year, month, day = moment.date
    hour, minute, second = moment.clock
    return [year, month - 1, day, hour, minute, second + moment.nanoseconds / 1e9, moment.weekday, moment.year_day - 1]


# ── writing ─────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Style:
    """Flags and width of a directive. `padding` None means that none is wanted."""

    width: int = 0
    padding: str | None = "0"
    chosen: bool = False  # whether the padding was asked for
    upper: bool = False
    swapped: bool = False

    def number(self, value: int, least: int, padding: str = "0") -> str:
        text = str(value)
        pad = self.padding if self.chosen else padding
        if pad is None:
            return text
        width = max(self.width, least)
        return text.zfill(width) if pad == "0" else text.rjust(width)

    def text(self, value: str) -> str:
        pad = self.padding if self.chosen else " "
        padded = "" if pad is None else pad * (self.width - len(value))
        if self.swapped:
            return padded + (value.lower() if value[1:2] < "a" else value.upper())
        return padded + (value.upper() if self.upper else value)


def format_moment(meter: Meter, moment: Moment, pattern: str) -> str:
    """strftime, with the flags `-_^#0`, widths and `:` of GNU date."""
    out: list[str] = []
    at = 0
    meter.grow_text(len(pattern))
    while at < len(pattern):
        start = pattern.find("%", at)
        if start < 0:
            out.append(pattern[at:])
            break
        out.append(pattern[at:start])
        piece, at = _directive(moment, pattern, start)
        meter.step(_COMPOSED_STEPS if pattern[at - 1] in COMPOSED else _DIRECTIVE_STEPS)
        meter.grow_text(len(piece))
        out.append(piece)
    return "".join(out)


def _directive(moment: Moment, pattern: str, start: int) -> tuple[str, int]:
    width, padding, chosen, upper, swapped = 0, "0", False, False, False
    pad: str | None = padding
    at = start + 1
    while at < len(pattern) and pattern[at] in "-_^#0123456789":
        flag = pattern[at]
        at += 1
        if flag == "-":
            pad, chosen = None, True
        elif flag == "_":
            pad, chosen = " ", True
        elif flag == "^":
            upper = True
        elif flag == "#":
            swapped = True
        elif flag == "0":
            pad, chosen = "0", True
        else:
            width = int(flag)
            while at < len(pattern) and pattern[at] in "0123456789":
                width = min(width * 10 + int(pattern[at]), MAX_WIDTH)
                at += 1
            if chosen and pad is None:
                pad = " "
    style = _Style(width, pad, chosen, upper, swapped)
    if at >= len(pattern):
        return (style.text(pattern[start:]) if at > start + 1 else "%"), at
    if pattern[at] == ":":
        colons = at
        while at < len(pattern) and pattern[at] == ":":
            at += 1
        if pattern[at : at + 1] == "z" and at - colons <= 3:
            return _zone_offset(moment, style, at - colons), at + 1
        end = min(at + 1, len(pattern)) if pattern[at : at + 1] == "z" else at
        return style.text(pattern[start:end]), end
    written = _field(moment, pattern[at], style)
    if written is None:
        width = max(style.width - 1, 0)
        return _Style(width, pad, chosen).text(pattern[start:at]) + pattern[at], at + 1
    return written, at + 1


def _field(moment: Moment, letter: str, style: _Style) -> str | None:
    """One directive; None when there is no such."""
    if letter in COMPOSED:
        inner = _Style(upper=style.upper, swapped=style.swapped and letter not in "c+vr")
        return "".join(_field(moment, part, inner) or part if part.isalpha() else part for part in COMPOSED[letter])
    return (
        _date_field(moment, letter, style) or _clock_field(moment, letter, style) or _name_field(moment, letter, style)
    )


def _date_field(moment: Moment, letter: str, style: _Style) -> str | None:
    year, month, day = moment.date
    match letter:
        case "Y":
            return style.number(year, 0 if style.width else 4)
        case "y":
            return style.number(abs(year) % 100, 2)
        case "C":
            century = abs(year) // 100
            return style.number(century, 2) if year >= 0 else "-" + style.number(century, 1)
        case "g":
            return style.number(abs(moment.iso_week[0]) % 100, 2)
        case "G":
            return style.number(moment.iso_week[0], 0 if style.width else 4)
        case "m":
            return style.number(month, 2)
        case "w":
            return style.number(moment.weekday, 0)
        case "u":
            return style.number(moment.weekday or 7, 0)
        case "V":
            return style.number(moment.iso_week[1], 2)
        case "U":
            return style.number((moment.year_day + 6 - moment.weekday) // 7, 2)
        case "W":
            monday_first = moment.year_day - (moment.weekday - 7 if moment.weekday else 0)
            return style.number(monday_first // 7, 2)
        case "e":
            return style.number(day, 2, " ")
        case "d":
            return style.number(day, 2)
        case "j":
            return style.number(moment.year_day, 3)
        case _:
            return None


def _clock_field(moment: Moment, letter: str, style: _Style) -> str | None:
    hour, minute, second = moment.clock
    match letter:
        case "k":
            return style.number(hour, 2, " ")
        case "H":
            return style.number(hour, 2)
        case "l":
            return style.number(hour % 12 or 12, 2, " ")
        case "I":
            return style.number(hour % 12 or 12, 2)
        case "M":
            return style.number(minute, 2)
        case "S":
            return style.number(second, 2)
        case "s":
            return style.number(moment.seconds, 0, " ")
        case "f":
            return style.number(moment.nanoseconds // 1000, 0 if style.width else 6)
        case "z":
            return _zone_offset(moment, style, 0)
        case _:
            return None


def _name_field(moment: Moment, letter: str, style: _Style) -> str | None:
    month = moment.date[1]
    match letter:
        case "B":
            return style.text(MONTHS[month - 1])
        case "b" | "h":
            return style.text(MONTHS[month - 1][:3])
        case "A":
            return style.text(WEEKDAYS[moment.weekday])
        case "a":
            return style.text(WEEKDAYS[moment.weekday][:3])
        case "p":
            return style.text("AM" if moment.clock[0] < 12 else "PM")
        case "P":
            swapped = not (style.upper or style.swapped)
            return _Style(style.width, style.padding, style.chosen, style.upper, swapped).text(
                "AM" if moment.clock[0] < 12 else "PM"
            )
        case "Z":
            return style.text(moment.zone) if moment.zone else _zone_offset(moment, style, 0)
        case "t":
            return _Style(style.width, style.padding, style.chosen).text("\t")
        case "n":
            return _Style(style.width, style.padding, style.chosen).text("\n")
        case "%":
            return _Style(style.width, style.padding, style.chosen).text("%")
        case _:
            return None


def _zone_offset(moment: Moment, style: _Style, colons: int) -> str:
    """`+0530`, and with colons `+05:30`, `+05:30:00` or as short as it can be."""
    size = abs(moment.offset)
    hours, minutes, seconds = size // 3600, size // 60 % 60, size % 60
    sign = "-" if moment.offset < 0 else "+"
    rest = ""
    if colons <= 2 or minutes or seconds:
        rest = f"{':' if colons else ''}{minutes:02}"
        if colons == 2 or (colons == 3 and seconds):
            rest += f":{seconds:02}"
    if style.chosen and style.padding is None:
        return f"{sign}{hours}{rest}"
    pad = style.padding if style.chosen and style.padding else "0"
    if pad == " ":
        return f"{sign}{hours}{rest}".rjust(max(style.width, len(rest) + 3))
    return sign + f"{hours:02}{rest}".rjust(style.width - 1, "0")
