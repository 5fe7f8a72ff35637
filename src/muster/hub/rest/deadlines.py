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


class Deadline:
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


class Deadlines:
    """All that may take too long, and how long that is."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._deadlines: set[Deadline] = set()
        self._timer: asyncio.TimerHandle | None = None

    @contextlib.contextmanager
    def enforced(self) -> Iterator[Deadline]:
        """A deadline for parts of this task. Raises TimeoutError when one of them has taken too long."""
        deadline = Deadline()
        self._deadlines.add(deadline)
        if self._timer is None:
            self._schedule()
        try:
            yield deadline
        except asyncio.CancelledError:
            if not deadline.cut_off:
                raise
            deadline.forgive()
            raise TimeoutError from None
        finally:
            self._deadlines.discard(deadline)

    def _schedule(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(min(_LONGEST_LOOK, self._seconds / 2), self._look)

    def _look(self) -> None:
        self._timer = None
        latest = asyncio.get_running_loop().time() - self._seconds
        for deadline in self._deadlines:
            if deadline.since is not None and deadline.since < latest and not deadline.cut_off:
                deadline.stop()
        if self._deadlines:
            self._schedule()
