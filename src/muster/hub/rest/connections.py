"""Clients that do not read: one look per second at all connections that owe bytes, and an end for those that are stuck.

The server's protocols say when a connection begins to owe and when it has been read dry. Answers, watches and
WebSockets need no clock of their own: their next send fails once the connection is gone.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_log = logging.getLogger(__name__)
_LONGEST_LOOK = 1.0
CLOSED = "muster.closed"  # the ASGI extension that tells whether a connection is gone: its sends say nothing
# The extension that sends a part of an answer that is being streamed, framed as it goes over the wire, without waiting:
# it says whether it was sent. Not while the client has yet to read what was sent before.
WRITE = "muster.write"
# The extension that sends a whole answer at once: its code, its headers as they go over the wire, and its body. It says
# whether it was sent; otherwise nothing was.
ANSWER = "muster.answer"


class SlowReaders:
    """The connections that owe bytes, since when, and how they are ended."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._owing: dict[object, tuple[float, Callable[[], None]]] = {}
        self._timer: asyncio.TimerHandle | None = None

    def __len__(self) -> int:
        return len(self._owing)

    def owes(self, connection: object, abort: Callable[[], None]) -> None:
        """Bytes wait for its client. Closing would wait for them too; `abort` does not."""
        self._owing.setdefault(connection, (asyncio.get_running_loop().time(), abort))
        if self._timer is None:
            self._schedule()

    def read(self, connection: object) -> None:
        """Its client has taken everything, or is gone."""
        self._owing.pop(connection, None)

    def _schedule(self) -> None:
        self._timer = asyncio.get_running_loop().call_later(min(_LONGEST_LOOK, self._seconds / 2), self._look)

    def _look(self) -> None:
        self._timer = None
        latest = asyncio.get_running_loop().time() - self._seconds
        stuck = [connection for connection, (since, _) in self._owing.items() if since < latest]
        for connection in stuck:
            _, abort = self._owing.pop(connection)
            _log.info("a client has read nothing for %g seconds; cut off", self._seconds)
            abort()
        if self._owing:
            self._schedule()
