"""From the event loop to the writer's thread: commits go together, as the loop's turn has brought them.

One by one the writer would wake up for the first and fight with the loop for the interpreter, batch by batch. Writes
that can wait go less often still. Called by `store`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.hub.storage.errors import StorageUnavailableError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, Sequence

    from muster.hub.storage.plan import Commit


class Handover:
    """Commits that are on their way to the writer. Used by one loop at a time."""

    def __init__(self, submit: Callable[[Sequence[Commit]], None]) -> None:
        self._submit = submit
        self._waiting: list[Commit] = []
        self._due: asyncio.Handle | None = None  # what will take them there
        self._is_soon = False  # whether it will in the loop's next turn; its class does not say so on every loop
        self._last = 0.0  # when that happened last, on the loop's clock

    def add(self, commit: Commit, loop: asyncio.AbstractEventLoop, gathers: float = 0.0) -> None:
        """Have it taken to the writer in the loop's next turn; with `gathers`, not so soon after the last one."""
        if self._waiting and self._waiting[-1].loop is not loop:
            self._due = None  # of a loop that has ended: nothing is due any more
        self._waiting.append(commit)
        if self._due is not None and (gathers or self._is_soon):
            return
        if gathers:
            earliest, now = self._last + gathers, loop.time()
            if now < earliest <= now + gathers:  # otherwise that was on the clock of another loop
                self._due, self._is_soon = loop.call_at(earliest, self.take_all), False
                return
        if self._due is not None:
            self._due.cancel()
        self._due, self._is_soon = loop.call_soon(self.take_all), True

    def take_all(self) -> None:
        """Take to the writer what there is."""
        commits, self._waiting, self._due = self._waiting, [], None
        if not commits:
            return
        loop = commits[-1].loop
        if loop is not None:
            self._last = loop.time()
        try:
            self._submit(commits)
        except StorageUnavailableError as error:
            for commit in commits:
                if commit.future is not None and not commit.future.done():
                    commit.future.set_exception(error)
