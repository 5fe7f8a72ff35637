"""The messages of protocol buffers that are part of CEL: `google.protobuf.Timestamp{seconds: 5}` and its kin.

Each becomes an ordinary value as soon as it is made: a timestamp, a number, a list. The checker asks for their types
and fields, the planner for what makes them, and error texts are those of cel-go, which name the Go types of fields.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from muster.cel.checking import types
from muster.cel.checking.types import Kind, Type, list_of, map_of, wrapper
from muster.cel.costs.meter import spend
from muster.cel.traversals import go_text
from muster.cel.traversals.plain_json import NotJsonError, not_native, plain_list, plain_map
from muster.cel.values import MAX_INT, MIN_INT, Duration, OpaqueValue, OptionalValue, Timestamp, Uint, type_of
from muster.cel.values.model import NANOSECONDS
from muster.cel.values.packed import InvalidMessageError, fields_of
from muster.cel.values.value import Value
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter

Convert: TypeAlias = Callable[["Meter", Value], Value]
"""Makes the content of a field of a value; NotJsonError says why not."""

PREFIX = "google.protobuf."
JSON_LIST = list_of(types.DYN)
JSON_MAP = map_of(types.STRING, types.DYN)


@dataclass(frozen=True, slots=True)
class Field:
    """A field: the type the checker wants, how a value becomes its content, and what it holds when nobody sets it."""

    type: Type
    convert: Convert
    initial: Value = None


@dataclass(frozen=True, slots=True)
class Message:
    """A message: the type of what it becomes, its fields, and how it becomes that."""

    name: str
    type: Type
    fields: Mapping[str, Field]
    value: Callable[[Meter, dict[str, Value]], Value]

    def make(self, meter: Meter, entries: Sequence[tuple[str, Value]]) -> Value:
        """The value of the message with these fields set."""
        contents = {name: field.initial for name, field in self.fields.items() if field.initial is not None}
        for name, given in entries:
            try:
                contents.pop(name, None)  # of several fields of a Value the last one counts
                contents[name] = self.fields[name].convert(meter, given)
            except _WrongFieldError as fault:
                raise EvaluationError(f"unsupported field type for {self.name}.{name}: {fault}") from None
            except NotJsonError as fault:
                raise EvaluationError(
                    f"field type conversion error for {self.name}.{name} value type: {fault}"
                ) from None
        return self.value(meter, contents)


class _WrongFieldError(Exception):
    """A list or map was wanted, and something of this type given."""


class EmptyValue(OpaqueValue):
    """`google.protobuf.Empty{}`, the only message that stays one."""

    __slots__ = ()
    cel_type = types.struct(PREFIX + "Empty")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, EmptyValue)

    def __hash__(self) -> int:
        return hash(EmptyValue)

    def __str__(self) -> str:
        return ""


# --- fields


def _plain(value: Value) -> Value:
    """What is in an optional; a field takes it without asking."""
    while isinstance(value, OptionalValue):
        if not value.present:
            raise NotJsonError("optional.none() dereference")
        value = value.content
    return value


def _whole(native: str, lowest: int, highest: int) -> Convert:
    def convert(_: Meter, value: Value) -> int:
        value = _plain(value)
        if type(value) is not int:
            raise not_native(value, native)
        if not lowest <= value <= highest:
            raise NotJsonError("integer overflow")
        return value

    return convert


def _unsigned(native: str, highest: int) -> Convert:
    def convert(_: Meter, value: Value) -> Uint:
        value = _plain(value)
        if not isinstance(value, Uint):
            raise not_native(value, native)
        if value > highest:
            raise NotJsonError("unsigned integer overflow")
        return value

    return convert


def _of_class(native: str, wanted: type) -> Convert:
    def convert(_: Meter, value: Value) -> Value:
        value = _plain(value)
        if not isinstance(value, wanted):
            raise not_native(value, native)
        return value

    return convert


def _single(_: Meter, value: Value) -> float:
    """A double with the precision of 32 bits."""
    value = _plain(value)
    if not isinstance(value, float):
        raise not_native(value, "float32")
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return value * float("inf")


def _octets(meter: Meter, value: Value) -> bytes:
    """Bytes; a list of small uints will do too."""
    value = _plain(value)
    if isinstance(value, (list, tuple)):
        spend(meter, len(value))
        one = _unsigned("uint8", 255)
        return bytes([one(meter, element) for element in value])
    if not isinstance(value, bytes):
        raise not_native(value, "[]uint8")
    return value


def _null(_: Meter, value: Value) -> None:
    """The only member of an enumeration: null, or any int of 32 bits."""
    value = _plain(value)
    if value is not None and type(value) is not int:
        raise not_native(value, "structpb.NullValue")
    if value is not None and not -(2**31) <= value < 2**31:
        raise NotJsonError("integer overflow")


def _json_list(meter: Meter, value: Value) -> list[Value]:
    value = _plain(value)
    if isinstance(value, Mapping):  # taken for the fields of the Go struct, of which there is one
        for key, content in value.items():
            field = _go_field(key)
            if field != "Values" or not isinstance(content, (list, tuple)):
                raise NotJsonError(f"type conversion error, no such field '{field}' in type 'structpb.ListValue'")
        value = next(iter(value.values()), [])
    if not isinstance(value, (list, tuple)):
        raise not_native(value, "*structpb.ListValue")
    return plain_list(meter, value)


def _go_field(key: Value) -> str:
    """The name that a key has as an exported field of Go."""
    words = re.split("[-_]+", go_text(key).strip())
    return "".join(word[:1].upper() + word[1:] for word in words)


def _json_map(meter: Meter, value: Value) -> dict[str, Value]:
    value = _plain(value)
    if not isinstance(value, Mapping):
        raise not_native(value, "*structpb.Struct")
    return plain_map(meter, value)


def _values(meter: Meter, value: Value) -> list[Value]:
    if not isinstance(value, (list, tuple)):
        raise _WrongFieldError(type_of(value).name)
    return plain_list(meter, value)


def _fields(meter: Meter, value: Value) -> dict[str, Value]:
    if not isinstance(value, Mapping):
        raise _WrongFieldError(type_of(value).name)
    return plain_map(meter, value)


_INT64 = _whole("int64", MIN_INT, MAX_INT)
_INT32 = _whole("int32", -(2**31), 2**31 - 1)
_TEXT = _of_class("string", str)


# --- messages


def _content(name: str) -> Callable[[Meter, dict[str, Value]], Value]:
    return lambda _, contents: contents[name]


def _moment(_: Meter, contents: dict[str, Value]) -> Timestamp:
    return Timestamp(contents["seconds"] * NANOSECONDS + contents["nanos"])


def _span(_: Meter, contents: dict[str, Value]) -> Duration:
    """What does not fit into 64 bits becomes the longest span there is, as in Go."""
    return Duration(max(MIN_INT, min(MAX_INT, contents["seconds"] * NANOSECONDS + contents["nanos"])))


def _last(_: Meter, contents: dict[str, Value]) -> Value:
    return next(reversed(contents.values()), None)


def _unpacked(meter: Meter, contents: dict[str, Value]) -> Value:
    """What is packed in an Any: its type's name stands behind the last slash, its fields are in the bytes."""
    name = contents["type_url"].rpartition("/")[2]
    message = MESSAGES.get(name)
    if message is not None:
        try:
            return _from_bytes(meter, message, contents["value"])
        except InvalidMessageError:
            pass
    raise EvaluationError("unsupported conversion to ref.Val: (*dynamicpb.Message)")


