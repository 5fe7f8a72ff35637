"""Keeps the guards of placements: judges what a schedule would remove, and remembers it before it happens.

The placement controller asks `judge` with every schedule, without a wait in between; what a verdict lets go is counted
from that moment, for every worker. `remember` writes it down, and only then may pages be written: whoever comes after a
kill finds everything that may have gone counted, and everything that was let go and is still there let go once.
A placement without guards costs a look at its annotations.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from muster.api.placement_guard_record import HeldRemovals, PlacementGuardRecord
from muster.client.errors import UnreachableError
from muster.controllers.placements.guards.defaults import defaults_read
from muster.controllers.placements.guards.foresight import guards_of, judged
from muster.controllers.placements.guards.records import (
    MOST_NAMED,
    RECORDS,
    belongs_to,
    body_of,
    is_same,
    memory_of,
    must_be_written,
    path_of,
    record_of,
)
from muster.controllers.placements.keys import Key
from muster.errors import ApiError
from muster.placement.guards import (
    APPROVAL,
    NO_FLEET_GUARDS,
    FleetGuards,
    FleetState,
    Guard,
    Memory,
    Verdict,
    missed,
    recorded,
    remembered,
    without,
)
from muster.placement.schedule.pipeline import reason_against
from muster.reasons import Code, Reason, bare, sentence
from muster.values.times import FIRST, time_text

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable
    from datetime import datetime

    from muster.api.config_map import ConfigMap
    from muster.api.parts import ObjectMeta
    from muster.api.placement import Placement
    from muster.client import Client
    from muster.client.heads import Place
    from muster.controllers.placements.decision_pages import DecisionPages
    from muster.controllers.runtime.mirror import Stored
    from muster.placement import ScheduleResult
    from muster.placement.guards import Removed
    from muster.values.faults import Fault

_LOGGER = logging.getLogger(__name__)
CONDITION: Final = "RemovalsHeld"
APPROVED: Final = "RemovalsApproved"
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_CONFLICT: Final = 409
_EXPLAINED: Final = 20  # held clusters of which it is told why they would go
_NAMED: Final = 20  # in a condition
_LOOK_AGAIN: Final = 300.0  # seconds between looks at whether records are still as they were written
_MOST_SENT: Final = 8


@dataclass(slots=True)
class _State:
    """What is known of one placement: what it remembers, the record on the server, what is held.

    `kept` is the memory without what has been judged and not been written down: what is true whatever the record on the
    server says, which others may have edited.
    """

    memory: Memory
    kept: Memory
    record: PlacementGuardRecord | None = None
    held: HeldRemovals | None = None
    sent: tuple[PlacementGuardRecord, ...] = ()  # and perhaps written, though we have not heard of it
    standing: frozenset[str] = frozenset()  # what was decided last: it counts should somebody delete or edit pages


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict, what is to be written down of it, and how it is told."""

    verdict: Verdict
    wanted: PlacementGuardRecord
    must_write: bool
    condition: tuple[str, str, str] | None = None
    is_news: bool = False  # nobody has been told of this hold yet

    @property
    def held(self) -> tuple[str, ...]:
        return self.verdict.held

    @property
    def going(self) -> frozenset[str]:
        return frozenset(self.verdict.going)

    def cautious(self) -> Judgement:
        """The same, and nothing goes: for as long as it cannot be written down."""
        return replace(self, verdict=replace(self.verdict, going=(), held=(*self.verdict.held, *self.verdict.going)))


