"""Keeps a history for every placement: what moved its decisions, and the specs it had, in an object and in events.

The placement controller hands in a draft with every decision and goes on; causes are found and written behind its back,
by one worker, when no placement waits to be decided. What comes while a write waits becomes part of the next one.

Decisions are written first. If the controllers are killed in between, the digest in the history no longer fits the
decisions; the next ones see that, and write down that something moved and whatever can still be told of it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

from muster.api.placement import PLACEMENT
from muster.api.placement_history import DecidedClusters, Flip, HistoryEntry, SpecRevision
from muster.client.errors import UnreachableError
from muster.controllers.placements.changes import MOST_SPECS, Pending
from muster.controllers.placements.history_record import (
    HISTORIES,
    MOST_ENTRIES,
    KnownHistory,
    Record,
    decided_clusters,
    extended,
    path_of,
    revision_of,
    unrecorded,
)
from muster.controllers.placements.keys import Key
from muster.controllers.placements.moves import Basis, Move, MoveReport, Surrounding, examples_of, summary
from muster.controllers.runtime.events import About
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.errors import ApiError
from muster.placement.explain.causes import Ref
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.api.parts import Identity
    from muster.api.placement import Placement
    from muster.client import Client
    from muster.controllers.placements.changes import ChangeLog
    from muster.controllers.placements.drafts import Draft as DecisionDraft
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored
    from muster.placement import ScheduleResult

_LOGGER = logging.getLogger(__name__)
_NOT_FOUND: Final = 404
_FORBIDDEN: Final = 403
_SLICE: Final = 0.05  # seconds of computing that may be spent on the reasons of one move
_LOOK: Final = 0.02  # seconds between looks at whether placements still wait to be decided
_LOOKS: Final = 25
_MOST_KEPT: Final = 20  # changes of a move that waits: its causes, and those of the clusters it tells about
_MOST_WAITING: Final = 1000  # moves of all placements that wait to be written up


@dataclass(frozen=True, slots=True)
class Draft:
    """What has to be written down once the decisions are. Without a move, nothing was gained or lost."""

    basis: Basis
    taken: Pending
    pages: tuple[tuple[str, ...], ...]  # what was decided before
    decided: DecisionDraft
    move: Move | None
    first: bool  # the first decision since the controllers have started

    @property
    def before(self) -> frozenset[str]:
        return frozenset(name for page in self.pages for name in page)


@dataclass(slots=True)
class _Open:
    """What is not in a placement's history yet."""

    moves: list[Move] = field(default_factory=list)
    skipped: int = 0  # moves before those that gave way
    entries: list[HistoryEntry] = field(default_factory=list)
    revisions: list[SpecRevision] = field(default_factory=list)
    decided: DecidedClusters | None = None
    at_start: DecidedClusters | None = None


