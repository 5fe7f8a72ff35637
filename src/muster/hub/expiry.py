"""Events that nobody has written for an hour are deleted by the hub itself, as etcd lets them go with their lease.

`Api` runs it. Each round goes over all events in slices and deletes those whose time is over in small transactions, as
ordinary deletes that watchers see; directories full of old events are no exception. What was last written when is read
from the object: only the hub sets its creation time and the times of its managed fields.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import msgspec

from muster.api.codec import encode_split
from muster.errors import StorageError
from muster.hub.objects import decode
from muster.hub.pace import Pace
from muster.hub.storage import ConflictError, Delete

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.storage import Record, Store

EVENTS = "events"
_BATCH, _BATCH_BYTES = 50, 256 * 1024  # deleted in one transaction
_LONGEST_ROUND = 60.0
_ROUNDS = 60  # an event outlives its time by a sixtieth of it

_log = logging.getLogger(__name__)


class _Manager(msgspec.Struct, gc=False):
    time: str | None = None


class _Metadata(msgspec.Struct, gc=False):
    creationTimestamp: str | None = None  # noqa: N815 - the name in the object
    managedFields: list[_Manager] | None = None  # noqa: N815


class _Written(msgspec.Struct, gc=False):
    metadata: _Metadata


_read = msgspec.json.Decoder(_Written).decode


def last_written(value: bytes, now: str) -> str:
    """When an object was written last, as `2026-01-02T03:04:05Z`: such texts compare as the times they are.

    A writer may send managed fields along: a time that is yet to come keeps no event alive. What cannot be read stays.
    """
    try:
        metadata = _read(value).metadata
    except msgspec.MsgspecError:
        return now
    times = [each.time for each in metadata.managedFields or () if each.time is not None and each.time <= now]
    return max([metadata.creationTimestamp or "", *times])


class EventExpiry:
    """`start` it, `close` it; `sweep` is one round."""

    def __init__(self, store: Store, cleaner: NamespaceCleaner, seconds: float, clock: Callable[[], datetime]) -> None:
        """`seconds` is how long events live after their last write; 0 is for ever."""
        self._store = store
        self._cleaner = cleaner
        self._seconds = seconds
        self._clock = clock
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        if self._seconds:
            self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        problem = ""
        while True:
            try:
                await self.sweep()
                problem = ""
            except StorageError as error:  # the disk is full, say: the next round tries again
                if str(error) != problem:
                    _log.warning("old events cannot be deleted: %s", error)
                problem = str(error)
            await asyncio.sleep(min(self._seconds / _ROUNDS, _LONGEST_ROUND))

    async def sweep(self) -> int:
        """Delete every event whose time is over; how many there were."""
        now = self._clock()
        moment, oldest = _text(now), _text(now - timedelta(seconds=self._seconds))
        pace = Pace()
        count = size = 0
        batch: list[Record] = []
        for record in self._store.rows(EVENTS):
            if last_written(record.value, moment) <= oldest:
                batch.append(record)
                size += len(record.value)
                if len(batch) >= _BATCH or size >= _BATCH_BYTES:
                    count += await self._delete(batch)
                    batch, size = [], 0
            if pace.is_due():
                await pace.pause()
        return count + (await self._delete(batch) if batch else 0)

    async def _delete(self, batch: list[Record]) -> int:
        changes = [Delete(record.key, *encode_split(decode(record.value)), record.revision) for record in batch]
        try:
            await self._store.commit(changes)
        except ConflictError:
            if len(batch) == 1:
                return 0  # written meanwhile, so its time begins anew; or somebody else has deleted it
            return sum([await self._delete([record]) for record in batch])
        for record in batch:
            self._cleaner.object_removed(record.key)
        return len(batch)


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
