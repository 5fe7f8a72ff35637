"""Timestamps and durations as text, and the parts of a timestamp in a time zone, by the rules of Go's time."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from muster.cel.values.model import NANOSECONDS, Duration, Timestamp
from muster.cel.values.numbers import MAX_INT, MIN_INT, format_plain
from muster.errors import EvaluationError, FailureKind
from muster.values.quoting import go_quote

if TYPE_CHECKING:
    from zoneinfo import ZoneInfo

_RFC3339 = re.compile(
    r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:[.,]([0-9]+))?(?:Z|([+-])([0-9]{2}):([0-9]{2}))"
)
_EPOCH = date(1970, 1, 1).toordinal()
_DAY = 86_400

_UNITS = {"ns": 1, "us": 10**3, "µs": 10**3, "μs": 10**3, "ms": 10**6, "s": 10**9, "m": 60 * 10**9, "h": 3600 * 10**9}
_LONGEST_NUMBER = 19  # digits of nanoseconds that fit into 64 bits
_LONGEST_INT = 100  # characters of a number that is looked at at all
_MINUTES = 60
_DURATION_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?([^0-9.]+)")


class Moment(NamedTuple):
    """A timestamp taken apart in some time zone."""

    year: int
    month: int  # 1 to 12
    day: int  # 1 to 31
    hour: int
    minute: int
    second: int
    weekday: int  # 0 is Sunday
    day_of_year: int  # 0 is the first of January


def parse_timestamp(text: str) -> Timestamp | None:
    """RFC 3339, as leniently as Go reads it (one-digit hours, comma for the fraction); None if it is none."""
    found = _RFC3339.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in found.groups()[:6])
    fraction, sign, zone_hours, zone_minutes = found.groups()[6:]
    if hour > 23 or minute > 59 or second > 59 or not 1 <= month <= 12 or not 1 <= day <= _days_in(year, month):
        return None
    offset = 0
    if sign is not None:
        if int(zone_hours) > 24 or int(zone_minutes) > 60:  # Go allows for people who write 24:00
            return None
        offset = (int(zone_hours) * 60 + int(zone_minutes)) * 60 * (-1 if sign == "-" else 1)
    seconds = _days_from_civil(year, month, day) * _DAY + hour * 3600 + minute * 60 + second - offset
    nanos = int((fraction or "0")[:9].ljust(9, "0"))
    return Timestamp(seconds * NANOSECONDS + nanos, offset)


def format_timestamp(moment: Timestamp, *, utc: bool = False) -> str:
    """RFC 3339 with as many digits of the fraction as are needed, in the zone it was written in."""
    offset = 0 if utc else moment.offset
    seconds, nanos = divmod(moment.ns, NANOSECONDS)
    parts = _moment(seconds + offset)
    fraction = f".{nanos:09d}".rstrip("0") if nanos else ""
    if offset == 0:
        zone = "Z"
    else:
        minutes = abs(offset) // 60
        zone = f"{'-' if offset < 0 else '+'}{minutes // 60:02d}:{minutes % 60:02d}"
    return (
        f"{parts.year:04d}-{parts.month:02d}-{parts.day:02d}T"
        f"{parts.hour:02d}:{parts.minute:02d}:{parts.second:02d}{fraction}{zone}"
    )


def moment_in(moment: Timestamp, zone: str = "UTC") -> Moment:
    """The parts of a timestamp in a time zone: an IANA name, or an offset such as -08:00."""
    return _moment(moment.seconds + _offset_of(zone, moment.seconds))


def parse_duration(text: str) -> Duration | None:
    """Go's durations: `1h30m`, `-1.5h`, `100ms`; None if it is none or does not fit."""
    rest = text[1:] if text[:1] in {"+", "-"} else text
    if rest == "0":
        return Duration(0)
    if not rest:
        return None
    total = 0
    position = 0
    while position < len(rest):
        part = _DURATION_PART.match(rest, position)
        if part is None:
            return None
        whole, fraction, unit = part.groups()
        scale = _UNITS.get(unit)
        if scale is None or not (whole or fraction):
            return None
        whole = whole.lstrip("0")
        if len(whole) > _LONGEST_NUMBER:
            return None
        total += int(whole or "0") * scale
        if fraction:
            total += int(int(fraction[:18]) * (scale / 10 ** len(fraction[:18])))
        position = part.end()
    if total > 2**63 or (total == 2**63 and not text.startswith("-")):
        return None
    return Duration(-total if text.startswith("-") else total)


def go_time(moment: Timestamp) -> str:
    """As Go's time.Time prints itself."""
    date, _, rest = format_timestamp(Timestamp(moment.ns, moment.offset)).partition("T")
    clock = rest[:-1] if rest.endswith("Z") else rest[:-6]
    if not moment.offset:
        return f"{date} {clock} +0000 UTC"
    zone = rest[-6:].replace(":", "")
    return f"{date} {clock} {zone} {zone}"


