"""Protocol buffers' binary form of the well-known messages, as far as a google.protobuf.Any needs it to be read.

Called by messages.py with the bytes of an Any. Fields that a message does not have are skipped, as they are in Go.
"""

from __future__ import annotations

import struct
from typing import TYPE_CHECKING, Final

from muster.cel.costs.meter import spend
from muster.cel.values import Uint

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

_VARINT, _FIXED64, _DELIMITED, _FIXED32 = 0, 1, 2, 5
_DEEPEST = 100  # messages inside of messages
_PREFIX = "google.protobuf."

# message -> number of a field -> its name and how its bytes are to be read
_FIELDS: Final[dict[str, dict[int, tuple[str, str]]]] = {
    "Timestamp": {1: ("seconds", "int64"), 2: ("nanos", "int32")},
    "Duration": {1: ("seconds", "int64"), 2: ("nanos", "int32")},
    "ListValue": {1: ("values", "list")},
    "Struct": {1: ("fields", "map")},
    "Value": {
        1: ("null_value", "null"),
        2: ("number_value", "double"),
        3: ("string_value", "string"),
        4: ("bool_value", "bool"),
        5: ("struct_value", "struct"),
        6: ("list_value", "values"),
    },
    "BoolValue": {1: ("value", "bool")},
    "BytesValue": {1: ("value", "bytes")},
    "DoubleValue": {1: ("value", "double")},
    "FloatValue": {1: ("value", "float")},
    "Int32Value": {1: ("value", "int32")},
    "Int64Value": {1: ("value", "int64")},
    "StringValue": {1: ("value", "string")},
    "UInt32Value": {1: ("value", "uint32")},
    "UInt64Value": {1: ("value", "uint64")},
    "Empty": {},
}
_WIRES: Final = {
    **dict.fromkeys(("int64", "int32", "uint32", "uint64", "bool", "null"), _VARINT),
    **dict.fromkeys(("string", "bytes", "list", "map", "struct", "values"), _DELIMITED),
    "double": _FIXED64,
    "float": _FIXED32,
}


class InvalidMessageError(Exception):
    """The bytes are not those of the message."""


def fields_of(meter: Meter, name: str, data: bytes, depth: int = 0) -> dict[str, Value]:
    """The fields that the bytes set. Of a field that comes again the last one counts; elements and entries add up."""
    table = _FIELDS.get(name.removeprefix(_PREFIX))
    if table is None or depth > _DEEPEST:
        raise InvalidMessageError
    found: dict[str, Value] = {}
    for number, wire, raw in _parts(meter, data):
        field, kind = table.get(number, ("", ""))
        if not field or _WIRES[kind] != wire:
            continue
        if name == _PREFIX + "Value":
            found.clear()
        match kind:
            case "list":
                found.setdefault(field, []).append(_value(meter, raw, depth))
            case "map":
                key, value = _entry(meter, raw, depth)
                found.setdefault(field, {})[key] = value
            case "struct":
                found[field] = fields_of(meter, _PREFIX + "Struct", raw, depth + 1).get("fields", {})
            case "values":
                found[field] = fields_of(meter, _PREFIX + "ListValue", raw, depth + 1).get("values", [])
            case _:
                found[field] = _scalar(kind, raw)
    return found


def _value(meter: Meter, data: bytes, depth: int) -> Value:
    return next(iter(fields_of(meter, _PREFIX + "Value", data, depth + 1).values()), None)


def _entry(meter: Meter, data: bytes, depth: int) -> tuple[str, Value]:
    key, value = "", None
    for number, wire, raw in _parts(meter, data):
        if wire == _DELIMITED and number == 1:
            key = _scalar("string", raw)
        elif wire == _DELIMITED and number == 2:
            value = _value(meter, raw, depth)
    return key, value


def _scalar(kind: str, raw: Value) -> Value:
    match kind:
        case "int64":
            return raw - 2**64 if raw >= 2**63 else raw
        case "int32":
            low = raw & 0xFFFFFFFF
            return low - 2**32 if low >= 2**31 else low
        case "uint64":
            return Uint(raw)
        case "uint32":
            return Uint(raw & 0xFFFFFFFF)
        case "bool":
            return raw != 0
        case "null":
            return None
        case "double":
            return struct.unpack("<d", raw)[0]
        case "float":
            return struct.unpack("<f", raw)[0]
        case "string":
            try:
                return raw.decode("utf-8")
            except UnicodeDecodeError:
                raise InvalidMessageError from None
        case _:
            return bytes(raw)


def _parts(meter: Meter, data: bytes) -> Iterator[tuple[int, int, Value]]:
    """Number, wire type and content of every field, in the order of the bytes."""
    position = 0
    while position < len(data):
        spend(meter, 8)
        tag, position = _varint(data, position)
        number, wire = tag >> 3, tag & 7
        if not 1 <= number < 2**29:
            raise InvalidMessageError
        if wire == _VARINT:
            content, position = _varint(data, position)
            yield number, wire, content
            continue
        if wire == _DELIMITED:
            length, position = _varint(data, position)
        elif wire in (_FIXED64, _FIXED32):
            length = 8 if wire == _FIXED64 else 4
        else:
            raise InvalidMessageError  # groups, which none of these messages has
        if length > len(data) - position:
            raise InvalidMessageError
        yield number, wire, data[position : position + length]
        position += length


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise InvalidMessageError
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            if value >= 2**64:
                raise InvalidMessageError
            return value, position
    raise InvalidMessageError
