"""How a batch becomes rows: in as few statements as possible.

Every statement lets the interpreter go, and the thread that writes then waits until the event loop gives it back, which
a busy loop does twice in a millisecond. Called by `writer` with what `plan` has planned.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from muster.hub.storage.database import transaction
from muster.hub.storage.schema import DELETED

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

    from muster.hub.storage.plan import LogRow

_INSERT_LOG = (
    "INSERT INTO log (revision, resource, namespace, name, operation, created, previous, value, checksum, format)"
    " VALUES {rows}"
)
# Of the writing connection alone: what a row of the log means for the living objects.
_FOLLOW_LOG = (
    f"""
    CREATE TEMP TRIGGER living AFTER INSERT ON main.log WHEN NEW.operation != {DELETED} BEGIN
        INSERT INTO current (resource, namespace, name, revision, created)
        VALUES (NEW.resource, NEW.namespace, NEW.name, NEW.revision, NEW.created)
        ON CONFLICT DO UPDATE SET revision = excluded.revision, created = excluded.created;
    END
    """,  # noqa: S608 - a number of ours
    f"""
    CREATE TEMP TRIGGER dead AFTER INSERT ON main.log WHEN NEW.operation = {DELETED} BEGIN
        DELETE FROM current WHERE resource = NEW.resource AND namespace = NEW.namespace AND name = NEW.name;
    END
    """,  # noqa: S608 - the same
)
_ROWS_AT_ONCE = 32


def follow_log(connection: sqlite3.Connection) -> None:
    """Let the table of living objects follow the log, whatever this connection adds to it."""
    for statement in _FOLLOW_LOG:
        connection.execute(statement)


def insert_rows(connection: sqlite3.Connection, resources: Sequence[tuple[int, str]], rows: Sequence[LogRow]) -> None:
    """Write a batch, all of it or nothing. A single statement is its own transaction."""
    if not resources and 0 < len(rows) <= _ROWS_AT_ONCE:
        _insert(connection, rows)
    elif resources or rows:
        with transaction(connection, "IMMEDIATE"):
            connection.executemany("INSERT INTO resource (id, name) VALUES (?, ?)", resources)
            for start in range(0, len(rows), _ROWS_AT_ONCE):
                _insert(connection, rows[start : start + _ROWS_AT_ONCE])


def _insert(connection: sqlite3.Connection, rows: Sequence[LogRow]) -> None:
    connection.execute(_insertion(len(rows), len(rows[0])), [value for row in rows for value in row])


@functools.cache
def _insertion(rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return _INSERT_LOG.format(rows=", ".join([row] * rows))
