"""Answers on their way out: bytes, headers, compression. The one place that speaks ASGI's `http.response.*`.

Every other module returns a `Reply`; `send_reply` sends it, large ones part by part as the client reads them. They are
compressed in a thread when the client takes gzip, as a real server does from 128 KiB on.
"""

from __future__ import annotations

import asyncio
import random
import zlib
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import msgspec

from muster.hub.pace import turn
from muster.hub.rest.bodies import PROTOBUF
from muster.hub.rest.negotiation import NotAcceptableError
from muster.hub.rest.parts import PART, StreamedBody, packed
from muster.hub.rest.protobuf import encode_status
from muster.hub.rest.protobuf_answers import encoded, encoded_list
from muster.hub.rest.yaml_text import encode_yaml
from muster.hub.status import shortened
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, MutableMapping

    from muster.hub.rest.negotiation import Form
    from muster.hub.rest.parts import Listing
    from muster.hub.status import StatusError

    Send = Callable[[MutableMapping[str, Json]], Awaitable[None]]

GZIP_FROM = 128 * 1024
_JSON = b"application/json"
_NO_CACHE = (b"cache-control", b"no-cache, private")
MOST_WARNINGS = 20  # headers
MOST_WARNING_TEXT = 2 * 1024  # characters of one
MOST_WARNING_BYTES = 8 * 1024  # of all
_YAML = b"application/yaml"
_ORDINARY = frozenset({_JSON, _YAML, PROTOBUF.encode()})
_RENDERED_AT_ONCE = 32 * 1024  # indenting, or YAML, of more than this is too much for the loop
# Half of what compression usually keeps for a connection: enough for a few objects to look back on.
_WINDOW, _MEMORY = 16 + 14, 7

# One thread each: more of them would only take the processor from the loop more often.
_renderer = ThreadPoolExecutor(1, thread_name_prefix="muster-renderer")
_packer = ThreadPoolExecutor(1, thread_name_prefix="muster-packer")

Header = tuple[bytes, bytes]


class Reply(msgspec.Struct, frozen=True):
    """A complete answer. `streamed` is sent instead of the body if there is one: how it is made while it is sent."""

    code: int
    body: bytes
    content_type: bytes = _JSON
    headers: tuple[Header, ...] = ()
    cache: Header = _NO_CACHE
    streamed: StreamedBody | None = None

    @property
    def holds(self) -> int:
        """What it keeps in memory until it has been read; nothing to speak of for a small one."""
        if self.streamed is not None:
            return self.streamed.holds
        return len(self.body) if len(self.body) > PART else 0


def audit_id() -> bytes:
    """A random identity for a request, in the form of a UUID."""
    digits = f"{random.getrandbits(128):032x}"
    return f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-a{digits[17:20]}-{digits[20:]}".encode()


def object_reply(code: int, body: bytes, form: Form, warnings: tuple[str, ...] = ()) -> Reply:
    """An object's JSON in the media type the client asked for."""
    headers = warning_headers(warnings) if warnings else ()
    if form.media_type == PROTOBUF:
        return _packed(code, len(body), lambda: encoded(body), headers)
    in_yaml = form.media_type == "application/yaml"
    content_type = _YAML if in_yaml else _JSON
    if in_yaml or form.pretty:
        render = _in_yaml if in_yaml else _indented
        if len(body) > _RENDERED_AT_ONCE:
            later = (render(each) for each in (body,))
            return Reply(code, body, content_type, headers, streamed=StreamedBody(later, len(body), slow=True))
        return Reply(code, render(body), content_type, headers)
    if len(body) > PART:  # as it is stored: one byte more at its end would be a copy
        ended = body.endswith(b"\n")
        pieces = (body,) if ended else (body, b"\n")
        streamed = StreamedBody(pieces, len(body), len(body) + (not ended))
        return Reply(code, body, content_type, headers, streamed=streamed)
    return Reply(code, body if body.endswith(b"\n") else body + b"\n", headers=headers)


def list_reply(listing: Listing, size: int, form: Form, warnings: tuple[str, ...], length: int | None = None) -> Reply:
    """A list in the media type the client asked for; `size` is what its items have in the store."""
    headers = warning_headers(warnings) if warnings else ()
    if form.media_type == PROTOBUF:
        return _packed(200, size, lambda: encoded_list(listing.head, listing.items), headers)
    in_yaml = form.media_type == "application/yaml"
    content_type = _YAML if in_yaml else _JSON
    pieces = listing.yaml() if in_yaml else listing.indented() if form.pretty else listing.json()
    if size <= _RENDERED_AT_ONCE:
        return Reply(200, b"".join(pieces), content_type, headers)
    return Reply(200, b"", content_type, headers, streamed=StreamedBody(pieces, size, length, slow=in_yaml))


