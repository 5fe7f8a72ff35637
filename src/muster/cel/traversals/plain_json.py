"""Values as JSON has them: what becomes of them in a google.protobuf.Struct, Value or ListValue.

Numbers become doubles, whole numbers beyond 2^53 texts, bytes base64, times and durations their texts. Only keys that
are texts will do. The words of refusals are cel-go's.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from muster.cel.costs.meter import spend, spend_on_text
from muster.cel.values import Duration, OptionalValue, Timestamp, TypeValue, Uint, type_of
from muster.cel.values.numbers import int_text
from muster.cel.values.timestamps import format_duration, format_timestamp

if TYPE_CHECKING:
    from muster.cel.costs.meter import Meter
    from muster.cel.values.value import Value

_EXACT = 2**53 - 1  # larger whole numbers become texts, as in protocol buffers' JSON
_JSON_VALUE = "*structpb.Value"
_PER_ELEMENT = 6  # units: making an element takes that much longer than looking at it


class NotJsonError(Exception):
    """A value that cannot become what is wanted; says why, in cel-go's words."""


def plain_json(meter: Meter, value: Value) -> Value:
    """The value as JSON has it."""
    return plain_list(meter, [value])[0]


def plain_list(meter: Meter, items: Sequence[Value]) -> list[Value]:
    made: list[Value] = []
    _fill(meter, [(items, made)])
    return made


def plain_map(meter: Meter, entries: Mapping[Value, Value]) -> dict[str, Value]:
    made: dict[str, Value] = {}
    _fill(meter, [(entries, made)])
    return made


def _fill(meter: Meter, pending: list[tuple[Value, Value]]) -> None:
    """Pairs of a container and the empty one that becomes its copy."""
    while pending:
        source, made = pending.pop()
        spend(meter, _PER_ELEMENT * len(source) + 1)
        if isinstance(source, Mapping):
            for key, value in source.items():
                if not isinstance(key, str):
                    raise not_native(key, "string")
                made[key] = _one(meter, value, pending)
        else:
            made.extend([_one(meter, value, pending) for value in source])


def _one(meter: Meter, value: Value, pending: list[tuple[Value, Value]]) -> Value:
    while isinstance(value, OptionalValue):
        spend(meter, 1)
        if not value.present:
            raise NotJsonError("optional.none() dereference")
        value = value.content
    if isinstance(value, (list, tuple)):
        inner: list[Value] = []
        pending.append((value, inner))
        return inner
    if isinstance(value, Mapping):
        entries: dict[str, Value] = {}
        pending.append((value, entries))
        return entries
    return _leaf(meter, value)


def _leaf(meter: Meter, value: Value) -> Value:
    match value:
        case None | bool() | float() | str():
            return value
        case int():
            return float(value) if abs(value) <= _EXACT else int_text(value)
        case bytes():
            spend_on_text(meter, len(value))
            return base64.b64encode(value).decode()
        case Timestamp():
            return format_timestamp(value)
        case Duration():
            return format_duration(value)
        case _:
            raise not_native(value, _JSON_VALUE)


def not_native(value: Value, native: str) -> NotJsonError:
    """What cel-go says when a value cannot become a Go value of that type."""
    match value:
        case None:
            return NotJsonError(f"type conversion error from 'null_type' to '{native}'")
        case bool():
            return NotJsonError(f"type conversion error from bool to '{native}'")
        case Uint():
            return NotJsonError(f"unsupported type conversion from 'uint' to {native}")
        case int():
            return NotJsonError(f"unsupported type conversion from 'int' to {native}")
        case float():
            return NotJsonError(f"type conversion error from Double to '{native}'")
        case str():
            return NotJsonError(f"unsupported native conversion from string to '{native}'")
        case bytes():
            return NotJsonError(f"type conversion error from Bytes to '{native}'")
        case list() | tuple():
            return NotJsonError(f"type conversion error from list to '{native}'")
        case Mapping():
            return NotJsonError(f"type conversion error from map to '{native}'")
        case TypeValue():
            return NotJsonError("type conversion not supported for 'type'")
        case Timestamp() | Duration():
            return NotJsonError(f"type conversion error from '{type(value).__name__}' to '{native}'")
        case _:
            name = type_of(value).name.rpartition(".")[2].removeprefix("Named")
            return NotJsonError(f"type conversion error from '{name}' to '{native}'")
