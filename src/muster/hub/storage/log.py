"""Reading the log: current objects at start, events after a revision, and what a past revision looked like.

All functions take a connection and are synchronous; `readers` runs them off the event loop. Each reads in
one transaction, so that what it sees belongs together. Nothing here writes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.storage.database import DamageError, transaction
from muster.hub.storage.errors import CompactedError, StorageUnavailableError
from muster.hub.storage.records import Event, EventType, Key, Record
from muster.hub.storage.schema import ADDED, DELETED, FIRST_REVISION, MODIFIED, row_checksum

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterator, Mapping

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


def resource_ids(connection: sqlite3.Connection) -> dict[str, int]:
    """Resources have numbers in the log."""
    return {str(name): int(number) for name, number in connection.execute("SELECT name, id FROM resource")}


def current_records(connection: sqlite3.Connection) -> Iterator[Record]:
    """Every living object, in the order of the log so that the file is read from front to back."""
    names = {number: name for name, number in resource_ids(connection).items()}
    rows = connection.execute(
        "SELECT log.resource, log.namespace, log.name, log.revision, log.created, log.value, log.checksum"
        # LIMIT -1 is no limit, but keeps SQLite from dropping the order as if it were of no use.
        " FROM (SELECT * FROM current ORDER BY revision LIMIT -1) AS living"
        " CROSS JOIN log USING (revision, resource, namespace, name, created) WHERE log.operation != ?",
        (DELETED,),
    )
    namespaces: dict[str, str] = {}  # one string per namespace, not one per object
    count = 0
    for number, namespace, name, revision, created, value, checksum in rows:
        key = Key(names[number], namespaces.setdefault(namespace, namespace), name)
        if row_checksum(revision, number, namespace, name, value) != checksum:
            raise DamageError(_mismatch(key, revision))
        count += 1
        yield Record(key, revision, created, value)
    missing = connection.execute("SELECT COUNT(*) FROM current").fetchone()[0] - count
    if missing:
        raise DamageError(f"the log lacks {missing} objects")


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
        "SELECT entry.operation, entry.namespace, entry.name, entry.created, entry.resource,"
        " entry.revision, entry.value, entry.checksum, before.revision, before.value, before.checksum"
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
            operation, row_namespace, name, created, number = row[:5]
            key = Key(resource, row_namespace, name)
            record = _record(key, number, created, *row[5:8])
            previous = None if row[8] is None else _record(key, number, created, *row[8:11])
            events.append(Event(_EVENT_TYPES[operation], record, previous))
            size += len(record.value)
    return events, len(events) < limit


def states_before(
    connection: sqlite3.Connection, resource: str, namespace: str | None, revision: int, until: int
) -> dict[Key, Record | None]:
    """The state at `revision` of every object that changed after it and up to `until`; None if there was none."""
    query = (
        "SELECT namespace, name, created, resource, previous FROM log"
        " WHERE resource = (SELECT id FROM resource WHERE name = :resource)"
        " AND revision > :revision AND revision <= :until AND (:namespace IS NULL OR namespace = :namespace)"
        " ORDER BY revision"
    )
    arguments = {"resource": resource, "namespace": namespace, "revision": revision, "until": until}
    states: dict[Key, Record | None] = {}
    with transaction(connection):
        _refuse_compacted(connection, revision)
        for row_namespace, name, created, number, previous in connection.execute(query, arguments):
            key = Key(resource, row_namespace, name)
            if key in states:
                continue  # only the first change after the revision tells what was there
            states[key] = None
            if previous:
                row = connection.execute(
                    "SELECT revision, value, checksum FROM log WHERE revision = ?", (previous,)
                ).fetchone()
                states[key] = _record(key, number, created, *row)
    return states


def _record(key: Key, number: int, created: int, revision: int, value: bytes, checksum: int) -> Record:
    if row_checksum(revision, number, key.namespace, key.name, value) != checksum:
        raise StorageUnavailableError(f"the database is damaged: {_mismatch(key, revision)}")
    return Record(key, revision, created, value)


def _mismatch(key: Key, revision: int) -> str:
    return f"{key} at revision {revision} does not match its checksum"


def _refuse_compacted(connection: sqlite3.Connection, revision: int) -> None:
    compacted = compacted_revision(connection)
    if revision < compacted:
        raise CompactedError(revision, compacted)
