"""Backup of a database that may be in use, and restore to one that is not.

Both build a whole file under another name and rename it, so a file with the asked-for name is always whole.
Called by the store and, for files without a running hub, by the command line. Synchronous.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import sqlite3
import uuid
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from muster.errors import StorageError
from muster.hub.storage import database, log
from muster.hub.storage.errors import (
    BackupError,
    CorruptDatabaseError,
    ForeignDatabaseError,
    LostWritesError,
    NewerSchemaError,
)
from muster.hub.storage.lock import DatabaseLock
from muster.hub.storage.mark import mark_path, read_mark
from muster.hub.storage.open_files import OpenFiles
from muster.hub.storage.schema import SCHEMA_VERSION, migrate
from muster.hub.storage.sources import Source

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

#: A restored store goes on this far beyond every revision that clients may have seen before, so that none
#: is given out twice: a client that resumes at one of them is told to list again.
REVISION_LEAP = 1_000_000_000
_CACHE_BYTES = 8 * 1024 * 1024


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
    acknowledged = _acknowledged(source)
    with _draft(target) as draft:
        _copy(source, draft)
        database.inspect(draft)
        _refuse_less(source, draft, acknowledged)
        draft.replace(target)
    database.sync_directory(target.parent)


def _refuse_less(source: Path, draft: Path, acknowledged: int) -> None:
    """A backup of what has lost something would be taken for whole."""
    with database.reading(source), contextlib.closing(database.connect(draft, writable=False)) as connection:
        newest = log.newest_revision(connection)
    if newest < acknowledged:
        raise LostWritesError(
            source,
            acknowledged,
            newest,
            f"the database with its write-ahead log ends at revision {newest}, and is not backed up; "
            "`muster hub repair` says how to go on",
        )


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
        return _replace(target, source, version, _newest_revision(target))
    finally:
        lock.release()


def accept_loss(target: Path) -> Restored:
    """Go on with what a database that was refused still holds. What was there is kept beside it.

    Whatever is missing is given up; revisions leap ahead of all that were ever acknowledged. A database that cannot be
    read whole is beyond this: CorruptDatabaseError.
    """
    target = target.resolve()
    lock = DatabaseLock.acquire(target)
    try:
        acknowledged = _acknowledged(target)
        if database.has_content(target):
            version = database.inspect(target, thorough=True)
            return _replace(target, target, version, acknowledged)
        if not acknowledged:
            raise BackupError(f"{target}: there is neither a database nor a mark of one: nothing was lost here")
        return _replace(target, None, SCHEMA_VERSION, acknowledged)
    finally:
        lock.release()


def _replace(target: Path, source: Path | None, version: int, newest: int) -> Restored:
    """Put what `source` holds (or nothing) in the place of `target`, beyond every revision that anybody has seen."""
    with _draft(target) as draft:
        if source is None:
            database.fill(draft)
        else:
            _copy(source, draft)
        objects, revision = _start_over(draft, source or target, version, newest)
        replaced = _set_aside(target)
        draft.replace(target)
    database.sync_directory(target.parent)
    return Restored(objects, revision, replaced)


# What `_draft` calls its files, and what SQLite puts beside them.
_DRAFT_NAME = re.compile(r"\..+\.[0-9a-f]{32}\.partial(-journal|-wal|-shm)?")


@contextlib.contextmanager
def _draft(target: Path) -> Iterator[Path]:
    """A name beside the target for a file in the making; whatever is left of it is removed.

    It is locked for as long as it is being made: what nobody locks was left behind by somebody who was killed.
    """
    remove_leftover_drafts(target.parent)
    draft = target.with_name(f".{target.name}.{uuid.uuid4().hex}.partial")
    descriptor = -1
    try:
        descriptor = os.open(draft, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield draft
    except (OSError, sqlite3.Error) as error:
        raise BackupError(f"{target}: cannot be written: {error}") from error
    finally:
        for leftover in target.parent.glob(f"{draft.name}*"):
            leftover.unlink()
        if descriptor >= 0:
            os.close(descriptor)


def remove_leftover_drafts(directory: Path) -> None:
    """Remove what backups and restores that were killed have left in a directory. Files of others stay."""
    with contextlib.suppress(OSError):  # tidying up is no reason to fail
        for path in directory.glob(".*.partial*"):
            if _DRAFT_NAME.fullmatch(path.name) and path.is_file() and not path.is_symlink():
                _remove_if_left_behind(path)


def _remove_if_left_behind(path: Path) -> None:
    """Ours it is if SQLite has begun to write one of our databases into it, or nothing at all."""
    whole = path.with_name(path.name.partition(".partial")[0] + ".partial")
    try:
        descriptor = os.open(whole, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except FileNotFoundError:
        path.unlink()  # SQLite's companion of a draft that is gone
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if database.is_ours_or_blank(os.pread(descriptor, 100, 0)):
            path.unlink()
    except BlockingIOError:
        return  # it is being made
    finally:
        os.close(descriptor)


def _copy(source: Path, draft: Path) -> None:
    """The state of one moment. Writers go on meanwhile: the copy is made from a snapshot."""
    with (
        contextlib.closing(Source(source, OpenFiles(), _CACHE_BYTES).connect_as_it_is()) as reading,
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
            # The mark is of the database that was copied; this one gets its own when it is opened.
            connection.execute("DELETE FROM meta WHERE name = 'identity'")
        connection.execute("PRAGMA journal_mode = WAL")
    _sync_file(draft)
    return objects, revision


def _acknowledged(target: Path) -> int:
    """The newest revision that the mark of a database knows of; 0 if there is none, or nothing can be made out."""
    identity = None
    with (
        contextlib.suppress(StorageError, sqlite3.Error, OSError),
        contextlib.closing(database.connect(target, writable=False)) as connection,
    ):
        identity = log.identity(connection)
    try:
        mark = read_mark(target, identity)
    except StorageError:
        return 0
    return 0 if mark is None else mark.extent.revision


def _newest_revision(target: Path) -> int:
    """Of the database that is to be replaced, and of its mark; 0 if there is none or it cannot be read."""
    acknowledged = _acknowledged(target)
    if not database.has_content(target):
        return acknowledged
    try:
        database.inspect(target)
    except (CorruptDatabaseError, NewerSchemaError):
        return acknowledged  # being replaced is the best that can happen to it
    except ForeignDatabaseError as error:
        raise BackupError(f"{error}; only a Muster database is replaced") from error
    with contextlib.closing(database.connect(target, writable=False)) as connection:
        return max(acknowledged, log.newest_revision(connection))


def _set_aside(target: Path) -> Path | None:
    """Keep the present database under another name, with all that belongs to it.

    The mark goes first: from then on, until the new database is in place, every start is refused.
    """
    kept = target.with_name(f"{target.name}.replaced-{datetime.now(UTC):%Y%m%dT%H%M%S%fZ}")
    found = False
    for path in (mark_path(target), database.wal_path(target), target.with_name(target.name + "-shm")):
        if path.exists():
            path.rename(kept.with_name(kept.name + path.name.removeprefix(target.name)))
            found = True
    if database.has_content(target):
        os.link(target, kept)
        found = True
    return kept if found else None