@dataclass(slots=True)
class PlacementGuards:
    """`wake` has placements looked at again whose verdict may be another."""

    client: Client
    decisions: DecisionPages
    clock: Callable[[], datetime]
    wake: Callable[[Iterable[Key] | None], None]  # None: all of them
    fleet: FleetGuards = NO_FLEET_GUARDS
    _states: dict[Key, _State] = field(default_factory=dict)
    _pending: dict[Key, int] = field(default_factory=dict)  # removals that the brake holds, or a quiet time
    _removed: tuple[Removed, ...] = ()  # by all placements together, for the brake
    _missing: str = ""  # why nothing can be remembered
    _latest: datetime = FIRST  # that the clock has shown

    # ------------------------------------------------------------------------------------------- what is set and kept

    def put_defaults(self, new: Stored[ConfigMap]) -> Fault | None:
        """The fleet's ConfigMap is new or changed: every placement is judged again."""
        self.fleet = defaults_read(new, self.fleet)
        self.wake(None)
        return new.fault

    def remove_defaults(self, _: Place) -> None:
        self.fleet = NO_FLEET_GUARDS
        self.wake(None)

    @property
    def holding(self) -> int:
        """How many placements wait with removals."""
        return sum(state.held is not None for state in self._states.values())

    async def start(self) -> None:
        """Read what was remembered, before anything is decided."""
        while True:
            try:
                await self._read()
                return
            except (ApiError, UnreachableError) as error:
                if isinstance(error, ApiError) and error.code in (_NOT_FOUND, _FORBIDDEN):
                    _LOGGER.warning("guarded placements lose no cluster: their records cannot be read: %s", error)
                    self._missing = str(error)
                    return
                _LOGGER.warning("records of guards cannot be read: %s", error)
                await asyncio.sleep(1.0)

    async def _read(self) -> None:
        now = self.clock()
        removed: list[Removed] = []
        async for page in self.client.pages(path_of()):
            for plain in page["items"]:
                found = RECORDS.partly(plain).obj
                owners = found.metadata.owner_references
                memory = memory_of(found, owners[0].uid if owners else "", now)
                standing = frozenset(() if found.held is None else found.held.clusters)
                key = Key(found.metadata.namespace, found.metadata.name)
                self._states[key] = _State(memory, memory, found, found.held, standing=standing)
                removed += memory.removed
        self._removed = recorded(removed, now, 0, self.fleet.keep)

    async def look_after_records(self) -> float:
        """See to it that records are as they were written, or can be read at last. Seconds until the next look."""
        if self._missing:
            try:
                await self._read()
            except ApiError:
                return _LOOK_AGAIN
            self._missing = ""
            self.wake(None)
            return _LOOK_AGAIN
        seen: dict[Key, PlacementGuardRecord] = {}
        before = {key: state.record for key, state in self._states.items()}
        async for page in self.client.pages(path_of()):
            for plain in page["items"]:
                found = RECORDS.partly(plain).obj
                seen[Key(found.metadata.namespace, found.metadata.name)] = found
        touched = []
        for key, record in before.items():
            state, now_there = self._states.get(key), seen.get(key)
            if state is None or state.record is not record or record is None:
                continue  # it is ours, and newer than the list, or there was none
            if now_there is None or not is_same(now_there, record) or now_there.held != record.held:
                if now_there is not None:
                    self._take_in(state, memory_of(now_there, state.memory.uid, self.clock()))
                state.record = now_there
                touched.append(key)
        self.wake(touched)
        return _LOOK_AGAIN

    def forget(self, key: Key) -> None:
        """The placement is gone."""
        self._states.pop(key, None)
        self._no_longer_pending(key)

    def leave(self, key: Key) -> None:
        """Somebody else decides for the placement: what was decided here says nothing of what is there later."""
        if (state := self._states.get(key)) is not None:
            state.standing = frozenset()
        self._no_longer_pending(key)

    # ------------------------------------------------------------------------------------------------------- judging

    def foresee(
        self,
        key: Key,
        placement: ObjectMeta,
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        others: int = 0,
    ) -> Verdict:
        """What the guards would say to a change, for plans: nothing is counted and nothing is remembered.

        `others` is how many clusters other placements would lose with it.
        """
        state = self._states.get(key)
        if state is None or state.memory.uid != placement.uid:
            state = _State(Memory(placement.uid), Memory(placement.uid))
        approval = placement.annotations.get(APPROVAL, "")
        guards = guards_of(self.fleet, placement.annotations)
        return self._verdict(key, guards, present, wanted, now, state, approval, others)

    def held(self, key: Key) -> Collection[str]:
        """The clusters of a placement that are held now, as many as are named."""
        state = self._states.get(key)
        return () if state is None or state.held is None else state.held.clusters

    def judge(self, key: Key, placement: Placement, result: ScheduleResult, now: datetime) -> Judgement | None:
        """What may be removed; None where nothing guards the placement. What goes is counted from now on."""
        annotations = placement.metadata.annotations
        guards = guards_of(self.fleet, annotations)
        state = self._states.get(key)
        is_free = not guards and self.fleet.brake is None
        if is_free and state is None:
            return None  # most placements: nobody asks for the names of what they select
        selected = result.selected
        if is_free and state is not None and not _has_to_say(state, selected):
            state.standing = frozenset()
            return None
        if state is None or state.memory.uid not in ("", placement.metadata.uid):
            # The record of a placement of the same name before it says nothing of this one.
            old = None if state is None else state.record
            new = Memory(placement.metadata.uid, salt=secrets.token_hex(8))
            state = self._states[key] = _State(new, new, old)
        state.memory = replace(state.memory, uid=placement.metadata.uid)
        # What was let go may be gone. Whatever else was decided and is in no page any more was taken by somebody else.
        present = {name for page in self.decisions.of(key) for name in page.clusters}
        present |= state.standing - state.memory.passing
        found = self._verdict(key, guards, present, selected, now, state, annotations.get(APPROVAL, ""))
        keep = max((self.fleet.keep, *(each.window for each in guards)))
        before_it = state.memory
        now = self._latest = max(now, self._latest)
        state.memory, counted = remembered(before_it, found, now, keep)
        if counted > found.counted:  # what was let go before counts anew, here too
            self._removed = without(self._removed, before_it.passing_at, before_it.passing_counted)
        self._removed = recorded(self._removed, now, counted, self.fleet.keep, state.memory.passing_at)
        state.standing = state.standing.difference(found.going)
        self._note_pending(key, len(found.held) if found.braked else 0)
        before = state.held
        why = self._why_held(key, result, found, len(present)) if found.held else None
        state.held = None if why is None else _held(found, why, before, now)
        wanted = record_of(state.memory, found.digest, state.held)
        is_news = state.held is not None and (before is None or before.digest != state.held.digest)
        condition = None if why is None else ("True", str(why.parts[0].code), sentence(why))
        must_write = must_be_written(state.record, wanted, selected)
        return Judgement(found, wanted, must_write, condition, is_news)

    def _verdict(
        self,
        key: Key,
        guards: list[Guard],
        present: Collection[str],
        wanted: Collection[str],
        now: datetime,
        state: _State,
        approval: str,
        others: int = 0,
    ) -> Verdict:
        fleet = FleetState()
        if self.fleet.brake is not None:
            pending = sum(self._pending.values()) - self._pending.get(key, 0) + others
            fleet = FleetState(self.decisions.total, self._removed, pending)
        steady = max(now, self._latest)  # a clock that is put back stands still, for windows and quiet times
        return judged(guards, self.fleet, fleet, present, wanted, (steady, now), state.memory, approval, self._missing)

    def _why_held(self, key: Key, result: ScheduleResult, found: Verdict, decided: int) -> Reason:
        """What would be removed and why, and what holds it. Everybody reads it who reads the placement."""
        fleet = result.cycle.fleet
        rows = {name: fleet.row(name) for name in found.held}
        gone = sum(row is None for row in rows.values())
        revoked = sum(row is not None and fleet.present[row] and not result.available[row] for row in rows.values())
        causes: dict[Reason, list[str]] = {}
        for name in found.held[:_EXPLAINED]:
            against = reason_against(result, name)
            if against is not None:
                causes.setdefault(bare(against), []).append(name)
        return Reason(
            Code.REMOVALS_HELD,
            parameters={
                "namespace": key.namespace,
                "name": key.name,
                "count": len(found.held),
                "decided": decided,
                "names": found.held[:_NAMED],
                "digest": found.digest,
                "revoked": int(revoked),
                "gone": gone,
            },
            parts=(
                *found.why,
                *(
                    Reason(Code.WOULD_GO, parameters={"names": tuple(names)}, parts=(why,))
                    for why, names in causes.items()
                ),
            ),
        )

    def _note_pending(self, key: Key, count: int) -> None:
        if count >= self._pending.get(key, 0):
            if count:
                self._pending[key] = count
            return
        self._no_longer_pending(key)
        if count:
            self._pending[key] = count

    def _no_longer_pending(self, key: Key) -> None:
        """Less waits than before: the brake may let others go."""
        if self._pending.pop(key, 0):
            self.wake([each for each in self._pending if each != key])

    # --------------------------------------------------------------------------------------------------- remembering

    async def remember(self, key: Key, placement: Placement, judgement: Judgement) -> None:
        """Write down what must not be forgotten, before decisions are written."""
        state = self._states.get(key)
        if not judgement.must_write or state is None or self._missing:
            return
        present = state.record
        revision = "" if present is None else present.metadata.resource_version
        state.sent = (*state.sent[-_MOST_SENT:], judgement.wanted)
        body = body_of(judgement.wanted, placement.metadata, revision)
        try:
            if revision:
                reply = await self.client.request("PUT", path_of(key, named=True), body=body)
            else:
                reply = await self.client.request("POST", path_of(key), body=body)
        except ApiError as error:
            if error.code in (_CONFLICT, _NOT_FOUND):
                await self._read_again(key, placement, state, judgement)
            raise
        state.record = RECORDS.partly(reply.json()).obj
        state.kept, state.sent = state.memory, ()

    async def _read_again(self, key: Key, placement: Placement, state: _State, judgement: Judgement) -> None:
        """Somebody else has written or deleted the record: the next try starts from what is there, and what we know.

        Another leader may have counted what we have not, and somebody may have taken out what we have.
        """
        try:
            reply = await self.client.request("GET", path_of(key, named=True))
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            state.record = None
            return
        known, found = state.record, RECORDS.partly(reply.json()).obj
        state.record = found
        if not belongs_to(found, placement.metadata):
            return  # it is of a placement that is no more
        uid, now = placement.metadata.uid, self.clock()
        theirs = memory_of(found, uid, now)
        if any(is_same(found, each) for each in state.sent):
            state.kept = theirs  # it is our own write, of which we have not heard
            return
        # What was judged last has not been written down: it has not happened. What is known here counts nevertheless,
        # and what somebody has written of removals under way is believed only where we have let the same go.
        self._removed = without(self._removed, state.memory.passing_at, judgement.verdict.counted)
        salt = theirs.salt if known is None else state.kept.salt
        passing = state.kept.passing if theirs.passing == state.kept.passing else frozenset[str]()
        state.kept = replace(state.kept, uid=uid, salt=salt, passing=passing)
        under_way = passing & state.memory.passing
        state.memory = replace(state.kept, waiting=state.memory.waiting, passing=under_way)
        state.sent = ()
        self._take_in(state, theirs)

    def _take_in(self, state: _State, theirs: Memory) -> None:
        """Count what somebody else has counted and we have not."""
        self._removed = (*self._removed, *missed(state.memory.removed, theirs.removed))
        state.memory, state.kept = _with(state.memory, theirs), _with(state.kept, theirs)

    def carried_out(self, key: Key, decided: Iterable[str]) -> None:
        """The pages are written with these clusters: whoever went and comes back is judged anew."""
        state = self._states.get(key)
        if state is None:
            return
        state.standing = frozenset(decided)
        if state.memory.passing and state.memory.passing.isdisjoint(state.standing):
            state.memory = replace(state.memory, passing=frozenset(), passing_at=None, passing_counted=0)


def _with(memory: Memory, theirs: Memory) -> Memory:
    """With what another memory has more."""
    more = missed(memory.removed, theirs.removed)
    used = max(memory.approvals_used, theirs.approvals_used)
    return replace(memory, removed=(*memory.removed, *more), approvals_used=used)


def _has_to_say(state: _State, selected: Collection[str]) -> bool:
    """Whether something of it must be put right though nothing guards the placement: a hold that is over, and clusters
    that were let go and are wanted again, which must not be taken for let go for ever."""
    if state.held is not None or not state.memory.passing.isdisjoint(selected):
        return True
    passing = None if state.record is None else state.record.passing
    return passing is not None and not set(passing.clusters).isdisjoint(selected)


def _held(found: Verdict, why: Reason, before: HeldRemovals | None, now: datetime) -> HeldRemovals:
    codes = dict.fromkeys(str(each.code) for each in found.why)
    since = time_text(now) if before is None else before.since
    names = found.held[:MOST_NAMED]
    revoked = why.parameters["revoked"]
    count = int(revoked) if isinstance(revoked, int) else 0
    message = "; ".join(sentence(each) for each in found.why)
    return HeldRemovals(found.digest, since, len(found.held), count, names, tuple(codes), message)
