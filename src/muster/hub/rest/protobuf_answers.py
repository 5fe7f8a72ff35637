"""Answers in protobuf, for clients that accept nothing else: objects and lists of built-in kinds, their metadata,
Status and the frames of a watch. The way back of `protobuf`, by the same field numbers.

JSON is what the hub keeps and sends wherever a client takes it; whoever lists both forms gets JSON.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from muster.api.metadata import metadata_of
from muster.hub.rest.protobuf import (
    MAGIC,
    Field,
    Message,
    Scalar,
    double_field,
    encode_status,
    length_delimited,
    varint_field,
)
from muster.hub.rest.protobuf_kinds import KINDS, METADATA
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.hub.requests import WatchEvent

_META = "meta.k8s.io"
_LIST_META = Message(
    {
        1: Field("selfLink", Scalar.STRING),
        2: Field("resourceVersion", Scalar.STRING),
        3: Field("continue", Scalar.STRING),
        4: Field("remainingItemCount", Scalar.INTEGER, pointer=True),
    }
)
_PARTIAL = Message({1: Field("metadata", METADATA)})
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def encoded(body: bytes) -> bytes:
    """An object, a list or a Status given as JSON."""
    value = msgspec.json.decode(body)
    return _object(value)


def encoded_list(head: JsonMapping, items: Iterable[bytes]) -> bytes:
    """A list, given as its own fields and its items in JSON."""
    kind = str(head["kind"]).removesuffix("List")
    message = _message(str(head["apiVersion"]), kind)
    body = length_delimited(1, _fields(metadata_of(head), _LIST_META))
    for item in items:
        body += length_delimited(2, _fields(msgspec.json.decode(item), message))
    return _envelope(str(head["apiVersion"]), str(head["kind"]), body)


def frame(event: WatchEvent) -> bytes:
    """An event of a watch: its length in four bytes, then the event."""
    body = length_delimited(1, event.type.encode()) + length_delimited(2, length_delimited(1, encoded(event.object)))
    return len(body).to_bytes(4, "big") + body


def _object(value: JsonObject) -> bytes:
    api_version, kind = str(value.get("apiVersion", "")), str(value.get("kind", ""))
    if (api_version, kind) == ("v1", "Status"):
        return encode_status(value)
    return _envelope(api_version, kind, _fields(value, _message(api_version, kind)))


def _message(api_version: str, kind: str) -> Message:
    group = api_version.rpartition("/")[0]
    return _PARTIAL if group == _META else KINDS[group, kind]


def _envelope(api_version: str, kind: str, body: bytes) -> bytes:
    """What every body begins with: the magic number, then a message that says what the rest is."""
    named = length_delimited(1, api_version.encode()) + length_delimited(2, kind.encode())
    return b"".join(
        (
            MAGIC,
            length_delimited(1, named),
            length_delimited(2, body),
            length_delimited(3, b""),
            length_delimited(4, b""),
        )
    )


def _fields(value: JsonMapping, message: Message) -> bytes:
    """The fields of a message in the order of their numbers. What has no number is left out."""
    return b"".join(_field(number, field, value.get(field.name)) for number, field in sorted(message.items()))


def _field(number: int, field: Field, value: Json) -> bytes:
    if field.mapping:
        entries = (value or {}).items()
        return b"".join(length_delimited(number, _entry(field, key, item)) for key, item in entries)
    if field.repeated:
        return b"".join(_single(number, field, item) for item in value or ())
    if value is None and (field.pointer or _is_absent(field)):
        return b""
    return _single(number, field, value)


def _is_absent(field: Field) -> bool:
    """Whether a value that is not there is not written either: times and parts, of which nobody knows which are."""
    return not isinstance(field.type, Scalar) or field.type in (Scalar.TIME, Scalar.MICRO_TIME, Scalar.RAW_JSON)


def _entry(field: Field, key: str, value: Json) -> bytes:
    return length_delimited(1, key.encode()) + _single(2, field, value)


def _single(number: int, field: Field, value: Json) -> bytes:
    if field.told is not None:
        value = field.told(value)
    if isinstance(field.type, Message):
        return length_delimited(number, _fields(value or {}, field.type))
    match field.type:
        case Scalar.INTEGER:
            return varint_field(number, int(value or 0) & ((1 << 64) - 1))
        case Scalar.BOOLEAN:
            return varint_field(number, int(bool(value)))
        case Scalar.DOUBLE:
            return double_field(number, float(value or 0))
        case Scalar.BYTES:
            return length_delimited(number, base64.b64decode(value or ""))
        case Scalar.TIME | Scalar.MICRO_TIME:
            return length_delimited(number, _moment(value))
        case Scalar.RAW_JSON:
            return length_delimited(number, length_delimited(1, msgspec.json.encode(value)))
        case Scalar.STRINGS:
            return length_delimited(number, b"".join(length_delimited(1, str(each).encode()) for each in value or ()))
        case _:
            return length_delimited(number, str(value or "").encode("utf-8", "surrogatepass"))


def _moment(value: Json) -> bytes:
    """Seconds and nanoseconds since 1970; nothing for a time that is none."""
    moment = parse_time(value)
    if isinstance(moment, Fault):
        return b""
    since = moment - _EPOCH
    seconds = since.days * 86400 + since.seconds
    return varint_field(1, seconds & ((1 << 64) - 1)) + varint_field(2, since.microseconds * 1000)
