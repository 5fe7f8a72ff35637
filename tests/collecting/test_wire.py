"""A kept connection: what it costs, and what a stranger can do with it."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import Awaitable, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from muster.client.kubeconfig import static_connection
from muster.client.kubeconfig_files import Cluster, User
from muster.collecting.reading import HEADERS
from muster.collecting.troubles import Trouble, TroubleError
from muster.collecting.wire import Wire
from tests.kubernetes.certificates import Authority

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
Answers = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Server:
    """Answers as it is told, and counts connections."""

    def __init__(self, *answers: bytes, then: Answers | None = None) -> None:
        self.answers = list(answers)
        self.then = then
        self.connections = 0
        self.heads: list[bytes] = []
        self.tasks: set[asyncio.Task[None]] = set()

    def take(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.create_task(self._serve(reader, writer))
        self.tasks.add(task)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while self.answers:
                self.heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(self.answers.pop(0))
                await writer.drain()
            if self.then is not None:
                await self.then(reader, writer)
        except (OSError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.transport.abort()


@asynccontextmanager
async def connected(folder: Path, server: Server, user: User | None = None) -> AsyncIterator[Wire]:
    authority = Authority(folder, "ca")
    pair = authority.server("a")
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(pair.certificate, pair.key)
    listening = await asyncio.start_server(server.take, "127.0.0.1", 0, ssl=tls)
    port = listening.sockets[0].getsockname()[1]
    trusted = base64.b64encode(authority.file.read_bytes()).decode()
    given = Cluster(server=f"https://127.0.0.1:{port}/prefix/", certificate_authority_data=trusted)
    try:
        wire = Wire(static_connection(given, user or User(token="t")), HEADERS)
        try:
            yield wire
        finally:
            wire.close()
    finally:
        listening.close()
        for task in server.tasks:
            task.cancel()
        await asyncio.gather(*server.tasks, return_exceptions=True)
        await asyncio.sleep(0.05)  # transports end a moment after they are closed


async def asked(wire: Wire, most: int = 1000) -> str:
    """The body of an answer, or the word for what was wrong."""
    try:
        return (await wire.get("/livez", "", 2.0, most)).body.decode()
    except TroubleError as error:
        return str(error.trouble)


def test_questions_share_a_connection(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server(OK, OK, OK)
        async with connected(tmp_path, server) as wire:
            assert [await asked(wire) for _ in range(3)] == ["ok", "ok", "ok"]
        assert server.connections == 1
        first = server.heads[0].decode()
        assert first.startswith("GET /prefix/livez HTTP/1.1\r\nHost: 127.0.0.1:")
        assert "\r\nAuthorization: Bearer t\r\n" in first

    asyncio.run(story())


def test_one_that_was_closed_meanwhile_is_opened_again(tmp_path: Path) -> None:
    async def story() -> None:
        server = Server(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok", OK)
        async with connected(tmp_path, server) as wire:
            assert await asked(wire) == "ok"
            assert not wire.is_open
            assert await asked(wire) == "ok"
            assert server.connections == 2
            # The server has no more to say and ends the connection: the next question finds nobody.
            assert await asked(wire) == Trouble.UNREACHABLE

    asyncio.run(story())


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\no\r\n1\r\nk\r\n0\r\n\r\n", "ok"),
        (b"HTTP/1.1 100 Continue\r\n\r\n" + OK, "ok"),
        (b"HTTP/1.1 204 No Content\r\n\r\n", ""),
        (b"HTTP/1.0 200 OK\r\n\r\nok", "ok"),  # it ends where the connection ends
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nok", Trouble.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n" + b"x" * 5000, Trouble.TOO_LARGE),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 999999999\r\n\r\n" + b"x" * 200_000, Trouble.TOO_LARGE),
        (b"HTTP/1.1 200 OK\r\n" + b"a: b\r\n" * 50_000, Trouble.MALFORMED),
        (b"HTTP/1.1 200 OK\r\n" + b"a" * 70_000, Trouble.MALFORMED),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\nok", Trouble.MALFORMED),
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", Trouble.MALFORMED),
        (b"SSH-2.0-OpenSSH_9.6\r\n", Trouble.MALFORMED),
        (b"", Trouble.UNREACHABLE),
        (b"HTTP/1.1 2", Trouble.UNREACHABLE),
    ],
)
def test_an_answer_is_what_http_says_or_a_word_for_what_it_is(tmp_path: Path, answer: bytes, expected: str) -> None:
    async def story() -> str:
        async with connected(tmp_path, Server(answer)) as wire:
            return await asked(wire)

    assert asyncio.run(story()) == expected


def test_who_speaks_without_being_asked_is_cut_off(tmp_path: Path) -> None:
    sent = 0

    async def flood(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal sent
        await asyncio.sleep(0.1)
        while True:
            writer.write(OK * 1000)
            await writer.drain()
            sent += 1

    async def story() -> None:
        server = Server(OK, then=flood)
        async with connected(tmp_path, server) as wire:
            assert await asked(wire) == "ok"
            before = wire.is_open
            await asyncio.sleep(1.0)
            assert (before, wire.is_open) == (True, False)
            assert sent < 1000, "it was let in"

    asyncio.run(story())


def test_an_answer_too_many_is_never_the_answer_to_the_next_question(tmp_path: Path) -> None:
    async def story() -> None:
        forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
        server = Server(OK + forged, OK)
        async with connected(tmp_path, server) as wire:
            assert [await asked(wire), await asked(wire)] == ["ok", "ok"]
        assert server.connections == 2

    asyncio.run(story())


@pytest.mark.parametrize("token", ["a\r\nX-Remote-User: admin", "a\nb", "a\0b"])
def test_credentials_are_no_more_than_one_header(tmp_path: Path, token: str) -> None:
    async def story() -> None:
        async with connected(tmp_path, Server(OK), User(token=token)):
            raise AssertionError("it was taken")

    with pytest.raises(TroubleError) as caught:
        asyncio.run(story())
    assert caught.value.trouble is Trouble.NO_ACCESS


@pytest.mark.parametrize("server", ["https://a:b@c", "https://c:99999", "https://c/?a=b", "https://[::1"])
def test_addresses_leave_no_doubt(server: str) -> None:
    with pytest.raises(TroubleError) as caught:
        Wire(static_connection(Cluster(server=server), User()), HEADERS)
    assert caught.value.trouble is Trouble.NO_ACCESS
