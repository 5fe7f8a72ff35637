"""What the client asks servers to pack: nothing on this machine, where packing costs more than it spares."""

from __future__ import annotations

import asyncio

import pytest

from muster.client import Client, Connection
from muster.client.client import _is_here


async def heard(request: str) -> list[str]:
    """The head of what the client sends to a server on this machine."""
    found: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        found.extend((await reader.readuntil(b"\r\n\r\n")).decode().lower().splitlines())
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with Client(Connection(f"http://127.0.0.1:{port}")) as client:
            await client.request("GET", request)
    return found


def test_a_server_on_this_machine_is_asked_to_pack_nothing() -> None:
    assert "accept-encoding: identity" in asyncio.run(heard("/api"))


@pytest.mark.parametrize(
    ("host", "here"),
    [("127.0.0.1", True), ("::1", True), ("localhost", True), ("10.0.0.1", False), ("hub.example", False), ("", False)],
)
def test_which_servers_are_on_this_machine(host: str, here: bool) -> None:
    assert _is_here(host) is here
