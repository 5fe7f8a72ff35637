"""Whether a supervised process does its work, from its signs of life. Pure; the API server asks it for /readyz.

A restart is ordinary and takes a moment: what is wrong counts when it has been wrong for longer than that, or again
and again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.supervision.notes import subject_of

if TYPE_CHECKING:
    from muster.supervision.vitals import ProcessStatus, VitalSigns

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
    facts, status = signs.supervision, signs.status
    deaths = [at for at in facts.deaths if now - at < limits.loop_within]
    if len(deaths) >= limits.loop:
        return f"they died {len(deaths)} times within {limits.loop_within:.0f} s; the last time {facts.last}"
    idle = 0.0 if facts.idle_since is None else now - facts.idle_since
    if not signs.pid:
        why = f": {facts.last}" if facts.last else ""
        return f"not running for {idle:.0f} s{why}" if idle > limits.grace else None
    if now - signs.beat_at > (limits.silence if facts.silence is None else facts.silence):
        return f"no progress for {now - signs.beat_at:.0f} s{_evaluating(signs)}"
    if status.state not in _WORKING:
        return f"{_unready(status)} for {idle:.0f} s" if idle > limits.grace else None
    return _slow(status, limits)


def _unready(status: ProcessStatus) -> str:
    kinds = ", ".join(status.unsynced)
    return f"{status.state} ({kinds} not read yet)" if kinds else status.state


def _slow(status: ProcessStatus, limits: ReadinessLimits) -> str | None:
    if status.unrenewed > limits.grace:
        return f"nothing is written: the lease has not been renewed for {status.unrenewed:.0f} s"
    if status.state == LEADING and status.waited > limits.waiting:
        return f"a key has waited in the queue {status.queue} for {status.waited:.0f} s"
    return None


def _evaluating(signs: VitalSigns) -> str:
    """The kind alone: anybody may ask for health, and names belong to tenants. The log has them."""
    subject = None if signs.note is None else subject_of(signs.note.text)
    return f" while evaluating a {subject.kind}" if subject is not None else ""
