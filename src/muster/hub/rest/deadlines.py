"""Ends what takes too long. One look per second at all of it instead of a timer for each.

`application` ends requests that are overdue. Clients that have stopped reading are a matter of `connections`.
"""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_LONGEST_LOOK = 1.0


class Guard:
    """One client, or one request. Tell it when something begins that may take long, and when it has ended."""

    __slots__ = ("_loop", "_task", "cut_off", "since")

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.since: float | None = None
        self.cut_off = False

    def begins(self) -> None:
        self.since = self._loop.time()

    def ended(self) -> None:
        self.since = None

    def stop(self) -> None:
        """End the task that is stuck."""
        self.cut_off = True
        if self._task is not None:
            self._task.cancel()

    def forgive(self) -> None:
        """Our cancellation has done its work; the task goes on with its clean-up."""
        if self._task is not None:
            self._task.uncancel()


class Stalls:
    """All that may take too long, and how long that is."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._guards: set[Guard] = set()
        self._timer: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def guarded(self) -> Iterator[Guard]:
        """Guard parts of this task. Raises TimeoutError when one of them has taken too long."""
        guard = Guard()
        self._guards.add(guard)
        if self._timer is None:
            self._schedule()
        try:
            yield guard
        except asyncio.CancelledError:
            if not guard.cut_off:
                raise
            guard.forgive()
            raise TimeoutError from None
        finally:
            self._guards.discard(guard)

    def _schedule(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(min(_LONGEST_LOOK, self._seconds / 2), self._look)

    def _look(self) -> None:
        self._timer = None
        latest = asyncio.get_running_loop().time() - self._seconds
        for guard in self._guards:
            if guard.since is not None and guard.since < latest and not guard.cut_off:
                guard.stop()
        if self._guards:
            self._schedule()
