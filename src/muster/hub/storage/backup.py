"""Backup of a database that may be in use, and restore to one that is not.

Both build a whole file under another name and rename it, so a file with the asked-for name is always whole.
Called by the store and, for files without a running hub, by the command line. Synchronous.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.hub.storage import database, log
from muster.hub.storage.errors import BackupError, CorruptDatabaseError, ForeignDatabaseError, NewerSchemaError
from muster.hub.storage.lock import DatabaseLock
from muster.hub.storage.schema import SCHEMA_VERSION, migrate

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A restored store goes on this far beyond every revision that clients may have seen before, so that none
#: is given out twice: a client that resumes at one of them is told to list again.
REVISION_LEAP = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did."""

    objects: int
    revision: int
    #: Where the database that was there before has been kept.
    replaced: Path | None


def back_up(source: Path, target: Path, *, overwrite: bool = False) -> None:
    """Copy a database, running hub or not, to `target` as it is at one moment."""
    source, target = source.resolve(), target.resolve()
    if target == source:
        raise BackupError(f"{target}: is the database itself")
    if target.exists() and not overwrite:
        raise BackupError(f"{target}: exists; choose another name")
    if not source.exists():
        raise BackupError(f"{source}: does not exist")
    database.inspect_header(source)
    with _draft(target) as draft:
        _copy(source, draft)
        database.inspect(draft)
        draft.replace(target)
    database.sync_directory(target.parent)


def restore(source: Path, target: Path) -> Restored:
    """Put a backup in the place of a database that no hub is using. What was there is kept beside it."""
    source, target = source.resolve(), target.resolve()
    if target == source:
        raise BackupError(f"{target}: is the database itself")
    if not source.exists():
        raise BackupError(f"{source}: does not exist")
    lock = DatabaseLock.acquire(target)
    try:
        version = database.inspect(source, thorough=True)
        with _draft(target) as draft:
            _copy(source, draft)
            objects, revision = _start_over(draft, source, version, _newest_revision(target))
            replaced = _set_aside(target)
            draft.replace(target)
        database.sync_directory(target.parent)
        return Restored(objects, revision, replaced)
    finally:
        lock.release()


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A name beside the target for a file in the making; whatever is left of it is removed."""
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    try:
        yield draft
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"{target}: cannot be written: {error}") from error
    finally:
        for leftover in target.parent.glob(f"{draft.name}*"):
            leftover.unlink()


def _copy(source: Path, draft: Path) -> None:
    """The state of one moment. Writers go on meanwhile: the copy is made from a snapshot."""
    draft.touch(mode=0o600)
    with (
        contextlib.closing(database.connect(source, writable=False)) as reading,
        contextlib.closing(sqlite3.connect(draft, isolation_level=None)) as writing,
    ):
        writing.execute("PRAGMA synchronous = OFF")  # the whole file is synced once, below
        reading.backup(writing, pages=-1)
        writing.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
    _sync_file(draft)


def _sync_file(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _start_over(draft: Path, source: Path, version: int, newest_replaced: int) -> tuple[int, int]:
    """Make the copy a database that begins here: checked, of the present schema, without history, far ahead."""
    with contextlib.closing(database.connect(draft, writable=True)) as connection:
        if version < SCHEMA_VERSION:
            migrate(connection, version)
        with database.reading(source):
            objects = sum(1 for _ in log.current_records(connection))
        revision = max(log.newest_revision(connection), newest_replaced) + REVISION_LEAP
        with database.transaction(connection, "IMMEDIATE"):
            connection.execute("DELETE FROM log WHERE revision NOT IN (SELECT revision FROM current)")
            connection.execute("UPDATE meta SET value = ? WHERE name = 'compacted'", (revision,))
        connection.execute("PRAGMA journal_mode = WAL")
    _sync_file(draft)
    return objects, revision


def _newest_revision(target: Path) -> int:
    """Of the database that is to be replaced; 0 if there is none or it cannot be read."""
    if not database.has_content(target):
        return 0
    try:
        database.inspect(target)
    except (CorruptDatabaseError, NewerSchemaError):
        return 0  # being replaced is the best that can happen to it
    except ForeignDatabaseError as error:
        raise BackupError(f"{error}; only a Muster database is replaced") from error
    # The write-ahead log belongs to the old file. Moved into it, it cannot be taken for the new one's.
    with contextlib.closing(database.connect(target, writable=True)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return log.newest_revision(connection)


def _set_aside(target: Path) -> Path | None:
    """Keep the present database under another name too."""
    if not database.has_content(target):
        return None
    kept = target.with_name(f"{target.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    os.link(target, kept)
    for suffix in ("-wal", "-shm"):
        beside = target.with_name(target.name + suffix)
        if beside.exists():
            beside.rename(kept.with_name(kept.name + suffix))
    return kept
