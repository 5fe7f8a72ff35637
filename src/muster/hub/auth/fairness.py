"""What one user may ask for at once: requests and bytes under way, requests per second.

So that no user, by accident or on purpose, takes the hub from the others. `door` asks for every request; members of
system:masters and the hub's own controllers are not counted. A refusal is 429 with the time to wait.
"""

from __future__ import annotations

import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.hub import status

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_USERS = 10_000  # remembered at once; those who ask for nothing are forgotten first


@dataclass(frozen=True, slots=True)
class UserLimits:
    """The settings; 0 is no limit."""

    requests_in_flight: int = 500
    bytes_in_flight: int = 64 * 1024 * 1024
    requests_per_second: float = 2_000.0
    burst: int = 4_000
    watches: int = 1_000


class _Account:
    __slots__ = ("bytes", "requests", "tokens", "updated", "watches")

    def __init__(self, tokens: float, now: float) -> None:
        self.requests = 0
        self.bytes = 0
        self.watches = 0
        self.tokens = tokens
        self.updated = now


class Fairness:
    """Counts what users have under way. `enter` and `leave` go in pairs."""

    def __init__(self, limits: UserLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._accounts: dict[str, _Account] = {}

    def enter(self, user: str, size: int) -> None:
        """A request with a body of this size begins. Raises 429."""
        limits = self._limits
        now = self._clock()
        account = self._accounts.get(user)
        if account is None:
            if len(self._accounts) >= _MOST_USERS:
                self._forget_idle()
            account = self._accounts[user] = _Account(float(limits.burst), now)
        if limits.requests_per_second:
            gained = (now - account.updated) * limits.requests_per_second
            account.tokens = min(float(limits.burst), account.tokens + gained)
            account.updated = now
            if account.tokens < 1.0:
                raise _too_many(f"more than {limits.requests_per_second:g} requests per second", "requestsPerSecond")
        if limits.requests_in_flight and account.requests >= limits.requests_in_flight:
            raise _too_many(f"more than {limits.requests_in_flight} requests under way", "requestsInFlight")
        # One large request alone is a matter of the body limit.
        if limits.bytes_in_flight and account.bytes and account.bytes + size > limits.bytes_in_flight:
            raise _too_many(f"more than {limits.bytes_in_flight} bytes under way", "bytesInFlight")
        account.tokens -= 1.0
        account.requests += 1
        account.bytes += size

    def leave(self, user: str, size: int) -> None:
        """It has been answered."""
        account = self._accounts[user]
        account.requests -= 1
        account.bytes -= size

    @contextlib.contextmanager
    def watching(self, user: str) -> Iterator[None]:
        """A watch is open. Raises 429."""
        account = self._accounts.get(user)
        if account is None:
            account = self._accounts[user] = _Account(float(self._limits.burst), self._clock())
        if self._limits.watches and account.watches >= self._limits.watches:
            raise _too_many(f"more than {self._limits.watches} open watches", "watches")
        account.watches += 1
        try:
            yield
        finally:
            account.watches -= 1

    def _forget_idle(self) -> None:
        self._accounts = {
            user: account for user, account in self._accounts.items() if account.requests or account.watches
        }


def _too_many(what: str, limit: str) -> status.StatusError:
    text = f"Too many requests, please try again later: {what} by one user (limit users.{limit})"
    return status.StatusError(429, "TooManyRequests", text, {"retryAfterSeconds": 1})
