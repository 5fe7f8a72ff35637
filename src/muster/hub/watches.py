"""Watches: the events of a collection as one client sees them, through its selectors and in its version.

Called by `Api.watch` after authorization. What two watchers are to get alike is made once: see `EventCache`.
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from typing import TYPE_CHECKING, Any, Self
from weakref import WeakSet

from muster.hub import options as checks
from muster.hub import status
from muster.hub.objects import encode, shown, with_revision
from muster.hub.pace import Pace, turn
from muster.hub.requests import WatchEvent
from muster.hub.selection import selection
from muster.hub.storage import CompactedError, EventType, Rendered, WatchOverflowError

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence

    from muster.api.resource import Version
    from muster.hub.custom.live import Kinds
    from muster.hub.requests import Chunks, Served, Target, WatchOptions
    from muster.hub.selection import Selection
    from muster.hub.storage import Event, Record, Store, Watch

BOOKMARK_SECONDS = 60.0
LAST_BOOKMARK_SECONDS = 2.0  # before the end, so that the client's next watch starts late
_SHORTEST, _LONGEST = 1800.0, 3600.0  # how long a watch lasts when the client does not say
_CHUNK, _CHUNK_BYTES = 100, 64 * 1024  # of what exists, sent at a time
_CACHED, _CACHED_BYTES = 4096, 32 * 1024 * 1024
_INITIAL_EVENTS_END = {"k8s.io/initial-events-end": "true"}


class EventCache:
    """Events by revision, version and type. Watchers of the same things share them, encoded lines included."""

    def __init__(self, most: int = _CACHED, most_bytes: int = _CACHED_BYTES) -> None:
        self._most = most
        self._most_bytes = most_bytes
        self._bytes = 0
        self._events: dict[tuple[int, Version, str, bool], WatchEvent] = {}
        #: What the last watcher was shown, and of what: mostly the next one is shown the same.
        self._shown: tuple[Sequence[Event], Version | None, list[WatchEvent]] = ((), None, [])

    def events(self, happened: Sequence[Event], target: Target) -> list[WatchEvent]:
        """All that happened, for watchers without selectors."""
        last, version, events = self._shown
        if version is not target.version or happened != last:
            events = [self.event(event.type.value, event.record, target) for event in happened]
            self._shown = happened, target.version, events
        return events

    def event(self, type_: str, record: Record, target: Target, last_seen: Record | None = None) -> WatchEvent:
        """The event for a state; `last_seen` is the state to show instead when a watcher loses sight of the object."""
        key = (record.revision, target.version, type_, last_seen is not None)
        event = self._events.get(key)
        if event is None:
            value = record.value if last_seen is None else with_revision(last_seen.value, record.revision)
            event = WatchEvent(type_, shown(value, target), record.revision)
            self._events[key] = event
            self._bytes += _weight(event)
            while len(self._events) > self._most or (self._bytes > self._most_bytes and len(self._events) > 1):
                self._bytes -= _weight(self._events.pop(next(iter(self._events))))
        return event

    def clear(self) -> None:
        self._events.clear()
        self._bytes = 0
        self._shown = ((), None, [])


class CustomWatches:
    """The running watches of custom kinds. They end when their kind changes: clients come back for its new form."""

    def __init__(self, kinds: Kinds, cache: EventCache) -> None:
        self._kinds = kinds
        self._cache = cache
        self._streams: dict[str, WeakSet[Stream]] = {}
        kinds.outdated = self._end

    def add(self, target: Target, stream: Stream) -> None:
        key = target.resource.key
        if target.resource.custom:
            self._streams.setdefault(key, WeakSet()).add(stream)
            if self._kinds.get(key) is not target.resource:
                stream.finish()  # it has changed while the watch was being authorized

    def _end(self, key: str) -> None:
        self._cache.clear()  # nobody asks for the form that was; its schema may be large
        for stream in self._streams.pop(key, ()):
            stream.finish()


def _weight(event: WatchEvent) -> int:
    """What an event may keep in memory: the object, and lines of it in two forms."""
    return 3 * len(event.object) + 500


def opened(store: Store, cache: EventCache, target: Target, options: WatchOptions) -> Stream:
    """Start a watch. Raises 400, 422, 500 and 504; a revision that is gone is told as an ERROR event."""
    selected = selection(target, options.label_selector, options.field_selector)
    options = checks.watch_options(options)
    wanted = checks.revision(options.resource_version)
    initial: Sequence[Record] | None = None
    namespace = target.namespace or None
    if options.send_initial_events:
        if wanted > store.revision:
            raise status.future_revision(wanted, store.revision)
        after = store.revision
        initial = store.rows(target.resource.home.key, namespace)
    else:
        after = wanted or store.revision
    timeout = options.timeout
    if timeout is None or timeout <= 0:
        timeout = random.uniform(_SHORTEST, _LONGEST)  # noqa: S311 - spreads reconnects, keeps no secret
    view = View(cache, target, selected)
    try:
        watch = store.watch(target.resource.home.key, namespace, after)
    except CompactedError as error:
        return Stream(store, view, None, failure=_too_old(error), timeout=timeout)
    stream = Stream(store, view, watch, initial=initial, start=after, bookmarks=options.bookmarks, timeout=timeout)
    if initial is not None:
        stream.holds = store.size(target.resource.home.key, namespace)
    return stream


def _too_old(error: CompactedError) -> status.StatusError:
    return status.expired(f"too old resource version: {error.revision} ({error.compacted})")


class View:
    """What one watcher sees of what happens."""

    def __init__(self, cache: EventCache, target: Target, selected: Selection) -> None:
        self._cache = cache
        self._target = target
        self._selected = selected

    @property
    def whole(self) -> Version | None:
        """The version in which everything is shown; None with selectors."""
        return self._target.version if self._selected.everything else None

    def initial(self, records: Iterable[Record]) -> Iterator[WatchEvent | None]:
        """What exists, as additions; None for what the selectors do not show."""
        target = self._target
        matches = None if self._selected.everything else self._selected.matches
        for record in records:
            if matches is None or matches(record):
                yield WatchEvent("ADDED", shown(record.value, target), record.revision)
            else:
                yield None

    def events(self, happened: Sequence[Event]) -> list[WatchEvent]:
        """Changes as the selectors show them: an object that begins to match is added, one that stops is deleted."""
        if self._selected.everything:
            return self._cache.events(happened, self._target)
        return [seen for event in happened if (seen := self._selected_event(event)) is not None]

    def _selected_event(self, event: Event) -> WatchEvent | None:
        matches = self._selected.matches
        before = event.previous is not None and matches(event.previous)
        if event.type is EventType.DELETED:
            return self._cache.event("DELETED", event.record, self._target) if before else None
        now = matches(event.record)
        if now:
            return self._cache.event("MODIFIED" if before else "ADDED", event.record, self._target)
        if before:
            return self._cache.event("DELETED", event.record, self._target, last_seen=event.previous)
        return None

    def bookmark(self, revision: int, annotations: dict[str, str] | None = None) -> WatchEvent:
        metadata: dict[str, object] = {"resourceVersion": str(revision)}
        if annotations:
            metadata["annotations"] = annotations
        obj = {"kind": self._target.resource.kind, "apiVersion": self._target.api_version, "metadata": metadata}
        return WatchEvent("BOOKMARK", encode(obj), revision)


class _Shown:
    """What a watch is shown, as it goes out. Watches without selectors are shown the same."""

    __slots__ = ("_chunks", "_view", "key")

    def __init__(self, view: View, chunks: Chunks) -> None:
        self._view = view
        self._chunks = chunks
        self.key: Hashable = (view.whole or view, chunks)

    def render(self, happened: Sequence[Event]) -> Rendered | None:
        events = self._view.events(happened)
        data = self._chunks.chunk(events) if events else b""
        return None if data is None else Rendered(data, len(events))

    def sent(self, events: int) -> None:
        self._chunks.sent(events)


class Stream:
    """A running watch; see `requests.WatchStream`. One reader only.

    Thousands of them wait at once, so that waiting is kept cheap: one timer for the next bookmark or the end, armed
    when it has fired and not for every batch.
    """

    def __init__(
        self,
        store: Store,
        view: View,
        watch: Watch | None,
        *,
        timeout: float,
        initial: Sequence[Record] | None = None,
        start: int = 0,
        bookmarks: bool = False,
        failure: status.StatusError | None = None,
    ) -> None:
        self._store = store
        self._view = view
        self._watch = watch
        self._initial = None if initial is None else view.initial(initial)
        #: What the events of the beginning keep alive in the store; `begun` is called once they have been taken.
        self.holds = 0
        self.begun: Callable[[], None] = lambda: None
        self._start = start
        self._bookmarks = bookmarks
        self._opened_at = store.revision
        self._ahead: deque[WatchEvent] = deque()
        if failure is not None:
            self._ahead.append(_error(failure))
        if initial is not None and bookmarks:
            self._ahead.append(view.bookmark(start, _INITIAL_EVENTS_END))
        self._loop = asyncio.get_running_loop()
        self._deadline = self._loop.time() + timeout
        self._timer: asyncio.TimerHandle | None = None
        self._time_is_up = False
        self._waiting: asyncio.Task[Any] | None = None

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._timer is not None:
            self._timer.cancel()

    def divert(self, chunks: Chunks, write: Callable[[bytes], bool], join: Callable[[Served], None]) -> None:
        """Events are written while the reader waits: see `requests.WatchStream`."""
        if self._watch is not None:
            self._watch.divert(_Shown(self._view, chunks), write, join)

    def finish(self) -> None:
        """Tell what has happened until now, and end."""
        if self._watch is not None:
            self._watch.finish()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Sequence[WatchEvent]:
        while True:
            if self._initial is not None and (batch := await self._next_initial()):
                return batch
            if self._ahead:
                return [self._ahead.popleft()]
            if self._watch is None:
                raise StopAsyncIteration
            happened = await self._happened(self._watch)
            if happened is None:
                if bookmark := self._bookmark(self._watch):
                    return [bookmark]
            elif batch := self._view.events(happened):
                return batch

    async def _next_initial(self) -> list[WatchEvent] | None:
        """The next part of what existed when the watch began; None when all has been told."""
        assert self._initial is not None  # noqa: S101 - asked before
        pace = Pace()
        batch: list[WatchEvent] = []
        size = 0
        for event in self._initial:
            if event is not None:
                batch.append(event)
                size += len(event.object)
                if len(batch) >= _CHUNK or size >= _CHUNK_BYTES:
                    await turn()  # a large collection must not keep everybody else waiting
                    return batch
            if pace.is_due():
                await pace.pause()
        if not batch:
            self._initial = None
            self.begun()
        return batch or None

    async def _happened(self, watch: Watch) -> Sequence[Event] | None:
        """The next events; None when it is time for something else. Raises StopAsyncIteration at the end."""
        if self._timer is None:
            self._timer = self._loop.call_at(self._next_wake(), self._wake)
        if not self._time_is_up:
            reader = self._waiting = asyncio.current_task()
            try:
                return await watch.batch()
            except asyncio.CancelledError:
                # Our own timer, unless somebody else wants this task to end as well.
                if not self._is_due() or reader is None or reader.uncancel() > 0:
                    raise
            except CompactedError as error:
                self.close()
                self._watch = None
                self._ahead.append(_error(_too_old(error)))
                return ()
            except (WatchOverflowError, StopAsyncIteration):
                # Closed; or too slow: the client lists again, as it does after any lost connection.
                self.close()
                raise StopAsyncIteration from None
            finally:
                self._waiting = None
        self._time_is_up = False
        self._timer = None
        if self._loop.time() >= self._deadline:
            self.close()
            raise StopAsyncIteration
        return None

    def _is_due(self) -> bool:
        return self._time_is_up

    def _wake(self) -> None:
        self._time_is_up = True
        if self._waiting is not None:
            self._waiting.cancel()

    def _bookmark(self, watch: Watch) -> WatchEvent | None:
        """How far the watch has come; None while nothing has happened anywhere since it began, or events wait."""
        if not self._bookmarks or not watch.caught_up or self._store.revision <= self._opened_at:
            return None
        return self._view.bookmark(max(self._store.revision, self._start))

    def _next_wake(self) -> float:
        """When to look up: for the next bookmark, or for the end."""
        now, last = self._loop.time(), self._deadline - LAST_BOOKMARK_SECONDS
        if self._bookmarks and now < last:
            return min(now + BOOKMARK_SECONDS, last)
        return self._deadline


def _error(error: status.StatusError) -> WatchEvent:
    return WatchEvent("ERROR", encode(error.status), 0)
