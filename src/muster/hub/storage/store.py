"""The store: current objects in memory, every change in a log on disk, watches fed after each commit.

The one class that the API machinery talks to. Reads of the present are plain calls on the event loop's
thread; whatever may touch the disk is a coroutine. A store belongs to one event loop at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import shutil
import sqlite3
import tempfile
import weakref
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

from muster.hub.storage import database, log
from muster.hub.storage.backup import back_up, remove_leftover_drafts
from muster.hub.storage.collection import NO_ROWS, SPARE_HISTORY, Collection
from muster.hub.storage.errors import (
    CompactedError,
    ConflictError,
    FutureRevisionError,
    GuardFailedError,
    StorageUnavailableError,
)
from muster.hub.storage.handover import Handover
from muster.hub.storage.lock import DatabaseLock
from muster.hub.storage.maintenance import Maintenance
from muster.hub.storage.open_files import OpenFiles
from muster.hub.storage.opening import load, prepare
from muster.hub.storage.plan import Commit, Heads, Refused
from muster.hub.storage.readers import Readers
from muster.hub.storage.records import Change, Event, EventType, Guard, Key, Record
from muster.hub.storage.settings import DEFAULT_SETTINGS, StoreSettings
from muster.hub.storage.sources import Source
from muster.hub.storage.watch import Watch
from muster.hub.storage.writer import Writer, explain

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from muster.hub.storage.collection import Rows

# Read from the log at a time by a watch that starts in the past: nobody shares these with it.
_CATCH_UP_EVENTS, _CATCH_UP_BYTES = 500, 256 * 1024


@dataclass(frozen=True, slots=True)
class Statistics:
    """A store in numbers."""

    revision: int
    compacted: int
    objects: Mapping[str, int]
    watches: int
    file_bytes: int
    log_bytes: int
    problem: str | None


class Store:
    """Open it with `open`, close it with `close`."""

    def __init__(self, path: Path, lock: DatabaseLock | None, settings: StoreSettings, *, durable: bool) -> None:
        self._path = path
        self._lock = lock
        self._settings = settings
        self._closed = False
        self._unpublished: deque[Sequence[Commit]] = deque()  # on disk, not yet in memory
        self._loop: asyncio.AbstractEventLoop | None = None  # of the last commit
        files = OpenFiles()
        source = Source(path, files, settings.cache_bytes)
        is_marked = lock is not None
        prepare(path, source, is_marked=is_marked)
        loaded = load(path, source, is_marked=is_marked, format_=settings.format)
        self._objects = loaded.objects
        self.revision = self._loaded_revision = loaded.extent.revision
        self._collections = {
            resource: Collection(resource, self.revision, settings, records)
            for resource, records in loaded.by_resource.items()
        }
        writing = functools.partial(
            database.connect, path, writable=True, cache_bytes=settings.cache_bytes, durable=durable
        )
        self._readers = Readers(source.connect)
        self._writer = Writer(
            path,
            functools.partial(self._connect_to_write, writing),
            settings,
            self._deliver,
            loaded.extent,
            files,
            Heads(self._objects.get, lambda: self.revision),
            lock=lock,
        )
        self._writer.start()
        self._handover = Handover(self._writer.submit)
        self._maintenance = Maintenance(path, self._writer, writing, files, settings, loaded.compacted)
        self._maintenance.start()

    @classmethod
    def open(cls, path: Path | None, settings: StoreSettings = DEFAULT_SETTINGS) -> Self:
        """Open or create the database at `path`; None keeps it for the life of this process only, for tests.

        Raises DatabaseRefusedError for a file that is foreign, damaged, newer, in use, or lacks what was acknowledged,
        leaving it untouched, and StorageUnavailableError for one that cannot be read or created. One that can be read
        and not written is opened: `problem` says why it cannot.
        """
        if path is None:
            directory = tempfile.mkdtemp(prefix="muster-store-")
            store = cls(Path(directory, "store.db"), None, settings, durable=False)
            weakref.finalize(store, shutil.rmtree, directory, ignore_errors=True)
            return store
        path = path.resolve()
        if not path.parent.is_dir():
            raise StorageUnavailableError(f"{path}: the directory {path.parent} does not exist")
        if database.has_content(path):
            database.inspect_header(path)  # before a lock file is put beside somebody else's file
        lock = DatabaseLock.acquire(path)
        try:
            remove_leftover_drafts(path.parent)
            return cls(path, lock, settings, durable=True)
        except BaseException:
            lock.release()
            raise

    def _connect_to_write(self, connect: Callable[[], sqlite3.Connection]) -> sqlite3.Connection:
        """On the writer's thread: what may not have been possible when the store was opened is done now."""
        if self._lock is not None:
            self._lock.ensure()
        connection = connect()
        try:
            database.bring_up_to_date(self._path, connection)
        except BaseException:
            connection.close()
            raise
        return connection

    # Reading the present: no I/O

    @property
    def problem(self) -> str | None:
        """Why the last write failed; None while all is well. For readiness checks."""
        return self._writer.problem

    @property
    def compacted(self) -> int:
        """The oldest revision that can still be read or watched from."""
        return self._maintenance.compacted

    def get(self, key: Key) -> Record | None:
        """The object as it is now."""
        return self._objects.get(key)

    def scan(
        self, resource: str, namespace: str | None = None, after: tuple[str, str] | None = None
    ) -> Iterator[Record]:
        """The objects as they are now, by namespace and name, behind `after`. Later changes do not show in it."""
        return iter(self.rows(resource, namespace, after))

    def rows(self, resource: str, namespace: str | None = None, after: tuple[str, str] | None = None) -> Rows:
        """What `scan` goes over, as a sequence that costs nothing however long it is."""
        collection = self._collections.get(resource)
        return NO_ROWS if collection is None else collection.rows(namespace, after)

    def size(self, resource: str, namespace: str | None = None) -> int:
        """How many bytes the objects have now."""
        collection = self._collections.get(resource)
        return 0 if collection is None else collection.size(namespace)

    def count(self, resource: str, namespace: str | None = None) -> int:
        """How many objects there are now."""
        collection = self._collections.get(resource)
        return 0 if collection is None else collection.count(namespace)

    # Reading the past

    async def scan_at(
        self, resource: str, namespace: str | None, revision: int, after: tuple[str, str] | None = None
    ) -> list[Record]:
        """The objects as they were at a revision: those of now, with every later change taken back."""
        if revision > self.revision:
            raise FutureRevisionError(revision, self.revision)
        if revision < self.compacted:
            raise CompactedError(revision, self.compacted)
        collection = self._collection(resource)
        now = collection.rows(namespace, after)
        states: dict[Key, Record | None] = {}
        if revision >= collection.floor:
            for event in collection.events_after(revision, namespace):
                states.setdefault(event.record.key, event.previous)
        else:
            until = self.revision
            states = await self._readers.run(
                lambda connection: log.states_before(connection, resource, namespace, revision, until)
            )
        if not states:
            return list(now)
        # With a hundred thousand objects this takes as long as a hundred requests: not on the loop.
        return await asyncio.to_thread(_taken_back, now, states, Key(resource, *after) if after is not None else None)

    def watch(self, resource: str, namespace: str | None, after: int, buffer: int | None = None) -> Watch:
        """Every event after a revision, and what comes. Raises CompactedError if that is too long ago."""
        if after < self.compacted:
            raise CompactedError(after, self.compacted)
        events = self._settings.watch_events if buffer is None else buffer
        most = (events, self._settings.watch_bytes)
        watch = Watch(self._collection(resource), namespace, after, *most, self._read_log)
        if self._closed:
            watch.close()
        return watch

    async def formats_before(self, resource: str, format_: int) -> dict[Key, int]:
        """The objects of a resource that were written in an earlier format, and in which. For `muster.hub.upgrades`."""
        return await self._readers.run(lambda connection: log.formats_before(connection, resource, format_))

    async def _read_log(self, resource: str, namespace: str | None, after: int) -> tuple[list[Event], int]:
        until = self.revision  # what is committed but not yet published comes through the live feed
        most = (_CATCH_UP_EVENTS, _CATCH_UP_BYTES)
        events, whole = await self._readers.run(
            lambda connection: log.events_after(connection, resource, namespace, after, until, *most)
        )
        return events, until if whole else events[-1].record.revision

    def _collection(self, resource: str) -> Collection:
        collection = self._collections.get(resource)
        if collection is None:
            # Nothing of it has been published since the start, or it would be here.
            collection = Collection(resource, self._loaded_revision, self._settings)
            self._collections[resource] = collection
        return collection

    # Writing

    async def commit(
        self, changes: Sequence[Change], guards: Sequence[Guard] = (), *, gathers: float = 0.0
    ) -> list[Record]:
        """Write all changes or none. When it returns they are on disk, in memory, and on their way to watchers.

        `gathers`: where writes come in a row they may wait so many seconds for each other. A single one does not wait.
        """
        loop = self._loop = asyncio.get_running_loop()
        future: asyncio.Future[list[Record]] = loop.create_future()
        self._handover.add(Commit(changes, guards, loop, future), loop, gathers)
        return await future

    def _deliver(self, commits: Sequence[Commit]) -> None:
        """On the writer's thread: hand a batch to the loop."""
        self._unpublished.append(commits)
        for loop in {commit.loop or self._loop for commit in commits}:
            if loop is None:
                continue  # nobody has committed yet; who does first publishes this too
            with contextlib.suppress(RuntimeError):  # that loop has been closed; the next one to commit does it
                loop.call_soon_threadsafe(self._publish_waiting)

    def _publish_waiting(self) -> None:
        """On the loop: publish in the order of the log, whatever a loop that has ended has left behind."""
        while self._unpublished:
            self._publish(self._unpublished.popleft())

    def _publish(self, commits: Sequence[Commit]) -> None:
        """Make a batch visible: first memory, then watches, then whoever waits for the outcome."""
        published, answers = self._take_over(commits)
        for resource, events in published.items():
            self._collections[resource].notify(events)
        self._bound_history()
        for commit, answer in answers:
            # A caller may have been cancelled, or its loop have ended; the outcome stands all the same.
            if commit.future is None or commit.loop is None or commit.future.done() or commit.loop.is_closed():
                continue
            if isinstance(answer, Exception):
                commit.future.set_exception(answer)
            else:
                commit.future.set_result(answer)

    def _bound_history(self) -> None:
        """All kinds together keep so much of the past in memory; the one with the most gives way."""
        most = self._settings.history_total_bytes
        excess = sum([each.history_bytes for each in self._collections.values()]) - most
        if excess > 0:
            excess += most // SPARE_HISTORY
            largest = max(self._collections.values(), key=lambda each: each.history_bytes)
            largest.shorten_history(largest.history_bytes - excess)

    def _take_over(
        self, commits: Sequence[Commit]
    ) -> tuple[dict[str, list[Event]], list[tuple[Commit, list[Record] | Exception]]]:
        """Bring memory up to date. The events by resource, and the answer to each commit."""
        published: dict[str, list[Event]] = {}
        answers: list[tuple[Commit, list[Record] | Exception]] = []
        for commit in commits:
            outcome = commit.outcome
            if isinstance(outcome, Refused):
                answers.append((commit, self._refusal(outcome)))
            elif isinstance(outcome, Exception):
                answers.append((commit, outcome))
            else:
                for planned in outcome:
                    event = Event(planned.type, planned.record, self._objects.get(planned.record.key))
                    self._apply(event)
                    published.setdefault(planned.record.key.resource, []).append(event)
                answers.append((commit, [planned.record for planned in outcome]))
        return published, answers

    def _refusal(self, refused: Refused) -> Exception:
        """Memory is just where the writer was when it refused, so it knows what stood in the way."""
        if isinstance(refused.cause, Key):
            return ConflictError(refused.cause, self._objects.get(refused.cause))
        return GuardFailedError(refused.cause)

    def _apply(self, event: Event) -> None:
        record = event.record
        self._collection(record.key.resource).apply(event)
        if event.type is EventType.DELETED:
            del self._objects[record.key]
        else:
            self._objects[record.key] = record
        self.revision = record.revision

    # Looking after the file

    def statistics(self) -> Statistics:
        """Numbers for metrics and `muster hub status`."""
        wal = database.wal_path(self._path)
        return Statistics(
            revision=self.revision,
            compacted=self.compacted,
            objects={resource: collection.count(None) for resource, collection in self._collections.items()},
            watches=sum(collection.watch_count() for collection in self._collections.values()),
            file_bytes=self._path.stat().st_size,
            log_bytes=wal.stat().st_size if wal.exists() else 0,
            problem=self.problem,
        )

    async def compact(self, revision: int | None = None) -> int:
        """Drop the history before a revision (or what the settings do not keep); the revision it now starts at."""
        if revision is not None and revision > self.revision:
            raise FutureRevisionError(revision, self.revision)
        try:
            await asyncio.get_running_loop().run_in_executor(None, self._maintenance.compact, revision)
        except sqlite3.Error as error:
            raise StorageUnavailableError(explain(error, self._path)) from error
        return self.compacted

    async def backup(self, path: Path, *, overwrite: bool = False) -> None:
        """Copy the database as it is now to another file, while reading and writing go on."""
        work = functools.partial(back_up, self._path, path, overwrite=overwrite)
        await asyncio.get_running_loop().run_in_executor(None, work)

    async def close(self) -> None:
        """Write what has been submitted, end all watches, leave a tidy file and let others have it."""
        if self._closed:
            return
        self._closed = True
        self._handover.take_all()
        loop = asyncio.get_running_loop()
        await loop.run_in_executor(None, self._maintenance.stop)
        await loop.run_in_executor(None, self._writer.stop)
        for collection in self._collections.values():
            collection.close_watches()
        await loop.run_in_executor(None, self._readers.close)
        if self._lock is not None:
            self._lock.release()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()


def _taken_back(now: Iterable[Record], states: Mapping[Key, Record | None], start: Key | None) -> list[Record]:
    """The present behind `start` with `states` in the place of what has changed since."""
    then = [record for record in now if record.key not in states]
    then += [state for key, state in states.items() if state is not None and (start is None or key > start)]
    then.sort(key=lambda record: record.key)
    return then
