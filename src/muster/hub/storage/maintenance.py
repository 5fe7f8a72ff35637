"""What keeps the file small: compaction of the history, and checkpoints of the write-ahead log.

One thread beside the writer. Compaction goes to the writer in transactions of a few milliseconds each;
checkpoints run on a connection of their own, so that commits do not wait for them. Age is measured with a
monotonic clock: turning back the wall clock neither drops nor keeps anything.
"""

from __future__ import annotations

import contextlib
import logging
import sqlite3
import threading
import time
from collections import deque
from typing import TYPE_CHECKING

from muster.errors import StorageError
from muster.hub.storage.database import transaction
from muster.hub.storage.schema import DELETED

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from muster.hub.storage.open_files import OpenFiles
    from muster.hub.storage.settings import StoreSettings
    from muster.hub.storage.writer import Writer

_LOGGER = logging.getLogger(__name__)
_CHECKPOINT_POLL = 0.1  # seconds between looks at the size of the write-ahead log
_CHECKPOINT_AGAIN = 0.5  # seconds until the next attempt when somebody reads what is to be moved
_LOOK = 1.0  # seconds between looks whether the files are still there and can be written
_CHECKPOINT_ROUNDS, _FEW_FRAMES = 4, 64  # rounds beside the writer, until so few frames are left
_LARGEST_STEP = 1000  # revisions per transaction of compaction, if time allows
_DROPPED_BYTES = 4096  # of the write-ahead log for each revision that is dropped, about: many share a page
_VACUUM_PAGES = 100  # handed back to the file system at a time
_FREE_PAGES_WORTH_IT = 1024  # fewer are left for the log to grow into


class Maintenance:
    """Start it, stop it; `compact` may be called from any thread but the writer's."""

    def __init__(
        self,
        path: Path,
        writer: Writer,
        connect: Callable[[], sqlite3.Connection],
        files: OpenFiles,
        settings: StoreSettings,
        compacted: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = path
        self._writer = writer
        self._connect = connect
        self._files = files
        self._settings = settings
        self._clock = clock
        #: The oldest revision whose state is still known.
        self.compacted = compacted
        #: The longest transaction of the last compaction, in seconds: what a writer may have waited.
        self.longest_step = 0.0
        self._next_checkpoint = 0.0
        self._compacting = threading.Lock()
        self._samples: deque[tuple[float, int]] = deque()  # when which revision was the newest
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="muster-storage-maintenance", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End, after the step that is being done."""
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        interval = self._settings.compaction_interval.total_seconds()
        next_compaction, next_look = self._clock() + interval, self._clock() + _LOOK
        while not self._stopping.wait(_CHECKPOINT_POLL):
            try:
                if self._clock() >= next_look:
                    next_look = self._clock() + _LOOK
                    self._writer.look()
                self._writer.sync_mark()
                self.checkpoint()
                if interval and self._clock() >= next_compaction:
                    next_compaction = self._clock() + interval
                    self.compact(None)
            except (sqlite3.Error, OSError, StorageError) as error:
                # The disk may be full; writers say so, and the next round tries again.
                if self._writer.problem is None:
                    _LOGGER.warning("maintenance of %s has to wait: %s", self._path, error)

    # Checkpoints

    def checkpoint(self) -> None:
        """Move the write-ahead log into the database once it is large enough, so that it starts over."""
        if self._writer.logged_bytes < self._settings.checkpoint_bytes or self._clock() < self._next_checkpoint:
            return
        self._files.check()
        with contextlib.closing(self._connect()) as connection:
            for _ in range(_CHECKPOINT_ROUNDS):
                if _checkpoint(connection) <= _FEW_FRAMES:
                    break
        # Only a log of which nothing is left to move starts over. While commits keep coming the writer
        # itself has to move the last few frames, between two batches.
        self._writer.run(self._finish)

    def _finish(self, connection: sqlite3.Connection) -> None:
        """On the writer's thread. A log that could not be moved, because somebody reads it, is tried again soon."""
        if _checkpoint(connection) == 0:
            self._writer.logged_bytes = 0
        else:
            self._next_checkpoint = self._clock() + _CHECKPOINT_AGAIN

    # Compaction

    def compact(self, revision: int | None = None) -> None:
        """Drop the history before `revision`; None leaves the choice to the settings."""
        with self._compacting:
            target = self._due() if revision is None else revision
            self.longest_step = 0.0
            while self.compacted < target and not self._stopping.is_set():
                started = time.perf_counter()
                self._writer.run(lambda connection: self._compact_step(connection, target))
                self._pause(started)
                self.checkpoint()
            self._release_pages()

    def _due(self) -> int:
        """The revision up to which the settings let history go."""
        now = self._clock()
        newest = self._writer.revision
        self._samples.append((now, newest))
        aged = 0
        while self._samples and self._samples[0][0] <= now - self._settings.keep_history.total_seconds():
            aged = self._samples.popleft()[1]
        return min(aged, newest - self._settings.keep_revisions)

    def _compact_step(self, connection: sqlite3.Connection, target: int) -> None:
        """Go over the next revisions: what each replaced is dropped, and deletions themselves."""
        started = time.perf_counter()
        deadline = started + self._settings.compaction_step.total_seconds()
        reached = self.compacted
        with transaction(connection, "IMMEDIATE"):
            rows = connection.execute(
                "SELECT revision, previous, operation FROM log WHERE revision > ? AND revision <= ?"
                " ORDER BY revision LIMIT ?",
                (reached, target, _LARGEST_STEP),
            ).fetchall()
            for reached, previous, operation in rows:
                self._writer.logged_bytes += _DROPPED_BYTES
                if previous:
                    connection.execute("DELETE FROM log WHERE revision = ?", (previous,))
                if operation == DELETED:
                    connection.execute("DELETE FROM log WHERE revision = ?", (reached,))
                if time.perf_counter() > deadline:
                    break
            else:
                if len(rows) < _LARGEST_STEP:
                    reached = target
            connection.execute("UPDATE meta SET value = ? WHERE name = 'compacted'", (reached,))
        self.compacted = reached
        self.longest_step = max(self.longest_step, time.perf_counter() - started)

    def _release_pages(self) -> None:
        """Give pages that compaction has emptied back to the file system, if there are many."""
        free = total = 0

        def look(connection: sqlite3.Connection) -> None:
            nonlocal free, total
            free = connection.execute("PRAGMA freelist_count").fetchone()[0]
            total = connection.execute("PRAGMA page_count").fetchone()[0]

        def release(connection: sqlite3.Connection) -> None:
            started = time.perf_counter()
            # The pragma answers one empty row per page; only a script is run to its end.
            connection.executescript(f"PRAGMA incremental_vacuum({_VACUUM_PAGES})")
            self.longest_step = max(self.longest_step, time.perf_counter() - started)

        self._writer.run(look)
        while free > _FREE_PAGES_WORTH_IT and free > total // 4 and not self._stopping.is_set():
            started = time.perf_counter()
            self._writer.run(release)
            self._pause(started)
            free, total = free - _VACUUM_PAGES, total - _VACUUM_PAGES
            self._writer.logged_bytes += 2 * _VACUUM_PAGES * 4096
            self.checkpoint()

    def _pause(self, started: float) -> None:
        """Leave the writer to the writers for as long as it has just been held."""
        self._stopping.wait(time.perf_counter() - started)


def _checkpoint(connection: sqlite3.Connection) -> int:
    """Move what can be moved without making anybody wait; the number of frames that are left."""
    _, frames, moved = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    return int(frames) - int(moved)
