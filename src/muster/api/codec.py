"""JSON of stored objects: plain, typed, and split where the revision goes.

Bodies of requests are decoded elsewhere, with limits; what is decoded here was encoded here.
"""

from __future__ import annotations

from typing import TypeVar

import msgspec

from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

T = TypeVar("T")

_decoder = msgspec.json.Decoder(JsonObject)
_encode = msgspec.json.Encoder().encode


def decode(data: bytes) -> JsonObject:
    """Raises InvalidObjectError when the data is not a JSON object."""
    try:
        return _decoder.decode(data)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidObjectError("", str(error)) from error


def encode(obj: JsonObject) -> bytes:
    return _encode(obj)


def encode_split(obj: JsonObject) -> tuple[bytes, bytes]:
    """Head and tail such that `head + str(revision) + tail` is the object with that resourceVersion.

    The one who commits learns the revision last; splicing it in spares a second encoding.
    """
    metadata = dict(obj.get("metadata") or {})
    metadata.pop("resourceVersion", None)
    first = {name: obj[name] for name in ("apiVersion", "kind") if name in obj}
    rest = {name: value for name, value in obj.items() if name not in {"apiVersion", "kind", "metadata"}}
    opening = _encode(first)[:-1]
    head = opening + (b"," if first else b"") + b'"metadata":{"resourceVersion":"'
    tail = b'"' + (b"," + _encode(metadata)[1:] if metadata else b"}")
    return head, tail + (b"," + _encode(rest)[1:] if rest else b"}")


def decode_as(data: bytes, kind: type[T]) -> T:
    """A typed view of stored JSON. Raises InvalidObjectError with the path of what does not fit."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError) as error:
        raise InvalidObjectError("", str(error)) from error


def view(obj: JsonObject, kind: type[T]) -> T:
    """A typed view of a decoded object. Raises InvalidObjectError with the path of what does not fit."""
    try:
        return msgspec.convert(obj, kind)
    except msgspec.ValidationError as error:
        raise InvalidObjectError("", str(error)) from error


def plain(typed: msgspec.Struct) -> JsonObject:
    """A typed view as a dictionary, without what has its default."""
    result: JsonObject = msgspec.to_builtins(typed)
    return result
