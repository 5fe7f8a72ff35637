"""Time stamps and ages as kubectl shows them. The present is always an argument."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from datetime import datetime, timedelta

UNKNOWN: Final = "<unknown>"
INVALID: Final = "<invalid>"


def age(created: object, now: datetime) -> str:
    """How long ago a time stamp was."""
    if created is None:
        return UNKNOWN
    moment = parse_time(created)
    return INVALID if isinstance(moment, Fault) else human_duration(now - moment)


def human_duration(duration: timedelta) -> str:
    """Two units at most, coarser with age: 90s, 5m10s, 3h, 6d4h, 2y100d.

    A small negative duration is a difference of clocks and counts as now.
    """
    total = duration.total_seconds()
    seconds = int(total)
    if seconds < 120:
        if seconds < -1:
            return INVALID
        return f"{max(seconds, 0)}s"
    minutes, hours, days = seconds // 60, seconds // 3600, seconds // 86400
    if minutes < 10:
        return _units(minutes, "m", seconds % 60, "s")
    if minutes < 180:
        return f"{minutes}m"
    if hours < 8:
        return _units(hours, "h", minutes % 60, "m")
    if hours < 48:
        return f"{hours}h"
    if days < 8:
        return _units(days, "d", hours % 24, "h")
    if days < 365 * 2:
        return f"{days}d"
    if days < 365 * 8:
        return _units(days // 365, "y", days % 365, "d")
    return f"{days // 365}y"


def _units(large: int, large_unit: str, small: int, small_unit: str) -> str:
    return f"{large}{large_unit}" + (f"{small}{small_unit}" if small else "")
