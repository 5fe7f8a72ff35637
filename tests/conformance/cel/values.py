"""The typed values, types and trees of the recorded CEL cases, and ours in the same form."""

from __future__ import annotations

import base64
import math
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from muster.cel import compile_program
from muster.cel.checking import types
from muster.cel.environments import environment
from muster.cel.values import Duration, OpaqueValue, OptionalValue, Timestamp, TypeValue, Uint, make_map
from tests.conformance.cel.messages import NotRepresentedError, well_known_value

if TYPE_CHECKING:
    from muster.cel.checking.types import Type

NANOSECONDS = 10**9


def decode(typed: dict[str, Any]) -> Any:
    """A recorded value as a CEL value. A map keeps only the entries that could be recorded: an error is no value."""
    (kind, value), *_ = typed.items()
    match kind:
        case "null":
            return None
        case "bool" | "string":
            return value
        case "int":
            return int(value)
        case "uint":
            return Uint(value)
        case "double":
            return float(value.replace("+Inf", "inf").replace("-Inf", "-inf"))
        case "bytes":
            return base64.b64decode(value)
        case "list":
            return [decode(item) for item in value]
        case "map":
            return make_map(
                (decode(key), decode(item)) for key, item in value if key is not None and "error" not in item
            )
        case "type":
            return TypeValue(NAMED.get(value) or types.struct(value))
        case "optional":
            return OptionalValue(present=value is not None, content=None if value is None else decode(value))
        case "duration":
            return Duration(int(value["seconds"]) * NANOSECONDS + int(value["nanos"]))
        case "timestamp":
            return Timestamp(int(value["seconds"]) * NANOSECONDS + int(value["nanos"]))
        case "object":
            return well_known_value(value["type"], _content(value["json"]))
        case "opaque" if value in OPAQUE:
            return _opaque(value, typed["string"])
        case _:
            raise NotRepresentedError(kind)


def _content(recorded: Any) -> Any:
    """The JSON form of a message without the name of its type."""
    if "value" in recorded:
        return recorded["value"]
    return {key: each for key, each in recorded.items() if key != "@type"}


# What makes a value of each opaque type from its text.
OPAQUE = {
    "kubernetes.Semver": "semver",
    "kubernetes.Quantity": "quantity",
    "kubernetes.URL": "url",
    "net.IP": "ip",
    "net.CIDR": "cidr",
}


@lru_cache(maxsize=1024)
def _opaque(kind: str, text: str) -> Any:
    return compile_program(f"{OPAQUE[kind]}({text!r})", environment("muster")).evaluate({})


