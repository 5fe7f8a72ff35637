"""TLS on sockets: what is sent arrives whole, and whoever hangs, breaks off or speaks nonsense harms nobody."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import os
import socket
import ssl
import tracemalloc
from collections.abc import AsyncIterator, Callable, Coroutine
from typing import TYPE_CHECKING, Any

import pytest
import uvloop

from muster.hub.auth.certificates import serving_certificate
from muster.hub.rest import tls_listener
from muster.hub.rest.server import bind
from muster.hub.rest.tls_listener import TlsListener
from muster.hub.rest.tls_sockets import TlsSocket
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from pathlib import Path

MEGABYTE = 1024 * 1024


class Remembering(asyncio.Protocol):
    """Remembers everything, and answers with what `answer` makes of it."""

    def __init__(self, answer: Callable[[Remembering, bytes], None] | None = None) -> None:
        self.received = bytearray()
        self.lost: asyncio.Future[Exception | None] = asyncio.get_running_loop().create_future()
        self.paused = 0
        self.resumed = 0
        self.ended = False
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, TlsSocket)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self._answer is not None:
            self._answer(self, data)

    def eof_received(self) -> None:
        self.ended = True

    def pause_writing(self) -> None:
        self.paused += 1

    def resume_writing(self) -> None:
        self.resumed += 1

    def connection_lost(self, exc: Exception | None) -> None:
        self.lost.set_result(exc)


class Server:
    """A listener with protocols that remember."""

    def __init__(self, folder: Path, answer: Callable[[Remembering, bytes], None] | None = None) -> None:
        certificate = serving_certificate(folder)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate.certificate, certificate.key)
        self.trust = ssl.create_default_context(cadata=certificate.authority.decode())
        self.protocols: list[Remembering] = []
        self.writers: list[asyncio.StreamWriter] = []
        self.socket = bind("127.0.0.1", 0)
        self.port = self.socket.getsockname()[1]
        self._answer = answer
        self.listener = TlsListener(self.socket, context, self._protocol)

    def _protocol(self) -> asyncio.Protocol:
        self.protocols.append(Remembering(self._answer))
        return self.protocols[-1]

    async def client(self, limit: int = 2**16) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        found = await asyncio.open_connection(
            "127.0.0.1", self.port, ssl=self.trust, server_hostname="localhost", limit=limit
        )
        self.writers.append(found[1])
        return found

    async def plain(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        found = await asyncio.open_connection("127.0.0.1", self.port)
        self.writers.append(found[1])
        return found

    async def protocol(self) -> Remembering:
        """That of the first connection, once there is one."""
        await until(lambda: bool(self.protocols))
        return self.protocols[0]


@contextlib.asynccontextmanager
async def listening(folder: Path, answer: Callable[[Remembering, bytes], None] | None = None) -> AsyncIterator[Server]:
    server = Server(folder, answer)
    try:
        yield server
    finally:
        server.listener.close()
        server.socket.close()
        for protocol in server.protocols:
            protocol.transport.abort()
        for writer in server.writers:
            writer.transport.abort()
        await asyncio.sleep(0.01)


async def until(is_so: Callable[[], bool]) -> None:
    while not is_so():  # noqa: ASYNC110 - what the tests wait for is state of the server, without events
        await asyncio.sleep(0.001)


Run = Callable[[Coroutine[Any, Any, None]], None]


@pytest.fixture(params=["uvloop", "asyncio"])
def run(request: pytest.FixtureRequest) -> Run:
    """The hub runs on uvloop; Python's own loop watches sockets in another way."""
    loop = uvloop if request.param == "uvloop" else asyncio

    async def in_time(story: Coroutine[Any, Any, None]) -> None:
        await asyncio.wait_for(story, 30)

    return lambda story: loop.run(in_time(story))


def echo(protocol: Remembering, data: bytes) -> None:
    protocol.transport.write(data)


def test_what_is_sent_arrives_whole_both_ways_whatever_its_size(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path, echo) as server:
            reader, writer = await server.client()
            for size in (1, 16 * 1024 - 1, 16 * 1024, 16 * 1024 + 1, 3 * MEGABYTE):
                sent = os.urandom(size)
                writer.write(sent)
                assert await reader.readexactly(size) == sent

    run(story())


def test_a_client_that_reads_late_has_the_protocol_pause_and_misses_nothing(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path) as server:
            reader, _writer = await server.client(limit=1024)
            protocol = await server.protocol()
            protocol.transport.set_write_buffer_limits(1, 0)
            parts = [os.urandom(100_000) for _ in range(200)]
            for part in parts:
                protocol.transport.write(part)
            assert (protocol.paused, protocol.resumed) == (1, 0)
            assert protocol.transport.get_write_buffer_size() > MEGABYTE
            assert await reader.readexactly(200 * 100_000) == b"".join(parts)
            assert (protocol.paused, protocol.resumed) == (1, 1)
            assert protocol.transport.get_write_buffer_size() == 0

    run(story())


