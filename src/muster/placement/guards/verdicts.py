"""May these clusters go? The one question that all guards answer together. Pure: the controller and plans ask it.

Everything that a schedule would take away counts as one change. It goes as a whole or not at all: letting the allowed
number go first would lose clusters to every mistake. Only a quiet time is counted cluster by cluster.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from muster.placement.guards.amounts import duration_text
from muster.placement.guards.digests import change_digest
from muster.placement.guards.window import Removed, fits_at, recorded, removed_within, whole_second, without
from muster.reasons import Code, Reason
from muster.values.times import LAST, later, time_text

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from muster.placement.guards.settings import Brake, Guard


@dataclass(frozen=True, slots=True)
class Memory:
    """What is remembered of a placement between decisions.

    `waiting`: since when each cluster is to go. `passing`: clusters that were let go and may still be on their way, so
    that they are not counted twice; so many of them count, as of `passing_at`. `approvals_used` makes every digest one
    for once, and `salt` one of this memory.
    """

    uid: str = ""
    removed: tuple[Removed, ...] = ()
    waiting: Mapping[str, datetime] = field(default_factory=dict)
    passing: frozenset[str] = frozenset()
    approvals_used: int = 0
    passing_at: datetime | None = None
    passing_counted: int = 0
    salt: str = ""

    def digest(self, clusters: Collection[str]) -> str:
        """What an approval of their removal names."""
        return change_digest(self.uid, self.approvals_used, clusters, self.salt)


NO_MEMORY = Memory()


@dataclass(frozen=True, slots=True)
class FleetState:
    """How the whole fleet stands, for its brake: decisions, those that went lately, those of others that wait."""

    decided: int = 0
    removed: tuple[Removed, ...] = ()
    pending: int = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """`going` may go now, `held` stay for now, and `why` says what holds them. Both are sorted.

    `counted` of those that go count from now on; those of an approval do not. `retry_at`: when time alone may change
    the verdict. `braked`: nothing but the fleet's brake or a quiet time holds them.
    """

    going: tuple[str, ...] = ()
    held: tuple[str, ...] = ()
    why: tuple[Reason, ...] = ()
    digest: str = ""
    approved: bool = False
    counted: int = 0
    retry_at: datetime | None = None
    braked: bool = False
    waiting: Mapping[str, datetime] = field(default_factory=dict)


FREE = Verdict()


@dataclass(frozen=True, slots=True)
class _Objection:
    why: Reason
    retry_at: datetime | None = None


def verdict(
    guards: Sequence[Guard],
    present: Collection[str],
    wanted: Collection[str],
    now: datetime,
    memory: Memory = NO_MEMORY,
    approval: str = "",
    brake: Brake | None = None,
    fleet: FleetState | None = None,
    clock: datetime | None = None,
) -> Verdict:
    """What may go of `present`, the clusters that are decided, when only `wanted` are wanted.

    Without guards and a brake everything may. `now` is a time that is never put back, for windows and quiet times;
    `clock` is what the clock shows where that is another, for freezes and hours.
    """
    staying = frozenset(wanted)
    removals = sorted(name for name in present if name not in staying)
    if not removals:
        return FREE
    waiting = {name: memory.waiting.get(name, now) for name in removals}
    # What was let go before is not judged by numbers again. It does not go while nothing may, unless it was approved.
    objections = [each for guard in guards for each in _not_now(guard, clock or now)]
    passing = [] if objections and memory.passing_counted else [name for name in removals if name in memory.passing]
    asked = removals if not passing else [name for name in removals if name not in memory.passing]
    if not asked:
        return Verdict(going=tuple(passing), waiting=waiting)
    digest = memory.digest(asked)
    if approval == digest:
        return Verdict(going=tuple(removals), digest=digest, approved=True, waiting=waiting)
    new = len([name for name in asked if name not in memory.passing])
    objections += [each for guard in guards for each in _too_many(guard, len(present), len(staying), new, now, memory)]
    state = fleet or FleetState(len(present))
    braking = [] if brake is None else list(_brake_objection(brake, state, new, now))
    outdated = (_outdated(approval, digest),) if approval else ()
    if objections or braking:
        why = (*(each.why for each in (*objections, *braking)), *outdated)
        times = [each.retry_at for each in (*objections, *braking)]
        # All of them have to give way: the last one decides, and if one never does, time alone changes nothing.
        known = [each for each in times if each is not None]
        retry_at = max(known) if len(known) == len(times) else None
        held = tuple(asked)
        return Verdict(tuple(passing), held, why, digest, False, 0, retry_at, not objections, waiting)
    quiet = max((guard.quiet for guard in guards), default=timedelta())
    due = {name: later(waiting[name], quiet.total_seconds()) for name in asked}
    ready = [name for name in asked if due[name] <= now]
    early = tuple(name for name in asked if due[name] > now)
    if not early:
        return Verdict(tuple(removals), digest=digest, counted=len(ready), waiting=waiting)
    digest = memory.digest(early)
    if approval == digest:
        return Verdict(tuple(removals), digest=digest, approved=True, counted=len(ready), waiting=waiting)
    going = tuple(sorted((*passing, *ready)))
    first = min(due[name] for name in early)
    last = max(due[name] for name in early)
    given = {"quiet": duration_text(quiet), "until": time_text(last)}
    why = (Reason(Code.QUIET_TIME, parameters={**given}), *((_outdated(approval, digest),) if approval else ()))
    return Verdict(going, early, why, digest, False, len(ready), first, True, waiting)


def remembered(memory: Memory, found: Verdict, now: datetime, keep: timedelta) -> tuple[Memory, int]:
    """The memory when a verdict is about to be carried out, and how many removals count from now on.

    What was let go before and could not be carried out then goes now, and counts as of now. Nothing counts as of a time
    before the last that is known: a clock that was put back and forth again forgets nothing.
    """
    if not found.going and (deferred := memory.passing.intersection(found.held)):
        removed = recorded(memory.removed, now, 0, keep)
        return replace(memory, removed=removed, waiting=found.waiting, passing=deferred), 0
    at = max((whole_second(now), *(each.at for each in memory.removed)))
    carried = 0 if memory.passing.isdisjoint(found.going) else memory.passing_counted
    removed, counted = memory.removed, found.counted
    if carried and memory.passing_at != at:
        removed, counted = without(removed, memory.passing_at, carried), counted + carried
    used = memory.approvals_used + (1 if found.approved else 0)
    return Memory(
        memory.uid,
        recorded(removed, now, counted, keep, at),
        found.waiting,
        frozenset(found.going),
        used,
        at if found.going else None,
        carried + found.counted,
        memory.salt,
    ), counted


def _not_now(guard: Guard, now: datetime) -> Iterator[_Objection]:
    """What lets nothing go at this time, however little it is."""
    for fault in guard.faults:
        yield _Objection(Reason(Code.GUARD_UNREADABLE, parameters={"owner": guard.owner, "fault": str(fault)}))
    if guard.frozen_until is not None and guard.frozen_until > now:
        ends = guard.frozen_until < LAST
        until = time_text(guard.frozen_until) if ends else ""
        why = Reason(Code.REMOVALS_FROZEN, parameters={"owner": guard.owner, "until": until})
        yield _Objection(why, guard.frozen_until if ends else None)
    if guard.hours is not None and not guard.hours.is_open(now):
        why = Reason(Code.OUTSIDE_HOURS, parameters={"owner": guard.owner, "hours": guard.hours.text})
        yield _Objection(why, guard.hours.next_opening(now))


def _too_many(
    guard: Guard, present: int, staying: int, asked: int, now: datetime, memory: Memory
) -> Iterator[_Objection]:
    """What does not let so many go."""
    if guard.max_removals is not None:
        most = guard.max_removals.of(present)
        went = removed_within(memory.removed, now, guard.window)
        if went + asked > most:
            limits = {"owner": guard.owner, "most": str(guard.max_removals), "window": duration_text(guard.window)}
            numbers = {"allowed": most, "removed": went, "asked": asked}
            why = Reason(Code.TOO_MANY_REMOVALS, parameters={**limits, **numbers})
            yield _Objection(why, fits_at(memory.removed, now, guard.window, asked, most))
    if guard.min_clusters is not None and staying < guard.min_clusters:
        counts = {"fewest": guard.min_clusters, "left": staying}
        yield _Objection(Reason(Code.TOO_FEW_LEFT, parameters={"owner": guard.owner, **counts}))


def _brake_objection(brake: Brake, fleet: FleetState, asked: int, now: datetime) -> Iterator[_Objection]:
    most = brake.most.of(fleet.decided)
    went = removed_within(fleet.removed, now, brake.window)
    if went + fleet.pending + asked <= most:
        return
    limits = {"most": str(brake.most), "window": duration_text(brake.window)}
    numbers = {"allowed": most, "removed": went, "asked": asked + fleet.pending, "decided": fleet.decided}
    why = Reason(Code.FLEET_BRAKE, parameters={**limits, **numbers})
    yield _Objection(why, fits_at(fleet.removed, now, brake.window, asked + fleet.pending, most))


def _outdated(approval: str, digest: str) -> Reason:
    return Reason(Code.APPROVAL_OUTDATED, parameters={"approved": approval[:64], "digest": digest})
