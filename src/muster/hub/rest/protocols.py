"""What a connection speaks: uvicorn's protocols for HTTP and WebSockets, with bounds on what a client can make grow.

`server` hands them to uvicorn. What a request means is the application's.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import uvicorn
from uvicorn.protocols.http.flow_control import FlowControl
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol
from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode

from muster.hub.auth.authentication import PEER
from muster.hub.auth.peers import peer_of
from muster.hub.rest.connections import ANSWER, CLOSED, WRITE, SlowReaders
from muster.hub.rest.parts import PART
from muster.hub.rest.tls_sockets import TlsSocket
from muster.values.json import Json

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Callable, MutableMapping, Sized

    from uvicorn._types import ASGI3Application
    from uvicorn.protocols.http.httptools_impl import RequestResponseCycle
    from websockets.frames import Frame

    from muster.hub.auth.peers import Peer
    from muster.hub.rest.application import Application

_HEADER_BYTES = 64 * 1024
_HEADER_SECONDS = 30.0
_MOST_FRAMES = 1024  # of one message to a WebSocket: its size says nothing about those that are empty


class HeadWithBody:
    """A transport that sends the head of a response together with the start of its body: one record, one system call.

    uvicorn writes them apart. Whatever comes after the head lets it go: a body, an empty write, the end of the answer.
    A switch to WebSocket has nothing to wait for, and who is told to go on with a body sends it only then.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._head = b""

    def write(self, data: bytes | memoryview) -> None:
        if self._head:
            data, self._head = self._head + data, b""
        elif data[:9] == b"HTTP/1.1 " and data[9:10] != b"1":
            self._head = bytes(data)
            return
        if data:
            self._transport.write(data)

    def close(self) -> None:
        self.write(b"")
        self._transport.close()

    def __getattr__(self, name: str) -> Json:
        return getattr(self._transport, name)


class ConnectionConfig(uvicorn.Config):
    """What uvicorn hands to every connection, with what ours need."""

    def __init__(self, application: Application, **options: Any) -> None:
        super().__init__(application, **options)
        self.most_connections = application.limits.connections
        self.slow_readers = SlowReaders(application.limits.write_seconds)
        self._written: tuple[list[tuple[bytes, bytes]], bytes] = ([], b"")

    def written(self, headers: list[tuple[bytes, bytes]]) -> bytes:
        """Headers that are the same for all answers of a second, as they go over the wire."""
        if headers is not self._written[0]:
            self._written = headers, b"".join([b"%b: %b\r\n" % each for each in headers])
        return self._written[1]


class _Flow(FlowControl):
    """Reads nothing while requests wait for the one before them. uvicorn would read on after every answer: hundreds of
    small requests for each that has been answered, and all of them kept."""

    def __init__(self, transport: asyncio.Transport, waiting: Sized) -> None:
        super().__init__(transport)
        self._waiting = waiting

    def resume_reading(self) -> None:
        if not self._waiting:
            super().resume_reading()


