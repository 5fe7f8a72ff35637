"""JSON of stored objects: plain, and split where the revision goes.

Bodies of requests are decoded elsewhere, with limits; what is decoded here was encoded here.
"""

from __future__ import annotations

import msgspec

from muster.api.metadata import metadata_of
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

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
    metadata = dict(metadata_of(obj))
    metadata.pop("resourceVersion", None)
    first = {name: obj[name] for name in ("apiVersion", "kind") if name in obj}
    rest = {name: value for name, value in obj.items() if name not in {"apiVersion", "kind", "metadata"}}
    opening = _encode(first)[:-1]
    head = opening + (b"," if first else b"") + b'"metadata":{"resourceVersion":"'
    tail = b'"' + (b"," + _encode(metadata)[1:] if metadata else b"}")
    return head, tail + (b"," + _encode(rest)[1:] if rest else b"}")
