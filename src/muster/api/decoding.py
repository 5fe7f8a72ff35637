"""Wrong types in bodies of built-in kinds, and in the metadata of all kinds.

A real server decodes these into Go structs and answers 400 in the words of Go's JSON package; custom resources are
checked against their schema later and answer 422. This module finds the first such mistake.
"""

from __future__ import annotations

import binascii
from typing import TYPE_CHECKING, Final

from muster.api.schema.object_meta import OBJECT_META
from muster.api.schema.scalars import INT32
from muster.values.causes import quoted
from muster.values.json import Json, JsonMapping, Schema
from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.api.resource import Resource, Version

    Fits = Callable[[Json], bool]

_STRUCTS: Final[Mapping[str, str]] = {
    "metadata": "ObjectMeta",
    "ownerReferences": "OwnerReference",
    "managedFields": "ManagedFieldsEntry",
    "rules": "PolicyRule",
    "subjects": "Subject",
    "roleRef": "RoleRef",
    "aggregationRule": "AggregationRule",
    "involvedObject": "ObjectReference",
    "related": "ObjectReference",
    "source": "EventSource",
    "series": "EventSeries",
    "secrets": "ObjectReference",
    "imagePullSecrets": "LocalObjectReference",
    "regarding": "ObjectReference",
    "deprecatedSource": "EventSource",
}
# Fields of type MicroTime, which is written with six digits of a second and no other way.
_MICRO_TIMES: Final = frozenset({"acquireTime", "eventTime", "lastObservedTime", "renewTime"})
_SECONDS: Final = len("2006-01-02T15:04:05")
_DIGITS: Final = len(".000000")
_KNOWN: Final[dict[int, tuple[JsonMapping, Fits]]] = {}  # with the schema, so that no other one gets its number


def decode_problem(resource: Resource, version: Version, obj: JsonMapping) -> str | None:
    """The text that follows `cannot be handled as a Kind: `, or None when the types fit."""
    found = metadata_problem(obj.get("metadata"), resource.kind)
    if found is None and resource.builtin and not _fits(version.schema)(obj):
        for name, schema in version.schema.get("properties", {}).items():
            if name != "metadata" and name in obj and found is None:
                found = _mismatch(obj[name], schema, resource.kind, name, _struct(resource.kind, name))
    return found


def metadata_problem(metadata: Json, kind: str) -> str | None:
    """What is wrong with the types in the metadata of an object."""
    if _METADATA_FITS(metadata):
        return None
    return _mismatch(metadata, OBJECT_META, kind, "metadata", "ObjectMeta")


# --- Whether the types fit, which they nearly always do: closures over the schema, without a word about what is wrong.


def _fits(schema: JsonMapping) -> Fits:
    """A check of a whole object but for its metadata; made once for every schema of a built-in kind."""
    known = _KNOWN.get(id(schema))
    if known is None:
        rest = {name: each for name, each in schema.get("properties", {}).items() if name != "metadata"}
        known = _KNOWN[id(schema)] = schema, _fits_object({"properties": rest})
    return known[1]


def _fitting(schema: Schema, name: str) -> Fits | None:
    """A check of a value at a field of this name that is there; None where anything will do. It is what `_mismatch`
    finds nothing wrong with."""
    if schema.get("x-kubernetes-int-or-string"):
        return None
    match schema.get("type"):
        case "object":
            return _fits_object(schema, name)
        case "array":
            each = _fitting(schema["items"], name)
            return lambda value: (
                isinstance(value, list) and (each is None or all(item is None or each(item) for item in value))
            )
        case "string" if schema.get("format") in ("byte", "date-time"):
            return lambda value: _string(value, schema, "", name) is None
        case "string":
            return lambda value: isinstance(value, str)
        case "boolean":
            return lambda value: isinstance(value, bool)
        case "integer":
            least, most = INT32 if schema.get("format") == "int32" else (float("-inf"), float("inf"))
            return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most
        case _:
            return None


def _fits_object(schema: Schema, name: str = "") -> Fits:
    additional = schema.get("additionalProperties")
    if additional is not None:
        each = _fitting(additional, name)
        return lambda value: (
            isinstance(value, dict) and (each is None or all(item is None or each(item) for item in value.values()))
        )
    fitting = {field: _fitting(of_field, field) for field, of_field in schema.get("properties", {}).items()}
    checked = {field: check for field, check in fitting.items() if check is not None}

    def fits(value: Json) -> bool:
        if not isinstance(value, dict):
            return False
        for field, item in value.items():
            if item is not None and (check := checked.get(field)) is not None and not check(item):
                return False
        return True

    return fits


# --- What does not fit, in words


