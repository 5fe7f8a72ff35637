"""Planning a batch of commits: who may write, and which revision each change gets.

Called by the writer within its transaction. Plans see the commits before them in the batch as if they were
already written, because either all of the batch is written or none of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.hub.storage import log
from muster.hub.storage.records import Change, Event, EventType, Guard, Key, Put, Record, Unchanged, Unmatched
from muster.hub.storage.schema import ADDED, DELETED, MODIFIED, row_checksum, row_imprint

if TYPE_CHECKING:
    import asyncio
    import sqlite3
    from collections.abc import Callable, Mapping, Sequence


class Refused(msgspec.Struct, frozen=True):
    """A commit that was not written: the key in conflict or the guard that failed."""

    cause: Key | Guard


class Planned(msgspec.Struct, frozen=True):
    """A change with its revision. The event's previous state is filled in by who publishes it."""

    type: EventType
    record: Record


class Commit:
    """A commit on its way: what is asked, and what became of it. Nobody may be waiting for it (see `found`)."""

    __slots__ = ("changes", "future", "guards", "loop", "outcome", "size")

    def __init__(
        self,
        changes: Sequence[Change],
        guards: Sequence[Guard],
        loop: asyncio.AbstractEventLoop | None,
        future: asyncio.Future[list[Record]] | None,
    ) -> None:
        self.changes = changes
        self.guards = guards
        self.loop = loop
        self.future = future
        self.size = 0
        for change in changes:
            self.size += len(change.head) + len(change.tail)
        self.outcome: list[Planned] | Refused | Exception = []


def found(events: Sequence[Event]) -> Commit:
    """What has turned out to be on disk though it had been taken for failed: it is published, nobody waits for it."""
    commit = Commit((), (), None, None)
    commit.outcome = [Planned(event.type, event.record) for event in events]
    return commit


# Revision, resource, namespace, name, operation, created revision, previous revision, value, checksum, format.
LogRow = tuple[int, int, str, str, int, int, int, bytes, int, int]

_ABSENT = (0, 0)  # revision and created revision of what does not exist


class Heads:
    """Revision and created revision of every object, as the last commit leaves them, without a look at the file.

    Every statement of SQLite lets go of the interpreter and then waits for the event loop to give it back, so that
    looking them up one by one took longer than writing. `published` has what everybody can see, at `revision`; what has
    been committed since then, and is on its way there, is kept here.
    """

    def __init__(self, published: Callable[[Key], Record | None], revision: Callable[[], int]) -> None:
        self._published = published
        self._revision = revision
        self._ahead: dict[Key, tuple[int, tuple[int, int]]] = {}  # with the revision at which each was touched

    def of(self, key: Key) -> tuple[int, int]:
        ahead = self._ahead.get(key)
        if ahead is not None:
            return ahead[1]
        record = self._published(key)
        return _ABSENT if record is None else (record.revision, record.created_revision)

    def advance(self, heads: Mapping[Key, tuple[int, int]], touched: Mapping[Key, int]) -> None:
        """These have been committed. Objects become visible before their revision does, so what is behind it may go."""
        visible = self._revision()
        self._ahead = {key: ahead for key, ahead in self._ahead.items() if ahead[0] > visible}
        for key, head in heads.items():
            self._ahead[key] = (touched[key], head)

    def found(self, events: Sequence[Event]) -> None:
        """These have turned out to be on disk."""
        heads: dict[Key, tuple[int, int]] = {}
        for event in events:
            record = event.record
            gone = event.type is EventType.DELETED
            heads[record.key] = _ABSENT if gone else (record.revision, record.created_revision)
        self.advance(heads, {event.record.key: event.record.revision for event in events})