class HistoryKeeper:
    """`draft` before decisions are written, then `keep` or `withdraw`; `run` writes."""

    def __init__(
        self,
        world: PlacementWorld,
        client: Client,
        events: EventRecorder,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        is_busy: Callable[[], bool],
    ) -> None:
        """`is_busy`: whether placements wait to be decided."""
        self.queue: WorkQueue[Key] = WorkQueue()
        self._world = world
        self._client = client
        self._events = events
        self._clock = clock
        self._metrics = metrics
        self._is_busy = is_busy
        self._changes: ChangeLog | None = None
        self._bases: dict[Key, Basis] = {}
        self._unwritten: dict[Key, frozenset[str]] = {}  # what was decided before a write that failed
        self._open: dict[Key, _Open] = {}
        self._known: dict[Key, KnownHistory] = {}
        self._waiting = 0  # moves of all placements that are not written up yet
        self._kept = True

    @property
    def idle(self) -> bool:
        """Everything is written down."""
        return not self._kept or (self.queue.settled and not self._open)

    def start(self) -> None:
        """Begin to note what changes, before anything is decided."""
        self._changes = self._world.keep_changes()

    # ------------------------------------------------------------------------------------- beside the decisions

    def note_specs(self, key: Key) -> None:
        """A placement is looked at: whatever spec it has is worth keeping, even one that cannot be scheduled."""
        if self._changes is None or not self._kept:
            return
        specs = self._changes.take_specs(key)
        if specs:
            revisions = self._opened(key).revisions
            revisions += [revision_of(obj, before, self._clock()) for before, obj in specs]
            del revisions[:-MOST_SPECS]
            self.queue.add(key)

    def draft(
        self,
        key: Key,
        placement: Stored[Placement],
        result: ScheduleResult,
        decided: DecisionDraft,
    ) -> Draft | None:
        """Take down what a decision is about to move."""
        if self._changes is None or not self._kept:
            return None
        taken = self._changes.take(key)
        cycle = result.cycle
        basis = Basis(placement, cycle.plan, cycle.visibility, cycle.now)
        was = self._bases.get(key)
        gained, lost = decided.gained, decided.lost
        pages = tuple(page.clusters for page in self._world.decisions.of(key))
        before = self._unwritten.get(key)
        if before is not None:  # some of it may be written: what it was before counts
            gained = tuple(name for name in decided.selected if name not in before)
            lost = tuple(sorted(before.difference(decided.selected)))
            pages = (tuple(before),)
        move = None
        if gained or lost:
            unseen = key in self._world.catching_up
            move = Move(
                basis,
                was,
                decided.count - len(gained) + len(lost),
                decided.count,
                gained,
                lost,
                tuple(examples_of(self._world.fleet, gained, lost)),
                taken,
                unseen,
                self._around(key, basis) if unseen else (),
            )
        return Draft(basis, taken, pages, decided, move, was is None)

    def _around(self, key: Key, basis: Basis) -> tuple[Surrounding, ...]:
        names = basis.visibility.eligible_names
        bindings = self._world.bindings.get(key.namespace, {})
        sets = [self._world.sets[name] for name in names if name in self._world.sets]
        bound = [bindings[name] for name in names if name in bindings]
        return (
            *(Surrounding(Ref("ManagedClusterSet", *each.place), each.encoded) for each in sets),
            *(Surrounding(Ref("ManagedClusterSetBinding", *each.place), each.encoded) for each in bound),
        )

    def withdraw(self, key: Key, draft: Draft | None) -> None:
        """The decisions could not be written, or not all of them: they come again."""
        if draft is None or self._changes is None or key not in self._world.placements:
            return
        self._changes.give_back(key, draft.taken)
        if draft.move is not None:
            self._unwritten[key] = draft.before

    def keep(self, key: Key, draft: Draft | None) -> None:
        """The decisions are written."""
        if draft is None or not self._kept:
            return
        self._unwritten.pop(key, None)
        self._bases[key] = draft.basis
        self._world.catching_up.discard(key)
        if draft.move is None and not draft.first:
            return
        opened = self._opened(key)
        if draft.first:
            opened.at_start = decided_clusters(draft.before)
        if draft.move is not None:
            self._add(opened, draft.move)
        opened.decided = decided_clusters(draft.decided.selected)
        self.queue.add(key)

    def _add(self, opened: _Open, move: Move) -> None:
        """Keep a move until it is written, with no more than it needs. There are bounds: the oldest gives way."""
        examples = {each.name for each in move.examples}
        pending = move.pending.trimmed(examples, {*move.gained, *move.lost}, _MOST_KEPT)
        opened.moves.append(replace(move, pending=pending))
        self._waiting += 1
        if len(opened.moves) > MOST_ENTRIES or self._waiting > _MOST_WAITING:
            del opened.moves[0]
            self._waiting -= 1
            opened.skipped += 1

    def _opened(self, key: Key) -> _Open:
        return self._open.setdefault(key, _Open())

    # ---------------------------------------------------------------------------------------------- behind them

    async def run(self) -> None:
        """Write for ever, if histories are ours to keep, the server has them and we may write them."""
        if not self._world.duties.histories:
            self._give_up()
            return
        while True:
            try:
                await self._read_known()
                break
            except (ApiError, UnreachableError) as error:
                if isinstance(error, ApiError) and error.code in (_NOT_FOUND, _FORBIDDEN):
                    _LOGGER.warning("no history is kept: %s", error)
                    self._give_up()
                    return
                _LOGGER.warning("histories cannot be read: %s", error)
                await asyncio.sleep(1.0)
        await work("history", self.queue, self._reconcile, self._metrics)

    def _give_up(self) -> None:
        """Decisions go on without."""
        self._kept = False
        self._changes = None
        self._world.drop_changes()
        for kept in (self._open, self._bases, self._unwritten):
            kept.clear()

    async def _read_known(self) -> None:
        async for page in self._client.pages(path_of()):
            for plain in page["items"]:
                found = HISTORIES.fitted(plain)
                # What cannot be read is written anew with the next move; until then it is as if there were none.
                if isinstance(found, Fault):
                    _LOGGER.warning("a PlacementHistory cannot be read: %s", found)
                    continue
                metadata = found.obj.metadata
                if found.faults:
                    _LOGGER.warning(
                        "PlacementHistory %s/%s cannot be read: %s", metadata.namespace, metadata.name, found.faults[0]
                    )
                    continue
                self._known[Key(metadata.namespace, metadata.name)] = KnownHistory.of(found.obj)

    async def _reconcile(self, key: Key) -> None:
        opened = self._open.get(key)
        if opened is None:
            return
        known = self._world.placements.get(key)
        if known is None or known.obj.metadata.is_going:
            self.forget(key)
            return
        await self._wait_for_decisions()
        if self._is_up_to_date(key, opened, known.obj.metadata):
            self._open.pop(key, None)
            return
        record = await self._record(key, known.obj.metadata)
        self._catch_up(key, opened, known, record)
        while opened.moves:
            await self._write_up(key, opened, record.since)
        entries, revisions, decided = list(opened.entries), list(opened.revisions), opened.decided
        wanted = extended(record, entries, revisions, decided or record.history.decided or DecidedClusters())
        if wanted != record:
            await self._write(key, wanted)
        # Whatever has come since stays.
        del opened.entries[: len(entries)], opened.revisions[: len(revisions)]
        if not opened.moves and not opened.entries and not opened.revisions and opened.decided == decided:
            self._open.pop(key, None)
        else:
            self.queue.add(key)

    def forget(self, key: Key) -> None:
        """The placement is gone, and its history goes with it."""
        if key in self._open:
            self._waiting -= len(self._open[key].moves)
        for kept in (self._open, self._bases, self._unwritten, self._known):
            kept.pop(key, None)

    async def _wait_for_decisions(self) -> None:
        for _ in range(_LOOKS):
            if not self._is_busy():
                break
            await asyncio.sleep(_LOOK)

    def _is_up_to_date(self, key: Key, opened: _Open, placement: Identity) -> bool:
        """Most placements after a restart: nothing has happened, and nothing is read or written."""
        known = self._known.get(key)
        if known is None or opened.moves or opened.entries or opened.revisions or opened.at_start is None:
            return False
        same = known.uid == placement.uid and known.generation == placement.generation
        return same and known.decided == opened.at_start

    async def _record(self, key: Key, placement: Identity) -> Record:
        """The history as the server has it, or a new one."""
        try:
            reply = await self._client.request("GET", path_of(key, named=True))
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            return Record.new(placement)
        record = Record.read(reply.json())
        return record if record.belongs_to(placement) else record.replaced_by(Record.new(placement))

    def _catch_up(self, key: Key, opened: _Open, placement: Stored[Placement], record: Record) -> None:
        """After a start: a spec that is not in the history, and decisions that it does not lead to."""
        at_start, opened.at_start = opened.at_start, None
        known = self._known.pop(key, None)
        present = revision_of(placement, None, self._clock())
        kept = record.history.revisions
        if not opened.revisions and (not kept or kept[-1].revision < present.revision):
            opened.revisions.append(present)
        decided = record.history.decided
        if known is None or at_start is None or decided is None or decided.digest in ("", at_start.digest):
            return
        opened.entries.insert(0, unrecorded(placement, decided, at_start, record.since, self._clock()))

    async def _write_up(self, key: Key, opened: _Open, since: str) -> None:
        """The next move as an entry, and as an event."""
        move = opened.moves[0]
        report = MoveReport(move)
        causes, more = report.causes(since)
        flips: list[Flip] = []
        until = time.thread_time() + _SLICE
        found = report.flips() if self._world.plans.held(key) is None else iter(())
        while True:
            with self._world.notes.evaluating(key):
                flip = next(found, None)
            if flip is None:
                break
            flips.append(flip)
            if time.thread_time() > until:
                break
            await asyncio.sleep(0)
        if opened.moves and opened.moves[0] is move:  # it may have given way meanwhile
            del opened.moves[0]
            self._waiting -= 1
        entry = report.entry(causes, more, flips, opened.skipped)
        opened.skipped = 0
        opened.entries = [*opened.entries, entry][-MOST_ENTRIES:]
        about = About.of(PLACEMENT, move.now.placement.obj.metadata)
        self._events.record(about, "DecisionsChanged", summary(entry, flips))

    async def _write(self, key: Key, record: Record) -> None:
        if record.revision:
            await self._client.request("PUT", path_of(key, named=True), body=record.body())
        else:
            await self._client.request("POST", path_of(key), body=record.body())
