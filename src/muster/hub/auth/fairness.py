"""What one user may ask for at once: requests and bytes under way, requests per second, answers not yet read.

So that no user, by accident or on purpose, takes the hub from the others. `authentication` asks for every request;
members of system:masters and the hub's own controllers are not counted. A refusal is 429 with the time to wait.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.hub import status
from muster.values.limits import Unit, limit, named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_MOST_USERS = 10_000  # remembered at once; those who ask for nothing are forgotten first
_PATIENCE = 2.0  # seconds an answer waits for others to be read
_TOO_MANY = "429, Retry-After 1"


@dataclass(frozen=True, slots=True)
class UserLimits:
    """The settings; 0 is no limit."""

    requests_in_flight: int = limit(
        500, "requests in flight per user", "Requests of one user that are being answered or read.", _TOO_MANY, least=0
    )
    bytes_in_flight: int = limit(
        64 * 1024 * 1024,
        "body bytes per user",
        "Bodies of one user's requests that are being answered; one alone always fits.",
        _TOO_MANY,
        Unit.BYTES,
        least=0,
    )
    requests_per_second: float = limit(
        2_000.0, "requests per second per user", "Requests of one user, over time.", _TOO_MANY, least=0
    )
    burst: int = limit(4_000, "burst per user", "Requests of one user after a rest.", _TOO_MANY, least=0)
    watches: int = limit(1_000, "watches per user", "Watches of one user that are open.", _TOO_MANY, least=0)
    answer_bytes: int = limit(
        256 * 1024 * 1024,
        "answer bytes per user",
        "Stored objects that answers to one user wait to send; one answer alone always fits.",
        "waits for 2 s, then 429, Retry-After 1; a watch ends",
        Unit.BYTES,
        least=0,
    )
    all_answer_bytes: int = limit(
        1024 * 1024 * 1024,
        "answer bytes",
        "The same for all users together.",
        "waits for 2 s, then 429, Retry-After 1; a watch ends",
        Unit.BYTES,
        least=0,
    )


class _Account:
    __slots__ = ("bytes", "requests", "tokens", "unread", "updated", "watches")

    def __init__(self, tokens: float, now: float) -> None:
        self.requests = 0
        self.bytes = 0
        self.watches = 0
        self.unread = 0
        self.tokens = tokens
        self.updated = now


class Fairness:
    """Counts what users have under way. `enter` and `leave` go in pairs."""

    def __init__(self, limits: UserLimits, clock: Callable[[], float] = time.monotonic) -> None:
        self._limits = limits
        self._clock = clock
        self._accounts: dict[str, _Account] = {}
        self._most_users = _MOST_USERS
        self._unread = 0
        self._waiting: list[asyncio.Future[None]] = []

    def enter(self, user: str, size: int) -> None:
        """A request with a body of this size begins. Raises 429."""
        limits = self._limits
        now = self._clock()
        account = self._account(user)
        if limits.requests_per_second:
            gained = (now - account.updated) * limits.requests_per_second
            account.tokens = min(float(limits.burst), account.tokens + gained)
            account.updated = now
            if account.tokens < 1.0:
                raise _too_many(
                    f"more than {limits.requests_per_second:g} requests per second", "requests per second per user"
                )
        if limits.requests_in_flight and account.requests >= limits.requests_in_flight:
            raise _too_many(f"more than {limits.requests_in_flight} requests under way", "requests in flight per user")
        # One large request alone is a matter of the body limit.
        if limits.bytes_in_flight and account.bytes and account.bytes + size > limits.bytes_in_flight:
            raise _too_many(f"more than {limits.bytes_in_flight} bytes under way", "body bytes per user")
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
        account = self._account(user)
        if self._limits.watches and account.watches >= self._limits.watches:
            raise _too_many(f"more than {self._limits.watches} open watches", "watches per user")
        account.watches += 1
        try:
            yield
        finally:
            account.watches -= 1

    async def hold(self, user: str, size: int) -> Callable[[], None]:
        """Room for an answer that keeps so many bytes of the store alive until it is read. Waits a little. Raises 429.

        Call what it returns once the answer has been read, or is no longer wanted; twice does no harm.
        """
        deadline = 0.0
        while (full := self._full(user, size)) is not None:
            loop = asyncio.get_running_loop()
            deadline = deadline or loop.time() + _PATIENCE
            if loop.time() >= deadline:
                raise full
            freed: asyncio.Future[None] = loop.create_future()
            self._waiting.append(freed)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout_at(deadline):
                    await freed
        account = self._account(user)
        held = [size]
        account.unread += size
        self._unread += size

        def release() -> None:
            if held:
                freed_bytes = held.pop()
                account.unread -= freed_bytes
                self._unread -= freed_bytes
                waiting, self._waiting = self._waiting, []
                for future in waiting:
                    if not future.done():
                        future.set_result(None)

        return release

    def _full(self, user: str, size: int) -> status.StatusError | None:
        """Why there is no room. One large answer alone is a matter of how much there is to list."""
        limits, unread = self._limits, self._account(user).unread
        if limits.answer_bytes and unread and unread + size > limits.answer_bytes:
            what = f"more than {limits.answer_bytes} bytes of answers are not read yet"
            return _too_many(what, "answer bytes per user")
        if limits.all_answer_bytes and self._unread and self._unread + size > limits.all_answer_bytes:
            what = f"more than {limits.all_answer_bytes} bytes of answers to all users are not read yet"
            return _too_many(what, "answer bytes")
        return None

    def _account(self, user: str) -> _Account:
        account = self._accounts.get(user)
        if account is None:
            if len(self._accounts) >= self._most_users:
                self._forget_idle()
            account = self._accounts[user] = _Account(float(self._limits.burst), self._clock())
        return account

    def _forget_idle(self) -> None:
        self._accounts = {
            user: account
            for user, account in self._accounts.items()
            if account.requests or account.watches or account.unread
        }
        # If most are busy, another look at all of them has to wait until there are twice as many.
        self._most_users = max(_MOST_USERS, 2 * len(self._accounts))


def _too_many(what: str, setting: str) -> status.StatusError:
    text = f"Too many requests, please try again later: {what} by one user ({named(setting)})"
    return status.StatusError(429, "TooManyRequests", text, {"retryAfterSeconds": 1})
