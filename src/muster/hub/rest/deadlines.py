"""Ends what takes too long. One look per second at all of it instead of a timer for each.

`application` ends requests that are overdue. Clients that have stopped reading are a matter of `connections`.
"""

from __future__ import annotations

import asyncio
from typing import Self

_LONGEST_LOOK = 1.0


class Deadline:
    """One client, or one request. Tell it when something begins that may take long, and when it has ended."""

    __slots__ = ("_among", "_loop", "_task", "cut_off", "since")

    def __init__(self, among: set[Deadline]) -> None:
        self._among = among
        self._loop = asyncio.get_running_loop()
        self._task = asyncio.current_task()
        self.since: float | None = None
        self.cut_off = False

    def __enter__(self) -> Self:
        self._among.add(self)
        return self

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        self._among.discard(self)
        if self.cut_off and isinstance(error, asyncio.CancelledError):
            self.forgive()
            raise TimeoutError from None

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

    def enforced(self) -> Deadline:
        """A deadline for parts of this task, to be entered. Raises TimeoutError when one of them has taken too long."""
        if self._timer is None:
            self._schedule()
        return Deadline(self._deadlines)

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
