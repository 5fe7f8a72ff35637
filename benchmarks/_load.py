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
    from collections.abc import Awaitable, Callable
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
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: {self._server.host}\r\nAuthorization: Bearer {self._server.token}\r\n"
            f"Accept: application/json\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        self._writer.write(head.encode() + body)
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
