"""cel-go's encoders library: base64, and since version 1 JSON."""

from __future__ import annotations

import base64
import json
import math
import re
from typing import TYPE_CHECKING

from muster.cel.checking.types import BYTES, DYN, STRING
from muster.cel.declarations import Function, Library
from muster.cel.libraries.declare import call
from muster.cel.traversals import Style, go_text, written
from muster.cel.traversals.styles import go_leaf
from muster.cel.values import Duration, OptionalValue, Timestamp, TypeValue, Uint, format_double, format_plain, type_of
from muster.cel.values.numbers import int_text
from muster.cel.values.timestamps import format_duration, format_timestamp
from muster.errors import EvaluationError, FailureKind

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

LATEST = 1
_ALPHABET = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
_EXACT_IN_JSON = 2**53 - 1  # larger whole numbers become strings, as in protocol buffers' JSON


def base64_encode(data: bytes) -> str:
    return base64.b64encode(data).decode("ascii")


def base64_decode(text: str) -> bytes:
    """Standard base64, with or without padding; line breaks are skipped."""
    raw = text.encode("utf-8", "surrogatepass").replace(b"\r", b"").replace(b"\n", b"")
    padding = len(raw) - len(raw.rstrip(b"="))
    body = raw[: len(raw) - padding]
    fault = next((index for index, byte in enumerate(body) if byte not in _ALPHABET), None)
    complete = len(body) % 4 != 1 and padding in {0, -len(body) % 4}
    if fault is None and not complete:
        fault = len(body) if padding else len(body) - len(body) % 4
    if fault is not None:
        raise EvaluationError(f"illegal base64 data at input byte {fault}", FailureKind.NOT_BASE64)
    return base64.b64decode(body + b"=" * (-len(body) % 4))


def json_encode(meter: Meter, value: Value) -> str:
    """The value as JSON without spaces. cel-go puts spaces in or not, at random, to keep people from relying on it."""
    return written(meter, value, _JSON_STYLE)


def _leaf(value: Value) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case str():
            return _quoted(value)
        case Uint() | int():
            return int_text(value) if abs(value) <= _EXACT_IN_JSON else f'"{int_text(value)}"'
        case float():
            return _number(value)
        case bytes():
            return _quoted(base64_encode(value))
        case Duration():
            return _quoted(format_duration(value))
        case Timestamp():
            return _quoted(format_timestamp(value))
        case OptionalValue():
            raise EvaluationError("optional.none() dereference")
        case TypeValue():
            raise EvaluationError(
                f"type conversion not supported for 'type' to '{type_of(value).name}'", FailureKind.TYPE_CONVERSION
            )
        case _:
            raise EvaluationError(
                f"type conversion error from '{type_of(value).name}' to JSON", FailureKind.TYPE_CONVERSION
            )


def _key(key: Value) -> str:
    return _quoted(go_leaf(key))


_JSON_STYLE = Style(_leaf, _key, between=",", map_between=",", colon=":", order=go_leaf, optional=("", ""))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _number(number: float) -> str:
    """Plain digits between 1e-6 and 1e21, outside of it an exponent without leading zeros."""
    if not math.isfinite(number):
        raise EvaluationError(f"proto: google.protobuf.Value.number_value: invalid {go_text(number)} value")
    if number == 0 or 1e-6 <= abs(number) < 1e21:
        return format_plain(number)
    return re.sub("e([+-])0", r"e\1", format_double(number))


_BASE64 = (
    Function(
        "base64.decode",
        (call("base64_decode_string", (STRING,), BYTES, base64_decode),),
        doc="The bytes that a base64 text stands for.",
        examples={"base64.decode('aGVsbG8=')": b"hello", "base64.decode('aGVsbG8')": b"hello"},
    ),
    Function(
        "base64.encode",
        (call("base64_encode_bytes", (BYTES,), STRING, base64_encode),),
        doc="The bytes as base64 text.",
        examples={"base64.encode(b'hello')": "aGVsbG8="},
    ),
)
_JSON = (
    Function(
        "json.encode",
        (call("json_encode_dyn", (DYN,), STRING, json_encode, metered=True),),
        doc="The value as JSON, keys in order.",
        examples={"json.encode({'b': [1, true, null], 'a': 'x'})": '{"a":"x","b":[1,true,null]}'},
    ),
)


def encoders_library(version: int = LATEST) -> Library:
    """The library as it was in that version."""
    return Library("cel.lib.ext.encoders", (*_BASE64, *(_JSON if version >= 1 else ())))
