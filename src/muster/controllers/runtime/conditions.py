"""Conditions as Kubernetes keeps them: the time moves only when the status does. Every condition we write is made here.

Reasons and messages are cut to what every server takes, whatever names and texts of users they repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.values.json import JsonMapping, JsonObject
from muster.values.messages import condition_message, condition_reason
from muster.values.times import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


def timestamp(moment: datetime) -> str:
    return time_text(moment)


def merged(
    present: Iterable[JsonMapping],
    wanted: Mapping[str, tuple[str, str, str]],
    now: datetime,
    drop: Iterable[str] = (),
) -> list[JsonObject]:
    """The present conditions with the wanted ones (status, reason, message) in place, and without those to drop."""
    gone = set(drop) - wanted.keys()
    result = [dict(condition) for condition in present if condition.get("type") not in gone]
    places = {condition.get("type"): at for at, condition in enumerate(result)}
    for kind, (status, reason, message) in wanted.items():
        at = places.get(kind)
        old = result[at] if at is not None else {}
        changed = old.get("status") != status
        condition = {
            "type": kind,
            "status": status,
            "reason": condition_reason(reason),
            "message": condition_message(message),
            "lastTransitionTime": (not changed and old.get("lastTransitionTime")) or timestamp(now),
        }
        if at is None:
            result.append(condition)
        else:
            result[at] = condition
    return result
