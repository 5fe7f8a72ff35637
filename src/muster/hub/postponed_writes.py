"""What every start wants to write, and does not have to: on a full or read-only disk it is done later, by itself.

A hub that cannot write still answers reads. `app` and `access` hand their first writes to `PostponedWrites`, which does
them at once where it can, and else says so and tries again until it can.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from typing import TYPE_CHECKING

from muster.hub.status import StatusError
from muster.hub.storage import StorageUnavailableError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    _Failure = StorageUnavailableError | StatusError | OSError

_log = logging.getLogger(__name__)
_PAUSE = 1.0  # seconds between attempts
_UNAVAILABLE = 503
#: Of OSError: the disk is full, or may not be written.
_NO_WRITING = (errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM)


class PostponedWrites:
    """`do` something now or later; `close` gives up what has not been possible."""

    def __init__(self, pause: float = _PAUSE) -> None:
        self._pause = pause
        self._tasks: dict[asyncio.Task[None], str] = {}

    async def do(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        """Do it, or go on trying while others go ahead. It may be begun more than once. `what` is for the log."""
        try:
            await work()
        except (StorageUnavailableError, StatusError, OSError) as error:
            self._postpone(what, work, error)

    def do_at_once(self, what: str, work: Callable[[], None]) -> None:
        """The same for what does not wait for anything."""

        async def awaited() -> None:
            work()

        try:
            work()
        except OSError as error:
            self._postpone(what, awaited, error)

    def _postpone(self, what: str, work: Callable[[], Awaitable[None]], error: _Failure) -> None:
        if not _is_about_writing(error):
            raise error
        _log.warning("%s cannot be written now, and will be as soon as possible: %s", what, error)
        task = asyncio.get_running_loop().create_task(self._retry(what, work))
        self._tasks[task] = what
        task.add_done_callback(self._tasks.pop)

    @property
    def waiting(self) -> tuple[str, ...]:
        """What has not been possible so far."""
        return tuple(self._tasks.values())

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _retry(self, what: str, work: Callable[[], Awaitable[None]]) -> None:
        while True:
            await asyncio.sleep(self._pause)
            try:
                await work()
            except (StorageUnavailableError, StatusError, OSError) as error:
                if not _is_about_writing(error):
                    _log.error("%s cannot be written: %s", what, error)
                    return
            else:
                _log.warning("%s could be written at last", what)
                return


def _is_about_writing(error: _Failure) -> bool:
    if isinstance(error, StatusError):
        return error.code == _UNAVAILABLE
    return not isinstance(error, OSError) or error.errno in _NO_WRITING
