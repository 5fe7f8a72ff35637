"""Whether a supervised process does its work, from its signs of life. Pure; the API server asks it for /readyz.

A restart is ordinary and takes a moment: what is wrong counts when it has been wrong for longer than that, or again
and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.supervision.notes import subject_of
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from muster.supervision.vitals import VitalSigns

LEADING: Final = "leading"
STANDBY: Final = "standby"  # another process leads, and is seen to
_WORKING: Final = (LEADING, STANDBY)


@dataclass(frozen=True, slots=True)
class ReadinessLimits:
    """In seconds."""

    grace: float = 15.0  # for a start, or a restart
    silence: float = 10.0  # without a beat, if the supervisor has not said another number
    waiting: float = 60.0  # of the oldest key in a queue
    loop: int = 3  # deaths
    loop_within: float = 60.0


_USUAL: Final = ReadinessLimits()


def progress_problem(signs: VitalSigns, now: float, limits: ReadinessLimits = _USUAL) -> str | None:
    """What keeps the process from its work; None while it does it, or has only just stopped."""
    seen, said = signs.supervision, signs.status
    deaths = [at for at in seen.get("deaths", ()) if now - at < limits.loop_within]
    last = seen.get("last") or ""
    if len(deaths) >= limits.loop:
        return f"they died {len(deaths)} times within {limits.loop_within:.0f} s; the last time {last}"
    idle = now - float(seen.get("idle_since") or now)
    if not signs.pid:
        return f"not running for {idle:.0f} s{f': {last}' if last else ''}" if idle > limits.grace else None
    if now - signs.beat_at > float(seen.get("silence") or limits.silence):
        return f"no progress for {now - signs.beat_at:.0f} s{_evaluating(signs)}"
    state = said.get("state") or "starting"
    if state not in _WORKING:
        return f"{_unready(state, said)} for {idle:.0f} s" if idle > limits.grace else None
    return _slow(said, limits)


def _unready(state: str, said: JsonMapping) -> str:
    kinds = said.get("unsynced") or ()
    return f"{state} ({', '.join(kinds)} not read yet)" if kinds else str(state)


def _slow(said: JsonMapping, limits: ReadinessLimits) -> str | None:
    unrenewed = float(said.get("unrenewed") or 0)
    if unrenewed > limits.grace:
        return f"nothing is written: the lease has not been renewed for {unrenewed:.0f} s"
    waited = float(said.get("waited") or 0)
    if said.get("state") == LEADING and waited > limits.waiting:
        return f"a key has waited in the queue {said.get('queue')} for {waited:.0f} s"
    return None


def _evaluating(signs: VitalSigns) -> str:
    """The kind alone: anybody may ask for health, and names belong to tenants. The log has them."""
    subject = None if signs.note is None else subject_of(signs.note.text)
    return f" while evaluating a {subject.kind}" if subject is not None else ""
