"""Reading the log: current objects at start, events after a revision, and what a past revision looked like.

All functions take a connection and are synchronous; `readers` runs them off the event loop. Each reads in
one transaction, so that what it sees belongs together. Nothing here writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.storage.database import DamageError, transaction
from muster.hub.storage.errors import CompactedError, StorageUnavailableError
from muster.hub.storage.records import Event, EventType, Key, Record
from muster.hub.storage.schema import ADDED, DELETED, FIRST_REVISION, MODIFIED, row_checksum, row_imprint
from muster.values.json import Json

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping, Sequence

    from muster.hub.storage.mark import Extent

_EVENT_TYPES: Mapping[int, EventType] = {
    ADDED: EventType.ADDED,
    MODIFIED: EventType.MODIFIED,
    DELETED: EventType.DELETED,
}


def compacted_revision(connection: sqlite3.Connection) -> int:
    """The oldest revision whose state is still known."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'compacted'").fetchone()
    if row is None:
        raise DamageError("the compaction point is missing")
    return int(row[0])


def newest_revision(connection: sqlite3.Connection) -> int:
    """The last revision given out. Compaction removes rows only up to `compacted`, so that counts too."""
    newest = connection.execute("SELECT MAX(revision) FROM log").fetchone()[0]
    return max(newest or 0, compacted_revision(connection), FIRST_REVISION)


