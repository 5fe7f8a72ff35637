"""One resource in memory: its living objects in order, its latest events, and who watches it.

Only the thread of the event loop touches a collection, and it never waits while doing so: whatever is read
within one turn of the loop belongs to one revision. Called by `store` and `watch`.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import chain, takewhile
from operator import attrgetter
from typing import TYPE_CHECKING, overload

from muster.hub.storage.audience import Audience
from muster.hub.storage.records import Event, EventType, Key, Record, size_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from muster.hub.storage.audience import Join
    from muster.hub.storage.settings import StoreSettings
    from muster.hub.storage.watch import Watch

_BY_KEY = attrgetter("key")
SPARE_HISTORY = 8  # history that has become too large is shortened by the part of it that this says
_FEW = 1000  # copying so many references costs less than copying all of them at the next change


class Rows(Sequence[Record]):
    """Objects as they were at one moment, in order: a window on the rows of a collection, which nobody changes."""

    __slots__ = ("_rows", "_start", "_stop")

    def __init__(self, rows: Sequence[Record], start: int, stop: int) -> None:
        self._rows = rows
        self._start = start
        self._stop = stop

    def __len__(self) -> int:
        return self._stop - self._start

    def __iter__(self) -> Iterator[Record]:
        return map(self._rows.__getitem__, range(self._start, self._stop))

    @overload
    def __getitem__(self, place: int) -> Record: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Record]: ...

    def __getitem__(self, place: int | slice) -> Record | Sequence[Record]:
        found = range(self._start, self._stop)[place]
        return self._rows[found] if isinstance(found, int) else [self._rows[each] for each in found]


NO_ROWS = Rows((), 0, 0)


class Collection:
    """The objects of one resource, sorted by namespace and name."""

    __slots__ = (
        "_bytes",
        "_event_limit",
        "_history",
        "_history_bytes",
        "_history_limit",
        "_rows",
        "_rows_are_shared",
        "audiences",
        "floor",
        "resource",
        "watches",
    )

    def __init__(self, resource: str, floor: int, settings: StoreSettings, records: Iterable[Record] = ()) -> None:
        self.resource = resource
        #: Every event after this revision is in memory.
        self.floor = floor
        #: Watches by namespace; None holds those of all namespaces. Those that rest are in the audience there.
        self.watches: dict[str | None, set[Watch]] = {}
        self.audiences: dict[str | None, Audience] = {}
        self._rows = sorted(records, key=_BY_KEY)
        self._rows_are_shared = False
        self._bytes: dict[str, int] = {}  # of the objects, by namespace
        for record in self._rows:
            self._weigh(record.key.namespace, len(record.value))
        self._history: deque[Event] = deque()
        self._history_bytes = 0
        self._event_limit = settings.history_events
        self._history_limit = settings.history_bytes

    # Objects

    def rows(self, namespace: str | None, after: tuple[str, str] | None) -> Rows:
        """The objects at this moment, whatever happens while they are read."""
        start, stop = self._bounds(namespace, after)
        if stop - start <= _FEW:
            return Rows(self._rows[start:stop], 0, stop - start)
        self._rows_are_shared = True  # the next change works on a copy
        return Rows(self._rows, start, stop)

    def size(self, namespace: str | None) -> int:
        """How many bytes the objects have."""
        return sum(self._bytes.values()) if namespace is None else self._bytes.get(namespace, 0)

    def _weigh(self, namespace: str, more: int) -> None:
        size = self._bytes.get(namespace, 0) + more
        if size:
            self._bytes[namespace] = size
        else:
            self._bytes.pop(namespace, None)

    def count(self, namespace: str | None) -> int:
        """How many objects there are."""
        start, stop = self._bounds(namespace, None)
        return stop - start

    def _bounds(self, namespace: str | None, after: tuple[str, str] | None) -> tuple[int, int]:
        rows = self._rows
        start, stop = 0, len(rows)
        if namespace is not None:
            start = bisect_left(rows, Key(self.resource, namespace, ""), key=_BY_KEY)
            # No string lies between a namespace and itself with a NUL behind it.
            stop = bisect_left(rows, Key(self.resource, namespace + "\0", ""), lo=start, key=_BY_KEY)
        if after is not None:
            start = max(start, bisect_right(rows, Key(self.resource, *after), key=_BY_KEY))
        return start, max(start, stop)

    def apply(self, event: Event) -> None:
        """Take over one change: objects and history. Watches are told by `notify`."""
        if self._rows_are_shared:
            self._rows = self._rows.copy()
            self._rows_are_shared = False
        record = event.record
        place = bisect_left(self._rows, record.key, key=_BY_KEY)
        before = after = 0
        if event.type is not EventType.ADDED:
            before = len(self._rows[place].value)
        if event.type is EventType.DELETED:
            del self._rows[place]
        else:
            after = len(record.value)
            if event.type is EventType.ADDED:
                self._rows.insert(place, record)
            else:
                self._rows[place] = record
        if after != before:
            self._weigh(record.key.namespace, after - before)
        self._remember(event)

    # History

    def _remember(self, event: Event) -> None:
        self._history.append(event)
        self._history_bytes += len(event.record.value)
        while len(self._history) > self._event_limit:
            self._forget_oldest()
        if self._history_bytes > self._history_limit:
            # By more than this one, so that not every event has all watches looked at.
            self.shorten_history(self._history_limit - self._history_limit // SPARE_HISTORY)

    @property
    def history_bytes(self) -> int:
        return self._history_bytes

    def shorten_history(self, most: int) -> None:
        """Let the oldest events go until they have so many bytes; the newest one stays."""
        while self._history_bytes > most and len(self._history) > 1:
            self._forget_oldest()
        # Readers further back would keep what has just been let go.
        for watch in tuple(chain.from_iterable(self.watches.values())):
            watch.cut_off_behind(self.floor)
        for audience in tuple(self.audiences.values()):
            audience.cut_off_behind(self.floor)

    def _forget_oldest(self) -> None:
        oldest = self._history.popleft()
        self._history_bytes -= len(oldest.record.value)
        self.floor = oldest.record.revision

    def events_after(self, revision: int, namespace: str | None) -> list[Event]:
        """Events after a revision that is not before the floor."""
        events = list(takewhile(lambda event: event.record.revision > revision, reversed(self._history)))
        events.reverse()
        if namespace is None:
            return events
        return [event for event in events if event.record.key.namespace == namespace]

    # Watches

    def notify(self, events: Sequence[Event]) -> None:
        """Hand events to those who watch here. An event is one object, however many receive it."""
        if None in self.watches or None in self.audiences:
            self._tell(None, events)
        by_namespace: dict[str, list[Event]] = {}
        for event in events:
            namespace = event.record.key.namespace
            if namespace in self.watches or namespace in self.audiences:
                by_namespace.setdefault(namespace, []).append(event)
        for namespace, their_events in by_namespace.items():
            self._tell(namespace, their_events)

    def _tell(self, namespace: str | None, events: Sequence[Event]) -> None:
        if audience := self.audiences.get(namespace):
            audience.offer(events)
        if watches := self.watches.get(namespace):
            size = size_of(events)
            for watch in tuple(watches):
                watch.offer(events, size)

    def add_watch(self, watch: Watch) -> None:
        """From now on this watch receives events."""
        self.watches.setdefault(watch.namespace, set()).add(watch)

    def remove_watch(self, watch: Watch) -> None:
        """This watch receives nothing more."""
        watches = self.watches.get(watch.namespace)
        if watches is not None:
            watches.discard(watch)
            if not watches:
                del self.watches[watch.namespace]

    def rest(self, watch: Watch, join: Join) -> None:
        """From now on the audience tells this watch what happens."""
        self.remove_watch(watch)
        audience = self.audiences.get(watch.namespace)
        if audience is None:
            audience = self.audiences[watch.namespace] = Audience()
        audience.add(watch, watch.rendering, join)
        watch.audience = audience

    def rise(self, watch: Watch) -> list[Event]:
        """From now on this watch receives events itself; gives what the audience has yet to tell it."""
        audience = watch.audience
        if audience is None:
            return []
        watch.audience = None
        untold = audience.remove(watch, watch.rendering)
        if not audience:
            self.audiences.pop(watch.namespace, None)
        self.add_watch(watch)
        return untold

    def _all_watches(self) -> tuple[Watch, ...]:
        return (*chain.from_iterable(self.watches.values()), *chain.from_iterable(self.audiences.values()))

    def watch_count(self) -> int:
        """How many watch here."""
        return sum(map(len, self.watches.values())) + sum(map(len, self.audiences.values()))

    def close_watches(self) -> None:
        """End the iteration of everybody who watches here."""
        for watch in self._all_watches():
            watch.close()
