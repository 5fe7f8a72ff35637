"""Credentials that do not last: files that are rotated, plugins that are asked again. `Client` asks for each request.

Where they come from is `kubeconfig`'s business; when to ask for new ones is decided here: before they expire, and once
when the server refuses them.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.client.errors import CredentialsError
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

_MARGIN: Final = 10.0  # seconds before the end at which new ones are asked for
_PAUSE: Final = 5.0  # seconds after a failure in which nobody asks again


@dataclass(frozen=True, slots=True)
class Credentials:
    """What to show to a server, and until when. Without an end: until the server refuses it."""

    headers: Mapping[str, str] = field(default_factory=dict)
    until: datetime | None = None
    pair: tuple[bytes, bytes] | None = None  # a certificate and its key


class Renewal:
    """The credentials of one user, kept valid."""

    def __init__(
        self,
        server: str,
        first: Credentials,
        load: Callable[[], Awaitable[Credentials]],
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`load` brings new ones and raises InvalidObjectError when there are none to be had."""
        self._server = server
        self._current = first
        self._load = load
        self._clock = clock
        self._lock = asyncio.Lock()
        self._failure: tuple[float, str] | None = None

    def twin(self) -> Renewal:
        """The same user's credentials, for another event loop."""
        return Renewal(self._server, self._current, self._load, self._clock)

    async def current(self) -> Credentials:
        """Valid ones, as far as anybody knows. Raises CredentialsError."""
        if self._is_ending(self._current):
            await self._renew(self._current)
        return self._current

    async def refused(self, used: Credentials) -> bool:
        """The server does not take these. Whether there are others now."""
        await self._renew(used)
        return (self._current.headers, self._current.pair) != (used.headers, used.pair)

    def _is_ending(self, credentials: Credentials) -> bool:
        until = credentials.until
        return until is not None and (until - self._clock()).total_seconds() < _MARGIN

    async def _renew(self, stale: Credentials) -> None:
        """Ask once, however many want to know."""
        async with self._lock:
            if self._current is not stale:
                return  # somebody else has asked meanwhile
            if self._failure is not None and time.monotonic() < self._failure[0] + _PAUSE:
                raise CredentialsError(self._server, self._failure[1])
            try:
                self._current = await self._load()
            except InvalidObjectError as error:
                self._failure = (time.monotonic(), error.reason)
                raise CredentialsError(self._server, error.reason) from error
            self._failure = None
