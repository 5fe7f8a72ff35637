"""The client of a command that asks one question and ends: an answer is there before an HTTP library is imported.

Each request has a connection of its own, and speaks as much HTTP as one answer takes. Only what changes nothing is
sent this way. Whatever is out of the ordinary (a proxy, a server that cannot be reached or is busy, credentials that
have ended, an answer that sends us elsewhere) is asked once more by the whole client, which knows what to do and what
to say. Used by `muster explain`.
"""

from __future__ import annotations

import asyncio
from string import hexdigits
from typing import TYPE_CHECKING, Final, Self
from urllib.parse import quote, urlencode, urlsplit

import msgspec

from muster.client.errors import UnreachableError, refusal
from muster.client.replies import Reply, warnings_in
from muster.values.api_paths import checked
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping
    from types import TracebackType

    from muster.client.client import Client
    from muster.client.kubeconfig import Connection

_JSON: Final = "application/json"
_PATIENCE: Final = 60.0  # seconds for all of it
_TO_CONNECT: Final = 10.0
_MOST: Final = 2**20  # bytes of an answer's head, and of what waits to be read
_ELSEWHERE: Final = range(300, 400)
_LATER: Final = (401, 429, 503)  # refusals that the whole client may have an answer to
_EMPTY: Final = (204, 304)
_TROUBLE: Final = (OSError, EOFError, ValueError, asyncio.LimitOverrunError)


class QuickClient:
    """Speaks to one server. Use it as an async context manager."""

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        self._whole: Client | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._whole is not None:
            await self._whole.__aexit__(kind, error, trace)

    def whole(self) -> Client:
        """The client that can do everything there is. It ends with this one."""
        from muster.client.client import Client

        if self._whole is None:
            self._whole = Client(self.connection)
        return self._whole

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: Json = None,
        content_type: str = _JSON,
        accept: str = _JSON,
        waits_for_others: bool = True,
    ) -> Reply:
        """Send a request that changes nothing; it may be sent twice. Raises as `Client.request` does."""
        if self._whole is None and not self.connection.proxy:
            headers = {"Accept": accept, "Content-Type": content_type}
            answer = await self._tried(method, checked(path), params or {}, headers, body)
            if answer is not None:
                return answer.reply()
        return await self.whole().request(
            method,
            path,
            params=params,
            body=body,
            content_type=content_type,
            accept=accept,
            waits_for_others=waits_for_others,
        )

    async def _tried(
        self, method: str, path: str, params: Mapping[str, str], headers: Mapping[str, str], body: Json
    ) -> _Answer | None:
        """The answer, if it is an ordinary one. Raises UnreachableError for one that takes too long."""
        try:
            async with asyncio.timeout(_PATIENCE):
                answer = await self._exchanged(method, path, params, headers, body)
        except TimeoutError as error:
            raise UnreachableError(self.connection.server, "it took too long") from error
        except _TROUBLE:
            return None
        return None if answer.code in _ELSEWHERE or answer.code in _LATER else answer

    async def _exchanged(
        self, method: str, path: str, params: Mapping[str, str], headers: Mapping[str, str], body: Json
    ) -> _Answer:
        """One request on a connection of its own. Raises one of _TROUBLE."""
        server = urlsplit(self.connection.server)
        query = f"?{urlencode(params, quote_via=quote)}" if params else ""
        data = b"" if body is None else msgspec.json.encode(body)
        lines = [
            f"{method} {server.path.rstrip('/')}{path}{query} HTTP/1.1",
            f"Host: {server.netloc.rpartition('@')[2]}",
            "User-Agent: muster",
            "Accept-Encoding: identity",
            "Connection: close",
            f"Content-Length: {len(data)}",
            *(f"{name}: {value}" for name, value in {**headers, **self.connection.headers}.items()),
            *(f"{name}: {value}" for name, value in self.connection.impersonation),
        ]
        if any("\r" in line or "\n" in line for line in lines):
            raise ValueError("a header of several lines")
        async with asyncio.timeout(_TO_CONNECT):
            reader, writer = await self._opened(server.hostname or "", server.port)
        try:
            writer.write("\r\n".join((*lines, "", "")).encode() + data)
            return await _answer(reader)
        finally:
            writer.transport.abort()  # nobody waits for its good-bye

    async def _opened(self, host: str, port: int | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        tls = self.connection.tls
        if tls is None:
            return await asyncio.open_connection(host, port or 80, limit=_MOST)
        name = self.connection.server_name or host
        return await asyncio.open_connection(host, port or 443, limit=_MOST, ssl=tls, server_hostname=name)


class _Answer(msgspec.Struct, frozen=True):
    """What a server sent; the names of headers in small letters."""

    code: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def reply(self) -> Reply:
        """Raises ApiError for a refusal."""
        if self.code >= 400:
            raise refusal(self.code, self.body)
        return Reply(self.code, self.body, warnings_in(value for name, value in self.headers if name == "warning"))


async def _answer(reader: asyncio.StreamReader) -> _Answer:
    """The answer, to its end. Raises one of _TROUBLE for what is none, or ends early."""
    code = 100
    while code < 200:  # what is said before the answer
        head = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "surrogateescape")
        first, *lines = head.removesuffix("\r\n\r\n").split("\r\n")
        version, _, rest = first.partition(" ")
        if not version.startswith("HTTP/1."):
            raise ValueError(f"{version!r} is not HTTP")
        code = int(rest[:3])
    pairs = (line.partition(":") for line in lines)
    headers = tuple((name.lower(), value.strip()) for name, _, value in pairs)
    return _Answer(code, headers, b"" if code in _EMPTY else await _body(reader, dict(headers)))


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("content-encoding", "identity") != "identity":
        raise ValueError("packed, which was not asked for")
    if (encoding := headers.get("transfer-encoding")) is not None:
        if encoding.lower() != "chunked":
            raise ValueError(f"encoded as {encoding!r}")
        return b"".join([chunk async for chunk in _chunks(reader)])
    if (length := headers.get("content-length")) is not None:
        return await reader.readexactly(_size(length, 10))
    raise ValueError("an answer whose end nobody would notice")


async def _chunks(reader: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size := _size((await reader.readuntil(b"\r\n")).partition(b";")[0].strip().decode("ascii"), 16):
        yield (await reader.readexactly(size + 2))[:size]


def _size(text: str, base: int) -> int:
    """Digits only: Python takes more for a number than HTTP does."""
    if not text or text.strip(hexdigits):
        raise ValueError(f"{text!r} is no size")
    return int(text, base)
