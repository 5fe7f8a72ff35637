"""The work queue: keys, each at most once, some later, some again after a failure with growing pauses.

Work that takes long is put off: it is done a bit at a time, one key at a time, when nothing else waits; when the long
part of a key is done, the next one follows. Of many workers that wait, each key wakes one.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from collections import deque
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Key = TypeVar("Key", bound="Hashable")
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 30.0
_LATE = 0.001  # seconds: a clock that rings a moment too early rings again and again


class WorkQueue(Generic[Key]):
    """Keys to work on. A key that is added while it is worked on comes again afterwards."""

    def __init__(self) -> None:
        self._waiting: dict[Key, float] = {}  # since when, in the order of arrival
        self._working: set[Key] = set()
        self._again: set[Key] = set()
        self._long: dict[Key, None] = {}  # unfinished, in the order of their turns
        self._unfinished: set[Key] = set()  # worked on now, and to be put off
        self._long_key: Key | None = None  # the one of them that is worked on
        self._later: list[tuple[float, int, Key]] = []
        self._due: dict[Key, float] = {}
        self._failures: dict[Key, int] = {}
        self._number = 0
        self._waiters: deque[asyncio.Future[None]] = deque()  # workers without work
        self._alarm: tuple[float, asyncio.TimerHandle] | None = None  # for the next key that is due, while workers wait

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def has_work(self) -> bool:
        """Whether some keys wait for their turn, long ones among them."""
        return bool(self._waiting or self._long)

    @property
    def idle(self) -> bool:
        """Nothing to do now, and nothing being done."""
        return not self._waiting and not self._working and not self._long

    @property
    def settled(self) -> bool:
        """Idle, and nothing is to come by itself."""
        return self.idle and not self._due

    def add(self, key: Key) -> None:
        if key in self._working:
            self._again.add(key)
        elif key not in self._waiting and key not in self._long:
            self._waiting[key] = time.monotonic()
            self._wake_one()

    @property
    def waited(self) -> float:
        """Seconds that the oldest key has waited for its turn. What is due later does not wait yet."""
        return time.monotonic() - next(iter(self._waiting.values())) if self._waiting else 0.0

    def add_after(self, key: Key, seconds: float) -> None:
        """Add it later; if it is to come sooner anyway, that stands."""
        if seconds <= 0:
            self.add(key)
            return
        when = asyncio.get_running_loop().time() + seconds
        if self._due.get(key, float("inf")) <= when:
            return
        self._due[key] = when
        self._number += 1
        heapq.heappush(self._later, (when, self._number, key))
        self._set_alarm()

    def put_off(self, key: Key) -> None:
        """The key that is worked on is not finished: it goes on when nothing else waits."""
        self._unfinished.add(key)

    def let_next(self, key: Key) -> None:
        """What takes long of the key that is worked on is done. The rest waits for others, as a server: meanwhile the
        next long one has its turn."""
        if key == self._long_key:
            self._long_key = None
            self._wake_one()

    def add_failed(self, key: Key) -> None:
        """Add it again after a pause that doubles with every failure in a row."""
        failures = self._failures.get(key, 0)
        self._failures[key] = failures + 1
        self.add_after(key, min(_FIRST_PAUSE * 2**failures, _LONGEST_PAUSE))

    def forget(self, key: Key) -> None:
        """It went well: the next failure is the first."""
        self._failures.pop(key, None)

    async def get(self) -> Key:
        """The next key; call `done` with it afterwards."""
        while True:
            self._move_due()
            if self._waiting:
                key = next(iter(self._waiting))
                del self._waiting[key]
                self._working.add(key)
                return key
            if self._long and self._long_key is None:
                key = self._long_key = next(iter(self._long))
                del self._long[key]
                self._working.add(key)
                return key
            await self._woken()

    async def _woken(self) -> None:
        """Until there may be work for one more."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        self._set_alarm()
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self._wake_one()  # it was meant for whoever is left
            raise
        finally:
            if waiter in self._waiters:
                self._waiters.remove(waiter)

    def _wake_one(self) -> None:
        while self._waiters:
            waiter = self._waiters.popleft()
            if not waiter.done():
                waiter.set_result(None)
                return

    def _set_alarm(self) -> None:
        """For the key that is due next. Where nobody waits, whoever comes looks at the clock."""
        if not self._waiters or not self._later:
            return
        when = self._later[0][0]
        if self._alarm is not None:
            if self._alarm[0] <= when:
                return
            self._alarm[1].cancel()
        self._alarm = (when, asyncio.get_running_loop().call_at(when + _LATE, self._ring))

    def _ring(self) -> None:
        self._alarm = None
        self._move_due()
        self._set_alarm()

    def done(self, key: Key) -> None:
        self._working.discard(key)
        if key == self._long_key:
            self._long_key = None
        if key in self._unfinished:
            self._unfinished.discard(key)
            self._again.discard(key)
            self._long[key] = None
            self._wake_one()
        elif self._long:
            self._wake_one()
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _move_due(self) -> None:
        """Put what is due among the waiting."""
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            when, _, key = heapq.heappop(self._later)
            if self._due.get(key) == when:
                del self._due[key]
                self.add(key)
