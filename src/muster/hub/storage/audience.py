"""Watches of a collection that have seen all of it and wait: what happens next is made ready once, and handed to each.

A watch is here while its reader waits (see `Watch.divert`). Nobody is woken for an event then, and an event costs a
watch nothing before its turn. In a round every watch has one, and is told all that has happened until then: the more
watch and the more happens, the more events one send carries. What cannot be handed over is for the watch's reader.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from itertools import chain
from typing import TYPE_CHECKING, NamedTuple, Protocol

from muster.hub.storage.errors import WatchOverflowError
from muster.hub.storage.records import size_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterator, Sequence

    from muster.hub.storage.records import Event
    from muster.hub.storage.watch import Watch

    #: Whoever is told that there is a round to make calls `serve` until it is over.
    Join = Callable[["Audience"], None]

_LOGGER = logging.getLogger(__name__)
# Handed over at once. A client that does not read makes us keep that much for it.
_BATCH_EVENTS, _BATCH_BYTES = 256, 60 * 1024
# A round begins after so many times what the one before it took, and at the latest so many seconds after its beginning:
# what happens meanwhile goes out with one send to each, and the loop is there for others.
_PAUSES, _LONGEST_PAUSE = 3.0, 0.04


class Rendered(NamedTuple):
    """Events as they are sent."""

    data: bytes  # none, if none of them are shown
    events: int  # that are shown


class Rendering(Protocol):
    """How watches show events. Those with equal keys show the same."""

    @property
    def key(self) -> Hashable: ...

    def render(self, events: Sequence[Event]) -> Rendered | None:
        """None if it is for the readers to send these."""

    def sent(self, events: int) -> None:
        """So many have been sent, each counted for every watch that it went to."""


class Audience:
    """Those that wait, in one namespace or in all."""

    __slots__ = (
        "_batch",
        "_batch_bytes",
        "_begun",
        "_bytes",
        "_groups",
        "_is_due",
        "_join",
        "_known",
        "_most",
        "_most_bytes",
        "_round",
        "_spent",
        "_waiting",
        "due",
    )

    def __init__(self) -> None:
        self._groups: dict[Hashable, dict[Watch, None]] = {}
        self._batch: list[Event] = []  # what is being handed over: it grows during a round
        self._batch_bytes = 0
        self._known = 0  # so many of these were there when the round began: after it all have been told them
        self._waiting: deque[Event] = deque()  # what happened since
        self._bytes = 0  # of both
        self._round: Iterator[None] | None = None
        self._is_due = False  # whether somebody was told of a round that is not over
        self._begun = self._spent = 0.0
        #: When the next round should begin, by `time.perf_counter`.
        self.due = 0.0
        self._join: Join | None = None
        # What may wait for the watch that can wait for least.
        self._most, self._most_bytes = 0, 0

    def __iter__(self) -> Iterator[Watch]:
        return chain.from_iterable(self._groups.values())

    def __len__(self) -> int:
        return sum(map(len, self._groups.values()))

    def __bool__(self) -> bool:
        return bool(self._groups)  # asked for every event: each watch with selectors is a group of its own

    def add(self, watch: Watch, rendering: Rendering, join: Join) -> None:
        """From now on this watch is told what happens after its position."""
        if not self._groups or watch.most < self._most:
            self._most = watch.most
        if not self._groups or watch.most_bytes < self._most_bytes:
            self._most_bytes = watch.most_bytes
        self._groups.setdefault(rendering.key, {})[watch] = None
        self._join = join

    def remove(self, watch: Watch, rendering: Rendering) -> list[Event]:
        """This watch is told nothing more; gives what it has yet to be told."""
        group = self._groups.get(rendering.key)
        if group is not None:
            group.pop(watch, None)
            if not group:
                del self._groups[rendering.key]
        return self._after(watch.position)

    def _after(self, position: int) -> list[Event]:
        return [event for event in chain(self._batch, self._waiting) if event.record.revision > position]

    def _missed(self) -> Iterator[tuple[Watch, list[Event], int]]:
        """Every watch, what it has yet to be told, and its size. Most have come equally far, and are told the same."""
        found: dict[int, tuple[list[Event], int]] = {}
        for watch in tuple(self):
            position = watch.position
            if position not in found:
                events = self._after(position)
                found[position] = events, size_of(events)
            yield watch, *found[position]

    def offer(self, events: Sequence[Event]) -> None:
        """What has just been published. Cuts off those for whom too much waits already."""
        if not self._groups:
            return
        size = size_of(events)
        if self._waiting:  # else all that has been told was taken, and these may be of any size
            self._cut_off_before(len(events), size)
        self._waiting.extend(events)
        self._bytes += size
        self._call()

    def _cut_off_before(self, more: int, more_bytes: int) -> None:
        waiting = len(self._batch) + len(self._waiting)
        if waiting + more <= self._most and self._bytes + more_bytes <= self._most_bytes:
            return
        for watch, missed, size in self._missed():
            if missed and len(missed) + more > watch.most:
                watch.fail(WatchOverflowError(f"more than {watch.most} events were waiting"))
            elif missed and size + more_bytes > watch.most_bytes:
                watch.fail(WatchOverflowError(f"more than {watch.most_bytes} bytes of events were waiting"))

    def cut_off_behind(self, floor: int) -> None:
        """Let go of those who wait for events which the history in memory has dropped for their size."""
        if not any(event.record.revision <= floor for event in chain(self._batch[:1], self._waiting)):
            return
        for watch, missed, _ in self._missed():
            if missed and missed[0].record.revision <= floor:
                watch.fail(WatchOverflowError("the events that were waiting were too large to keep"))

    def serve(self, until: float) -> bool:
        """Go on with the round, or begin one, until it is over or that time has come; whether it goes on."""
        begun = time.perf_counter()
        if self._round is None:
            self._take()
            self._known = len(self._batch)
            self._round = self._handed_over()
            self._begun, self._spent = begun, 0.0
        try:
            for _ in self._round:
                if time.perf_counter() >= until:
                    self._spent += until - begun
                    return True
        except Exception:
            _LOGGER.exception("events could not be handed over; the readers of all watches get them")
            for watch in tuple(self):
                watch.leave()
        size = size_of(self._batch[: self._known])
        spent = self._spent + time.perf_counter() - begun
        # Where so much happens that sends are large anyway, a pause would only put off what has to be sent.
        self.due = 0.0 if size > _BATCH_BYTES // 3 else self._begun + min(_PAUSES * spent, _LONGEST_PAUSE)
        self._round = None
        del self._batch[: self._known]
        self._batch_bytes -= size
        self._bytes -= size
        if not self._groups:
            self._batch.clear()
            self._waiting.clear()
            self._batch_bytes = self._bytes = 0
        self._is_due = False
        self._call()
        return False

    def _call(self) -> None:
        """Have somebody see to what waits."""
        if (self._waiting or self._batch) and not self._is_due and self._join is not None:
            self._is_due = True
            self._join(self)

    def _take(self) -> None:
        """Add what waits to what is handed over, as far as there is room."""
        batch, waiting = self._batch, self._waiting
        while waiting and len(batch) < _BATCH_EVENTS:
            size = len(waiting[0].record.value)
            if batch and self._batch_bytes + size > _BATCH_BYTES:
                break
            batch.append(waiting.popleft())
            self._batch_bytes += size

    def _handed_over(self) -> Iterator[None]:
        """One step is one watch. Neighbours have mostly come equally far, and are sent the same."""
        if not self._batch:
            return
        for group in tuple(self._groups.values()):
            watches = tuple(group)
            if not watches:
                continue  # they have left since the round began
            rendering = watches[0].rendering
            part: Rendered | None = None
            since = until = -1
            sent = 0
            for watch in watches:
                if self._waiting:
                    self._take()
                last = self._batch[-1].record.revision
                if watch.audience is not self or watch.position >= last:
                    continue  # its reader has them, or it was told before, or knew of them when it came
                if watch.position != since or last != until:
                    since, until = watch.position, last
                    part = _rendered(rendering, [each for each in self._batch if each.record.revision > since])
                if part is not None and _is_written(watch, part.data):
                    watch.position = last
                    sent += part.events
                else:
                    watch.leave()
                yield
            rendering.sent(sent)


def _rendered(rendering: Rendering, events: Sequence[Event]) -> Rendered | None:
    try:
        return rendering.render(events)
    except Exception:
        _LOGGER.exception("events could not be made ready for watches; their readers get them")
        return None


def _is_written(watch: Watch, data: bytes) -> bool:
    try:
        return not data or watch.write(data)
    except Exception:
        _LOGGER.exception("events could not be handed over; the watch's reader gets them")
        return False