def _struct(kind: str, field: str) -> str:
    if field in {"spec", "status"}:
        return kind + field.capitalize()
    return _STRUCTS.get(field, field[:1].upper() + field[1:])


def _mismatch(value: Json, schema: Schema, owner: str, path: str, struct: str) -> str | None:
    """`owner` is the struct that has the field at `path`, `struct` the one the field holds."""
    if value is None or schema.get("x-kubernetes-int-or-string"):
        return None
    match schema.get("type"):
        case "object":
            return _object(value, schema, owner, path, struct)
        case "array":
            if not isinstance(value, list):
                return _refused(value, owner, path, f"[]{_go_type(schema['items'], struct)}")
            return _first(_mismatch(each, schema["items"], owner, path, struct) for each in value)
        case "string":
            return _string(value, schema, owner, path)
        case "boolean" if not isinstance(value, bool):
            return _refused(value, owner, path, "bool")
        case "integer" if not isinstance(value, int) or isinstance(value, bool):
            return _refused(value, owner, path, schema.get("format", "int64"))
        case "integer" if schema.get("format") == "int32" and not INT32[0] <= value <= INT32[1]:
            return f"json: cannot unmarshal number {value} into Go struct field {owner}.{path} of type int32"
        case _:
            return None


def _object(value: Json, schema: Schema, owner: str, path: str, struct: str) -> str | None:
    if not isinstance(value, dict):
        return _refused(value, owner, path, _go_type(schema, struct))
    additional = schema.get("additionalProperties")
    if additional is not None:
        return _first(_mismatch(each, additional, owner, path, struct) for each in value.values())
    properties = schema.get("properties", {})
    return _first(
        _mismatch(each, properties[name], struct, f"{path}.{name}", _struct(struct, name))
        for name, each in value.items()
        if name in properties
    )


def _string(value: Json, schema: Schema, owner: str, path: str) -> str | None:
    form = schema.get("format", "")
    if not isinstance(value, str):
        if form == "byte":
            return _refused(value, owner, path, "[]uint8")
        return _refused(value, owner, path, "string")
    if form == "byte":
        try:
            binascii.a2b_base64(value.replace("\n", "").replace("\r", ""), strict_mode=bool(value))
        except ValueError:  # binascii.Error, and its parent for text that is not ASCII
            return "illegal base64 data at input byte 0"
    if form == "date-time" and path.rpartition(".")[2] in _MICRO_TIMES:
        return _micro_time(value)
    if form == "date-time" and not _is_time(value):
        shown = quoted(value)
        return f'parsing time {shown} as "2006-01-02T15:04:05Z07:00": cannot parse {shown} as "2006"'
    return None


def _micro_time(value: str) -> str | None:
    """Why Go cannot read a MicroTime. The words name the first part that is wrong, and what was expected there."""
    seconds, fraction, zone = value[:_SECONDS], value[_SECONDS : _SECONDS + _DIGITS], value[_SECONDS + _DIGITS :]
    layout = "2006-01-02T15:04:05.000000Z07:00"
    if not _is_time(f"{seconds}Z"):
        wrong, wanted = value, "2006"
    elif len(fraction) < _DIGITS or fraction[0] not in ".," or not (fraction[1:].isascii() and fraction[1:].isdigit()):
        wrong, wanted = value[_SECONDS:], ".000000"
    elif not _is_time(f"{seconds}{zone}") or not zone.startswith(("Z", "+", "-")):
        wrong, wanted = zone, "Z07:00"
    else:
        return None
    return f'parsing time {quoted(value)} as "{layout}": cannot parse {quoted(wrong)} as "{wanted}"'


def _is_time(text: str) -> bool:
    """Go's types know only capital letters in times."""
    return text.isupper() and not isinstance(parse_time(text), Fault)


def _refused(value: Json, owner: str, path: str, wanted: str) -> str:
    return f"json: cannot unmarshal {_json_type(value)} into Go struct field {owner}.{path} of type {wanted}"


def _json_type(value: Json) -> str:
    match value:
        case bool():
            return "bool"
        case str():
            return "string"
        case int() | float():
            return "number"
        case list():
            return "array"
        case _:
            return "object"


def _go_type(schema: Schema, struct: str) -> str:
    match schema.get("type"):
        case "string":
            return "string"
        case "boolean":
            return "bool"
        case "integer":
            return str(schema.get("format", "int64"))
        case "object" if "additionalProperties" in schema:
            return f"map[string]{_go_type(schema['additionalProperties'], struct)}"
        case _:
            return f"v1.{struct}"


def _first(found: Json) -> str | None:
    return next((text for text in found if text is not None), None)


def _metadata_fits() -> Fits:
    there = _fits_object(OBJECT_META)
    return lambda metadata: metadata is None or there(metadata)


_METADATA_FITS: Final = _metadata_fits()