def _packed(code: int, size: int, encode: Callable[[], bytes], headers: tuple[Header, ...]) -> Reply:
    """An answer in protobuf, made aside if it is large."""
    if size <= _RENDERED_AT_ONCE:
        return Reply(code, encode(), PROTOBUF.encode(), headers)
    later = (each() for each in (encode,))
    return Reply(code, b"", PROTOBUF.encode(), headers, streamed=StreamedBody(later, size, slow=True))


def _in_yaml(body: bytes) -> bytes:
    return encode_yaml(msgspec.json.decode(body))


def _indented(body: bytes) -> bytes:
    body = msgspec.json.format(body, indent=2)
    return body if body.endswith(b"\n") else body + b"\n"


def status_reply(error: StatusError, *, protobuf: bool = False) -> Reply:
    """A refusal as its Status."""
    headers = warning_headers(error.warnings) if error.warnings else ()
    if error.retry_after is not None:
        headers += ((b"retry-after", str(error.retry_after).encode()),)
    if protobuf or (isinstance(error, NotAcceptableError) and error.protobuf):
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


def answered(answer: Callable[[int, bytes, bytes], bool], reply: Reply, audit: bytes) -> bool:
    """Send an answer at once if there is nothing special about it, as about nearly all; see `connections.ANSWER`."""
    body = reply.body
    if reply.headers or reply.streamed is not None or len(body) > PART or reply.content_type not in _ORDINARY:
        return False
    headers = b"audit-id: %b\r\n%b: %b\r\ncontent-type: %b\r\ncontent-length: %d\r\n"
    return answer(reply.code, headers % (audit, *reply.cache, reply.content_type, len(body)), body)


async def send_reply(
    send: Send, reply: Reply, accept_encoding: bytes, audit: bytes, is_gone: Callable[[], bool] = lambda: False
) -> None:
    """Send an answer, compressed if it is large and the client takes that. Gives up once `is_gone`."""
    typed = ((b"content-type", reply.content_type),) if reply.content_type else ()
    headers: list[Header] = [(b"audit-id", audit), reply.cache, *typed, *reply.headers]
    body, streamed = reply.body, reply.streamed
    if streamed is None and len(body) > PART:
        streamed = StreamedBody((body,), len(body), len(body))
    if streamed is None:
        headers.append((b"content-length", str(len(body)).encode()))
        await send({"type": "http.response.start", "status": reply.code, "headers": headers})
        await send({"type": "http.response.body", "body": body})
        return
    parts = packed(streamed.pieces)
    sent = _in_turns(parts, slow=streamed.slow)
    if b"gzip" in accept_encoding and (streamed.length or streamed.holds) >= GZIP_FROM:
        headers += [(b"content-encoding", b"gzip"), (b"vary", b"Accept-Encoding")]
        sent = _compressed(sent)
    elif streamed.length is not None:
        headers.append((b"content-length", str(streamed.length).encode()))
    await send({"type": "http.response.start", "status": reply.code, "headers": headers})
    async for part in sent:
        # The transport takes any buffer. It waits here until the client has read the part before.
        await send({"type": "http.response.body", "body": part, "more_body": True})
        if is_gone():
            return
    await send({"type": "http.response.body", "body": b""})


async def _in_turns(parts: Iterator[bytes | memoryview], *, slow: bool) -> AsyncIterator[bytes | memoryview]:
    """The parts, with a turn for everybody else between two of them."""
    while True:
        if slow:
            part = await asyncio.get_running_loop().run_in_executor(_renderer, next, parts, None)
        else:
            part = next(parts, None)
        if part is None:
            return
        yield part
        if not slow:
            await turn()


async def _compressed(parts: AsyncIterator[bytes | memoryview]) -> AsyncIterator[bytes | memoryview]:
    compressor = zlib.compressobj(1, zlib.DEFLATED, _WINDOW, _MEMORY)
    async for part in parts:
        if data := await asyncio.get_running_loop().run_in_executor(_packer, compressor.compress, part):
            yield data
    yield compressor.flush()
