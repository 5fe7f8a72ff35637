"""The quick client says what the whole one says, whatever a server answers, and leaves to it what is not ordinary."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.client import Client, Connection, QuickClient, Reply, UnreachableError
from muster.errors import ApiError, InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_STATUS = b'{"kind":"Status","reason":"%s","message":"no","details":{"kind":"placements","name":"p"}}'
_ENDS = st.sampled_from(["length", "chunks", "close"])
_CODES = st.sampled_from([200, 201, 204, 302, 400, 401, 403, 404, 422, 429, 500, 503])
_WARNINGS = st.lists(st.sampled_from(['299 - "spelled \\"so\\""', "299 - plain", "odd"]), max_size=2)
_BODIES = st.binary(max_size=300) | st.sampled_from([b"{}", _STATUS % b"NotFound", b"\r\n0\r\n\r\n"])


def answer(code: int, body: bytes, end: str, warnings: Sequence[str] = (), sizes: Sequence[int] = (7,)) -> bytes:
    """An answer as servers send it; `sizes` are those of its chunks, in turns."""
    lines = [f"HTTP/1.1 {code} So", "Content-Type: application/json", "Connection: close"]
    lines += [f"Warning: {each}" for each in warnings]
    if code == 302:
        lines.append("Location: /elsewhere")
    if code == 204:
        body, end = b"", "close"
    if end == "length":
        lines.append(f"Content-Length: {len(body)}")
    if end == "chunks":
        lines.append("Transfer-Encoding: chunked")
        body = _chunked(body, sizes)
    return "\r\n".join((*lines, "", "")).encode() + body


def _chunked(body: bytes, sizes: Sequence[int]) -> bytes:
    parts, turn = [], 0
    while body:
        part, body = body[: sizes[turn % len(sizes)]], body[sizes[turn % len(sizes)] :]
        parts.append(b"%x;told=so\r\n%s\r\n" % (len(part), part))
        turn += 1
    return b"".join((*parts, b"0\r\n\r\n"))


async def outcome(
    client_of: Callable[[Connection], Client | QuickClient], raw: bytes, heard: list[bytes] | None = None
) -> object:
    """What one request comes to when a server answers every request with these bytes and hangs up."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        if heard is not None:
            heard.append(head)
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nelse" if b" /elsewhere " in head else raw)
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        connection = Connection(
            f"http://127.0.0.1:{port}/prefix",
            headers={"Authorization": "Bearer secret"},
            impersonation=(("Impersonate-User", "eve"), ("Impersonate-Group", "a"), ("Impersonate-Group", "b")),
        )
        async with client_of(connection) as client:
            try:
                return await client.request("GET", "/apis/a", params={"cluster": "a b&c"}, waits_for_others=False)
            except ApiError as error:
                return error.code, error.reason, str(error), error.kind, error.name
            except UnreachableError as error:
                return str(error).replace(str(port), "PORT")


@settings(max_examples=80, deadline=None)
@given(_CODES, _BODIES, _ENDS, _WARNINGS, st.lists(st.integers(1, 90), min_size=1, max_size=3))
def test_both_clients_say_the_same_of_whatever_is_answered(
    code: int, body: bytes, end: str, warnings: list[str], sizes: list[int]
) -> None:
    raw = answer(code, body, end, warnings, sizes)
    assert asyncio.run(outcome(QuickClient, raw)) == asyncio.run(outcome(Client, raw))


@settings(max_examples=40, deadline=None)
@given(_BODIES, _ENDS, st.integers(0, 400))
def test_both_clients_say_the_same_of_an_answer_that_ends_early(body: bytes, end: str, kept: int) -> None:
    raw = answer(200, body, end)[:kept]
    quick, whole = asyncio.run(outcome(QuickClient, raw)), asyncio.run(outcome(Client, raw))
    assert quick == whole


@pytest.mark.parametrize(
    "raw",
    [
        b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\n" + answer(200, b"{}", "length"),
        answer(200, b"{}", "length").replace(b"Content-Length: 2", b"Content-Length: +2"),
        answer(200, b"{}", "length").replace(b"Content-Length: 2", b"Content-Length: 0_2"),
        answer(200, b"{}", "chunks").replace(b"Transfer-Encoding: chunked", b"Transfer-Encoding: gzip, chunked"),
        answer(200, b"{}", "chunks").replace(b"2;told", b"0x2;told"),
        b"SSH-2.0-OpenSSH_9\r\n\r\n",
        b"HTTP/1.1 two OK\r\n\r\n",
        b"\x16\x03\x01\x00\r\n\r\n",
        b"",
    ],
)
def test_both_clients_say_the_same_of_strange_answers(raw: bytes) -> None:
    assert asyncio.run(outcome(QuickClient, raw)) == asyncio.run(outcome(Client, raw))


def test_an_ordinary_answer_takes_one_request_with_the_headers_of_the_whole_client() -> None:
    raw = answer(200, b"{}", "chunks", ['299 - "old"'])
    quick: list[bytes] = []
    whole: list[bytes] = []
    assert asyncio.run(outcome(QuickClient, raw, quick)) == Reply(200, b"{}", ("old",))
    asyncio.run(outcome(Client, raw, whole))
    assert len(quick) == len(whole) == 1
    own = {"connection: close", "content-length: 0"}
    assert _lines(quick[0]) - own == {line for line in _lines(whole[0]) if not line.startswith("host: ")} | {
        line for line in _lines(quick[0]) if line.startswith("host: ")
    }


def _lines(head: bytes) -> set[str]:
    first, *lines = head.decode().strip().split("\r\n")
    return {first.replace("a+b", "a%20b"), *(name.lower() + ": " + value for name, _, value in _parted(lines))}


def _parted(lines: list[str]) -> list[tuple[str, str, str]]:
    return [line.partition(": ") for line in lines]


def test_a_server_that_is_not_there_is_named_as_the_whole_client_names_it() -> None:
    async def asked(client_of: Callable[[Connection], Client | QuickClient]) -> str:
        async with client_of(Connection("http://127.0.0.1:1")) as client:
            with pytest.raises(UnreachableError) as caught:
                await client.request("GET", "/api")
            return str(caught.value)

    assert asyncio.run(asked(QuickClient)) == asyncio.run(asked(Client))


def test_what_is_more_than_a_path_or_a_header_is_not_sent() -> None:
    heard: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            heard.append(await reader.readuntil(b"\r\n\r\n"))
        finally:
            writer.close()

    async def asked() -> None:
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
            async with QuickClient(Connection(url)) as client:
                with pytest.raises(InvalidObjectError):
                    await client.request("GET", "/api/../x")
            forged = Connection(url, headers={"Authorization": "Bearer a\r\nImpersonate-User: root"})
            async with QuickClient(forged) as client:
                with pytest.raises(ValueError, match="header"):  # of the whole client, which refuses it too
                    await client.request("GET", "/api")

    asyncio.run(asked())
    assert heard == []
