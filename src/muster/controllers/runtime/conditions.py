"""Conditions as Kubernetes keeps them: the time moves only when the status does. Every condition we write is made here.

Reasons and messages are cut to what every server takes, whatever names and texts of users they repeat.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.api.parts import Condition
from muster.values.messages import condition_message, condition_reason
from muster.values.times import time_text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime


def timestamp(moment: datetime) -> str:
    return time_text(moment)


def merged(
    present: Sequence[Condition],
    wanted: Mapping[str, tuple[str, str, str]],
    now: datetime,
    drop: Iterable[str] = (),
) -> tuple[Condition, ...]:
    """The present conditions with the wanted ones (status, reason, message) in place, and without those to drop."""
    gone = set(drop) - wanted.keys()
    result = [condition for condition in present if condition.type not in gone]
    places = {condition.type: at for at, condition in enumerate(result)}
    for kind, (status, reason, message) in wanted.items():
        at = places.get(kind)
        since = result[at].last_transition_time if at is not None and result[at].status == status else None
        condition = Condition(
            kind,
            status,
            condition_reason(reason),
            condition_message(message),
            since or timestamp(now),
        )
        if at is None:
            result.append(condition)
        else:
            result[at] = condition
    return tuple(result)
