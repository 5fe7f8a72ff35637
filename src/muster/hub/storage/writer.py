"""The one thread that writes. Commits that wait together share a transaction, and so a trip to the disk.

A batch is planned first (guards, expected revisions, new revisions), then written, then handed back, so
a refused commit costs its neighbours nothing and a failing disk fails them all before anything was published.
Called by `store` (commits) and `maintenance` (compaction). Knows nothing of the event loop.
"""

from __future__ import annotations

import contextlib
import logging
import os
import queue
import sqlite3
import threading
from typing import TYPE_CHECKING

from muster.hub.storage import log
from muster.hub.storage.database import transaction
from muster.hub.storage.errors import StorageUnavailableError
from muster.hub.storage.plan import Batch, Commit, Planned, Refused

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from muster.hub.storage.settings import StoreSettings

_LOGGER = logging.getLogger(__name__)

_INSERT_LOG = (
    "INSERT INTO log (revision, resource, namespace, name, operation, created, previous, value, checksum)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
_INSERT_CURRENT = (
    "INSERT INTO current (resource, namespace, name, revision, created) VALUES (?, ?, ?, ?, ?)"
    " ON CONFLICT DO UPDATE SET revision = excluded.revision, created = excluded.created"
)
_DELETE_CURRENT = "DELETE FROM current WHERE resource = ? AND namespace = ? AND name = ?"


class Job:
    """Something else that needs the writing connection, done between two batches."""

    def __init__(self, work: Callable[[sqlite3.Connection], object]) -> None:
        self._work = work
        self._error: Exception | None = None
        self._done = threading.Event()

    def run(self, connect: Callable[[], sqlite3.Connection]) -> None:
        """On the writer's thread."""
        try:
            self._work(connect())
        except Exception as error:  # for the thread that waits
            self._error = error
        finally:
            self._done.set()

    def wait(self) -> None:
        """On the thread that asked. Raises what the work raised."""
        self._done.wait()
        if self._error is not None:
            raise self._error


class Writer:
    """Owns the only connection that writes, and opens a new one after the disk has failed."""

    def __init__(
        self,
        path: Path,
        connect: Callable[[], sqlite3.Connection],
        settings: StoreSettings,
        deliver: Callable[[Sequence[Commit]], None],
    ) -> None:
        self._path = path
        self._connect = connect
        self._settings = settings
        self._deliver = deliver
        self._queue: queue.SimpleQueue[Commit | Job | None] = queue.SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._last_changes: dict[str, int] = {}
        self._resources: dict[str, int] = {}
        #: The newest revision on disk, or on its way to being published.
        self.revision = 0
        self._admission = threading.Lock()  # nothing gets into the queue behind the order to stop
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="muster-storage-writer", daemon=True)
        #: Why the last write failed; None while all is well.
        self.problem: str | None = None
        #: Bytes written since the last checkpoint, roughly; `maintenance` reads and resets it.
        self.written_bytes = 0

    def start(self) -> None:
        """Begin to write. A file that cannot be written now may be later: that is a problem, not an error."""
        try:
            self._connected()
        except sqlite3.Error as error:
            self._note(explain(error, self._path))
        self._thread.start()

    def submit(self, commit: Commit) -> None:
        """Queue a commit; the outcome arrives through `deliver`."""
        self._admit(commit)

    def run(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do some work on the writing connection between two batches, and wait for it. Not for the writer itself."""
        job = Job(work)
        self._admit(job)
        job.wait()

    def _admit(self, item: Commit | Job) -> None:
        with self._admission:
            if self._stopped:
                raise StorageUnavailableError("the store is closed")
            self._queue.put(item)

    def stop(self) -> None:
        """Write what has been submitted, then end."""
        with self._admission:
            self._stopped = True
            self._queue.put(None)
        self._thread.join()

    def _run(self) -> None:
        item = self._queue.get()
        while item is not None:
            if isinstance(item, Job):
                item.run(self._connected)
                item = self._queue.get()
            else:
                item = self._run_batch(item)
        if self._connection is not None:
            self._connection.close()

    def _run_batch(self, first: Commit) -> Commit | Job | None:
        """Write what waits, up to the limits, and return the first item that does not belong to the batch."""
        commits, size = [first], first.size
        following: Commit | Job | None
        while True:
            try:
                following = self._queue.get_nowait()
            except queue.Empty:
                self._write(commits)
                return self._queue.get()
            if (
                not isinstance(following, Commit)
                or len(commits) >= self._settings.batch_commits
                or size + following.size > self._settings.batch_bytes
            ):
                self._write(commits)
                return following
            commits.append(following)
            size += following.size

    def _write(self, commits: Sequence[Commit]) -> None:
        try:
            self._write_batch(commits)
            self._note(None)
        except (sqlite3.Error, OSError) as error:
            problem = explain(error, self._path)
            self._note(problem)
            for commit in commits:
                commit.outcome = StorageUnavailableError(problem)
            self._disconnect()
        except Exception as error:
            _LOGGER.exception("a commit failed unexpectedly")
            for commit in commits:
                commit.outcome = error
            self._disconnect()
        self._deliver(commits)

    def _note(self, problem: str | None) -> None:
        """Remember how it went, and log it once, not for every write that fails."""
        if problem != self.problem:
            if problem is None:
                _LOGGER.info("%s can be written again", self._path)
            else:
                _LOGGER.warning("%s: %s", self._path, problem)
            self.problem = problem

    def _write_batch(self, commits: Sequence[Commit]) -> None:
        connection = self._connected()
        with transaction(connection, "IMMEDIATE"):
            batch = Batch(connection, self.revision, self._last_changes, self._resources)
            for commit in commits:
                commit.outcome = self._planned(batch, commit)
            if batch.log_rows:
                connection.executemany(_INSERT_LOG, batch.log_rows)
                connection.executemany(_INSERT_CURRENT, batch.living())
                connection.executemany(_DELETE_CURRENT, batch.dead())
        self.revision = batch.revision
        self._last_changes.update(batch.changes_of_resources())
        self.written_bytes += batch.size

    @staticmethod
    def _planned(batch: Batch, commit: Commit) -> list[Planned] | Refused | Exception:
        """A commit that cannot even be planned (a name that is not Unicode, say) fails alone."""
        try:
            return batch.plan(commit)
        except sqlite3.Error:
            raise
        except Exception as error:
            return error

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            connection = self._connect()
            try:
                self.revision = log.newest_revision(connection)
                self._resources = log.resource_ids(connection)
                # Deletions up to the compaction point have left no trace: anything may have changed until then.
                compacted = log.compacted_revision(connection)
                newest = "SELECT MAX(revision) FROM log WHERE resource = ?"
                self._last_changes = {
                    name: max(compacted, connection.execute(newest, (number,)).fetchone()[0] or 0)
                    for name, number in self._resources.items()
                }
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _disconnect(self) -> None:
        """After a failure: a fresh connection reads the state of the file anew."""
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def explain(error: Exception, path: Path) -> str:
    """What a failing disk means for whoever runs the hub."""
    code = getattr(error, "sqlite_errorname", "")
    if code.startswith("SQLITE_FULL"):
        return "the disk is full: nothing can be written until there is space again"
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    if code.startswith("SQLITE_READONLY") or (code.startswith("SQLITE_CANTOPEN") and not may_write):
        return "the database is read-only: nothing can be written"
    return f"the database cannot be written: {error}"
