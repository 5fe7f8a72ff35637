"""Answers on their way out: bytes, headers, compression. The one place that speaks ASGI's `http.response.*`.

Every other module returns a `Reply`; `send_reply` sends it. Large answers are compressed in a thread when the client
takes gzip, as a real server does from 128 KiB on.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import msgspec

from muster.hub.rest.negotiation import NotAcceptableError
from muster.hub.rest.protobuf import encode_status
from muster.hub.rest.yaml_text import encode_yaml
from muster.hub.status import shortened

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, MutableMapping

    from muster.hub.rest.limits import Limits
    from muster.hub.rest.negotiation import Form
    from muster.hub.status import StatusError

    Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

GZIP_FROM = 128 * 1024
_JSON = b"application/json"
_NO_CACHE = (b"cache-control", b"no-cache, private")
_GUARDED = 256 * 1024  # a smaller answer fits the socket's buffers, so that no slow reader can hold it up
_PART = 2 * 1024 * 1024
MOST_WARNINGS = 20  # headers
MOST_WARNING_TEXT = 2 * 1024  # characters of one
MOST_WARNING_BYTES = 8 * 1024  # of all

Header = tuple[bytes, bytes]


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete answer."""

    code: int
    body: bytes
    content_type: bytes = _JSON
    headers: tuple[Header, ...] = ()
    cache: Header = _NO_CACHE


def audit_id() -> bytes:
    """A random identity for a request, in the form of a UUID."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}".encode()


def object_reply(code: int, body: bytes, form: Form, warnings: tuple[str, ...] = ()) -> Reply:
    """An object's JSON in the media type the client asked for."""
    headers = warning_headers(warnings) if warnings else ()
    if form.media_type == "application/yaml":
        return Reply(code, encode_yaml(msgspec.json.decode(body)), b"application/yaml", headers)
    if form.pretty:
        body = msgspec.json.format(body, indent=2)
    return Reply(code, body if body.endswith(b"\n") else body + b"\n", headers=headers)


def status_reply(error: StatusError) -> Reply:
    """A refusal as its Status."""
    headers = warning_headers(error.warnings) if error.warnings else ()
    if error.retry_after is not None:
        headers += ((b"retry-after", str(error.retry_after).encode()),)
    if isinstance(error, NotAcceptableError) and error.protobuf:
        return Reply(error.code, encode_status(error.status), b"application/vnd.kubernetes.protobuf", headers)
    return Reply(error.code, msgspec.json.encode(error.status) + b"\n", headers=headers)


def text_reply(code: int, text: str, headers: tuple[Header, ...] = ()) -> Reply:
    return Reply(code, text.encode(), b"text/plain; charset=utf-8", headers)


NOT_FOUND = text_reply(404, "404 page not found\n", ((b"x-content-type-options", b"nosniff"),))


def warning_headers(warnings: tuple[str, ...]) -> tuple[Header, ...]:
    """`Warning: 299 - "text"`, one header per text; clients refuse answers with too many or too long headers."""
    texts = [_quoted(shortened(text, MOST_WARNING_TEXT)) for text in warnings[:MOST_WARNINGS]]
    sent: list[str] = []
    left = MOST_WARNING_BYTES
    for text in texts:
        left -= len(text.encode())
        if left < 0 and sent:
            break
        sent.append(text)
    if more := len(warnings) - len(sent):
        sent.append(f"and {more} more warnings")
    return tuple((b"warning", f'299 - "{text}"'.encode()) for text in sent)


def _quoted(text: str) -> str:
    cleaned = "".join(character if character.isprintable() else " " for character in text)
    return cleaned.replace("\\", "\\\\").replace('"', '\\"')


async def send_reply(send: Send, reply: Reply, accept_encoding: bytes, limits: Limits, audit: bytes) -> None:
    """Send an answer, compressed if it is large and the client takes that; cut off a client that does not read."""
    body = reply.body
    headers: list[Header] = [(b"audit-id", audit), reply.cache, (b"content-type", reply.content_type), *reply.headers]
    if len(body) >= GZIP_FROM and b"gzip" in accept_encoding:
        body = await asyncio.to_thread(_gzip, body)
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": reply.code, "headers": headers})
    if len(body) < _GUARDED:
        await send({"type": "http.response.body", "body": body})
        return
    # A large body waits for the client to read. The time-out is per part, so that a slow but steady reader is served.
    view = memoryview(body)
    for start in range(0, len(body), _PART):
        more = start + _PART < len(body)
        async with asyncio.timeout(limits.write_seconds):
            # The transport takes any buffer; a slice of the view spares a copy of it all.
            await send({"type": "http.response.body", "body": view[start : start + _PART], "more_body": more})


def _gzip(body: bytes) -> bytes:
    compressor = zlib.compressobj(1, zlib.DEFLATED, 16 + zlib.MAX_WBITS)
    return compressor.compress(body) + compressor.flush()
