"""Builtins about time. The clock and the local zone are the run's Host; dates.py does the calendar."""

from __future__ import annotations

import math
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from muster.jq import error_texts as texts
from muster.jq.values.date_parsing import DateError, parse_moment
from muster.jq.values.dates import Moment, broken_down, format_moment, moment_at, moment_of
from muster.jq.values.numbers import MIN_INT, go_int, is_number, to_float, to_int

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.jq.budgets import Meter
    from muster.jq.values.value import Value

_BEGINNING = -62_135_596_800  # the first second of the year 1, which gojq takes for "no time"


def _parts(epoch: float, zone: tzinfo) -> list[Value]:
    return broken_down(moment_at(go_int(epoch), _nanoseconds(epoch), zone))


def _nanoseconds(seconds: float) -> int:
    """The fraction of a second; of what is no finite number, what Go makes of it."""
    return go_int((seconds - math.floor(seconds)) * 1e9) if math.isfinite(seconds) else MIN_INT


def _moment(parts: list[Value], zone: tzinfo) -> Moment | None:
    """From a broken down time; None when it is not one."""
    numbers = parts[:8]
    if not all(is_number(part) for part in numbers):
        return None
    year, month, day, hour, minute = (to_int(part) for part in [*numbers, 0, 0, 0, 0, 0][:5])
    seconds = to_float(numbers[5]) if len(numbers) > 5 else 0.0
    return moment_of((year, month + 1, day, hour, minute, go_int(seconds), _nanoseconds(seconds)), zone)


def _gmtime(meter: Meter, value: Value) -> list[Value]:
    if not is_number(value):
        raise texts.not_applicable(meter, "gmtime", value)
    return _parts(to_float(value), UTC)


def _localtime(meter: Meter, value: Value) -> list[Value]:
    if not is_number(value):
        raise texts.not_applicable(meter, "localtime", value)
    return _parts(to_float(value), meter.host.zone)


def _mktime(meter: Meter, value: Value) -> float:
    if not isinstance(value, list):
        raise texts.not_applicable(meter, "mktime", value)
    moment = _moment(value, UTC)
    if moment is None:
        raise texts.failed(meter, "mktime", value, cause="expected an array of 8 numbers")
    return moment.epoch


def _formatted(meter: Meter, name: str, value: Value, pattern: Value, zone: tzinfo) -> str:
    parts = _parts(to_float(value), zone) if is_number(value) else value
    if not isinstance(parts, list) or not isinstance(pattern, str):
        raise texts.not_applicable(meter, name, parts, pattern)
    moment = _moment(parts, zone)
    if moment is None:
        raise texts.failed(meter, name, parts, pattern, cause="expected an array of 8 numbers")
    return format_moment(meter, moment, pattern)


def _strptime(meter: Meter, value: Value, pattern: Value) -> list[Value]:
    if not isinstance(value, str) or not isinstance(pattern, str):
        raise texts.not_applicable(meter, "strptime", value, pattern)
    try:
        moment = parse_moment(meter, value, pattern)
    except DateError as fault:
        raise texts.failed(meter, "strptime", value, pattern, cause=str(fault)) from None
    if moment.seconds == _BEGINNING and not moment.nanoseconds:
        raise texts.not_applicable(meter, "strptime", value, pattern)
    return _parts(moment.epoch, UTC)


NATIVES: Mapping[tuple[str, int], Callable[..., Any]] = {
    ("now", 0): lambda meter, _value: meter.host.now(),
    ("gmtime", 0): _gmtime,
    ("localtime", 0): _localtime,
    ("mktime", 0): _mktime,
    ("strftime", 1): lambda meter, value, pattern: _formatted(meter, "strftime", value, pattern, UTC),
    ("strflocaltime", 1): lambda meter, value, pattern: _formatted(
        meter, "strflocaltime", value, pattern, meter.host.zone
    ),
    ("strptime", 1): _strptime,
}
