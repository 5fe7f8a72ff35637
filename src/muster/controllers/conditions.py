"""Conditions as Kubernetes keeps them: the time moves only when the status does."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime


def timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def merged(
    present: Iterable[Mapping[str, Any]],
    wanted: Mapping[str, tuple[str, str, str]],
    now: datetime,
    drop: Iterable[str] = (),
) -> list[dict[str, Any]]:
    """The present conditions with the wanted ones (status, reason, message) in place, and without those to drop."""
    gone = set(drop) - wanted.keys()
    result = [dict(condition) for condition in present if condition["type"] not in gone]
    places = {condition["type"]: at for at, condition in enumerate(result)}
    for kind, (status, reason, message) in wanted.items():
        at = places.get(kind)
        old = result[at] if at is not None else {}
        changed = old.get("status") != status
        condition = {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": timestamp(now) if changed else old["lastTransitionTime"],
        }
        if at is None:
            result.append(condition)
        else:
            result[at] = condition
    return result
