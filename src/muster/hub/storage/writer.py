"""The one thread that writes. Commits that wait together share a transaction, and so a trip to the disk.

A batch is planned first (guards, expected revisions, new revisions), then written, then handed back, so
a refused commit costs its neighbours nothing and a failing disk fails them all before anything was published.
Called by `store` (commits) and `maintenance` (compaction). Knows nothing of the event loop.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import queue
import sqlite3
import threading
from typing import TYPE_CHECKING

from muster.errors import StorageError
from muster.hub.storage import log
from muster.hub.storage.database import sync_directory, transaction, wal_path
from muster.hub.storage.errors import StorageUnavailableError
from muster.hub.storage.insertion import follow_log, insert_rows
from muster.hub.storage.mark import NO_IDENTITY, Extent, Mark, MarkFile, mark_path, new_identity, read_mark
from muster.hub.storage.plan import Batch, Commit, Heads, Planned, Refused, found

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from muster.hub.storage.lock import DatabaseLock
    from muster.hub.storage.open_files import OpenFiles
    from muster.hub.storage.settings import StoreSettings

_LOGGER = logging.getLogger(__name__)
_PAGE = 4096
_LEAST_SPACE = 64 * 1024  # bytes without which SQLite cannot share a database with readers


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
    """Owns the only connection that writes, and opens a new one after the disk has failed.

    `extent` is what has been loaded into memory: the file has to hold just that, or more. Without a `lock` nobody but
    us knows of the database, and it has no mark.
    """

    def __init__(
        self,
        path: Path,
        connect: Callable[[], sqlite3.Connection],
        settings: StoreSettings,
        deliver: Callable[[Sequence[Commit]], None],
        extent: Extent,
        files: OpenFiles,
        heads: Heads,
        *,
        lock: DatabaseLock | None = None,
    ) -> None:
        self._path = path
        self._heads = heads
        self._connect = connect
        self._settings = settings
        self._deliver = deliver
        self._files = files
        self._queue: queue.SimpleQueue[Commit | Job | None] = queue.SimpleQueue()
        self._connection: sqlite3.Connection | None = None
        self._last_changes: dict[str, int] = {}
        self._resources: dict[str, int] = {}
        self._extent = extent  # on disk, and published or on its way to being so
        self._may_be_behind = False  # whether a commit that was taken for failed may be on disk after all
        self._lock = lock
        self._mark: MarkFile | None = None
        self._admission = threading.Lock()  # nothing gets into the queue behind the order to stop
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name="muster-storage-writer", daemon=True)
        #: Why the last write failed; None while all is well.
        self.problem: str | None = None
        #: Bytes in the write-ahead log since the last checkpoint, at most; `maintenance` reads and resets it.
        self.logged_bytes = 0

    @property
    def revision(self) -> int:
        """The newest revision on disk, or on its way to being published."""
        return self._extent.revision

    def start(self) -> None:
        """Begin to write. A file that cannot be written now may be later: that is a problem, not an error."""
        try:
            self._connected()
        except (sqlite3.Error, OSError, StorageError) as error:
            self._note(explain(error, self._path))
        self._thread.start()

    def sync_mark(self) -> None:
        """Bring the mark to the disk. For `maintenance`."""
        if self._mark is not None:
            self._mark.sync()

    def look(self) -> None:
        """Find out whether writing is possible, if nobody else does, and wait for the verdict. For `maintenance`."""
        self.run(lambda _: None if self.problem is None else self._probe())

    def submit(self, commits: Sequence[Commit]) -> None:
        """Queue commits; their outcomes arrive through `deliver`."""
        self._admit(*commits)

    def run(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Do some work on the writing connection between two batches, and wait for it. Not for the writer itself."""
        job = Job(work)
        self._admit(job)
        job.wait()

    def _admit(self, *items: Commit | Job) -> None:
        with self._admission:
            if self._stopped:
                raise StorageUnavailableError("the store is closed")
            for item in items:
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
                item.run(self._connected_for_a_job)
                item = self._queue.get()
            else:
                item = self._run_batch(item)
        if self._connection is not None:
            self._connection.close()
        if self._mark is not None:
            self._mark.close()

    def _connected_for_a_job(self) -> sqlite3.Connection:
        try:
            connection = self._connected()
            self._files.check()
        except (sqlite3.Error, OSError, StorageError) as error:
            self._note(explain(error, self._path))
            raise
        return connection

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
        except (sqlite3.Error, OSError, StorageError) as error:
            problem = explain(error, self._path)
            self._note(problem)
            for commit in commits:
                commit.outcome = StorageUnavailableError(problem)
            self._doubt(error)
        except Exception as error:
            _LOGGER.exception("a commit failed unexpectedly")
            for commit in commits:
                commit.outcome = error
            self._doubt(error)
        self._deliver(commits)

    def _doubt(self, error: Exception) -> None:
        """After a failure: what was written is read from the file anew, by a fresh connection if that may help."""
        self._may_be_behind = True
        # A file that was replaced stays open: closing it would have SQLite tidy up beside somebody else's file.
        if not isinstance(error, StorageError):
            self._disconnect()

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
        batch = Batch(
            connection, self.revision, self._heads, self._last_changes, self._resources, self._settings.format
        )
        for commit in commits:
            commit.outcome = self._planned(batch, commit)
        insert_rows(connection, batch.new_resources, batch.log_rows)
        batch.committed()
        if batch.log_rows:
            self._acknowledge(self._extent.grown(batch.revision, batch.objects, batch.digest))
        self._last_changes.update(batch.changes_of_resources())
        # Each row fills the pages of its value, one of the index and one of the living objects; some are shared.
        self.logged_bytes += batch.size + _PAGE * (3 * len(batch.log_rows) + 2)

    def _acknowledge(self, extent: Extent) -> None:
        """The last step before anybody is told: it is on disk, in the files of these names, and the mark says so."""
        self._files.check()
        if self._mark is not None:
            self._mark.advance(extent)
        self._extent = extent

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
                self._take_stock(connection)
                self._prepare_mark(connection)
                self._note_format(connection)
                follow_log(connection)
            except BaseException:
                connection.close()
                raise
            self._files.remember((self._path, wal_path(self._path), *self._mark_files()))
            self._connection = connection
        if self._may_be_behind:
            self._files.check()
            self._take_stock(self._connection)
        return self._connection

    def _mark_files(self) -> tuple[Path, ...]:
        return () if self._lock is None else (mark_path(self._path),)

    def _take_stock(self, connection: sqlite3.Connection) -> None:
        """What the file holds: no less than was acknowledged. What it holds beyond that becomes visible."""
        newest, known = log.newest_revision(connection), self.revision
        if newest < known:
            raise StorageUnavailableError(
                f"{self._path} ends at revision {newest}, but {known} was acknowledged: it is not the file it was; "
                "stop the hub and put the right file in place, or restore a backup"
            )
        if newest > known:
            extent = log.extent_now(connection, self._extent)
            events = log.all_events_after(connection, known)
            if self._mark is not None:
                self._mark.advance(extent)
            self._extent = extent
            self._heads.found(events)
            self._deliver([found(events)])
        self._resources = log.resource_ids(connection)
        # Deletions up to the compaction point have left no trace: anything may have changed until then.
        compacted = log.compacted_revision(connection)
        latest = "SELECT MAX(revision) FROM log WHERE resource = ?"
        self._last_changes = {
            name: max(compacted, connection.execute(latest, (number,)).fetchone()[0] or 0)
            for name, number in self._resources.items()
        }
        self._may_be_behind = False

    def _prepare_mark(self, connection: sqlite3.Connection) -> None:
        """Have a mark that says what the file holds. A database of an older version gets its first one."""
        if self._lock is None or self._mark is not None:
            return
        identity, witness = log.identity(connection), self._lock.descriptor
        mark = read_mark(self._path, identity or NO_IDENTITY)
        if identity is None:
            # The mark comes first, and demands nothing until the database knows it: a crash in between is harmless.
            identity = new_identity()
            opened = MarkFile.create(self._path, Mark(identity, Extent(), settled=False), witness)
            with transaction(connection, "IMMEDIATE"):
                connection.execute("INSERT INTO meta VALUES ('identity', ?)", (identity,))
            # In the database itself: without its write-ahead log it still knows that there has to be a mark.
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            sync_directory(self._path.parent)
        elif mark is not None and mark.identity == identity:
            opened = MarkFile.open(self._path, mark, witness)
        else:
            raise StorageUnavailableError(
                f"{mark_path(self._path)} has gone: put it back, or stop the hub and restore a backup"
            )
        opened.advance(self._extent)
        self._mark = opened

    def _note_format(self, connection: sqlite3.Connection) -> None:
        """Before anything is written in a new format: an older Muster that does not know it refuses the file then."""
        if log.written_format(connection) < self._settings.format:
            with transaction(connection, "IMMEDIATE"):
                connection.execute(
                    "INSERT INTO meta VALUES ('format', ?) ON CONFLICT DO UPDATE SET value = excluded.value",
                    (self._settings.format,),
                )

    def _probe(self) -> None:
        """Write something of no consequence, to see whether writing works again."""
        connection = self._connected()
        try:
            with transaction(connection, "IMMEDIATE"):
                connection.execute("INSERT INTO meta VALUES ('probe', 1) ON CONFLICT DO UPDATE SET value = value + 1")
            self._note(None)
        except (sqlite3.Error, OSError) as error:
            self._note(explain(error, self._path))
            self._doubt(error)

    def _disconnect(self) -> None:
        """After a failure: a fresh connection reads the state of the file anew. Closing may remove the log."""
        self._files.remember(())
        if self._connection is not None:
            with contextlib.suppress(sqlite3.Error):
                self._connection.close()
            self._connection = None


def explain(error: Exception, path: Path) -> str:
    """What a failing disk means for whoever runs the hub."""
    if isinstance(error, StorageError):
        return str(error)
    code, number = getattr(error, "sqlite_errorname", ""), getattr(error, "errno", None)
    if code.startswith("SQLITE_FULL") or number in (errno.ENOSPC, errno.EDQUOT):
        return "the disk is full: nothing can be written until there is space again"
    may_write = os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)
    refused = number in (errno.EROFS, errno.EACCES, errno.EPERM)
    if code.startswith("SQLITE_READONLY") or (code.startswith("SQLITE_CANTOPEN") and not may_write) or refused:
        return "the database is read-only: nothing can be written"
    # SQLite does not say why it could not enlarge its files.
    if code.startswith(("SQLITE_IOERR", "SQLITE_CANTOPEN")) and _is_full(path):
        return "the disk is full: nothing can be written until there is space again"
    return f"the database cannot be written: {error}"


def _is_full(path: Path) -> bool:
    try:
        status = os.statvfs(path.parent)
    except OSError:
        return False
    return status.f_bavail * status.f_frsize < _LEAST_SPACE
