"""Watches over HTTP and WebSocket: a stream of events until the client leaves, its time is over or the hub stops.

Events are encoded once and shared by all watchers, and sent in parts: a client that does not read holds one part. One
that reads too slowly is cut off by the bounded buffer of the store, or with its connection (`connections`); it lists
again, as clients of Kubernetes do.
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import time
from collections import deque
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from starlette.websockets import WebSocketDisconnect

from muster.hub.rest.answers import audit_id, warning_headers
from muster.hub.rest.bodies import JSON, PROTOBUF
from muster.hub.rest.parts import PART, packed
from muster.hub.rest.tables import plain_line
from muster.hub.status import StatusError
from muster.values.limits import named

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence

    from prometheus_client import Counter
    from starlette.websockets import WebSocket

    from muster.api.resource import Version
    from muster.hub.requests import Served, Target, WatchEvent, WatchStream
    from muster.hub.rest.answers import Send
    from muster.hub.rest.bodies import Receive
    from muster.hub.rest.limits import Limits
    from muster.hub.rest.metrics import Metrics
    from muster.hub.rest.negotiation import Form
    from muster.hub.rest.tables import Tables

    #: Room for what a client has yet to read, by size; gives what gives it back.
    Hold = Callable[[int], Awaitable[Callable[[], None]]]
    Line = Callable[[WatchEvent], Sequence[bytes]]
    #: Sends bytes as they go over the wire, if the client has read what came before.
    Write = Callable[[bytes], bool]

BASE64 = "base64.binary.k8s.io"
BINARY = "binary.k8s.io"
PROTOCOLS = (BASE64, BINARY)
_COUNTED_AT_ONCE = 64
# Seconds of sending between two turns for everybody else: as long as these took, so that neither keeps the other from
# its work. A write takes several turns, and its events come after them: where little else happens, slices are short.
_LEAST_SLICE, _LONGEST_SLICE = 0.001, 0.05


def too_many_watches(limit: int) -> StatusError:
    text = f"too many watches are open (limit {limit}, {named('watches')}), please try again later"
    return StatusError(429, "TooManyRequests", text, {"retryAfterSeconds": 5})


class _Tally:
    """Events that were sent, counted now and then: a counter costs as much as a send."""

    __slots__ = ("_counter", "_uncounted")

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._uncounted = 0

    def add(self, events: int) -> None:
        self._uncounted += events
        if self._uncounted >= _COUNTED_AT_ONCE:
            self.count()

    def count(self) -> None:
        self._counter.inc(self._uncounted)
        self._uncounted = 0


class _Chunks:
    """Events in one form, as chunks of an answer. Shared by all watches of a kind that have this form."""

    def __init__(self, line: Line, counter: Counter) -> None:
        self._line = line
        self._counter = counter

    def chunk(self, events: Sequence[WatchEvent]) -> bytes | None:
        line = self._line
        pieces = [piece for event in events for piece in line(event)]
        size = sum(map(len, pieces))
        return None if size > PART else b"".join((b"%x\r\n" % size, *pieces, b"\r\n"))

    def sent(self, events: int) -> None:
        self._counter.inc(events)


class Rounds:
    """Those who have something to send to many watches, served with a turn for everybody else after each slice."""

    def __init__(self, clock: Callable[[], float] = time.perf_counter) -> None:
        self._clock = clock
        self._waiting: deque[Served] = deque()
        self._is_under_way = False
        self._paused_at = 0.0  # since when others have their turn

    def join(self, served: Served) -> None:
        pause = served.due - self._clock()
        if pause > 0:
            asyncio.get_running_loop().call_later(pause, self._begin, served)
        else:
            self._begin(served)

    def _begin(self, served: Served) -> None:
        self._waiting.append(served)
        if not self._is_under_way:
            self._is_under_way = True
            self._pause()

    def _pause(self) -> None:
        self._paused_at = self._clock()
        asyncio.get_running_loop().call_soon(self._serve)

    def _serve(self) -> None:
        now = self._clock()
        until = now + min(max(_LEAST_SLICE, now - self._paused_at), _LONGEST_SLICE)
        try:
            while self._waiting and self._clock() < until:
                served = self._waiting.popleft()
                if served.serve(until):
                    self._waiting.append(served)
        finally:
            if self._waiting:
                self._pause()
            else:
                self._is_under_way = False


class Watches:
    """The open watches: counted, bounded, and closed together when the hub stops."""

    def __init__(self, limits: Limits, metrics: Metrics, tables: Tables) -> None:
        self._limits = limits
        self._metrics = metrics
        self._tables = tables
        self._open: set[WatchStream] = set()
        self._rounds = Rounds()
        self._plain: WeakValueDictionary[Version, _Chunks] = WeakValueDictionary()
        self._pending = 0
        self.stopping = False

    def __len__(self) -> int:
        return len(self._open) + self._pending

    def close_all(self) -> None:
        """End every watch cleanly; new ones are refused from now on."""
        self.stopping = True
        for stream in tuple(self._open):
            stream.close()

    @contextlib.contextmanager
    def admitted(self) -> Iterator[None]:
        """Reserve a place before the machinery opens the watch. Raises 429 when all are taken, 503 while stopping."""
        if self.stopping:
            raise StatusError(503, "ServiceUnavailable", "the hub is stopping", {"retryAfterSeconds": 1})
        if len(self) >= self._limits.watches:
            self._metrics.refused.labels("watches").inc()
            raise too_many_watches(self._limits.watches)
        self._pending += 1
        try:
            yield
        finally:
            self._pending -= 1

    @contextlib.contextmanager
    def _running(self, stream: WatchStream, target: Target) -> Iterator[None]:
        gauge = self._metrics.watches.labels(*_counted(target))
        gauge.inc()
        self._open.add(stream)
        if self.stopping:
            stream.close()
        try:
            yield
        finally:
            self._open.discard(stream)
            gauge.dec()
            stream.close()

    async def http(
        self,
        stream: WatchStream,
        target: Target,
        form: Form,
        include: str,
        receive: Receive,
        send: Send,
        hold: Hold,
        write: Write | None = None,
    ) -> None:
        """Send the events as chunks, one JSON object per line. Raises 429 when there is no room for what is unread.

        With `write` they are sent without waking anybody while the client reads as fast as they come.
        """
        headers = [
            (b"audit-id", audit_id()),
            (b"cache-control", b"no-cache, private"),
            (b"content-type", b"application/json" if form.media_type == JSON else f"{PROTOBUF};stream=watch".encode()),
        ]
        if target.version.deprecated:
            headers.extend(warning_headers((target.version.deprecated,)))
        line = self._tables.lines(target, form, include)
        counter = self._metrics.watch_events.labels(*_counted(target))
        sent = _Tally(counter)
        with self._running(stream, target):
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": b"", "more_body": True})
            if write is not None and not form.table:  # the first line of a table is another than those that follow
                stream.divert(self._chunks(line, target, counter), write, self._rounds.join)
            leaving = asyncio.create_task(_close_when_gone(stream, receive))
            try:
                async for batch in stream:
                    pieces = [piece for event in batch for piece in line(event)]
                    if sum(map(len, pieces)) <= PART:
                        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
                        await send({"type": "http.response.body", "body": body, "more_body": True})
                    else:
                        await _send_large(pieces, send, hold)
                    sent.add(len(batch))
                await send({"type": "http.response.body", "body": b""})
            finally:
                sent.count()
                leaving.cancel()

    def _chunks(self, line: Line, target: Target, counter: Counter) -> _Chunks:
        if line is not plain_line:
            return _Chunks(line, counter)
        chunks = self._plain.get(target.version)
        if chunks is None:
            chunks = self._plain[target.version] = _Chunks(line, counter)
        return chunks

    async def websocket(
        self,
        stream: WatchStream,
        target: Target,
        form: Form,
        include: str,
        socket: WebSocket,
        protocol: str,
        hold: Hold,
    ) -> None:
        """Send one message per event, as text, or in the binary forms that browsers' clients ask for."""
        line = self._tables.lines(target, form, include)
        with self._running(stream, target):
            leaving = asyncio.create_task(_close_when_left(stream, socket))
            try:
                async for batch in stream:
                    for event in batch:
                        await _send_event(socket, event, line, protocol, hold)
                await socket.close()
            except (RuntimeError, WebSocketDisconnect):
                return  # the client closed it while we were sending
            finally:
                leaving.cancel()


