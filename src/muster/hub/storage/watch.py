"""A watch: the events of a resource after a revision, without gap, in order, for one reader.

A watch that starts within the history in memory is fed by `Collection.notify`. One that starts earlier
reads the log until it has reached that history. Events are shared: a watch keeps references only.
"""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING, Self

from muster.hub.storage.errors import CompactedError, WatchOverflowError
from muster.hub.storage.records import size_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muster.errors import StorageError
    from muster.hub.storage.audience import Audience, Join, Rendering
    from muster.hub.storage.collection import Collection
    from muster.hub.storage.records import Event

    #: Reads events after a revision from the log; also tells up to which revision it has looked.
    ReadLog = Callable[[str, str | None, int], Awaitable[tuple[list[Event], int]]]

# Handed out at once: what a reader holds while it sends can no longer be taken from it.
_BATCH_EVENTS, _BATCH_BYTES = 256, 64 * 1024


class Watch:
    """Iterate over it; `close` it. One reader only."""

    __slots__ = (
        "__weakref__",
        "_attached",
        "_closed",
        "_collection",
        "_failure",
        "_join",
        "_pending",
        "_pending_bytes",
        "_read_log",
        "_waiter",
        "audience",
        "most",
        "most_bytes",
        "namespace",
        "position",
        "rendering",
        "write",
    )

    rendering: Rendering
    write: Callable[[bytes], bool]

    def __init__(
        self,
        collection: Collection,
        namespace: str | None,
        after: int,
        buffer: int,
        buffer_bytes: int,
        read_log: ReadLog,
    ) -> None:
        self.namespace = namespace
        self.position = after  # everything up to here has been queued, or handed over
        self.most, self.most_bytes = buffer, buffer_bytes  # that may wait for the reader
        #: Where it waits for what its reader is not woken for.
        self.audience: Audience | None = None
        self._collection = collection
        self._read_log = read_log
        self._pending: deque[Event] = deque()
        self._pending_bytes = 0
        self._waiter: asyncio.Future[None] | None = None
        self._failure: StorageError | None = None
        self._closed = False
        self._attached = False
        self._join: Join | None = None
        self._attach()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Event:
        if not self._pending:
            if self._attached:  # what thousands do all the time; a call less is a fifth of the work
                self._waiter = asyncio.get_running_loop().create_future()
                await self._waiter
            if not self._pending:
                await self._fill()
        event = self._pending.popleft()
        self._pending_bytes -= len(event.record.value)
        return event

    async def batch(self) -> Sequence[Event]:
        """The events that wait, at least one and not too many. Raises StopAsyncIteration once the watch is closed."""
        if not self._pending:
            await self._fill()
        if len(self._pending) <= _BATCH_EVENTS and self._pending_bytes <= _BATCH_BYTES:
            events = tuple(self._pending)
            self._pending.clear()
            self._pending_bytes = 0
            return events
        taken: list[Event] = []
        size = 0
        while self._pending and len(taken) < _BATCH_EVENTS and size < _BATCH_BYTES:
            event = self._pending.popleft()
            size += len(event.record.value)
            taken.append(event)
        self._pending_bytes -= size
        return taken

    def divert(self, rendering: Rendering, write: Callable[[bytes], bool], join: Join) -> None:
        """Have events written while the reader of batches waits for some, instead of waking it: thousands of readers
        that are woken for one event cost more than what they send. `join` is called when somebody has to see to it.
        What cannot be written is for the reader.
        """
        self.rendering, self.write, self._join = rendering, write, join

    @property
    def caught_up(self) -> bool:
        """Whether the reader has got every event published so far: the store's revision is then its own."""
        return self._attached and not self._pending

    async def _fill(self) -> None:
        while not self._pending:
            if self._failure is not None:
                raise self._failure
            if self._closed:
                raise StopAsyncIteration
            if self._attached:
                await self._next()
            else:
                await self._catch_up()

    async def _next(self) -> None:
        """Wait until there is something for the reader."""
        self._waiter = asyncio.get_running_loop().create_future()
        if self._join is None:
            await self._waiter
            return
        self._collection.rest(self, self._join)
        try:
            await self._waiter
        finally:
            self.leave()

    def leave(self) -> None:
        """No longer be told by the audience: what it has yet to tell is for the reader."""
        if self.audience is not None:
            self._queue(self._collection.rise(self))
            self._wake()

    async def _catch_up(self) -> None:
        try:
            events, position = await self._read_log(self._collection.resource, self.namespace, self.position)
        except CompactedError as error:
            self.fail(error)
            return
        if not self._closed:
            self._queue(events)
            self.position = max(self.position, position)
            self._attach()

    def _attach(self) -> None:
        """Join the live feed if the history in memory goes back far enough."""
        if self.position >= self._collection.floor:
            self._queue(self._collection.events_after(self.position, self.namespace))
            self._collection.add_watch(self)
            self._attached = True

    def offer(self, events: Sequence[Event], size: int) -> None:
        """Queue events that have just been published. Cuts the watch off if its reader is too far behind."""
        if events[0].record.revision <= self.position:  # a watch may start at a revision that is yet to come
            events = [event for event in events if event.record.revision > self.position]
            size = size_of(events)
        if self._pending:  # else its reader has taken everything so far, and gets these whatever their size
            if len(self._pending) + len(events) > self.most:
                self.fail(WatchOverflowError(f"more than {self.most} events were waiting"))
                return
            if self._pending_bytes + size > self.most_bytes:
                self.fail(WatchOverflowError(f"more than {self.most_bytes} bytes of events were waiting"))
                return
        self._queue(events, size)
        self._wake()

    def _queue(self, events: Sequence[Event], size: int | None = None) -> None:
        if events:
            self._pending.extend(events)
            self._pending_bytes += size_of(events) if size is None else size
            self.position = events[-1].record.revision

    def cut_off_behind(self, floor: int) -> None:
        """Let go of a reader that still holds events which the history in memory has dropped for their size."""
        if self._attached and self._pending and self._pending[0].record.revision <= floor:
            self.fail(WatchOverflowError("the events that were waiting were too large to keep"))

    def close(self) -> None:
        """End the iteration. May be called at any time, more than once."""
        self._closed = True
        self._detach()

    def finish(self) -> None:
        """End the iteration after what waits already."""
        self._closed = True
        self.leave()
        self._collection.remove_watch(self)
        self._attached = False
        self._wake()

    def fail(self, error: StorageError) -> None:
        """End the iteration with an error, whatever waits."""
        self._failure = error
        self._detach()

    def _detach(self) -> None:
        self.leave()
        self._collection.remove_watch(self)
        self._attached = False
        self._pending.clear()
        self._pending_bytes = 0
        self._wake()

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