def test_what_many_do_not_read_is_kept_once(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path) as server:
            for _ in range(3):
                await server.client()
            await until(lambda: len(server.protocols) == 3)
            event = bytes(20 * MEGABYTE)
            tracemalloc.start()
            for each in server.protocols:
                assert each.transport.write_now(event)
            kept = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
            assert all(each.transport.get_write_buffer_size() == len(event) for each in server.protocols)
            assert kept < MEGABYTE

    run(story())


def test_closing_sends_what_is_unsent_first(tmp_path: Path, run: Run) -> None:
    def everything(server: Server) -> bytes:
        """By a client of its own: that of uvloop drops what it has not handed over when the other side ends."""
        received = bytearray()
        with (
            socket.create_connection(("127.0.0.1", server.port)) as plain,
            server.trust.wrap_socket(plain, server_hostname="localhost") as client,
        ):
            while part := client.recv(65536):
                received += part
        return bytes(received)

    async def story() -> None:
        async with listening(tmp_path) as server:
            client = asyncio.create_task(asyncio.to_thread(everything, server))
            protocol = await server.protocol()
            sent = os.urandom(20 * MEGABYTE)
            protocol.transport.write(sent)
            protocol.transport.close()
            protocol.transport.write(b"too late")
            assert protocol.transport.is_closing()
            assert not protocol.lost.done()
            assert await client == sent
            assert await protocol.lost is None

    run(story())


def test_aborting_waits_for_nobody(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path) as server:
            reader, _writer = await server.client(limit=1024)
            protocol = await server.protocol()
            protocol.transport.write(bytes(20 * MEGABYTE))
            protocol.transport.abort()
            assert await protocol.lost is None
            with contextlib.suppress(OSError):
                assert len(await reader.read(-1)) < 20 * MEGABYTE

    run(story())


def test_a_refusal_reaches_a_client_that_is_still_sending(tmp_path: Path, run: Run) -> None:
    def refuse(protocol: Remembering, data: bytes) -> None:
        protocol.transport.write(b"no")
        protocol.transport.close()

    async def story() -> None:
        async with listening(tmp_path, refuse) as server:
            reader, writer = await server.client()
            writer.write(bytes(MEGABYTE))
            assert await reader.readexactly(2) == b"no"
            assert await (await server.protocol()).lost is None

    run(story())


@pytest.mark.parametrize("politely", [True, False])
def test_who_leaves_is_noticed(politely: bool, tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path) as server:
            _reader, writer = await server.client()
            writer.write(b"hello")
            protocol = await server.protocol()
            await until(lambda: bool(protocol.received))
            if politely:
                writer.close()
            else:
                writer.transport.abort()
            await protocol.lost
            assert protocol.received == b"hello"

    run(story())


def test_what_comes_with_the_end_of_the_handshake_is_not_left_lying(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path, echo) as server:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            client = server.trust.wrap_bio(incoming, outgoing, server_hostname="localhost")
            reader, writer = await server.plain()
            with contextlib.suppress(ssl.SSLWantReadError):
                client.do_handshake()
            while True:
                writer.write(outgoing.read())
                incoming.write(await reader.read(65536))
                with contextlib.suppress(ssl.SSLWantReadError):
                    client.do_handshake()
                    break
            client.write(b"at once")
            writer.write(outgoing.read())  # the last message of the handshake and the first data, in one piece
            protocol = await server.protocol()
            await until(lambda: bool(protocol.received))
            assert protocol.received == b"at once"

    run(story())


def test_reading_pauses_and_goes_on(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path, lambda protocol, _: protocol.transport.pause_reading()) as server:
            _reader, writer = await server.client()
            sent = os.urandom(200_000)
            writer.write(sent)
            protocol = await server.protocol()
            while len(protocol.received) < len(sent):
                before = len(protocol.received)
                await asyncio.sleep(0.005)
                assert len(protocol.received) <= before + 16 * 1024
                protocol.transport.resume_reading()
            assert protocol.received == sent

    run(story())


