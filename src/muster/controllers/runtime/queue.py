"""The work queue: keys, each at most once, some later, some again after a failure with growing pauses.

Work that takes long is put off: it is done a bit at a time, one key at a time, when nothing else waits.
"""

from __future__ import annotations

import asyncio
import heapq
import time
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Hashable

Key = TypeVar("Key", bound="Hashable")
_FIRST_PAUSE = 0.005
_LONGEST_PAUSE = 30.0


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
        self._wake = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

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
            self._wake.set()

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
        self._wake.set()

    def put_off(self, key: Key) -> None:
        """The key that is worked on is not finished: it goes on when nothing else waits."""
        self._unfinished.add(key)

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
            pause = self._move_due()
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
            self._wake.clear()
            try:
                # Not wait_for: on Python 3.11 it can swallow a cancellation that comes together with the event.
                async with asyncio.timeout(pause):
                    await self._wake.wait()
            except TimeoutError:
                continue

    def done(self, key: Key) -> None:
        self._working.discard(key)
        if key == self._long_key:
            self._long_key = None
        if key in self._unfinished:
            self._unfinished.discard(key)
            self._again.discard(key)
            self._long[key] = None
            self._wake.set()
        elif self._long:
            self._wake.set()
        if key in self._again:
            self._again.discard(key)
            self.add(key)

    def _move_due(self) -> float | None:
        """Put what is due among the waiting; the seconds until the next one is."""
        now = asyncio.get_running_loop().time()
        while self._later and self._later[0][0] <= now:
            when, _, key = heapq.heappop(self._later)
            if self._due.get(key) == when:
                del self._due[key]
                self.add(key)
        return self._later[0][0] - now if self._later else None