class Batch:
    """The commits of one transaction."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        revision: int,
        heads: Heads,
        last_changes: Mapping[str, int],
        resources: dict[str, int],
        format_: int,
    ) -> None:
        self._connection = connection
        self._before = heads
        self._format = format_
        self._last_changes = last_changes
        self._resources = resources
        self._heads: dict[Key, tuple[int, int]] = {}  # what this batch makes of the objects it touches
        self._touched: dict[Key, int] = {}  # and at which revision it touched them last
        self._latest: dict[str, int] = {}  # and each resource
        self.revision = revision
        self.size = 0
        #: By how much the number of living objects and the sum of their imprints change.
        self.objects = 0
        self.digest = 0
        self.log_rows: list[LogRow] = []
        self.new_resources: list[tuple[int, str]] = []

    def plan(self, commit: Commit) -> list[Planned] | Refused:
        """All changes of a commit, or why it must not be written."""
        for guard in commit.guards:
            if not self._holds(guard):
                return Refused(guard)
        changes = commit.changes
        if len(changes) == 1:  # as nearly always
            change = changes[0]
            current, created = self._head(change.key)
            if not _may_be(change, current):
                return Refused(change.key)
            planned = [self._planned(change, current, created)]
        else:
            refused = self._refused(changes)
            if refused is not None:
                return Refused(refused)
            planned = self._all_planned(changes)
        self.size += commit.size
        return planned

    def _refused(self, changes: Sequence[Change]) -> Key | None:
        """What stands in the way of several changes, each of which finds what those before it have made."""
        heads: dict[Key, int] = {}
        for revision, change in enumerate(changes, self.revision + 1):
            current = heads.get(change.key)
            if not _may_be(change, self._head(change.key)[0] if current is None else current):
                return change.key
            heads[change.key] = revision if isinstance(change, Put) else 0
        return None

    def _all_planned(self, changes: Sequence[Change]) -> list[Planned]:
        """Several changes, all of them or none."""
        numbers = self.revision, self.objects, self.digest
        known = dict(self._heads), dict(self._touched), dict(self._latest)
        rows = len(self.log_rows)
        try:
            return [self._planned(change, *self._head(change.key)) for change in changes]
        except BaseException:
            self.revision, self.objects, self.digest = numbers
            self._heads, self._touched, self._latest = known
            del self.log_rows[rows:]
            raise

    def _planned(self, change: Change, current: int, created: int) -> Planned:
        """A change that nothing stands in the way of gets its revision and its row. All of that or nothing."""
        key, revision = change.key, self.revision + 1
        resource, namespace, name = key
        value = b"%b%d%b" % (change.head, revision, change.tail)
        number = self._resources.get(resource) or self._new_number(resource)
        imprint = row_imprint(revision, number, namespace, name)
        objects, digest = (-1, -row_imprint(current, number, namespace, name)) if current else (0, 0)
        if isinstance(change, Put):
            operation, kind = (MODIFIED, EventType.MODIFIED) if current else (ADDED, EventType.ADDED)
            created = created or revision
            head = (revision, created)
            objects, digest = objects + 1, digest + imprint
        else:
            operation, kind, head = DELETED, EventType.DELETED, _ABSENT
        checksum = row_checksum(imprint, self._format, operation, created, current, value)
        planned = Planned(kind, Record(key, revision, created, value))

        self.revision = revision
        self.objects += objects
        self.digest += digest
        self.log_rows.append(
            (revision, number, namespace, name, operation, created, current, value, checksum, self._format)
        )
        self._heads[key] = head
        self._touched[key] = self._latest[resource] = revision
        return planned

    def committed(self) -> None:
        """It is on disk: whoever is planned next has to reckon with it."""
        self._before.advance(self._heads, self._touched)

    def changes_of_resources(self) -> Mapping[str, int]:
        """The last revision of each resource that the batch touches."""
        return self._latest

    def _head(self, key: Key) -> tuple[int, int]:
        """Revision and created revision of an object as the commits before this one leave it."""
        return self._heads.get(key) or self._before.of(key)

    def _new_number(self, resource: str) -> int:
        number = self._resources[resource] = len(self._resources) + 1  # resources are never removed
        self.new_resources.append((number, resource))
        return number

    def _holds(self, guard: Guard) -> bool:
        """Whether what the guard says is so. In doubt it is not."""
        return self._unmatched(guard) if isinstance(guard, Unmatched) else self._unchanged(guard)

    def _unmatched(self, guard: Unmatched) -> bool:
        """Whether nothing that was written after the guard's revision matches."""
        number = self._resources.get(guard.resource)
        for revision, resource, namespace, name, operation, _, _, value, _, _ in self.log_rows:
            if resource != number or revision <= guard.revision or operation == DELETED:
                continue
            if guard.matches(Key(guard.resource, namespace, name), value):
                return False
        if self._last_changes.get(guard.resource, 0) <= guard.revision:
            return True
        if guard.revision < log.compacted_revision(self._connection):
            return False  # what was written then may have left no trace
        rows = self._connection.execute(
            "SELECT namespace, name, value FROM log WHERE resource = ? AND revision > ? AND operation != ?",
            (number, guard.revision, DELETED),
        )
        return not any(guard.matches(Key(guard.resource, *place), value) for *place, value in rows)

    def _unchanged(self, guard: Unchanged) -> bool:
        """Whether nothing in the guard's scope changed after its revision."""
        if guard.resource in self._latest and self._is_touched(guard):
            return False
        if self._last_changes.get(guard.resource, 0) <= guard.revision:
            return True
        if guard.namespace is None:
            return False
        if guard.name is not None:
            revision, _ = self._head(Key(guard.resource, guard.namespace, guard.name))
            if revision:
                return revision <= guard.revision
        if guard.revision < log.compacted_revision(self._connection):
            return False  # a deletion would have left no trace
        found = self._connection.execute(
            "SELECT 1 FROM log WHERE resource = :resource AND revision > :revision AND namespace = :namespace"
            " AND (:name IS NULL OR name = :name) LIMIT 1",
            {
                "resource": self._resources.get(guard.resource),
                "revision": guard.revision,
                "namespace": guard.namespace,
                "name": guard.name,
            },
        ).fetchone()
        return found is None

    def _is_touched(self, guard: Unchanged) -> bool:
        """Whether the batch itself changes what the guard is about. A create brings a dozen guards, nearly all of them
        about one object."""
        if guard.namespace is not None and guard.name is not None:
            return self._touched.get(Key(guard.resource, guard.namespace, guard.name), 0) > guard.revision
        return any(revision > guard.revision and covers(guard, key) for key, revision in self._touched.items())


def _may_be(change: Change, current: int) -> bool:
    """Whether the object is in the state that the change expects; 0 is none."""
    if change.expected is not None and change.expected != current:
        return False
    return bool(current) or isinstance(change, Put)


def covers(guard: Unchanged, key: Key) -> bool:
    """Whether an object is what the guard is about."""
    return (
        guard.resource == key.resource and guard.namespace in (None, key.namespace) and guard.name in (None, key.name)
    )
