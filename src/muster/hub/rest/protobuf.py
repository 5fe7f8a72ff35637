"""Decodes the protobuf request bodies that typed clients send for built-in kinds, and encodes a Status for them.

Clients built on client-go 0.32 and newer (kubectl 1.32 on) send built-in kinds only in this form and do not fall back
when it is refused. A body is the four bytes `k8s\\0`, then a `runtime.Unknown` message that names the type and holds
the object. Which field of which kind has which number stands in `protobuf_kinds`; this module knows only the wire.
Answers are JSON, which every such client accepts; only the refusal of a client that accepts nothing but protobuf is
encoded here.
"""

from __future__ import annotations

import base64
import math
import struct
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from typing import TYPE_CHECKING

import msgspec

from muster.errors import MusterError
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


MAGIC = b"k8s\x00"
MAX_DEPTH = 64  # the deepest message of a built-in kind nests less than ten levels


class InvalidProtobufError(MusterError):
    """Bytes that are not the message they claim to be."""


class Scalar(Enum):
    """How a field's bytes become a JSON value."""

    STRING = auto()
    INTEGER = auto()
    BOOLEAN = auto()
    DOUBLE = auto()
    BYTES = auto()  # base64 in JSON
    TIME = auto()  # seconds
    MICRO_TIME = auto()  # microseconds
    RAW_JSON = auto()  # FieldsV1: a message whose only field is JSON text
    STRINGS = auto()  # ExtraValue: a message whose only field is a list of strings, which is all that JSON shows


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a message: its JSON name and what its value is.

    `pointer` keeps a zero: Go writes plain fields even when they are empty, so that an empty one means "not set",
    while a pointer is written only when it is set.
    """

    name: str
    type: Scalar | Message
    repeated: bool = False
    mapping: bool = False
    pointer: bool = False
    shown: Callable[[Json], Json] | None = None  # how a message that stands for one of several things looks in JSON
    told: Callable[[Json], Json] | None = None  # and the way back


class Message(dict[int, Field]):
    """The fields of a message by number. Unknown numbers are skipped, as a Go server skips them."""


@dataclass(frozen=True, slots=True)
class Envelope:
    """A `runtime.Unknown`: the type's name and the bytes of the object."""

    api_version: str
    kind: str
    raw: bytes


def open_envelope(body: bytes) -> Envelope:
    """The type and content of a body that begins with the magic number."""
    if not body.startswith(MAGIC):
        raise InvalidProtobufError(
            "provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]"
        )
    api_version = kind = ""
    raw = b""
    for number, value in _fields(memoryview(body)[len(MAGIC) :]):
        if number == 1 and isinstance(value, memoryview):
            for inner, text in _fields(value):
                if inner == 1:
                    api_version = _text(text)
                elif inner == 2:
                    kind = _text(text)
        elif number == 2 and isinstance(value, memoryview):
            raw = bytes(value)
    return Envelope(api_version, kind, raw)


def decode(raw: bytes, message: Message) -> JsonObject:
    """The JSON form of a message."""
    return _decode(memoryview(raw), message, 0)


def _decode(data: memoryview, message: Message, depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        raise InvalidProtobufError(f"messages nest deeper than {MAX_DEPTH} levels")
    found: JsonObject = {}
    for number, wire in _fields(data):
        field = message.get(number)
        if field is None:
            continue
        if field.mapping:
            key, value = _entry(wire, field, depth)
            found.setdefault(field.name, {})[key] = value
        elif field.repeated:
            found.setdefault(field.name, []).append(_value(wire, field, depth))
        else:
            value = _value(wire, field, depth)
            if field.pointer or value not in ("", 0, {}, None):  # `False` equals 0
                found[field.name] = value
    return found


def _entry(wire: int | memoryview, field: Field, depth: int) -> tuple[str, Json]:
    key = ""
    value: Json = "" if field.type in (Scalar.STRING, Scalar.BYTES) else {}
    for number, part in _fields(_bytes(wire)):
        if number == 1:
            key = _text(part)
        elif number == 2:
            value = _value(part, field, depth)
    return key, value


def _value(wire: int | memoryview, field: Field, depth: int) -> Json:
    if isinstance(field.type, Message):
        found = _decode(_bytes(wire), field.type, depth + 1)
        return found if field.shown is None else field.shown(found)
    return _SCALARS[field.type](wire)


def _bytes(wire: int | memoryview) -> memoryview:
    if isinstance(wire, int):
        raise InvalidProtobufError("wrong wire type: expected a length-delimited field")
    return wire


def _integer(wire: int | memoryview) -> int:
    if not isinstance(wire, int):
        raise InvalidProtobufError("wrong wire type: expected a number")
    return wire - (1 << 64) if wire >= 1 << 63 else wire


def _double(wire: int | memoryview) -> float:
    """A whole one is an integer in JSON, as Go writes it."""
    if not isinstance(wire, int):
        raise InvalidProtobufError("wrong wire type: expected a number")
    number: float = struct.unpack("<d", struct.pack("<Q", wire))[0]
    if not math.isfinite(number):
        raise InvalidProtobufError("a number is not finite")
    return int(number) if number.is_integer() and abs(number) < 1e21 else number


def _text(wire: int | memoryview) -> str:
    try:
        return bytes(_bytes(wire)).decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidProtobufError(f"a string is not UTF-8: {error.reason}") from None


def _moment(wire: int | memoryview) -> tuple[datetime | None, int]:
    seconds = nanos = 0
    data = _bytes(wire)
    for number, part in _fields(data):
        if number == 1:
            seconds = _integer(part)
        elif number == 2:
            nanos = _integer(part)
    if not data:
        return None, 0  # Go's zero time is an empty message
    if not 0 <= nanos < 1_000_000_000:
        raise InvalidProtobufError(f"time out of range: {nanos} nanoseconds")
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds), nanos
    except OverflowError:
        raise InvalidProtobufError(f"time out of range: {seconds} seconds") from None


