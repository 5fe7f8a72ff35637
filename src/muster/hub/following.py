"""Following the objects of one kind within the hub's own process: each is looked at as it exists, and as it changes.

Used by what keeps a promise about every object of a kind: the signer of certificates, the accounts of namespaces. The
work is done one object after the other, beside requests, and begins anew after whatever went wrong.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from typing import TYPE_CHECKING

from muster.errors import StorageError
from muster.hub.pace import Pace
from muster.hub.status import StatusError
from muster.hub.storage import EventType

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muster.hub.storage import Key, Record, Store, Watch

_log = logging.getLogger(__name__)
_PAUSE = 1.0  # seconds before everything is looked at again after a failure


class Follower:
    """`start` it, `close` it. `look` may be called more than once for the same state, and may raise StatusError."""

    def __init__(
        self,
        store: Store,
        resource: str,
        look: Callable[[Record], Awaitable[None]],
        what: str,
        gone: Callable[[Key], Awaitable[None]] | None = None,
    ) -> None:
        """`what` is what cannot be done when it fails, for the log; `gone` is called for an object that was deleted."""
        self._store = store
        self._resource = resource
        self._look = look
        self._what = what
        self._gone = gone
        self._watch: Watch | None = None
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._task = asyncio.get_running_loop().create_task(self._run())

    async def close(self) -> None:
        if self._watch is not None:
            self._watch.close()
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    async def _run(self) -> None:
        problem = ""
        while True:
            try:
                await self._follow()
            except (StorageError, StatusError) as error:  # too slow for the events, or the disk is full: once more
                if str(error) != problem:
                    _log.warning("%s: %s", self._what, error)
                problem = str(error)
                await asyncio.sleep(_PAUSE)
            else:
                return  # the store has been closed

    async def _follow(self) -> None:
        watch = self._watch = self._store.watch(self._resource, None, self._store.revision)
        try:
            pace = Pace()
            for record in self._store.rows(self._resource):
                await self._look(record)
                if pace.is_due():
                    await pace.pause()
            async for event in watch:
                if event.type is not EventType.DELETED:
                    await self._look(event.record)
                elif self._gone is not None:
                    await self._gone(event.record.key)
        finally:
            watch.close()
