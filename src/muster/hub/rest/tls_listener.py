"""Takes in connections with TLS, and shakes hands with them; `tls_sockets` has those that are encrypted.

`server` listens with this where there is TLS.
"""

from __future__ import annotations

import asyncio
import errno
import logging
import socket
import ssl
from typing import TYPE_CHECKING

from muster.hub.rest.tls_sockets import TlsSocket

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.rest.tls_sockets import Stranger


_log = logging.getLogger(__name__)
_ACCEPTED_AT_ONCE = 64
_HANDSHAKE_SECONDS = 30.0
_FULL = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
_FULL_SECONDS = 1.0


class TlsListener:
    """Takes in connections on a socket, until it is closed. Each gets a protocol once both sides have shaken hands."""

    def __init__(
        self, listener: socket.socket, context: ssl.SSLContext, make_protocol: Callable[[], asyncio.Protocol]
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._listener = listener
        self._context = context
        self._make_protocol = make_protocol
        #: Connections that have no protocol yet, or no longer.
        self._strangers: set[Stranger] = set()
        self._again: asyncio.TimerHandle | None = None
        self._closed = False
        self._listen()

    def close(self) -> None:
        """Take in nobody more. Those that have a protocol go on."""
        if not self._closed:
            self._closed = True
            self._loop.remove_reader(self._listener.fileno())
            if self._again is not None:
                self._again.cancel()
            for stranger in tuple(self._strangers):
                stranger.end()

    async def wait_closed(self) -> None:
        """There is nothing to wait for."""

    def _listen(self) -> None:
        if not self._closed:
            self._loop.add_reader(self._listener.fileno(), self._accept)

    def _accept(self) -> None:
        for _ in range(_ACCEPTED_AT_ONCE):
            try:
                connection, _address = self._listener.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                if error.errno not in _FULL:
                    raise
                _log.error("no connection can be taken in: %s; trying again in a second", error.strerror)
                self._loop.remove_reader(self._listener.fileno())
                self._again = self._loop.call_later(_FULL_SECONDS, self._listen)
                return
            self._welcome(connection)

    def _welcome(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            wrapped = self._context.wrap_socket(connection, server_side=True, do_handshake_on_connect=False)
        except OSError:  # it has gone again
            connection.close()
            return
        self._strangers.add(_Handshake(self._loop, wrapped, self._shaken, self._strangers))

    def _shaken(self, connection: ssl.SSLSocket) -> None:
        TlsSocket(self._loop, connection, self._context, self._make_protocol(), self._strangers)


class _Handshake:
    """A connection that is not encrypted yet, for as long as that may take."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: ssl.SSLSocket,
        done: Callable[[ssl.SSLSocket], None],
        strangers: set[Stranger],
    ) -> None:
        self._loop = loop
        self._connection = connection
        self._number = connection.fileno()
        self._done = done
        self._strangers = strangers
        self._is_writing = False
        self._timer = loop.call_later(_HANDSHAKE_SECONDS, self.end)
        loop.add_reader(self._number, self._go_on)

    def end(self) -> None:
        self._leave()
        self._connection.close()

    def _leave(self) -> None:
        self._strangers.discard(self)
        self._timer.cancel()
        self._loop.remove_reader(self._number)
        self._wait_for_writing(False)

    def _wait_for_writing(self, wanted: bool) -> None:
        if wanted is not self._is_writing:
            self._is_writing = wanted
            if wanted:
                self._loop.add_writer(self._number, self._go_on)
            else:
                self._loop.remove_writer(self._number)

    def _go_on(self) -> None:
        try:
            self._connection.do_handshake()
        except ssl.SSLWantReadError:
            self._wait_for_writing(False)
        except ssl.SSLWantWriteError:
            self._wait_for_writing(True)
        except (OSError, ValueError):  # no TLS, another version, a certificate that is not good, or it is gone
            self.end()
        else:
            self._leave()
            self._done(self._connection)