def identity(connection: sqlite3.Connection) -> int | None:
    """The number that the mark of this database carries too; None as long as it has no mark."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'identity'").fetchone()
    return None if row is None else int(row[0])


def written_format(connection: sqlite3.Connection) -> int:
    """The latest format in which anything may have been written."""
    row = connection.execute("SELECT value FROM meta WHERE name = 'format'").fetchone()
    return 0 if row is None else int(row[0])


def formats_before(connection: sqlite3.Connection, resource: str, format_: int) -> dict[Key, int]:
    """The living objects of a resource that were written in an earlier format, and in which."""
    rows = connection.execute(
        "SELECT log.namespace, log.name, log.format FROM current JOIN log USING (revision)"
        " WHERE current.resource = (SELECT id FROM resource WHERE name = ?) AND log.format < ?",
        (resource, format_),
    )
    return {Key(resource, namespace, name): int(written) for namespace, name, written in rows}


def resource_ids(connection: sqlite3.Connection) -> dict[str, int]:
    """Resources have numbers in the log."""
    return {str(name): int(number) for name, number in connection.execute("SELECT name, id FROM resource")}


def current_records(connection: sqlite3.Connection) -> Iterator[tuple[Record, int]]:
    """Every living object with its imprint, in the order of the log so that the file is read from front to back."""
    names = {number: name for name, number in resource_ids(connection).items()}
    rows = connection.execute(
        "SELECT log.resource, log.namespace, log.name, log.revision, log.created, log.value, log.checksum,"
        " log.format, log.operation, log.previous"
        # LIMIT -1 is no limit, but keeps SQLite from dropping the order as if it were of no use.
        " FROM (SELECT * FROM current ORDER BY revision LIMIT -1) AS living"
        " CROSS JOIN log USING (revision, resource, namespace, name, created) WHERE log.operation != ?",
        (DELETED,),
    )
    namespaces: dict[str, str] = {}  # one string per namespace, not one per object
    count = 0
    for number, namespace, name, revision, created, value, checksum, format_, operation, previous in rows:
        key = Key(names[number], namespaces.setdefault(namespace, namespace), name)
        imprint = row_imprint(revision, number, namespace, name)
        if row_checksum(imprint, format_, operation, created, previous, value) != checksum:
            raise DamageError(_mismatch(key, revision))
        count += 1
        yield Record(key, revision, created, value), imprint
    missing = connection.execute("SELECT COUNT(*) FROM current").fetchone()[0] - count
    if missing:
        raise DamageError(f"the log lacks {missing} objects")


def check_history(connection: sqlite3.Connection) -> None:
    """Every revision after the compaction point is there. Watches and lists of the past rely on it."""
    newest, compacted = newest_revision(connection), max(compacted_revision(connection), FIRST_REVISION)
    found = connection.execute("SELECT COUNT(*) FROM log WHERE revision > ?", (compacted,)).fetchone()[0]
    if found != newest - compacted:
        raise DamageError(
            f"between revisions {compacted} and {newest} the log holds {found} changes, not {newest - compacted}"
        )


def extent_before(connection: sqlite3.Connection, extent: Extent, revision: int) -> Extent | None:
    """The extent at an earlier revision: that of now, with later changes taken back. None if they are not known."""
    if revision < compacted_revision(connection):
        return None
    objects, digest = _growth_after(connection, revision)
    return extent.grown(revision, -objects, -digest)


def extent_now(connection: sqlite3.Connection, extent: Extent) -> Extent:
    """The extent at the newest revision, given that of an earlier one."""
    return extent.grown(newest_revision(connection), *_growth_after(connection, extent.revision))


def _growth_after(connection: sqlite3.Connection, revision: int) -> tuple[int, int]:
    """By how much the changes after a revision change the number of living objects and the sum of their imprints."""
    objects = digest = 0
    for number, namespace, name, written, operation, previous in connection.execute(
        "SELECT resource, namespace, name, revision, operation, previous FROM log WHERE revision > ?", (revision,)
    ):
        if operation != DELETED:
            objects, digest = objects + 1, digest + row_imprint(written, number, namespace, name)
        if previous:
            objects, digest = objects - 1, digest - row_imprint(previous, number, namespace, name)
    return objects, digest


# What `_record` needs of a row, in this order.
_RECORD = "revision", "resource", "namespace", "name", "operation", "created", "previous", "format", "value", "checksum"


def _columns(table: str) -> str:
    return ", ".join(f"{table}.{column}" for column in _RECORD)


_ROW = f"SELECT {_columns('log')} FROM log WHERE revision = ?"  # noqa: S608 - names of columns, nobody's text


def events_after(
    connection: sqlite3.Connection,
    resource: str,
    namespace: str | None,
    after: int,
    until: int,
    limit: int,
    most_bytes: int,
) -> tuple[list[Event], bool]:
    """Events of a resource (and namespace) after one revision and up to another, in order, and whether these are all.

    At most `limit` of them, and none after the one with which they have `most_bytes`.
    """
    query = (
        f"SELECT {_columns('entry')}, {_columns('before')}"  # noqa: S608 - names of columns, nobody's text
        " FROM log AS entry LEFT JOIN log AS before ON before.revision = entry.previous"
        " WHERE entry.resource = (SELECT id FROM resource WHERE name = :resource)"
        " AND entry.revision > :after AND entry.revision <= :until"
        " AND (:namespace IS NULL OR entry.namespace = :namespace)"
        " ORDER BY entry.revision LIMIT :limit"
    )
    arguments = {"resource": resource, "namespace": namespace, "after": after, "until": until, "limit": limit}
    events: list[Event] = []
    size = 0
    with transaction(connection):
        _refuse_compacted(connection, after)
        for row in connection.execute(query, arguments):
            if size >= most_bytes:
                return events, False
            event = _event(resource, row)
            events.append(event)
            size += len(event.record.value)
    return events, len(events) < limit


def all_events_after(connection: sqlite3.Connection, after: int) -> list[Event]:
    """Every event of every resource after a revision: what a commit that was taken for failed has written after all."""
    names = {number: name for name, number in resource_ids(connection).items()}
    query = (
        f"SELECT {_columns('entry')}, {_columns('before')}"  # noqa: S608 - names of columns, nobody's text
        " FROM log AS entry LEFT JOIN log AS before ON before.revision = entry.previous"
        " WHERE entry.revision > ? ORDER BY entry.revision"
    )
    return [_event(names[row[1]], row) for row in connection.execute(query, (after,))]


def states_before(
    connection: sqlite3.Connection, resource: str, namespace: str | None, revision: int, until: int
) -> dict[Key, Record | None]:
    """The state at `revision` of every object that changed after it and up to `until`; None if there was none."""
    query = (
        "SELECT namespace, name, previous FROM log"
        " WHERE resource = (SELECT id FROM resource WHERE name = :resource)"
        " AND revision > :revision AND revision <= :until AND (:namespace IS NULL OR namespace = :namespace)"
        " ORDER BY revision"
    )
    arguments = {"resource": resource, "namespace": namespace, "revision": revision, "until": until}
    states: dict[Key, Record | None] = {}
    with transaction(connection):
        _refuse_compacted(connection, revision)
        for row_namespace, name, previous in connection.execute(query, arguments):
            key = Key(resource, row_namespace, name)
            if key in states:
                continue  # only the first change after the revision tells what was there
            states[key] = None
            if previous:
                row = connection.execute(_ROW, (previous,)).fetchone()
                states[key] = _record(resource, row)
    return states


def _event(resource: str, row: Sequence[Json]) -> Event:
    width = len(_RECORD)
    previous = None if row[width] is None else _record(resource, row[width:])
    return Event(_EVENT_TYPES[row[4]], _record(resource, row[:width]), previous)


def _record(resource: str, row: Sequence[Json]) -> Record:
    revision, number, namespace, name, operation, created, previous, format_, value, checksum = row
    key = Key(resource, namespace, name)
    imprint = row_imprint(revision, number, namespace, name)
    if row_checksum(imprint, format_, operation, created, previous, value) != checksum:
        raise StorageUnavailableError(f"the database is damaged: {_mismatch(key, revision)}")
    return Record(key, revision, created, value)


def _mismatch(key: Key, revision: int) -> str:
    return f"{key} at revision {revision} does not match its checksum"


def _refuse_compacted(connection: sqlite3.Connection, revision: int) -> None:
    compacted = compacted_revision(connection)
    if revision < compacted:
        raise CompactedError(revision, compacted)
