"""The fence around what a leader writes: nothing leaves the process when its lease may be somebody else's by now.

`leases` moves it with every renewal; a `Client` that has one asks it right before a request that writes is sent,
however long that request has waited. Two clocks are asked, because each can stand still: the one that counts on while a
machine sleeps, and the wall's.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Callable

_STRAIGHT_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)


def straight_clock() -> float:
    """Seconds that never go back; where the system has such a clock they count on while the machine sleeps."""
    return time.clock_gettime(_STRAIGHT_CLOCK)


class LeadershipLostError(MusterError):
    """The lease is somebody else's, or may be: it was not renewed in time."""


class Fence:
    """Closed until it is opened, and again after a time."""

    def __init__(self, clock: Callable[[], float] = straight_clock, wall: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._wall = wall
        self._opened: tuple[float, float] | None = None  # by both clocks
        self._seconds = 0.0

    def now(self) -> tuple[float, float]:
        """What both clocks show: to be taken before the lease is asked for, since it counts from then on."""
        return self._clock(), self._wall()

    def open(self, since: tuple[float, float], seconds: float) -> None:
        """Writes are let through for so long from that moment on."""
        self._opened, self._seconds = since, seconds

    def close(self) -> None:
        self._opened = None

    def age(self) -> float:
        """Seconds since it was opened, by the clock that has counted more; 0 when it is closed for good."""
        opened = self._opened
        if opened is None:
            return 0.0
        return max(self._clock() - opened[0], self._wall() - opened[1])

    def check(self) -> None:
        """Raises LeadershipLostError unless writes are let through now."""
        if self._opened is None:
            raise LeadershipLostError("nothing is written: this process does not lead")
        if (age := self.age()) > self._seconds:
            raise LeadershipLostError(f"nothing is written: the lease was last renewed {age:.1f} s ago")
