"""Connections with TLS on their sockets: what is sent is encrypted and given to the kernel in one call, without copies.

Transports of event loops encrypt into memory, take it out again and write that: for an event to a thousand watchers the
copies are a third of the work, and the interpreter is held while the kernel takes the bytes. `tls_listener`
makes them. Knows neither HTTP nor who is at the other end.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections import deque
from typing import Any, Protocol

_RECORD = 16 * 1024  # the largest piece of data that TLS sends at a time
_AT_ONCE = 8  # of these from one connection before others have their turn
_LINGER_SECONDS = 2.0
_HIGH, _LOW = 64 * 1024, 16 * 1024
_NOBODY = asyncio.Protocol()


class Stranger(Protocol):
    """A connection that has no protocol yet, or no longer."""

    def end(self) -> None:
        """Close it."""


class _Lingering:
    """A connection that has been ended from our side. What its client still sends is thrown away for a while.

    A socket that is closed before everything was read resets the connection, and the client may lose the last answer.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, connection: ssl.SSLSocket, strangers: set[Stranger]) -> None:
        self._loop = loop
        self._connection = connection
        self._number = connection.fileno()
        self._strangers = strangers
        self._timer = loop.call_later(_LINGER_SECONDS, self.end)
        loop.add_reader(self._number, self._throw_away)

    def end(self) -> None:
        self._strangers.discard(self)
        self._timer.cancel()
        self._loop.remove_reader(self._number)
        self._connection.close()

    def _throw_away(self) -> None:
        try:
            if self._connection.recv(_RECORD):
                return
        except (BlockingIOError, InterruptedError):
            return
        except OSError:
            pass
        self.end()