class BoundedProtocol(HttpToolsProtocol):
    """uvicorn's protocol with limits on the size of a request's head, on the time to send it, and on what is unread."""

    config: ConnectionConfig
    _head_bytes = 0
    _empty_bytes = 0  # since the last of a body: ends of chunks, what follows the last of them, empty lines
    _head_timer: asyncio.TimerHandle | None = None
    _peer: Peer | None = None
    _wire: asyncio.Transport
    _answered: RequestResponseCycle | None = None  # what is being answered: the newest request may be behind it

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # uvicorn's own signature
        self._wire = transport
        super().connection_made(HeadWithBody(transport))  # type: ignore[arg-type]  # it stands in for one
        self.flow = _Flow(self.transport, self.pipeline)
        if len(self.connections) > self.config.most_connections:
            transport.abort()
            return
        tls = transport.get_extra_info("ssl_object")
        self._peer = None if tls is None else peer_of(tls.getpeercert())
        self._await_head()
        # Whoever sends waits until all of what was sent before is with the kernel: we keep one part, not half a
        # megabyte, and know of every connection that owes anything. Not before the handshake has left our hands.
        self.loop.call_soon(transport.set_write_buffer_limits, 1, 0)

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_done()
        self.config.slow_readers.read(self)
        if self._answered is not None and not self._answered.response_complete:
            self._answered.disconnected = True
            self._answered.message_event.set()
        super().connection_lost(exc)
        self._unset_keepalive_if_required()  # uvicorn leaves that to its time where the client has broken off
        self._answered = None
        self.cycle = self.scope = None  # type: ignore[assignment]  # the request knows how to write here, and so us

    def pause_writing(self) -> None:
        super().pause_writing()
        # Closing waits until the client has read what is buffered; one that does not read must be dropped instead.
        self.config.slow_readers.owes(self, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.config.slow_readers.read(self)

    def data_received(self, data: bytes) -> None:
        if self._head_timer is not None:
            self._head_bytes += len(data)
            if self._head_bytes > _HEADER_BYTES and not self._head_complete_in(data):
                self._refuse_head(b"431 Request Header Fields Too Large")
                return
        self._empty_bytes += len(data)
        idle, scope = self.timeout_keep_alive_task, self.scope
        super().data_received(data)
        if self._empty_bytes > _HEADER_BYTES and self._head_timer is None:
            self.transport.close()
            return
        if idle is not None and self.scope is scope and not self.transport.is_closing():
            # That was no new request but an empty line, or the rest of one that was refused. It prolongs nothing.
            self.timeout_keep_alive_task = self.loop.call_at(idle.when(), self.timeout_keep_alive_handler)

    def on_body(self, body: bytes) -> None:
        self._empty_bytes = 0
        super().on_body(body)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._empty_bytes = 0
        if self._peer is not None:
            self.scope[PEER] = self._peer  # type: ignore[literal-required]  # a key of our own
        if self._head_timer is None:
            self._await_head()

    def handle_websocket_upgrade(self) -> None:
        if self._answered is not None and not self._answered.response_complete:
            self.transport.close()  # the end of the connection would be told to another protocol than that answer's
            return
        super().handle_websocket_upgrade()
        # The connection has another protocol now, whose task has not begun yet.
        scope = getattr(self.transport.get_protocol(), "scope", None)
        if scope is not None and self._peer is not None:
            scope[PEER] = self._peer

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: ASGI3Application) -> None:
        self._answered = cycle
        super()._start_asgi_task(cycle, app)

    def on_response_complete(self) -> None:
        self.transport.write(b"")  # an answer to HEAD has no body that would have let its head go
        super().on_response_complete()

    def on_headers_complete(self) -> None:
        self._head_done()
        wire = self._wire
        write = wire.write_now if isinstance(wire, TlsSocket) else self._write_now
        extensions: dict[str, Callable[..., bool]] = {CLOSED: wire.is_closing, WRITE: write}
        self.scope["extensions"] = extensions  # type: ignore[typeddict-item]  # ours are functions
        super().on_headers_complete()
        if getattr(self.cycle, "scope", None) is self.scope:  # not for a switch to WebSocket
            extensions[ANSWER] = partial(self._answer_now, self.cycle)

    def _write_now(self, data: bytes) -> bool:
        if self.flow.write_paused or self._wire.is_closing():
            return False
        self._wire.write(data)
        return True

    def _answer_now(self, cycle: RequestResponseCycle, code: int, headers: bytes, body: bytes) -> bool:
        """What two messages to the cycle would do, for answers without anything special: one write and no waiting."""
        if cycle.response_started or cycle.disconnected or not cycle.keep_alive:
            return False
        if self.flow.write_paused or self._wire.is_closing():
            return False
        cycle.response_started = cycle.response_complete = True
        cycle.waiting_for_100_continue = False
        common = self.config.written(self.server_state.default_headers)
        self._wire.write(b"".join((STATUS_LINE[code], common, headers, b"\r\n", body)))
        cycle.message_event.set()
        cycle.on_response()
        return True

    def _head_complete_in(self, data: bytes) -> bool:
        """The head ends within this data, near enough to its start; the rest is body."""
        end = data.find(b"\r\n\r\n")
        return end >= 0 and self._head_bytes - len(data) + end <= _HEADER_BYTES

    def _await_head(self) -> None:
        self._head_bytes = 0
        self._head_timer = self.loop.call_later(_HEADER_SECONDS, self._head_is_late)

    def _head_is_late(self) -> None:
        if self.flow.read_paused:  # it may have been sent long ago, behind requests that wait for each other
            self._head_timer = self.loop.call_later(_HEADER_SECONDS, self._head_is_late)
        else:
            self._refuse_head(b"408 Request Timeout")

    def _head_done(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse_head(self, why: bytes) -> None:
        self._head_done()
        if not self.transport.is_closing():
            self.transport.write(b"HTTP/1.1 " + why + b"\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
            self.transport.close()


class BoundedWebSocket(WebSocketsSansIOProtocol):
    """uvicorn's protocol for WebSockets, which sends a large message in frames that wait for each other."""

    config: ConnectionConfig

    def connection_lost(self, exc: Exception | None) -> None:
        self.config.slow_readers.read(self)
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        super().pause_writing()
        self.config.slow_readers.owes(self, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        self.config.slow_readers.read(self)
        if not self.read_paused:
            self.transport.resume_reading()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if not self.writable.is_set():
            self.transport.pause_reading()  # every ping is answered, and somebody may read none of that

    def handle_cont(self, event: Frame) -> None:
        if len(self.frames) < _MOST_FRAMES:
            super().handle_cont(event)
        elif not self.close_sent:
            self.conn.fail(CloseCode.MESSAGE_TOO_BIG, f"more than {_MOST_FRAMES} frames")
            self.handle_parser_exception()

    async def send(self, message: MutableMapping[str, Json]) -> None:  # type: ignore[override]  # uvicorn's own types
        binary, text = message.get("bytes"), message.get("text")
        data: bytes = binary if binary is not None else (text or "").encode()
        if message["type"] != "websocket.send" or len(data) <= PART or self.close_sent:
            await super().send(message)  # type: ignore[arg-type]  # as above
            return
        begin = self.conn.send_text if binary is None else self.conn.send_binary
        for start in range(0, len(data), PART):
            await self.writable.wait()
            if self.disconnected or self.transport.is_closing():
                raise ClientDisconnected
            frame, last = data[start : start + PART], start + PART >= len(data)
            (self.conn.send_continuation if start else begin)(frame, last)
            self.transport.write(b"".join(self.conn.data_to_send()))
