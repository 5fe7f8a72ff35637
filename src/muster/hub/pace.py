"""Long work on the event loop in short slices, so that nobody else waits for it.

Lists, watches, deletions and expiry go over whole collections; each asks its `Pace` between two objects. However many
do so at once, one slice is worked on per turn of the loop: between two slices everybody else is served.
"""

from __future__ import annotations

import asyncio
import time
import weakref
from collections import deque

SLICE = 0.004  # seconds; what one piece of work may keep the loop for


class Pace:
    """`if pace.is_due(): await pace.pause()`, as often as one likes: a look costs a tenth of a microsecond."""

    __slots__ = ("_due",)

    def __init__(self) -> None:
        self._due = time.perf_counter() + SLICE

    def is_due(self) -> bool:
        return time.perf_counter() >= self._due

    async def pause(self) -> None:
        """Let everybody else have a turn."""
        await turn()
        self._due = time.perf_counter() + SLICE


async def turn() -> None:
    """Wait until it is our turn among all who have long work to do."""
    loop = asyncio.get_running_loop()
    turns = _TURNS.get(loop)
    if turns is None:
        turns = _TURNS[loop] = _Turns()
    await turns.next(loop)


class _Turns:
    """Those who wait on one loop, in order."""

    def __init__(self) -> None:
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._stepping = False

    async def next(self, loop: asyncio.AbstractEventLoop) -> None:
        ours: asyncio.Future[None] = loop.create_future()
        self._waiting.append(ours)
        if not self._stepping:
            self._stepping = True
            loop.call_soon(self._step, loop)
        await ours

    def _step(self, loop: asyncio.AbstractEventLoop) -> None:
        """One of them goes on; the next one a turn of the loop later."""
        while self._waiting:
            ours = self._waiting.popleft()
            if not ours.done():  # else it has been cancelled
                ours.set_result(None)
                break
        self._stepping = bool(self._waiting)
        if self._stepping:
            loop.call_soon(self._step, loop)


_TURNS: weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Turns] = weakref.WeakKeyDictionary()
