"""Where the log is read from: the database, or a copy of it where SQLite cannot read the database in place.

To read a database with a write-ahead log SQLite needs to make a file beside it, which a full or a read-only disk does
not let it do. What has been acknowledged is to be served there all the same: without a log the database is read as it
is, with one it is copied to where there is space. A database of an older version that cannot be brought up to date is
read from such a copy too. Called by `store`; whoever writes uses the database itself.
"""

from __future__ import annotations

import contextlib
import errno
import shutil
import sqlite3
import tempfile
import weakref
from pathlib import Path
from typing import TYPE_CHECKING

from muster.hub.storage import database
from muster.hub.storage.errors import StorageUnavailableError
from muster.hub.storage.schema import SCHEMA_VERSION, migrate

if TYPE_CHECKING:
    from muster.hub.storage.open_files import OpenFiles

_NOT_IN_PLACE = ("SQLITE_CANTOPEN", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_FULL")
_MEMORY = Path("/dev/shm")  # noqa: S108 - a file system in memory: for what the disk has no space for


class Source:
    """Opens connections that only read. Any thread may ask for one."""

    def __init__(self, path: Path, files: OpenFiles, cache_bytes: int) -> None:
        self._path = path
        self._files = files
        self._cache_bytes = cache_bytes
        self._copy: Path | None = None
        self._copied: tuple[int, ...] = ()  # which state of the files the copy is of

    def connect(self) -> sqlite3.Connection:
        """A connection to what the database holds, in today's schema. The caller closes it."""
        self._files.check()
        connection = self.connect_as_it_is()
        if int(connection.execute("PRAGMA user_version").fetchone()[0]) < SCHEMA_VERSION:
            connection.close()
            return self._connect_to(self._copied_file())
        return connection

    def connect_as_it_is(self) -> sqlite3.Connection:
        """The same in whatever schema the file has."""
        try:
            return self._in_place()
        except sqlite3.Error as error:
            if not getattr(error, "sqlite_errorname", "").startswith(_NOT_IN_PLACE):
                raise
        if not database.has_content(database.wal_path(self._path)):
            return database.connect(self._path, writable=False, cache_bytes=self._cache_bytes, immutable=True)
        return self._connect_to(self._copied_file())

    def _in_place(self) -> sqlite3.Connection:
        connection = self._connect_to(self._path)
        try:
            connection.execute("SELECT COUNT(*) FROM sqlite_schema").fetchone()
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect_to(self, path: Path) -> sqlite3.Connection:
        return database.connect(path, writable=False, cache_bytes=self._cache_bytes)

    def _copied_file(self) -> Path:
        """A copy of database and log as they are now, in today's schema."""
        files = [file for file in (self._path, database.wal_path(self._path)) if database.has_content(file)]
        states = [file.stat() for file in files]
        state = tuple(number for each in states for number in (each.st_ino, each.st_size, each.st_mtime_ns))
        if self._copy is None or state != self._copied:
            self._copy = self._copy_of(files)
            self._copied = state
        return self._copy

    def _copy_of(self, files: list[Path]) -> Path:
        failure: OSError | None = None
        for parent in (None, _MEMORY):
            directory = ""
            try:
                directory = tempfile.mkdtemp(prefix="muster-reading-", dir=parent)
                for file in files:
                    shutil.copyfile(file, Path(directory, file.name))
                copy = Path(directory, self._path.name)
                with contextlib.closing(database.connect(copy, writable=True, durable=False)) as connection:
                    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                    if version < SCHEMA_VERSION:
                        migrate(connection, version)
            except (OSError, sqlite3.OperationalError) as error:
                shutil.rmtree(directory, ignore_errors=True)
                failure = error if isinstance(error, OSError) else OSError(errno.ENOSPC, str(error))
            except BaseException:
                shutil.rmtree(directory, ignore_errors=True)
                raise
            else:
                weakref.finalize(self, shutil.rmtree, directory, ignore_errors=True)
                return copy
        reason = failure.strerror if failure is not None else ""
        raise StorageUnavailableError(
            f"{self._path}: on a full or read-only disk it can only be read from a copy, for which there is no space "
            f"either ({reason}); make some, or let the directory be written"
        )