async def _send_large(pieces: list[bytes], send: Send, hold: Hold) -> None:
    """Send pieces that are too large to be joined and waited for all at once."""
    release = await hold(sum(len(piece) for piece in pieces if len(piece) > PART))
    try:
        for part in packed(pieces):
            await send({"type": "http.response.body", "body": part, "more_body": True})
    finally:
        release()


async def _send_event(
    socket: WebSocket, event: WatchEvent, line: Callable[[WatchEvent], Sequence[bytes]], protocol: str, hold: Hold
) -> None:
    """One message. It is a copy that nobody shares: that of a large object is held until it has been read."""
    message = b"".join(line(event))
    release = await hold(2 * len(message) if len(message) > PART else 0)
    try:
        await _send_message(socket, message, protocol)
    finally:
        release()


async def _send_message(socket: WebSocket, message: bytes, protocol: str) -> None:
    if protocol == BASE64:
        await socket.send_text(base64.b64encode(message).decode("ascii"))
    elif protocol == BINARY:
        await socket.send_bytes(message)
    else:
        await socket.send_text(message.decode("utf-8"))


async def _close_when_gone(stream: WatchStream, receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass  # the rest of a body that nobody asked for
    stream.close()


async def _close_when_left(stream: WatchStream, socket: WebSocket) -> None:
    with contextlib.suppress(RuntimeError):
        while (await socket.receive())["type"] != "websocket.disconnect":
            pass
    stream.close()


def _counted(target: Target) -> tuple[str, str]:
    """What metrics count a watch as: the names of custom kinds are made up by clients, and metrics stay for ever."""
    resource = target.resource
    return ("custom", "custom") if resource.custom else (resource.group, resource.plural)
