"""The time that questions may have of a loop that has better to do, and whose turn it is.

All questions together have half of the time, in slices, and all of it while nobody else wants any: whoever decides
waits for one slice at most. A slice later the next asker is served, so that a slow question delays nobody else's by
more than its share; of one asker's own, one is answered after the other. Expressions that may take long on a single
object, which no slice can cut, are evaluated in a thread: Python changes threads every few milliseconds. What nobody
waits for any more is not worked on: cancelling whoever waits ends it.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Generator
from functools import partial
from typing import TYPE_CHECKING, Final, TypeAlias, TypeVar, cast

from muster.controllers.questions.kinds import Refusal

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

T = TypeVar("T")
Work: TypeAlias = Generator[bool | None, None, T]
"""Pauses wherever it yields."""
SLICE: Final = 0.01  # seconds
ALONE: Final = 0.1  # of a slice where nobody else has work, and only the time has to be watched
_ROUNDS: Final = 3  # of the loop, after which whoever has work has begun with it
_IDLE: Final = 0.001  # seconds that they take when nobody has
MOST_WAITING: Final = 32  # questions of one asker
MOST_ASKERS: Final = 256
_TOO_MANY: Final = 429
_BUSY: Final = 503


class Share:
    """Half of the time of a loop."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter, most: float = SLICE) -> None:
        self._clock = clock
        self._most = most  # seconds of a slice
        self._slice = asyncio.Lock()  # who waits longest has the next one
        self._thread = asyncio.Lock()  # one at a time beside the loop
        self._free_at = 0.0
        self._turns: dict[str, _Turns] = {}

    @contextlib.asynccontextmanager
    async def turn(self, asker: str) -> AsyncIterator[None]:
        """Around a question. Raises Refusal when this asker, or all together, have too many that wait."""
        turns = self._turns.get(asker)
        if turns is None:
            if len(self._turns) >= MOST_ASKERS:
                raise Refusal(_BUSY, f"questions of {MOST_ASKERS} others are waiting; try again in a moment")
            turns = self._turns[asker] = _Turns()
        if turns.wanted >= MOST_WAITING:
            raise Refusal(_TOO_MANY, f"{MOST_WAITING} of your questions are waiting; try again in a moment")
        turns.wanted += 1
        try:
            async with turns.lock:
                yield
        finally:
            turns.wanted -= 1
            if not turns.wanted:
                del self._turns[asker]

    async def done(self, work: Work[T]) -> T:
        """The result of work that pauses now and then. Where it yields true, its next step is done beside the loop."""
        beside, ended, result = False, False, None
        try:
            while not ended:
                if beside:
                    async with self._thread:
                        beside, ended, result = await _apart(partial(self._slice_of, work, beside=True))
                else:
                    async with self._slice:
                        await self._others_turn()
                        started = self._clock()
                        beside, ended, result = self._slice_of(work, beside=False)
                        now = self._clock()
                        self._free_at = now + (now - started)
        finally:
            work.close()
        return cast("T", result)

    async def beside(self, work: Callable[[], T]) -> T:
        """The result of work that cannot pause, such as compiling: in a thread, one at a time."""
        async with self._thread:
            return await _apart(work)

    def _slice_of(self, work: Work[T], *, beside: bool) -> tuple[bool, bool, T | None]:
        """Work until the slice is over or the next step belongs elsewhere: where to go on, whether it is done, and
        what came of it."""
        started = self._clock()
        try:
            while self._clock() - started < self._most:
                if bool(next(work)) is not beside:
                    return not beside, False, None
        except StopIteration as ended:
            return beside, True, ended.value
        return beside, False, None

    async def _others_turn(self) -> None:
        """Let others work as long as the last slice took, if there is work for them."""
        began = self._clock()
        if began >= self._free_at:
            return
        for _ in range(_ROUNDS):
            await asyncio.sleep(0)
        now = self._clock()
        if now - began > _IDLE and now < self._free_at:
            await asyncio.sleep(self._free_at - now)


async def _apart(work: Callable[[], T]) -> T:
    """Done in a thread. Who is cancelled meanwhile waits for the end of the slice: nobody else may go on with it."""
    task = asyncio.ensure_future(asyncio.to_thread(work))
    try:
        return await asyncio.shield(task)
    except asyncio.CancelledError:
        await asyncio.wait((task,))
        raise


class _Turns:
    """The turns of one asker: whose it is, and how many want one."""

    __slots__ = ("lock", "wanted")

    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.wanted = 0
