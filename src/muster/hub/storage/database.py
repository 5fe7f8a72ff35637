"""Opening the database file: what is refused, what is created, and how connections are set up.

Whatever is refused is left byte for byte as it was: a file is looked at through a connection that cannot
write before one that can is opened. Called by `store` and `backup`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import sqlite3
import uuid
from typing import TYPE_CHECKING
from urllib.parse import quote

from muster.hub.storage.errors import (
    CorruptDatabaseError,
    ForeignDatabaseError,
    NewerSchemaError,
    StorageUnavailableError,
)
from muster.hub.storage.schema import APPLICATION_ID, SCHEMA_VERSION, migrate

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

_MAGIC = b"SQLite format 3\x00"
_HEADER_SIZE = 100  # bytes of SQLite's file header; the fields below are big-endian numbers in it
_USER_VERSION = slice(60, 64)
_APPLICATION_ID = slice(68, 72)


#: A write-ahead log that has grown beyond this, under a long read, is cut when it starts over.
LARGEST_KEPT_LOG = 32 * 1024 * 1024

_NOT_THE_FILES_FAULT = (
    "SQLITE_CANTOPEN",
    "SQLITE_IOERR",
    "SQLITE_BUSY",
    "SQLITE_LOCKED",
    "SQLITE_PERM",
    "SQLITE_AUTH",
    "SQLITE_READONLY",
    "SQLITE_FULL",
    "SQLITE_NOMEM",
)


class DamageError(Exception):
    """What a file says cannot be so. `reading` knows the file and makes one of our errors of this."""


def wal_path(path: Path) -> Path:
    """Where SQLite keeps the write-ahead log of a database."""
    return path.with_name(path.name + "-wal")


def connect(
    path: Path,
    *,
    writable: bool,
    cache_bytes: int = 8 * 1024 * 1024,
    durable: bool = True,
    immutable: bool = False,
) -> sqlite3.Connection:
    """A connection in autocommit mode, usable from any one thread at a time."""
    uri = f"file:{quote(str(path))}?mode={'rw' if writable else 'ro'}"
    if not writable and not os.access(path.parent, os.W_OK) and not has_content(wal_path(path)):
        immutable = True  # on a read-only file system SQLite cannot make the files it shares with writers
    if immutable:
        uri += "&immutable=1"
    if writable:
        _free_companions(path)
    connection = sqlite3.connect(uri, uri=True, isolation_level=None, check_same_thread=False, timeout=5)
    try:
        connection.execute(f"PRAGMA cache_size = -{cache_bytes // 1024}")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute("PRAGMA cell_size_check = ON")  # damage is noticed where a page is read
        connection.execute("PRAGMA mmap_size = 0")  # a mapped file would count as the hub's memory
        if writable:
            # FULL: an acknowledged write outlives a power cut, so no revision is ever given out twice.
            connection.execute(f"PRAGMA synchronous = {'FULL' if durable else 'OFF'}")
            # Checkpoints are made by `maintenance`, beside the writer, not within somebody's commit.
            connection.execute("PRAGMA wal_autocheckpoint = 0")
            connection.execute(f"PRAGMA journal_size_limit = {LARGEST_KEPT_LOG}")
            connection.execute("PRAGMA secure_delete = OFF")
    except BaseException:
        connection.close()
        raise
    return connection


def _free_companions(path: Path) -> None:
    """Files that SQLite made while the database was read-only are read-only too, and would keep it so."""
    for suffix in ("-wal", "-shm"):
        companion = path.with_name(path.name + suffix)
        if companion.exists() and not os.access(companion, os.W_OK):
            with contextlib.suppress(OSError):
                companion.chmod(path.stat().st_mode)


def has_content(path: Path) -> bool:
    """Whether there is a file that is not empty. SQLite takes an empty file for a new database, and so do we."""
    return path.exists() and path.stat().st_size > 0


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection, kind: str = "DEFERRED") -> Iterator[None]:
    """BEGIN, then COMMIT, or ROLLBACK if the block raises."""
    connection.execute(f"BEGIN {kind}")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(sqlite3.Error):
            if connection.in_transaction:
                connection.execute("ROLLBACK")
        raise


def create(path: Path) -> None:
    """A new, empty database. It is built under another name: a file called `path` is always a whole one."""
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex}.new")
    try:
        for leftover in path.parent.glob(f".{path.name}.*.new*"):
            leftover.unlink()  # of a process that was killed right here
        draft.touch(mode=0o600)
        fill(draft)
        draft.replace(path)
        sync_directory(path.parent)
    except (OSError, sqlite3.Error) as error:
        raise StorageUnavailableError(
            f"{path}: cannot create the database: {getattr(error, 'strerror', None) or error}"
        ) from error
    finally:
        for leftover in path.parent.glob(f"{draft.name}*"):
            leftover.unlink()


def fill(path: Path) -> None:
    """Make an empty database of an empty file."""
    with contextlib.closing(connect(path, writable=True)) as connection:
        connection.execute("PRAGMA page_size = 4096")
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
        migrate(connection, 0)
        connection.execute("PRAGMA journal_mode = WAL")


def sync_directory(directory: Path) -> None:
    """Make renames in a directory outlive a power cut."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what goes wrong while a whole file is read into a refusal, or into "not at present"."""
    try:
        yield
    except sqlite3.Error as error:
        if getattr(error, "sqlite_errorname", "").startswith(_NOT_THE_FILES_FAULT):
            raise StorageUnavailableError(f"{path}: cannot read the database: {error}") from error
        raise damaged(path, str(error)) from error
    except (DamageError, UnicodeError, ValueError, TypeError, LookupError) as error:
        # Damaged rows come back as values of any type, and damaged texts of SQLite's own as broken Unicode.
        raise damaged(path, str(error)) from error