def _time(wire: int | memoryview) -> str | None:
    moment, _ = _moment(wire)
    return None if moment is None else _text_of(moment) + "Z"


def _micro_time(wire: int | memoryview) -> str | None:
    moment, nanos = _moment(wire)
    return None if moment is None else f"{_text_of(moment)}.{nanos // 1000:06d}Z"


def _text_of(moment: datetime) -> str:
    return moment.replace(microsecond=0, tzinfo=None).isoformat()  # strftime does not fill up the year 1


def _raw_json(wire: int | memoryview) -> Json:
    for number, part in _fields(_bytes(wire)):
        if number == 1:
            try:
                return msgspec.json.decode(bytes(_bytes(part)))
            except (msgspec.DecodeError, RecursionError) as error:
                raise InvalidProtobufError(f"embedded JSON: {error}") from None
    return None


def _strings(wire: int | memoryview) -> list[str]:
    return [_text(part) for number, part in _fields(_bytes(wire)) if number == 1]


_SCALARS: Mapping[Scalar, Callable[[int | memoryview], Json]] = {
    Scalar.STRING: _text,
    Scalar.INTEGER: _integer,
    Scalar.BOOLEAN: lambda wire: bool(_integer(wire)),
    Scalar.DOUBLE: _double,
    Scalar.BYTES: lambda wire: base64.b64encode(_bytes(wire)).decode("ascii"),
    Scalar.TIME: _time,
    Scalar.MICRO_TIME: _micro_time,
    Scalar.RAW_JSON: _raw_json,
    Scalar.STRINGS: _strings,
}


def _fields(data: memoryview) -> list[tuple[int, int | memoryview]]:
    """Every field of a message with its number; the value is an integer, or the bytes of a length-delimited field."""
    found: list[tuple[int, int | memoryview]] = []
    position = 0
    end = len(data)
    while position < end:
        tag, position = _varint(data, position)
        number, wire_type = tag >> 3, tag & 7
        if number == 0:
            raise InvalidProtobufError("illegal tag 0")
        if wire_type == 0:
            value, position = _varint(data, position)
            found.append((number, value))
            continue
        if wire_type == 2:
            length, position = _varint(data, position)
        elif wire_type in (1, 5):
            length = 8 if wire_type == 1 else 4
        else:
            raise InvalidProtobufError(f"illegal wire type {wire_type}")
        if position + length > end:
            raise InvalidProtobufError("unexpected EOF")
        chunk = data[position : position + length]
        found.append((number, chunk if wire_type == 2 else int(struct.unpack("<Q" if length == 8 else "<I", chunk)[0])))
        position += length
    return found


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    result = shift = 0
    while True:
        if position >= len(data):
            raise InvalidProtobufError("unexpected EOF")
        byte = data[position]
        position += 1
        result |= (byte & 0x7F) << shift
        if byte < 0x80:
            return result & (1 << 64) - 1, position
        shift += 7
        if shift >= 64:
            raise InvalidProtobufError("integer overflow")


def encode_status(status: JsonMapping) -> bytes:
    """A Status as a client sees it that accepts only protobuf."""
    body = length_delimited(1, _texts(status.get("metadata", {}), "selfLink", "resourceVersion", "continue"))
    body += _texts(status, "status", "message", "reason", first=2)
    if "details" in status:
        body += length_delimited(5, _details(status["details"]))
    body += varint_field(6, int(status.get("code", 0)))
    type_meta = length_delimited(1, _texts(status, "apiVersion", "kind"))
    return MAGIC + type_meta + length_delimited(2, body) + length_delimited(3, b"") + length_delimited(4, b"")


def _details(details: JsonMapping) -> bytes:
    causes = b"".join(
        length_delimited(4, _texts(cause, "reason", "message", "field")) for cause in details.get("causes", ())
    )
    retry = varint_field(5, int(details.get("retryAfterSeconds", 0)))
    return _texts(details, "name", "group", "kind") + causes + retry + _texts(details, "uid", first=6)


def _texts(content: JsonMapping, *names: str, first: int = 1) -> bytes:
    """Strings in consecutive fields, written even when they are empty, as Go writes them."""
    texts = (str(content.get(name, "")).encode() for name in names)
    return b"".join(length_delimited(number, text) for number, text in enumerate(texts, first))


def length_delimited(number: int, content: bytes) -> bytes:
    """A field that is a string, bytes or a message."""
    return _encode_varint(number << 3 | 2) + _encode_varint(len(content)) + content


def varint_field(number: int, value: int) -> bytes:
    """A field that is a number or a truth value."""
    return _encode_varint(number << 3) + _encode_varint(value)


def double_field(number: int, value: float) -> bytes:
    """A field that is a number with a fraction."""
    return _encode_varint(number << 3 | 1) + struct.pack("<d", value)


def _encode_varint(value: int) -> bytes:
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
