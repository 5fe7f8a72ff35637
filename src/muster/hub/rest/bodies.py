"""Request bodies: bytes off the wire, by content type, as the `Body` that the API machinery reads after authorization.

`receive_body` collects the bytes within the limits, `body_of` pairs them with the way to read them. Decoding happens
when `read` is called, so that an unauthorized request never costs a parse.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import msgspec

from muster.hub import status
from muster.hub.requests import Decoded, MalformedBodyError, PatchType, name_in
from muster.hub.rest.json_text import decode_json
from muster.hub.rest.protobuf import InvalidProtobufError, Message, decode, open_envelope
from muster.hub.rest.protobuf_kinds import DELETE_OPTIONS, KINDS
from muster.hub.rest.yaml_text import decode_yaml
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Coroutine, MutableMapping

    from muster.api.resource import Resource
    from muster.hub.requests import Body
    from muster.hub.rest.limits import Limits

    Receive = Callable[[], Awaitable[MutableMapping[str, Json]]]

T = TypeVar("T")
JSON = "application/json"
YAML = "application/yaml"
PROTOBUF = "application/vnd.kubernetes.protobuf"
MEDIA_TYPES = (JSON, YAML, PROTOBUF)
# Reading YAML takes so many times as long as reading as many bytes of JSON; so does protobuf.
_YAML_WEIGHT = 12
_PROTOBUF_WEIGHT = 4
_MOST_FOR_NAME = 4 * 1024  # bytes of YAML or protobuf that are read to find a name
_PATCHES = {patch.value: patch for patch in PatchType}


class ClientGoneError(Exception):
    """The client closed the connection before its request was complete; nobody is left to answer."""


class _Named(msgspec.Struct, gc=False, frozen=True):
    name: str = ""


class _Object(msgspec.Struct, gc=False, frozen=True):
    metadata: _Named = _Named()


_read_name = msgspec.json.Decoder(_Object).decode


def _json_name(raw: bytes) -> str:
    """The name of an object in JSON. The rest is skipped: nothing is made of it."""
    try:
        return _read_name(raw).metadata.name
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return ""


class JsonBody(msgspec.Struct, frozen=True):
    """A body in JSON."""

    raw: bytes

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace")

    @property
    def weight(self) -> int:
        return len(self.raw)

    def name(self) -> str:
        return _json_name(self.raw)

    def read(self) -> Decoded:
        value, duplicates = decode_json(self.raw)
        return Decoded(value, duplicates, self.text)


@dataclass(frozen=True, slots=True)
class YamlBody:
    """A body in YAML; JSON, being YAML, is read the fast way."""

    raw: bytes

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace")

    @property
    def weight(self) -> int:
        return len(self.raw) * _YAML_WEIGHT

    def name(self) -> str:
        if self.raw[:1] == b"{" and (found := _json_name(self.raw)):
            return found
        return _read_for_name(self)

    def read(self) -> Decoded:
        if self.raw[:1] == b"{":
            try:
                value, duplicates = decode_json(self.raw)
            except MalformedBodyError:
                value, duplicates = decode_yaml(self.raw)
        else:
            value, duplicates = decode_yaml(self.raw)
        return Decoded(value, duplicates, self.text)


@dataclass(frozen=True, slots=True)
class ProtobufBody:
    """A body in protobuf, for a built-in kind."""

    raw: bytes
    message: Message

    @property
    def text(self) -> str:
        return self.raw.decode("utf-8", "replace")

    @property
    def weight(self) -> int:
        return len(self.raw) * _PROTOBUF_WEIGHT

    def name(self) -> str:
        return _read_for_name(self)

    def read(self) -> Decoded:
        try:
            envelope = open_envelope(self.raw)
            value = decode(envelope.raw, self.message)
        except InvalidProtobufError as error:
            raise MalformedBodyError(str(error)) from None
        named = {"apiVersion": envelope.api_version, "kind": envelope.kind}
        return Decoded({key: text for key, text in named.items() if text} | value, text=self.text)


def _read_for_name(body: YamlBody | ProtobufBody) -> str:
    if len(body.raw) > _MOST_FOR_NAME:
        return ""
    try:
        return name_in(body.read().value)
    except (MalformedBodyError, status.StatusError):
        return ""


def media_type(header: str) -> str:
    """The media type of a Content-Type header, without its parameters."""
    return header.partition(";")[0].strip().lower()


def body_of(content_type: str, raw: bytes, resource: Resource, message: Message | None = None) -> Body:
    """The body of a create or update. Raises 415 for a content type that the kind does not take.

    `message` is what protobuf bodies hold when that is another kind, as on some subresources.
    """
    wanted = media_type(content_type)
    if wanted in ("", JSON):
        return JsonBody(raw)
    if wanted == YAML:
        return YamlBody(raw)
    if wanted == PROTOBUF:
        message = message or KINDS.get((resource.group, resource.kind))
        if message is not None:
            return ProtobufBody(raw, message)
    raise status.unsupported_media_type(MEDIA_TYPES)


def delete_body(content_type: str, raw: bytes) -> Body | None:
    """The DeleteOptions of a delete, if any were sent."""
    if not raw:
        return None
    wanted = media_type(content_type)
    if wanted == PROTOBUF:
        return ProtobufBody(raw, DELETE_OPTIONS)
    if wanted == YAML:
        return YamlBody(raw)
    if wanted in ("", JSON):
        return JsonBody(raw)
    raise status.unsupported_media_type(MEDIA_TYPES)


def patch_of(content_type: str, raw: bytes, resource: Resource) -> tuple[PatchType, Body]:
    """The kind of patch and its body. Raises 415 for another type; only built-in kinds take strategic patches."""
    patch = _PATCHES.get(media_type(content_type))
    if patch is None or (patch is PatchType.STRATEGIC and not resource.builtin):
        taken = [PatchType.JSON, PatchType.MERGE, PatchType.APPLY]
        if resource.builtin:
            taken.insert(2, PatchType.STRATEGIC)
        raise status.unsupported_media_type(kind.value for kind in taken)
    return patch, YamlBody(raw) if patch is PatchType.APPLY else JsonBody(raw)


async def receive_body(receive: Receive, limits: Limits) -> bytes:
    """The whole body. Raises 413 beyond the limit, 408 when the client is too slow, ClientGoneError when it left."""
    message = await _next(receive)  # the time limit on requests covers the first part
    chunk: bytes = message.get("body", b"")
    if len(chunk) > limits.body_bytes:
        raise status.too_large(limits.body_bytes)
    if not message.get("more_body", False):
        return chunk
    chunks = [chunk]
    size = len(chunk)
    try:
        async with asyncio.timeout(limits.body_seconds):
            while True:
                message = await _next(receive)
                chunk = message.get("body", b"")
                size += len(chunk)
                if size > limits.body_bytes:
                    raise status.too_large(limits.body_bytes)
                chunks.append(chunk)
                if not message.get("more_body", False):
                    return b"".join(chunks)
    except TimeoutError:
        raise _too_slow(limits) from None


async def while_there(receive: Receive, answering: Coroutine[None, None, T]) -> T:
    """The answer, worked on only as long as somebody waits for it. Call it when the body has been read.

    Raises ClientGoneError when the client has left.
    """
    answer = asyncio.ensure_future(answering)
    leaving = asyncio.ensure_future(receive())
    try:
        await asyncio.wait((answer, leaving), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientGoneError
        return answer.result()
    finally:
        leaving.cancel()
        answer.cancel()


async def _next(receive: Receive) -> MutableMapping[str, Json]:
    message = await receive()
    if message["type"] == "http.disconnect":
        raise ClientGoneError
    return message


def _too_slow(limits: Limits) -> status.StatusError:
    text = f"Timeout: the request's body did not arrive within {limits.body_seconds:g} seconds"
    return status.StatusError(408, "Timeout", text)