class TlsSocket(asyncio.Transport):
    """The transport of one connection."""

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop,
        connection: ssl.SSLSocket,
        context: ssl.SSLContext,
        protocol: asyncio.Protocol,
        strangers: set[Stranger],
    ) -> None:
        super().__init__()
        self._loop = loop
        self._connection = connection
        self._context = context
        self._number = connection.fileno()
        self._protocol: asyncio.BaseProtocol = protocol
        self._strangers = strangers
        self._unsent: deque[memoryview] = deque()
        self._unsent_bytes = 0
        self._high, self._low = _HIGH, _LOW
        self._is_paused = False  # whether the protocol has been told to write nothing
        self._is_reading = False
        self._is_stuck = False  # whether nothing can be read before TLS has sent something of its own
        self._is_closing = False
        self._is_over = False
        self._has_ended = False  # whether the client sends nothing more
        try:
            protocol.connection_made(self)
        except Exception as error:
            self._fail(error)
        self.resume_reading()
        self._loop.call_soon(self._readable)  # what came with the end of the handshake wakes nobody

    # What a transport tells

    def get_extra_info(self, name: str, default: Any = None) -> Any:
        if name in ("socket", "ssl_object"):
            return self._connection
        if name == "sslcontext":
            return self._context
        if name == "peername":
            return self._connection.getpeername()
        if name == "sockname":
            return self._connection.getsockname()
        return default

    def is_closing(self) -> bool:
        return self._is_closing

    def get_protocol(self) -> asyncio.BaseProtocol:
        return self._protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol = protocol

    # Reading

    def is_reading(self) -> bool:
        return self._is_reading

    def pause_reading(self) -> None:
        if self._is_reading:
            self._is_reading = False
            self._loop.remove_reader(self._number)

    def resume_reading(self) -> None:
        if not self._is_reading and not self._is_closing:
            self._is_reading = True
            self._loop.add_reader(self._number, self._readable)
            if self._connection.pending():  # decrypted already, so that nothing will wake us for it
                self._loop.call_soon(self._readable)

    def _readable(self) -> None:
        for _ in range(_AT_ONCE):
            if not self._is_reading:
                return
            try:
                data = self._connection.recv(_RECORD)
            except ssl.SSLWantReadError:
                break
            except ssl.SSLWantWriteError:  # an answer to new keys, say, for which the client leaves no room
                self._is_stuck = True
                self._loop.remove_reader(self._number)  # what it sends would wake us for nothing, again and again
                self._loop.add_writer(self._number, self._writable)
                return
            except OSError as error:
                self._lose(error)
                return
            if not data:
                self._has_ended = True
                self._received(None)
                self.close()
                return
            self._received(data)
            if len(data) < _RECORD and not self._connection.pending():
                break
        if self._unsent:
            self._writable()  # it may have waited for what was read

    def _received(self, data: bytes | None) -> None:
        protocol = self._protocol
        assert isinstance(protocol, asyncio.Protocol)  # noqa: S101 - what this module takes
        try:
            if data is None:
                protocol.eof_received()
            else:
                protocol.data_received(data)
        except Exception as error:
            self._fail(error)

    def _fail(self, error: Exception) -> None:
        context = {"message": "the protocol of a connection failed", "exception": error, "transport": self}
        self._loop.call_exception_handler(context)
        self._lose(error)

    # Writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._is_closing or not data:
            return
        if self._unsent:
            self._keep(bytes(data))
            return
        sent = 0
        try:
            sent = self._connection.send(data)
            while sent < len(data):
                sent += self._connection.send(memoryview(data)[sent : sent + _RECORD])
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            self._loop.add_writer(self._number, self._writable)
            # What many are sent is kept once, however many of them do not read.
            self._keep(bytes(memoryview(data)[sent:] if sent else data))
        except OSError as error:
            self._lose(error)

    def write_now(self, data: bytes) -> bool:
        """Send this if everything before it is with the kernel; whether it was. Thousands of events go this way."""
        if self._unsent or self._is_closing:
            return False
        self.write(data)
        return True

    def _keep(self, data: bytes) -> None:
        self._unsent.append(memoryview(data))
        self._unsent_bytes += len(data)
        self._tell_to_pause()

    def _writable(self) -> None:
        unsent = self._unsent
        try:
            while unsent:
                # What was begun has to be sent again from the same place, and not less of it.
                sent = self._connection.send(unsent[0])
                self._unsent_bytes -= sent
                if sent == len(unsent[0]):
                    unsent.popleft()
                else:
                    unsent[0] = unsent[0][sent:]
        except (ssl.SSLWantWriteError, ssl.SSLWantReadError):
            pass
        except OSError as error:
            self._lose(error)
            return
        if self._is_paused and self._unsent_bytes <= self._low:
            self._is_paused = False
            self._protocol.resume_writing()
        if self._is_stuck:
            self._is_stuck = False
            if self._is_reading:
                self._loop.add_reader(self._number, self._readable)
                self._loop.call_soon(self._readable)
        if not unsent and not self._is_over:
            self._loop.remove_writer(self._number)
            if self._is_closing:
                self._part()

    def can_write_eof(self) -> bool:
        return False

    def get_write_buffer_size(self) -> int:
        return self._unsent_bytes

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        self._high = (4 * low if low is not None else _HIGH) if high is None else high
        self._low = self._high // 4 if low is None else low
        self._tell_to_pause()

    def _tell_to_pause(self) -> None:
        if not self._is_paused and self._unsent_bytes > self._high:
            self._is_paused = True
            self._protocol.pause_writing()

    # The end

    def close(self) -> None:
        """Send what is unsent, say goodbye, and close."""
        if not self._is_closing:
            self.pause_reading()
            self._is_closing = True
            if not self._unsent:
                self._loop.call_soon(self._part)

    def abort(self) -> None:
        self._lose(None)

    def _part(self) -> None:
        if self._is_over:
            return
        self._is_over = True
        self._loop.remove_writer(self._number)
        with contextlib.suppress(OSError, ValueError):  # it says goodbye, and would like to hear it, too
            self._connection.unwrap()
        with contextlib.suppress(OSError):
            self._connection.shutdown(socket.SHUT_WR)
        if self._has_ended or self._connection.fileno() < 0:
            self._connection.close()
        else:
            self._strangers.add(_Lingering(self._loop, self._connection, self._strangers))
        self._let_go(None)

    def _lose(self, error: Exception | None) -> None:
        """It is over at once, whatever is unsent."""
        if self._is_over:
            return
        self.pause_reading()
        self._is_closing = self._is_over = True
        self._loop.remove_writer(self._number)
        self._unsent.clear()
        self._unsent_bytes = 0
        self._connection.close()
        self._loop.call_soon(self._let_go, error)

    def _let_go(self, error: Exception | None) -> None:
        protocol, self._protocol = self._protocol, _NOBODY  # it knows us: neither would go before the collector looks
        protocol.connection_lost(error)