def inspect(path: Path, source: Callable[[], sqlite3.Connection] | None = None, *, thorough: bool = False) -> int:
    """The schema version of an existing file. Refuses what is foreign, damaged or newer than this program."""
    inspect_header(path)
    opened = source or functools.partial(connect, path, writable=False)
    with reading(path), contextlib.closing(opened()) as connection:
        version = int(connection.execute("PRAGMA user_version").fetchone()[0])
        _refuse_newer(path, version)
        check = "integrity_check" if thorough else "quick_check"
        verdict = str(connection.execute(f"PRAGMA {check}(1)").fetchone()[0])
    if verdict != "ok":
        raise damaged(path, " ".join(verdict.split()))
    return version


def is_ours_or_blank(header: bytes) -> bool:
    """Whether the first bytes of a file are those of a Muster database, or of one that SQLite has yet to write."""
    if not header.strip(b"\0"):
        return True
    return header.startswith(_MAGIC) and int.from_bytes(header[_APPLICATION_ID], "big") == APPLICATION_ID


def inspect_header(path: Path) -> None:
    """What the first bytes tell, before SQLite is asked."""
    try:
        with path.open("rb") as file:
            header = file.read(_HEADER_SIZE)
    except OSError as error:
        raise StorageUnavailableError(f"{path}: cannot read the database: {error.strerror}") from error
    if len(header) < _HEADER_SIZE or not header.startswith(_MAGIC):
        raise ForeignDatabaseError(
            path, "is not a SQLite database, so not a Muster database; it has been left untouched"
        )
    if int.from_bytes(header[_APPLICATION_ID], "big") != APPLICATION_ID:
        raise ForeignDatabaseError(path, "is a SQLite database of another program; it has been left untouched")
    _refuse_newer(path, int.from_bytes(header[_USER_VERSION], "big"))


def _refuse_newer(path: Path, version: int) -> None:
    if version > SCHEMA_VERSION:
        raise newer(path, f"schema version {version}", SCHEMA_VERSION)


def newer(path: Path, what: str, known: int) -> NewerSchemaError:
    """The refusal of what a later version has written, with the way out."""
    return NewerSchemaError(
        path,
        f"was written by a newer Muster ({what}, this one knows up to {known}); "
        "it has been left untouched; use that version, or restore a backup of this one",
    )


def damaged(path: Path, details: str) -> CorruptDatabaseError:
    """The refusal of a damaged file, with the way out."""
    return CorruptDatabaseError(
        path, f"is damaged and has been left untouched; restore a backup with `muster hub restore` ({details})"
    )


def refuse_lonely_log(path: Path) -> None:
    """A write-ahead log without its database is not a fresh start."""
    leftover = wal_path(path)
    if has_content(leftover):
        raise CorruptDatabaseError(
            path,
            f"is missing, but its write-ahead log {leftover.name} is there; put the database back, or remove both",
        )


def bring_up_to_date(path: Path, connection: sqlite3.Connection) -> None:
    """Migrate an older database in place."""
    version = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if version < SCHEMA_VERSION:
        try:
            migrate(connection, version)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.Error as error:
            if getattr(error, "sqlite_errorname", "").startswith(_NOT_THE_FILES_FAULT):
                raise
            raise StorageUnavailableError(
                f"{path}: cannot bring the database from schema version {version} to {SCHEMA_VERSION}: {error}"
            ) from error
