"""The layout of the database file: its mark, its version and the steps from each version to the next.

A new file takes all steps, an older one the steps it lacks, so both end up the same. A step is never
changed once it has been released. Called by `database` only.
"""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Callable

#: "Must" in the application id of SQLite's file header: tells our files from other programs' files.
APPLICATION_ID = 0x4D757374

#: The first revision of an empty store. Not 0: a client's resourceVersion "0" means "any".
FIRST_REVISION = 1

ADDED, MODIFIED, DELETED = 1, 2, 3  # log.operation


#: How rows are written today: `log.format`. 0 is every row from before there were formats. The objects of a kind that
#: has changed are brought up to date from the format they were written in: see `muster.hub.upgrades`.
FIRST_FORMAT = 1


def row_imprint(revision: int, resource: int, namespace: str, name: str) -> int:
    """A number that stands for one state of one object. Their sum over all living objects is the store's digest."""
    return zlib.crc32(f"{revision}/{resource}/{namespace}/{name}".encode())


def row_checksum(imprint: int, format_: int, operation: int, created: int, previous: int, value: bytes) -> int:
    """What a row of the log must add up to. SQLite checks its structure, not the bytes of a value."""
    if format_ < FIRST_FORMAT:  # then only key, revision and value were covered
        return zlib.crc32(value, imprint)
    return zlib.crc32(value, zlib.crc32(b"%d/%d/%d/%d" % (format_, operation, created, previous), imprint))


def _create_log(connection: sqlite3.Connection) -> None:
    """Version 1: the log of all changes, and for each living object the revision that holds it."""
    connection.execute("CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID")
    connection.execute("INSERT INTO meta VALUES ('compacted', 0)")
    connection.execute("CREATE TABLE resource (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)")
    connection.execute(
        "CREATE TABLE log (revision INTEGER PRIMARY KEY, resource INTEGER NOT NULL, namespace TEXT NOT NULL,"
        " name TEXT NOT NULL, operation INTEGER NOT NULL, created INTEGER NOT NULL, previous INTEGER NOT NULL,"
        " value BLOB NOT NULL)"
    )
    # An index entry ends with the row's revision, so this one answers "what changed here after N" in order.
    connection.execute("CREATE INDEX log_resource ON log (resource)")
    connection.execute(
        "CREATE TABLE current (resource INTEGER NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,"
        " revision INTEGER NOT NULL, created INTEGER NOT NULL, PRIMARY KEY (resource, namespace, name)) WITHOUT ROWID"
    )


def _add_checksums(connection: sqlite3.Connection) -> None:
    """Version 2: every row of the log carries a checksum, so that a damaged value is found and not served."""
    connection.execute("ALTER TABLE log ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0")
    connection.create_function("row_checksum", 5, _first_checksum, deterministic=True)
    connection.execute("UPDATE log SET checksum = row_checksum(revision, resource, namespace, name, value)")
    connection.create_function("row_checksum", 5, None)


def _first_checksum(revision: int, resource: int, namespace: str, name: str, value: bytes) -> int:
    return row_checksum(row_imprint(revision, resource, namespace, name), 0, 0, 0, 0, value)


def _add_formats(connection: sqlite3.Connection) -> None:
    """Version 3: every row of the log says in which format it was written. Rows that are there stay as they are."""
    connection.execute("ALTER TABLE log ADD COLUMN format INTEGER NOT NULL DEFAULT 0")


MIGRATIONS: tuple[Callable[[sqlite3.Connection], None], ...] = (_create_log, _add_checksums, _add_formats)
SCHEMA_VERSION = len(MIGRATIONS)


def migrate(connection: sqlite3.Connection, version: int) -> None:
    """Bring a file from `version` (0: empty) to SCHEMA_VERSION, whole or not at all."""
    connection.execute("BEGIN EXCLUSIVE")
    try:
        for step in MIGRATIONS[version:]:
            step(connection)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
