"""A connection to a managed cluster that is kept from look to look: GET, one at a time, and nothing else.

Shaking hands costs ten times what a question costs. But a kept connection is a door to a stranger: whoever sends
something while nothing is asked, or more than was asked for, is cut off at once, so that nothing piles up here. What
HTTP is, httptools says; answers are bounded in bytes while they come, and nothing is unpacked or followed.
"""

from __future__ import annotations

import asyncio
import ssl
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, cast

import httptools
from yarl import URL

from muster.collecting.troubles import Trouble, TroubleError, words_of
from muster.values.api_paths import checked

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.client.kubeconfig import Connection

_MOST_HEAD: Final = 64 * 1024  # bytes of an answer beside its body
_MOST_PARTS: Final = 64 * 1024  # in which a body comes
_IDENTITY: Final = b"identity"


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. `encoded`: in an encoding that was not asked for."""

    code: int
    body: bytes
    encoded: bool = False


class Wire:
    """One cluster: connects when it is asked, and again when the connection has gone."""

    def __init__(self, connection: Connection, headers: Mapping[str, str]) -> None:
        """Raises TroubleError for an address or credentials that no request can carry."""
        url = _address(connection.server)
        self.server = connection.server
        self._host, self._port = url.raw_host or "", url.port or 443
        self._prefix = url.raw_path.rstrip("/")
        self._tls = connection.tls
        self._name = connection.server_name or self._host  # in its certificate
        self._head = _head(url, [*headers.items(), *connection.headers.items(), *connection.impersonation])
        self._channel: _Channel | None = None

    @property
    def is_open(self) -> bool:
        return self._channel is not None and self._channel.is_open

    def close(self) -> None:
        if self._channel is not None:
            self._channel.cut()
            self._channel = None

    async def get(self, path: str, query: str, seconds: float, most: int) -> Answer:
        """One answer of at most so many bytes. Raises TroubleError; the connection is closed then."""
        target = f"{self._prefix}{checked(path)}{'?' if query else ''}{query}"
        try:
            async with asyncio.timeout(seconds):
                return await self._asked(f"GET {target} HTTP/1.1\r\n{self._head}".encode(), path, most)
        except TimeoutError:
            self.close()
            raise TroubleError(Trouble.TIMED_OUT, f"no answer in time from {self.server}") from None
        except BaseException:  # cancelled, too: half an answer may be on its way
            self.close()
            raise

    async def _asked(self, request: bytes, path: str, most: int) -> Answer:
        channel = self._channel
        if channel is not None and channel.is_open:
            try:
                return await channel.ask(request, path, most)
            except _GoneError:  # it was closed while nothing was asked; nobody has read the question
                self.close()
        self._channel = channel = await self._connected()
        try:
            return await channel.ask(request, path, most)
        except _GoneError:
            raise TroubleError(Trouble.UNREACHABLE, f"the connection to {self.server} broke") from None

    async def _connected(self) -> _Channel:
        loop = asyncio.get_running_loop()
        try:
            _, channel = await loop.create_connection(
                _Channel, self._host, self._port, ssl=self._tls, server_hostname=self._name if self._tls else None
            )
        except ssl.SSLCertVerificationError:
            raise TroubleError(Trouble.BAD_CERTIFICATE, f"the certificate of {self.server} is not trusted") from None
        except ssl.SSLError:
            text = f"no secure connection to {self.server} comes about"
            raise TroubleError(Trouble.BAD_CERTIFICATE, text) from None
        except OSError as error:
            raise TroubleError(Trouble.UNREACHABLE, f"no connection to {self.server}: {words_of(error)}") from None
        channel.server = self.server
        return channel


def _address(server: str) -> URL:
    """Where a server is, if it is said in a way that leaves no doubt."""
    try:
        url = URL(server)
        if url.raw_host and url.raw_user is None and not url.query_string and not url.fragment:
            return url
    except ValueError:
        pass
    raise TroubleError(Trouble.NO_ACCESS, "the server's address is not that of an API server")


def _head(url: URL, headers: list[tuple[str, str]]) -> str:
    host = f"[{url.raw_host}]" if url.raw_host and ":" in url.raw_host else url.raw_host
    lines = [f"Host: {host}:{url.port or 443}", "User-Agent: muster"]
    for name, value in headers:
        if not name.isascii() or any(each in name + value for each in "\r\n\0"):
            raise TroubleError(Trouble.NO_ACCESS, "the credentials are nothing that a header can carry")
        lines.append(f"{name}: {value}")
    return "\r\n".join(lines) + "\r\n\r\n"


class _GoneError(Exception):
    """The connection ended before an answer began."""


@dataclass(slots=True)
class _Pending:
    """The question that is asked now, and what has come of its answer."""

    path: str
    most: int
    parser: httptools.HttpResponseParser
    answer: asyncio.Future[Answer]
    size: int = 0
    headers_are_read: bool = False
    is_bounded: bool = False  # it says itself where it ends
    is_encoded: bool = False
    body: list[bytes] = field(default_factory=list)


class _Channel(asyncio.Protocol):
    """The connection itself."""

    def __init__(self) -> None:
        self.server = ""
        self._transport: asyncio.Transport | None = None
        self._pending: _Pending | None = None

    @property
    def is_open(self) -> bool:
        return self._transport is not None and not self._transport.is_closing()

    def cut(self) -> None:
        if self._transport is not None:
            self._transport.abort()
            self._transport = None

    async def ask(self, request: bytes, path: str, most: int) -> Answer:
        """Raises TroubleError and _GoneError."""
        if self._transport is None:
            raise _GoneError
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._pending = _Pending(path, most, httptools.HttpResponseParser(self), answer)
        self._transport.write(request)
        try:
            return await answer
        finally:
            self._pending = None

    def _fail(self, error: Exception) -> None:
        if self._pending is not None and not self._pending.answer.done():
            self._pending.answer.set_exception(error)
        self.cut()

    # ---------------------------------------------------------------------------------------------- from the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)

    def data_received(self, data: bytes) -> None:
        pending = self._pending
        if pending is None or pending.answer.done():
            self.cut()  # nobody has asked
            return
        pending.size += len(data)
        try:
            pending.parser.feed_data(data)
        except (httptools.HttpParserError, httptools.HttpParserUpgrade):
            self._fail(self._malformed())
            return
        if pending.answer.done():
            return
        if len(pending.body) > _MOST_PARTS or (pending.size > _MOST_HEAD and not pending.headers_are_read):
            self._fail(self._malformed())
        elif pending.size > pending.most + _MOST_HEAD:
            self._fail(_too_large(pending))

    def eof_received(self) -> bool:
        """An answer that does not say where it ends, ends here."""
        pending = self._pending
        if pending is not None and pending.headers_are_read and not pending.is_bounded:
            self._finish(pending)
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        del exc
        self._transport = None
        pending = self._pending
        if pending is not None and not pending.answer.done():
            pending.answer.set_exception(self._malformed() if pending.headers_are_read else _GoneError())

    # ------------------------------------------------------------------------------------------------ from the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._pending is None:
            return
        match name.lower():
            case b"content-encoding":
                self._pending.is_encoded = value.strip().lower() != _IDENTITY
            case b"content-length" | b"transfer-encoding":
                self._pending.is_bounded = True

    def on_headers_complete(self) -> None:
        if self._pending is not None:
            self._pending.headers_are_read = True

    def on_body(self, body: bytes) -> None:
        if self._pending is not None:
            self._pending.body.append(body)

    def on_message_complete(self) -> None:
        pending = self._pending
        if pending is None or pending.answer.done():
            self.cut()  # more than was asked for
        elif pending.parser.get_status_code() < 200:
            pending.headers_are_read = pending.is_bounded = pending.is_encoded = False  # the answer is still to come
        else:
            self._finish(pending)

    def _finish(self, pending: _Pending) -> None:
        parser, body = pending.parser, b"".join(pending.body)
        if len(body) > pending.most:
            self._fail(_too_large(pending))
            return
        if not pending.answer.done():
            pending.answer.set_result(Answer(parser.get_status_code(), body, pending.is_encoded))
        if not pending.is_bounded or not parser.should_keep_alive():
            self.cut()

    def _malformed(self) -> TroubleError:
        return TroubleError(Trouble.MALFORMED, f"{self.server} does not speak HTTP as it should")


def _too_large(pending: _Pending) -> TroubleError:
    return TroubleError(Trouble.TOO_LARGE, f"{pending.path} answers with more than {pending.most:,} bytes")
