"""Opening a database: it is created, or checked, brought up to date and read into memory.

Nothing is written before everything has been checked: what is refused stays as it was. Called by `store`; `examine` is
for `muster hub repair`. Synchronous.
"""

from __future__ import annotations

import contextlib
import gc
import logging
import sqlite3
from typing import TYPE_CHECKING

import msgspec

from muster.hub.storage import database, log
from muster.hub.storage.completeness import mark_of, refuse_incomplete, refuse_missing_database
from muster.hub.storage.errors import StorageUnavailableError
from muster.hub.storage.lock import DatabaseLock
from muster.hub.storage.mark import Extent, read_mark
from muster.hub.storage.open_files import OpenFiles
from muster.hub.storage.schema import SCHEMA_VERSION
from muster.hub.storage.settings import DEFAULT_SETTINGS
from muster.hub.storage.sources import Source
from muster.hub.storage.writer import explain

if TYPE_CHECKING:
    from pathlib import Path

    from muster.hub.storage.records import Key, Record

_LOGGER = logging.getLogger(__name__)


class Loaded(msgspec.Struct):
    """What a database holds."""

    objects: dict[Key, Record]
    by_resource: dict[str, list[Record]]
    extent: Extent
    #: The revision at which history begins.
    compacted: int


def prepare(path: Path, source: Source, *, is_marked: bool) -> None:
    """Make sure that there is a sound database of the present version: create it, or check and migrate it."""
    if not database.has_content(path):
        _refuse_missing(path, is_marked=is_marked)
        database.create(path)
    elif _checked_version(path, source, is_marked=is_marked) < SCHEMA_VERSION:
        try:
            with contextlib.closing(database.connect(path, writable=True)) as connection:
                database.bring_up_to_date(path, connection)
        except (sqlite3.Error, OSError) as error:
            # Then it is read from a copy that can be: see `sources`.
            _LOGGER.warning("%s stays in its old schema for now: %s", path, explain(error, path))


def _refuse_missing(path: Path, *, is_marked: bool) -> None:
    refuse_missing_database(path, read_mark(path) if is_marked else None)
    database.refuse_lonely_log(path)


def _checked_version(path: Path, source: Source, *, is_marked: bool) -> int:
    version = database.inspect(path, source.connect_as_it_is)
    if is_marked:
        with database.reading(path), contextlib.closing(source.connect_as_it_is()) as connection:
            mark_of(path, connection)
    return version


def load(path: Path, source: Source, *, is_marked: bool, format_: int) -> Loaded:
    """Every living object. Refuses what is damaged, incomplete, or in a format that is yet to be invented."""
    collecting = gc.isenabled()
    gc.disable()  # nothing here becomes garbage; looking for it would double the time
    try:
        with database.reading(path), contextlib.closing(source.connect()) as connection:
            written = log.written_format(connection)
            if written > format_:
                raise database.newer(path, f"objects of format {written}", format_)
            objects: dict[Key, Record] = {}
            by_resource: dict[str, list[Record]] = {}
            digest = 0
            for record, imprint in log.current_records(connection):
                objects[record.key] = record
                by_resource.setdefault(record.key.resource, []).append(record)
                digest += imprint
            extent = Extent().grown(log.newest_revision(connection), len(objects), digest)
            refuse_incomplete(path, connection, mark_of(path, connection) if is_marked else None, extent)
            log.check_history(connection)
            return Loaded(objects, by_resource, extent, log.compacted_revision(connection))
    finally:
        if collecting:
            gc.enable()


def examine(path: Path, format_: int = DEFAULT_SETTINGS.format) -> Extent:
    """What a database that no hub is using holds. Raises what opening it would raise; nothing of it is changed."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise StorageUnavailableError(f"{path}: the directory {path.parent} does not exist")
    lock = DatabaseLock.acquire(path)
    try:
        if not database.has_content(path):
            _refuse_missing(path, is_marked=True)
            raise StorageUnavailableError(f"{path}: does not exist")
        source = Source(path, OpenFiles(), DEFAULT_SETTINGS.cache_bytes)
        _checked_version(path, source, is_marked=True)
        return load(path, source, is_marked=True, format_=format_).extent
    finally:
        lock.release()