def encode(value: Any) -> dict[str, Any]:
    """A CEL value as the cases write it. The order of a map's entries does not count."""
    match value:
        case None:
            return {"null": None}
        case bool():
            return {"bool": value}
        case Uint():
            return {"uint": str(int(value))}
        case int():
            return {"int": str(value)}
        case float():
            return {"double": _double(value)}
        case str():
            return {"string": value}
        case bytes():
            return {"bytes": base64.b64encode(value).decode()}
        case TypeValue():
            return {"type": value.type.name}
        case OptionalValue():
            return {"optional": encode(value.value) if value.present else None}
        case Duration():
            seconds = abs(value.ns) // NANOSECONDS * (1 if value.ns >= 0 else -1)
            return {"duration": {"seconds": str(seconds), "nanos": value.ns - seconds * NANOSECONDS}}
        case Timestamp():
            return {"timestamp": {"seconds": str(value.ns // NANOSECONDS), "nanos": value.ns % NANOSECONDS}}
        case OpaqueValue():
            return {"opaque": value.cel_type.name, "string": str(value)}
        case list() | tuple():
            return {"list": [encode(item) for item in value]}
        case _ if hasattr(value, "items"):
            pairs = [[encode(key), encode(item)] for key, item in value.items()]
            return {"map": sorted(pairs, key=repr)}
        case _:
            raise NotRepresentedError(type(value).__name__)


def _double(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def same(expected: dict[str, Any], value: Any) -> bool:
    """Whether a value is the recorded one."""
    return bool(_normal(expected) == _normal(encode(value)))


def _normal(typed: dict[str, Any]) -> Any:
    (kind, value), *rest = typed.items()
    match kind:
        case "double":
            number = float(value.replace("+Inf", "inf").replace("-Inf", "-inf"))
            return (kind, "NaN" if math.isnan(number) else number, math.copysign(1, number))
        case "list":
            return (kind, [_normal(item) for item in value])
        case "map":
            return (kind, sorted(([_normal(key), _normal(item)] for key, item in value), key=repr))
        case "optional":
            return (kind, None if value is None else _normal(value))
        case "duration" | "timestamp":
            return (kind, int(value["seconds"]), int(value["nanos"]))
        case _:
            return (kind, value, rest)


# Types.

NAMED: dict[str, Type] = {
    "bool": types.BOOL,
    "bytes": types.BYTES,
    "double": types.DOUBLE,
    "duration": types.DURATION,
    "google.protobuf.Duration": types.DURATION,
    "int": types.INT,
    "null": types.NULL,
    "null_type": types.NULL,
    "string": types.STRING,
    "timestamp": types.TIMESTAMP,
    "google.protobuf.Timestamp": types.TIMESTAMP,
    "uint": types.UINT,
    "any": types.ANY,
    "google.protobuf.Any": types.ANY,
    "dyn": types.DYN,
    "google.protobuf.Value": types.DYN,
    "google.protobuf.Struct": types.map_of(types.STRING, types.DYN),
    "google.protobuf.ListValue": types.list_of(types.DYN),
    "type": types.TYPE,
    "list": types.list_of(types.DYN),
    "map": types.map_of(types.DYN, types.DYN),
    "net.IP": types.opaque("net.IP"),
    "net.CIDR": types.opaque("net.CIDR"),
    "kubernetes.URL": types.struct("kubernetes.URL"),
    "kubernetes.Quantity": types.struct("kubernetes.Quantity"),
    "kubernetes.Semver": types.struct("kubernetes.Semver"),
    "kubernetes.NamedFormat": types.struct("kubernetes.NamedFormat"),
}
WRAPPERS: dict[str, Type] = {
    "google.protobuf.BoolValue": types.BOOL,
    "google.protobuf.BytesValue": types.BYTES,
    "google.protobuf.DoubleValue": types.DOUBLE,
    "google.protobuf.FloatValue": types.DOUBLE,
    "google.protobuf.Int32Value": types.INT,
    "google.protobuf.Int64Value": types.INT,
    "google.protobuf.StringValue": types.STRING,
    "google.protobuf.UInt32Value": types.UINT,
    "google.protobuf.UInt64Value": types.UINT,
}


def _split(parameters: str) -> list[str]:
    """The parts between the commas of the outermost level."""
    parts, depth, start = [], 0, 0
    for index, character in enumerate(parameters):
        depth += (character == "(") - (character == ")")
        if character == "," and depth == 0:
            parts.append(parameters[start:index])
            start = index + 1
    parts.append(parameters[start:])
    return [part.strip() for part in parts]


def parse_type(text: str) -> Type:
    """A type as cel-go writes it; unknown names are message types."""
    text = text.strip()
    if text in NAMED:
        return NAMED[text]
    if text in WRAPPERS:
        return types.wrapper(WRAPPERS[text])
    if text.startswith("<") and text.endswith(">"):
        return types.type_param(text[1:-1])
    name, opening, rest = text.partition("(")
    if not opening:
        return types.struct(text)
    params = [parse_type(part) for part in _split(rest.removesuffix(")"))]
    match name:
        case "list":
            return types.list_of(params[0])
        case "map":
            return types.map_of(params[0], params[1])
        case "wrapper":
            return types.wrapper(params[0])
        case "type":
            return types.type_of_type(params[0])
        case _:
            return types.opaque(name, *params)


_PRIMITIVES = {
    "BOOL": types.BOOL,
    "BYTES": types.BYTES,
    "DOUBLE": types.DOUBLE,
    "INT64": types.INT,
    "STRING": types.STRING,
    "UINT64": types.UINT,
}
_WELL_KNOWN = {"ANY": types.ANY, "DURATION": types.DURATION, "TIMESTAMP": types.TIMESTAMP}


def proto_type(declared: dict[str, Any]) -> Type:
    """A type as the JSON form of cel.expr.Type says it."""
    ((kind, value),) = declared.items()
    match kind:
        case "primitive":
            return _PRIMITIVES[value]
        case "wrapper":
            return types.wrapper(_PRIMITIVES[value])
        case "wellKnown":
            return _WELL_KNOWN[value]
        case "messageType":
            return parse_type(value)
        case "listType":
            return types.list_of(proto_type(value["elemType"]))
        case "mapType":
            return types.map_of(proto_type(value["keyType"]), proto_type(value["valueType"]))
        case "abstractType":
            return types.opaque(value["name"], *map(proto_type, value.get("parameterTypes", [])))
        case "typeParam":
            return types.type_param(value)
        case "type":
            return types.type_of_type(proto_type(value)) if value else types.TYPE
        case "null":
            return types.NULL
        case "error":
            return types.ERROR
        case "dyn":
            return types.DYN
        case _:
            raise NotRepresentedError(kind)
