"""A store that is nowhere but in memory, for a hub that is made for one question and thrown away.

It commits by the rules of `plan`, at once and without threads, files or a log: making one costs nothing. Plans are
tried on it, several in a second and on the loop that serves everybody.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

from muster.hub.storage.errors import ConflictError, GuardFailedError
from muster.hub.storage.plan import Commit, Planned, covers
from muster.hub.storage.records import Delete, EventType, Key, Record, Unmatched
from muster.hub.storage.settings import DEFAULT_SETTINGS
from muster.hub.storage.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.hub.storage.records import Change, Guard

_FIRST: Final = 1  # the revision of a new file


class ScratchStore(Store):
    """What `Store` is to whoever reads the present and writes. Its past is what is in memory."""

    def __init__(self) -> None:  # the other one opens files
        self._settings = DEFAULT_SETTINGS
        self._closed = False
        self._objects: dict[Key, Record] = {}
        self._collections = {}
        self._changed: dict[Key, int] = {}  # the last revision of everything that ever was
        self._loaded_revision = self.revision = _FIRST

    @property
    def problem(self) -> str | None:
        return None

    @property
    def compacted(self) -> int:
        return _FIRST

    async def commit(
        self,
        changes: Sequence[Change],
        guards: Sequence[Guard] = (),
        *,
        gathers: float = 0.0,  # noqa: ARG002 - there is no disk to wait for
    ) -> list[Record]:
        """Write all changes or none, at once."""
        for guard in guards:
            if not self._holds(guard):
                raise GuardFailedError(guard)
        future: asyncio.Future[list[Record]] = asyncio.get_running_loop().create_future()
        commit = Commit(changes, guards, asyncio.get_running_loop(), future)
        commit.outcome = self._planned(changes)
        self._changed.update({each.record.key: each.record.revision for each in commit.outcome})
        self._publish([commit])
        return await future

    async def close(self) -> None:
        self._closed = True

    def _planned(self, changes: Sequence[Change]) -> list[Planned]:
        heads: dict[Key, Record | None] = {}
        planned: list[Planned] = []
        revision = self.revision
        for change in changes:
            key = change.key
            current = heads[key] if key in heads else self._objects.get(key)
            at = 0 if current is None else current.revision
            if (change.expected is not None and change.expected != at) or (isinstance(change, Delete) and not at):
                raise ConflictError(key, self._objects.get(key))
            revision += 1
            created = revision if current is None else current.created_revision
            record = Record(key, revision, created, b"%b%d%b" % (change.head, revision, change.tail))
            if isinstance(change, Delete):
                kind, heads[key] = EventType.DELETED, None
            else:
                kind, heads[key] = EventType.MODIFIED if at else EventType.ADDED, record
            planned.append(Planned(kind, record))
        return planned

    def _holds(self, guard: Guard) -> bool:
        if isinstance(guard, Unmatched):
            written = (each for each in self.scan(guard.resource) if each.revision > guard.revision)
            return not any(guard.matches(each.key, each.value) for each in written)
        return not any(revision > guard.revision and covers(guard, key) for key, revision in self._changed.items())
