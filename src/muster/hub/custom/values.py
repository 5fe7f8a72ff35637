"""Values of an object as rules see them: times, durations and bytes instead of their texts, fields by escaped names.

Compiled once per node of a schema; most values need no change and are used as they are.
"""

from __future__ import annotations

import base64
import binascii
import re
from typing import TYPE_CHECKING, Final

from muster.cel.values import Duration
from muster.cel.values.timestamps import parse_duration, parse_timestamp
from muster.errors import EvaluationError
from muster.hub.custom.cel_types import escaped, is_embedded, with_type_and_meta
from muster.hub.custom.nodes import list_key
from muster.values.json import Json, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Callable

    Conversion = Callable[[Json], Json]


_SPAN: Final = re.compile(r"(\d+)\s*([A-Za-zµ]+)", re.ASCII)
_UNITS: Final = {
    "n": 1,
    "u": 1000,
    "µ": 1000,
    "ms": 10**6,
    "mil": 10**6,
    "mic": 1000,
    "s": 10**9,
    "m": 60 * 10**9,
    "h": 3600 * 10**9,
    "d": 86400 * 10**9,
    "w": 604800 * 10**9,
}


def compile_value(schema: Schema, *, root: bool = False) -> Conversion | None:
    """How a value of this schema is made one of CEL; None when it is one already."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    if root:
        schema = with_type_and_meta(schema)
    match schema.get("type"):
        case "object":
            return _object(schema)
        case "array":
            items = schema.get("items")
            return _list(compile_value(items, root=is_embedded(items)) if isinstance(items, dict) else None)
        case "string":
            return _FORMATS.get(schema.get("format", ""))
        case "number":
            return lambda value: float(value) if type(value) is int else value
        case "integer":
            return lambda value: int(value) if type(value) is float else value
        case _:
            return None


def _object(schema: Schema) -> Conversion | None:
    additional = schema.get("additionalProperties")
    if isinstance(additional, dict) and not schema.get("properties"):
        every = compile_value(additional, root=is_embedded(additional))
        return None if every is None else _map(every)
    names: dict[str, str] = {}
    conversions: dict[str, Conversion] = {}
    for name, child in schema.get("properties", {}).items():
        known = escaped(name)
        if known is not None and known != name:
            names[name] = known
        if (below := compile_value(child, root=is_embedded(child))) is not None:
            conversions[name] = below
    if not names and not conversions:
        return None

    def convert_object(value: Json) -> Json:
        if type(value) is not dict:
            return value
        found = dict(value)
        for name, convert in conversions.items():
            if found.get(name) is not None:
                found[name] = convert(found[name])
        for name, known in names.items():
            if name in found:
                found[known] = found[name]  # keywords are known under both names
        return found

    return convert_object


def _map(every: Conversion) -> Conversion:
    def convert_map(value: Json) -> Json:
        if type(value) is not dict:
            return value
        return {name: None if each is None else every(each) for name, each in value.items()}

    return convert_map


def _list(item: Conversion | None) -> Conversion | None:
    if item is None:
        return None

    def convert_list(value: Json) -> Json:
        if type(value) is not list:
            return value
        return [None if each is None else item(each) for each in value]

    return convert_list


def _time(text: Json) -> Json:
    found = parse_timestamp(text.upper()) if isinstance(text, str) else None
    if found is None:
        raise EvaluationError(f"Invalid date-time formatted string {text}")
    return found


def _date(text: Json) -> Json:
    return _time(f"{text}T00:00:00Z") if isinstance(text, str) else text


def _duration(text: Json) -> Json:
    """As Go writes it, or as Scala does: `3 days`."""
    if not isinstance(text, str):
        return text
    found = parse_duration(text)
    if found is not None:
        return found
    total = 0
    for number, unit in _SPAN.findall(text):
        word = unit.lower()
        factor = next((_UNITS[word[:size]] for size in (3, 2, 1) if word[:size] in _UNITS), 0)
        total += int(number) * factor
    return Duration(total)


def _bytes(text: Json) -> Json:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError, TypeError):
        raise EvaluationError(f"Invalid byte formatted string {text}") from None


_FORMATS: Final[dict[str, Conversion]] = {
    "duration": _duration,
    "date": _date,
    "date-time": _time,
    "byte": _bytes,
}


def aligned(old: Json, new: Json, schema: Schema) -> Json:
    """An old value with its sets and map lists in the order of the new ones, where they hold the same.

    To rules the order of such lists means nothing: `self == oldSelf` is true of both orders.
    """
    match schema.get("type"):
        case "object" if type(old) is dict and type(new) is dict:
            return _aligned_object(old, new, schema)
        case "array" if type(old) is list and type(new) is list and isinstance(schema.get("items"), dict):
            return _aligned_list(old, new, schema)
        case _:
            return old


def _aligned_object(old: JsonObject, new: JsonObject, schema: Schema) -> JsonObject:
    found = old
    properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
    for name, value in old.items():
        child = properties.get(name, additional)
        if name in new and isinstance(child, dict) and child.get("type") in ("object", "array"):
            other = aligned(value, new[name], child)
            if other is not value:
                found = {**found, name: other}
    return found


def _aligned_list(old: list[Json], new: list[Json], schema: Schema) -> list[Json]:
    relation, items = schema.get("x-kubernetes-list-type"), schema["items"]
    if relation not in ("set", "map") or len(old) != len(new):
        return old
    keys = schema.get("x-kubernetes-list-map-keys", ())

    def key(item: Json) -> Json:
        return list_key(item, keys) if relation == "map" else (type(item), str(item))

    before = {key(item): item for item in old}
    if len(before) != len(old) or any(key(item) not in before for item in new):
        return old
    return [aligned(before[key(item)], item, items) for item in new]
