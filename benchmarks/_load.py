"""A small HTTP client for load: keeps a connection, sends prepared bytes, reads the answer. Costs little itself."""

from __future__ import annotations

import asyncio
import base64
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import yaml

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator, Sequence
    from pathlib import Path


@dataclass(frozen=True, slots=True)
class Server:
    """Where to send, with which token, trusting whom."""

    host: str
    port: int
    token: str
    tls: ssl.SSLContext | None

    @classmethod
    def from_kubeconfig(cls, path: Path) -> Server:
        config = yaml.safe_load(path.read_text())
        cluster = config["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        tls = None
        if url.scheme == "https":
            tls = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        return cls(url.hostname or "", url.port or 443, config["users"][0]["user"]["token"], tls)


def prepared(server: Server, method: str, path: str, body: bytes, content_type: str) -> bytes:
    """A request as it goes over the wire."""
    head = (
        f"{method} {path} HTTP/1.1\r\nHost: {server.host}\r\nAuthorization: Bearer {server.token}\r\n"
        f"Accept: application/json\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    return head.encode() + body


class Connection:
    """One connection, used for one request after the other."""

    def __init__(self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._server = server
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, server: Server) -> Connection:
        reader, writer = await asyncio.open_connection(server.host, server.port, ssl=server.tls, limit=2**26)
        return cls(server, reader, writer)

    async def send(self, method: str, path: str, body: bytes = b"", content_type: str = "application/json") -> None:
        self._writer.write(prepared(self._server, method, path, body, content_type))
        await self._writer.drain()

    async def request(
        self, method: str, path: str, body: bytes = b"", content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        await self.send(method, path, body, content_type)
        head = await self._reader.readuntil(b"\r\n\r\n")
        code = int(head[9:12])
        lowered = head.lower()
        if b"transfer-encoding: chunked" in lowered:
            parts = []
            while size := int(await self._reader.readline(), 16):
                parts.append(await self._reader.readexactly(size))
                await self._reader.readexactly(2)
            await self._reader.readexactly(2)
            return code, b"".join(parts)
        at = lowered.index(b"content-length:") + 15
        return code, await self._reader.readexactly(int(lowered[at : lowered.index(b"\r\n", at)]))

    async def lines(self) -> asyncio.StreamReader:
        """After a watch request: the stream behind the head."""
        await self._reader.readuntil(b"\r\n\r\n")
        return self._reader

    def close(self) -> None:
        self._writer.close()


class Pump(asyncio.Protocol):
    """One connection that sends requests as they are due and only counts the answers: the cheapest client there is.

    `requests` are whole requests as bytes. One is on its way at a time; what is late is sent as soon as it can be.
    """

    def __init__(self, requests: Iterator[bytes], pause: float, until: float) -> None:
        self._requests = requests
        self._pause = pause
        self._until = until
        self._due = time.perf_counter()
        self._left = -1  # bytes of the answer that are still to come; -1: its head is
        self._head = b""
        self.answered = 0
        self.failed = 0
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.WriteTransport) -> None:  # type: ignore[override]  # as connections are
        self._transport = transport
        self._send()

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the protocol's signature
        if not self.done.done():
            self.done.set_result(None)

    def data_received(self, data: bytes) -> None:
        if self._left < 0:
            self._head += data
            end = self._head.find(b"\r\n\r\n")
            if end < 0:
                return
            lowered = self._head[:end].lower()
            at = lowered.index(b"content-length:") + 15
            size = int((lowered + b"\r\n")[at:].split(b"\r\n", 1)[0])
            self.failed += not lowered.startswith(b"http/1.1 20")
            self._left = size - (len(self._head) - end - 4)
            self._head = b""
        else:
            self._left -= len(data)
        if self._left <= 0:
            self._left = -1
            self.answered += 1
            self._due += self._pause
            wait = self._due - time.perf_counter()
            if wait <= 0:
                self._send()
            else:
                asyncio.get_running_loop().call_later(wait, self._send)

    def _send(self) -> None:
        if time.perf_counter() >= self._until:
            self._transport.close()
            return
        self._transport.write(next(self._requests))


async def pumped(server: Server, requests: Sequence[Iterator[bytes]], per_second: float, seconds: float) -> list[Pump]:
    """Send from as many connections as there are sequences of requests, so many a second altogether."""
    loop = asyncio.get_running_loop()
    until = time.perf_counter() + seconds
    pause = len(requests) / per_second
    pumps = []
    for each in requests:
        _, pump = await loop.create_connection(
            lambda each=each: Pump(each, pause, until),
            server.host,
            server.port,
            ssl=server.tls,
        )
        pumps.append(pump)
    await asyncio.gather(*(pump.done for pump in pumps))
    return pumps


async def rate(
    server: Server, clients: int, seconds: float, work: Callable[[Connection, int, int], Awaitable[None]]
) -> float:
    """Requests a second that this many clients get through; `work` is told the client and the count."""
    connections = await asyncio.gather(*(Connection.open(server) for _ in range(clients)))
    counts = [0] * clients
    stop = time.perf_counter() + seconds

    async def loop(number: int) -> None:
        while time.perf_counter() < stop:
            await work(connections[number], number, counts[number])
            counts[number] += 1

    started = time.perf_counter()
    await asyncio.gather(*(loop(number) for number in range(clients)))
    elapsed = time.perf_counter() - started
    for connection in connections:
        connection.close()
    return sum(counts) / elapsed