def test_a_client_that_leaves_no_room_for_what_tls_has_to_say_wakes_nobody_until_there_is_some(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    looks = 0
    is_full = True
    receive = ssl.SSLSocket.recv

    def recv(connection: ssl.SSLSocket, size: int = 1024, flags: int = 0) -> bytes:
        """As after new keys: they have to be answered first."""
        nonlocal looks
        looks += 1
        if is_full:
            raise ssl.SSLWantWriteError
        return receive(connection, size, flags)

    async def story() -> None:
        nonlocal is_full
        async with listening(tmp_path) as server:
            reader, writer = await server.client()
            protocol = await server.protocol()
            protocol.transport.write(bytes(20 * MEGABYTE))
            monkeypatch.setattr(ssl.SSLSocket, "recv", recv)
            writer.write(b"new keys")
            await until(lambda: looks > 0)
            await asyncio.sleep(0.1)
            assert looks < 5
            is_full = False
            await reader.readexactly(20 * MEGABYTE)
            await until(lambda: protocol.received == b"new keys")

    run(story())


def test_who_is_closed_without_room_for_what_tls_has_to_say_is_closed(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story() -> None:
        async with listening(tmp_path) as server:
            reader, writer = await server.client()
            protocol = await server.protocol()

            def recv(connection: ssl.SSLSocket, size: int = 1024, flags: int = 0) -> bytes:
                protocol.transport.close()
                raise ssl.SSLWantWriteError

            monkeypatch.setattr(ssl.SSLSocket, "recv", recv)
            writer.write(b"new keys")
            assert await protocol.lost is None
            monkeypatch.undo()
            assert await _all(reader) == b""

    run(story())


def test_nonsense_and_silence_get_no_protocol(tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tls_listener, "_HANDSHAKE_SECONDS", 0.2)

    async def story() -> None:
        async with listening(tmp_path, echo) as server:
            reader, writer = await server.plain()
            writer.write(b"GET / HTTP/1.1\r\n\r\n")
            assert b"HTTP" not in await _all(reader)
            writer.close()
            reader, writer = await server.plain()
            assert await _all(reader) == b""  # it says nothing, and is let go
            writer.close()
            assert server.protocols == []
            reader, writer = await server.client()
            writer.write(b"others are served")
            assert await reader.readexactly(17) == b"others are served"

    run(story())


async def _all(reader: asyncio.StreamReader) -> bytes:
    try:
        return await reader.read(-1)
    except ConnectionResetError:
        return b""


def test_a_protocol_that_fails_ends_its_own_connection(tmp_path: Path, run: Run) -> None:
    def fail(protocol: Remembering, data: bytes) -> None:
        if data == b"fail":
            raise ValueError("no")
        protocol.transport.write(data)

    async def story() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        async with listening(tmp_path, fail) as server:
            reader, writer = await server.client()
            other_reader, other_writer = await server.client()
            writer.write(b"fail")
            assert await _all(reader) == b""
            assert isinstance(await (await server.protocol()).lost, ValueError)
            assert [str(each["exception"]) for each in told] == ["no"]
            other_writer.write(b"well")
            assert await other_reader.readexactly(4) == b"well"
            other_writer.close()

    run(story())


def test_a_protocol_that_fails_as_it_begins_ends_its_own_connection(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Remembering.connection_made

    def fail(protocol: Remembering, transport: asyncio.BaseTransport) -> None:
        made(protocol, transport)
        raise ValueError("no")

    async def story() -> None:
        told: list[dict[str, Any]] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        async with listening(tmp_path, echo) as server:
            with monkeypatch.context() as patch:
                patch.setattr(Remembering, "connection_made", fail)
                reader, _writer = await server.client()
                assert isinstance(await (await server.protocol()).lost, ValueError)
                assert await _all(reader) == b""
            assert [str(each["exception"]) for each in told] == ["no"]
            reader, writer = await server.client()
            writer.write(b"well")
            assert await reader.readexactly(4) == b"well"

    run(story())


def test_a_closed_listener_takes_in_nobody_and_lets_go_of_who_is_not_in_yet(tmp_path: Path, run: Run) -> None:
    async def story() -> None:
        async with listening(tmp_path, echo) as server:
            reader, writer = await server.client()
            silent_reader, silent_writer = await server.plain()
            await asyncio.sleep(0.05)
            server.listener.close()
            server.listener.close()
            server.socket.close()
            assert await _all(silent_reader) == b""
            with pytest.raises(OSError, match=r"refused|Connect call failed"):
                await server.plain()
            writer.write(b"still here")
            assert await reader.readexactly(10) == b"still here"
            silent_writer.close()

    run(story())


def test_without_files_left_it_waits_and_goes_on(
    tmp_path: Path, run: Run, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(tls_listener, "_FULL_SECONDS", 0.05)

    class Full:
        """A listening socket of a process that has no files left, at first."""

        def __init__(self, listener: socket.socket) -> None:
            self._listener = listener
            self.refusals = 3

        def fileno(self) -> int:
            return self._listener.fileno()

        def accept(self) -> tuple[socket.socket, Any]:
            if self.refusals:
                self.refusals -= 1
                raise OSError(errno.EMFILE, "Too many open files")
            return self._listener.accept()

    async def story() -> None:
        async with listening(tmp_path, echo) as server:
            server.listener._listener = Full(server.socket)  # type: ignore[assignment]  # as much of one as is asked
            reader, writer = await server.client()
            writer.write(b"in")
            assert await reader.readexactly(2) == b"in"

    run(story())
    assert caplog.text.count("no connection can be taken in: Too many open files") == 3


def test_the_client_chooses_the_cipher(tmp_path: Path) -> None:
    with running_hub(tls=serving_certificate(tmp_path)) as hub:
        for cipher in ("ECDHE-ECDSA-AES128-GCM-SHA256", "ECDHE-ECDSA-AES256-GCM-SHA384"):
            others = "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256"
            trust = ssl.create_default_context(cadata=hub.tls.authority.decode() if hub.tls else "")
            trust.maximum_version = ssl.TLSVersion.TLSv1_2
            trust.set_ciphers(f"{cipher}:{others}")
            address = ("127.0.0.1", int(hub.url.rsplit(":", 1)[1]))
            with (
                socket.create_connection(address) as plain,
                trust.wrap_socket(plain, server_hostname="localhost") as tls,
            ):
                found = tls.cipher()
            assert found is not None
            assert found[0] == cipher
