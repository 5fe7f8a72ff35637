"""The parts of timestamps and durations: getFullYear() and its kin, in UTC or in a named time zone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import DURATION, INT, STRING, TIMESTAMP
from muster.cel.costs.meter import spend
from muster.cel.declarations import Function
from muster.cel.libraries.declare import method
from muster.cel.values.timestamps import Moment, hours_of, knows_zone, minutes_of, moment_in, seconds_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.costs.meter import Meter
    from muster.cel.declarations import Overload
    from muster.cel.values import Duration, Timestamp


_LOOKING_UP = 2000  # units for a time zone that is not at hand


def _accessor(overload_id: str, with_zone_id: str, part: Callable[[Moment], int]) -> tuple[Overload, ...]:
    def in_utc(moment: Timestamp) -> int:
        return part(moment_in(moment))

    def in_zone(meter: Meter, moment: Timestamp, zone: str) -> int:
        _look_up(meter, zone)
        return part(moment_in(moment, zone))

    return (
        method(overload_id, (TIMESTAMP,), INT, in_utc),
        method(with_zone_id, (TIMESTAMP, STRING), INT, in_zone, metered=True),
    )


def milliseconds(moment: Timestamp) -> int:
    return moment.nanos // 1_000_000


def _look_up(meter: Meter, zone: str) -> None:
    spend(meter, 1 if knows_zone(zone) else _LOOKING_UP)


def milliseconds_in_zone(meter: Meter, moment: Timestamp, zone: str) -> int:
    _look_up(meter, zone)
    moment_in(moment, zone)  # the zone does not change them, but it has to exist
    return milliseconds(moment)


def hours_of_duration(duration: Duration) -> int:
    return int(hours_of(duration))


def minutes_of_duration(duration: Duration) -> int:
    return int(minutes_of(duration))


def seconds_of_duration(duration: Duration) -> int:
    return int(seconds_of(duration))


def milliseconds_of_duration(duration: Duration) -> int:
    whole = abs(duration.ns) // 1_000_000
    return -whole if duration.ns < 0 else whole


_T = "timestamp('2026-07-14T10:30:45.123Z')"

FUNCTIONS = (
    Function(
        "getFullYear",
        _accessor("timestamp_to_year", "timestamp_to_year_with_tz", lambda parts: parts.year),
        doc="The year.",
        examples={f"{_T}.getFullYear()": 2026, "timestamp('2026-01-01T05:30:00Z').getFullYear('-08:00')": 2025},
    ),
    Function(
        "getMonth",
        _accessor("timestamp_to_month", "timestamp_to_month_with_tz", lambda parts: parts.month - 1),
        doc="The month, counted from 0.",
        examples={f"{_T}.getMonth()": 6, "timestamp('2026-01-01T05:30:00Z').getMonth('America/Los_Angeles')": 11},
    ),
    Function(
        "getDayOfYear",
        _accessor("timestamp_to_day_of_year", "timestamp_to_day_of_year_with_tz", lambda parts: parts.day_of_year),
        doc="The day of the year, counted from 0.",
        examples={"timestamp('2026-01-02T00:00:00Z').getDayOfYear()": 1},
    ),
    Function(
        "getDayOfMonth",
        _accessor("timestamp_to_day_of_month", "timestamp_to_day_of_month_with_tz", lambda parts: parts.day - 1),
        doc="The day of the month, counted from 0. See `getDate` for the day as people count it.",
        examples={f"{_T}.getDayOfMonth()": 13},
    ),
    Function(
        "getDate",
        _accessor(
            "timestamp_to_day_of_month_1_based",
            "timestamp_to_day_of_month_1_based_with_tz",
            lambda parts: parts.day,
        ),
        doc="The day of the month, counted from 1.",
        examples={f"{_T}.getDate()": 14},
    ),
    Function(
        "getDayOfWeek",
        _accessor("timestamp_to_day_of_week", "timestamp_to_day_of_week_with_tz", lambda parts: parts.weekday),
        doc="The day of the week; Sunday is 0.",
        examples={f"{_T}.getDayOfWeek()": 2},
    ),
    Function(
        "getHours",
        (
            *_accessor("timestamp_to_hours", "timestamp_to_hours_with_tz", lambda parts: parts.hour),
            method("duration_to_hours", (DURATION,), INT, hours_of_duration),
        ),
        doc="The hour of the day, or a duration in whole hours.",
        examples={f"{_T}.getHours('+02:00')": 12, "duration('3723s').getHours()": 1},
    ),
    Function(
        "getMinutes",
        (
            *_accessor("timestamp_to_minutes", "timestamp_to_minutes_with_tz", lambda parts: parts.minute),
            method("duration_to_minutes", (DURATION,), INT, minutes_of_duration),
        ),
        doc="The minute of the hour, or a duration in whole minutes.",
        examples={f"{_T}.getMinutes()": 30, "duration('3723s').getMinutes()": 62},
    ),
    Function(
        "getSeconds",
        (
            *_accessor("timestamp_to_seconds", "timestamp_to_seconds_tz", lambda parts: parts.second),
            method("duration_to_seconds", (DURATION,), INT, seconds_of_duration),
        ),
        doc="The second of the minute, or a duration in whole seconds.",
        examples={f"{_T}.getSeconds()": 45, "duration('3723.4s').getSeconds()": 3723},
    ),
    Function(
        "getMilliseconds",
        (
            method("timestamp_to_milliseconds", (TIMESTAMP,), INT, milliseconds),
            method("timestamp_to_milliseconds_with_tz", (TIMESTAMP, STRING), INT, milliseconds_in_zone, metered=True),
            method("duration_to_milliseconds", (DURATION,), INT, milliseconds_of_duration),
        ),
        doc="The milliseconds of the second, or a duration in whole milliseconds.",
        examples={f"{_T}.getMilliseconds()": 123, "duration('1.5s').getMilliseconds()": 1500},
    ),
)