def _from_bytes(meter: Meter, message: Message, data: bytes) -> Value:
    contents = {name: field.initial for name, field in message.fields.items() if field.initial is not None}
    contents.update(fields_of(meter, message.name, data))
    return message.value(meter, contents)


def _message(name: str, type_: Type, value: Callable[..., Any], /, **fields: Field) -> Message:
    return Message(PREFIX + name, type_, MappingProxyType(fields), value)


def _wrapper(name: str, primitive: Type, convert: Convert, initial: Value) -> Message:
    return _message(name, wrapper(primitive), _content("value"), value=Field(primitive, convert, initial))


_TIME_FIELDS = {"seconds": Field(types.INT, _INT64, 0), "nanos": Field(types.INT, _INT32, 0)}
_ALL = (
    _message("Timestamp", types.TIMESTAMP, _moment, **_TIME_FIELDS),
    _message("Duration", types.DURATION, _span, **_TIME_FIELDS),
    _message("ListValue", JSON_LIST, lambda _, contents: contents.get("values", []), values=Field(JSON_LIST, _values)),
    _message("Struct", JSON_MAP, lambda _, contents: contents.get("fields", {}), fields=Field(JSON_MAP, _fields)),
    _message(
        "Value",
        types.DYN,
        _last,
        null_value=Field(types.INT, _null),
        number_value=Field(types.DOUBLE, _of_class("float64", float)),
        string_value=Field(types.STRING, _TEXT),
        bool_value=Field(types.BOOL, _of_class("bool", bool)),
        struct_value=Field(JSON_MAP, _json_map),
        list_value=Field(JSON_LIST, _json_list),
    ),
    _wrapper("BoolValue", types.BOOL, _of_class("bool", bool), initial=False),
    _wrapper("BytesValue", types.BYTES, _octets, b""),
    _wrapper("DoubleValue", types.DOUBLE, _of_class("float64", float), 0.0),
    _wrapper("FloatValue", types.DOUBLE, _single, 0.0),
    _wrapper("Int32Value", types.INT, _INT32, 0),
    _wrapper("Int64Value", types.INT, _INT64, 0),
    _wrapper("StringValue", types.STRING, _TEXT, ""),
    _wrapper("UInt32Value", types.UINT, _unsigned("uint32", 2**32 - 1), Uint(0)),
    _wrapper("UInt64Value", types.UINT, _unsigned("uint64", 2**64 - 1), Uint(0)),
    _message("Empty", EmptyValue.cel_type, lambda _, __: EmptyValue()),
    _message(
        "Any",
        types.ANY,
        _unpacked,
        type_url=Field(types.STRING, _TEXT, ""),
        value=Field(types.BYTES, _octets, b""),
    ),
)
MESSAGES: Mapping[str, Message] = MappingProxyType({message.name: message for message in _ALL})
"""By the names that expressions use."""

_BY_TYPE = {
    Kind.LIST: "ListValue",
    Kind.NULL: "NullValue",
}


def instantiated(described: Type) -> str | None:
    """The message that a type's own name means in `list{}`, where cel-go lets it stand for one; None if it does not."""
    known = _BY_TYPE.get(described.kind)
    return None if known is None else PREFIX + known