def go_duration(duration: Duration) -> str:
    """As Go's time.Duration prints itself: 1h2m3.5s, 1.5ms, 0s."""
    sign, ns = ("-" if duration.ns < 0 else ""), abs(duration.ns)
    if not ns:
        return "0s"
    for unit, size in (("ns", 1), ("µs", 1000), ("ms", 1_000_000)):
        if ns < 1000 * size:
            return f"{sign}{_decimal(ns, size)}{unit}"
    minutes, rest = divmod(ns, 60 * NANOSECONDS)
    text = f"{_decimal(rest, NANOSECONDS)}s"
    if minutes:
        hours, minutes = divmod(minutes, 60)
        text = f"{minutes}m{text}"
        if hours:
            text = f"{hours}h{text}"
    return sign + text


def _decimal(amount: int, unit: int) -> str:
    """The amount in the unit, a power of ten, without trailing zeros."""
    whole, rest = divmod(amount, unit)
    fraction = str(rest).zfill(len(str(unit)) - 1).rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)


def format_duration(duration: Duration) -> str:
    """Seconds with their fraction and an s, as cel-go prints durations."""
    return f"{format_plain(seconds_of(duration))}s"


def seconds_of(duration: Duration) -> float:
    """The duration in seconds, with the rounding of Go's Duration.Seconds."""
    return _as_float(duration, NANOSECONDS)


def minutes_of(duration: Duration) -> float:
    return _as_float(duration, 60 * NANOSECONDS)


def hours_of(duration: Duration) -> float:
    return _as_float(duration, 3600 * NANOSECONDS)


def _as_float(duration: Duration, unit: int) -> float:
    whole = abs(duration.ns) // unit * (-1 if duration.ns < 0 else 1)
    return float(whole) + float(duration.ns - whole * unit) / unit


def _offset_of(zone: str, seconds: int) -> int:
    if zone in {"", "UTC"}:
        return 0
    if ":" in zone:
        return _numeric_offset(zone)
    # At the very ends of time datetime gives up; the rules there are those of the day next to it.
    bounded = min(max(seconds, -62_135_510_400), 253_402_214_400)
    instant = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=bounded)
    offset = instant.astimezone(_zone(zone)).utcoffset()
    return int(offset.total_seconds()) if offset is not None else 0


def _numeric_offset(zone: str) -> int:
    hours_text, _, minutes_text = zone.partition(":")
    hours = _go_atoi(hours_text)
    minutes = _go_atoi(minutes_text)
    offset = hours * _MINUTES + (-minutes if zone.startswith("-") else minutes)
    # Go takes it for a span of time, and so many hours do not fit into 64 bits of nanoseconds.
    wrapped = (offset * _UNITS["m"] + 2**63) % 2**64 - 2**63
    return int(_as_float(Duration(wrapped), NANOSECONDS))


def _go_atoi(text: str) -> int:
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise EvaluationError(f"strconv.Atoi: parsing {go_quote(text)}: invalid syntax", FailureKind.NOT_A_NUMBER)
    if len(text) > _LONGEST_INT or not MIN_INT <= int(text) <= MAX_INT:
        raise EvaluationError(f'strconv.Atoi: parsing "{text}": value out of range', FailureKind.NOT_A_NUMBER)
    return int(text)


_ZONES: dict[str, ZoneInfo | str] = {}  # by name; what is wrong with it for a name that is none
_MOST_ZONES = 1024
LONGEST_ZONE = 256


def knows_zone(name: str) -> bool:
    """Whether the zone is at hand; otherwise files are looked for, which takes its time, also when there are none."""
    return name in {"", "UTC"} or ":" in name or name in _ZONES


def _zone(name: str) -> ZoneInfo:
    found = _ZONES.get(name)
    if found is None:
        if len(_ZONES) >= _MOST_ZONES:
            _ZONES.clear()
        found = _ZONES[name] = _read_zone(name)
    if isinstance(found, str):
        raise EvaluationError(found)
    return found


def _read_zone(name: str) -> ZoneInfo | str:
    if len(name) > LONGEST_ZONE:
        return f"unknown time zone {name[:LONGEST_ZONE]}…"
    if "\0" in name:
        return "invalid argument"
    if ".." in name or name.startswith(("/", "\\")):
        return "time: invalid location name"
    try:
        from zoneinfo import ZoneInfo

        return ZoneInfo(name)
    except IsADirectoryError:
        return "is a directory"
    except (KeyError, ValueError, OSError):
        return f"unknown time zone {name}"


def _moment(seconds: int) -> Moment:
    days, second = divmod(seconds, _DAY)
    year, month, day = _civil_from_days(days)
    return Moment(
        year,
        month,
        day,
        second // 3600,
        second // 60 % 60,
        second % 60,
        (days + 4) % 7,
        days - _days_from_civil(year, 1, 1),
    )


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


def _days_in(year: int, month: int) -> int:
    return (31, 29 if _is_leap(year) else 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)[month - 1]


# The calendar repeats every 400 years (146,097 days), so datetime can also serve the edges of year 0 and year 10000.


def _days_from_civil(year: int, month: int, day: int) -> int:
    cycles, year_of_cycle = divmod(year - 1, 400)
    return cycles * 146_097 + date(year_of_cycle + 1, month, day).toordinal() - _EPOCH


def _civil_from_days(days: int) -> tuple[int, int, int]:
    cycles, day_of_cycle = divmod(days + _EPOCH - 1, 146_097)
    found = date.fromordinal(day_of_cycle + 1)
    return found.year + cycles * 400, found.month, found.day
