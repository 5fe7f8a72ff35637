"""The schemas that definitions contain: which fields they have, as a Kubernetes server decodes them.

A server reads a schema into Go structs: unknown fields are named and dropped, wrong types refused, what is empty is
gone. Called for every definition that is written, before anything looks into its schemas. Schemas nest as deep as the
body does, which is bounded where bodies are read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.values.json import Json, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


_TEXT, _FLAG, _NUMBER, _COUNT = "string", "bool", "float64", "int64"
_ONE, _MANY, _NAMED = "schema", "schemas", "properties"  # one schema, a list of them, a map of them
_ONE_OR_FLAG, _ONE_OR_MANY, _ONE_OR_TEXTS = "schema or bool", "schema or list", "schemas or lists of strings"
_TEXTS, _ANYTHING, _VALUES, _RULES, _DOCS = "[]string", "anything", "[]JSON", "rules", "documentation"

FIELDS: Final[Mapping[str, str]] = {
    "id": _TEXT,
    "$schema": _TEXT,
    "$ref": _TEXT,
    "description": _TEXT,
    "type": _TEXT,
    "format": _TEXT,
    "title": _TEXT,
    "default": _ANYTHING,
    "maximum": _NUMBER,
    "exclusiveMaximum": _FLAG,
    "minimum": _NUMBER,
    "exclusiveMinimum": _FLAG,
    "maxLength": _COUNT,
    "minLength": _COUNT,
    "pattern": _TEXT,
    "maxItems": _COUNT,
    "minItems": _COUNT,
    "uniqueItems": _FLAG,
    "multipleOf": _NUMBER,
    "enum": _VALUES,
    "maxProperties": _COUNT,
    "minProperties": _COUNT,
    "required": _TEXTS,
    "items": _ONE_OR_MANY,
    "allOf": _MANY,
    "oneOf": _MANY,
    "anyOf": _MANY,
    "not": _ONE,
    "properties": _NAMED,
    "additionalProperties": _ONE_OR_FLAG,
    "patternProperties": _NAMED,
    "dependencies": _ONE_OR_TEXTS,
    "additionalItems": _ONE_OR_FLAG,
    "definitions": _NAMED,
    "externalDocs": _DOCS,
    "example": _ANYTHING,
    "nullable": _FLAG,
    "x-kubernetes-preserve-unknown-fields": _FLAG,
    "x-kubernetes-embedded-resource": _FLAG,
    "x-kubernetes-int-or-string": _FLAG,
    "x-kubernetes-list-map-keys": _TEXTS,
    "x-kubernetes-list-type": _TEXT,
    "x-kubernetes-map-type": _TEXT,
    "x-kubernetes-validations": _RULES,
}
_RULE_FIELDS: Final = {
    "rule": _TEXT,
    "message": _TEXT,
    "messageExpression": _TEXT,
    "reason": _TEXT,
    "fieldPath": _TEXT,
    "optionalOldSelf": _FLAG,
}
_DOC_FIELDS: Final = {"description": _TEXT, "url": _TEXT}
# Pointers in Go: an empty text or a false flag is kept, as something that was said.
_KEPT_EMPTY: Final = frozenset(
    {
        "$ref",
        "default",
        "example",
        "x-kubernetes-preserve-unknown-fields",
        "x-kubernetes-list-type",
        "x-kubernetes-map-type",
        "reason",
        "optionalOldSelf",
        "additionalProperties",
        "additionalItems",
        "items",
        "not",
        "externalDocs",
        "rule",
        "maximum",
        "minimum",
        "multipleOf",
        "maxLength",
        "minLength",
        "maxItems",
        "minItems",
        "maxProperties",
        "minProperties",
    }
)


class WrongTypeError(Exception):
    """A value that Go could not have decoded; the text is what its JSON package says."""


def clean(schema: Json, path: str, struct: str = "JSONSchemaProps") -> tuple[Schema, list[str]]:
    """The schema as a server keeps it, and the paths of unknown fields. Raises WrongTypeError."""
    unknown: list[str] = []
    return _cleaned(schema, FIELDS, path, struct, unknown), unknown


def _cleaned(value: Json, fields: Mapping[str, str], path: str, struct: str, unknown: list[str]) -> JsonObject:
    if not isinstance(value, dict):
        wanted = "JSONSchemaProps" if fields is FIELDS else struct
        raise _mismatch(value, path, f"v1.{wanted}", struct)
    found: JsonObject = {}
    for name, each in value.items():
        form = fields.get(name)
        below = f"{path}.{name}"
        if form is None:
            unknown.append(below)
        elif each is None:
            continue
        else:
            kept = _field(each, form, below, struct, unknown)
            if name in _KEPT_EMPTY or not (kept is False or kept is None or kept in ("", [], {})):
                found[name] = kept
    return found


def _field(value: Json, form: str, path: str, struct: str, unknown: list[str]) -> Json:
    match form:
        case "string":
            return _typed(value, str, path, "string", struct)
        case "bool":
            return _typed(value, bool, path, "bool", struct)
        case "float64":
            if isinstance(value, bool) or not isinstance(value, int | float):
                raise _mismatch(value, path, "float64", struct)
            return value
        case "int64":
            if isinstance(value, float) and value.is_integer():
                value = int(value)
            if isinstance(value, bool) or not isinstance(value, int) or not -(2**63) <= value < 2**63:
                raise _mismatch(value, path, "int64", struct)
            return value
        case "[]string":
            return [_typed(each, str, path, "string", struct) for each in _typed(value, list, path, "[]string", struct)]
        case "[]JSON":
            return _typed(value, list, path, "[]v1.JSON", struct)
        case "schema":
            return _cleaned(value, FIELDS, path, struct, unknown)
        case "schemas":
            items = _typed(value, list, path, "[]v1.JSONSchemaProps", struct)
            return [_cleaned(each, FIELDS, f"{path}[{index}]", struct, unknown) for index, each in enumerate(items)]
        case "properties":
            named = _typed(value, dict, path, "map[string]v1.JSONSchemaProps", struct)
            return {
                name: _cleaned(each, FIELDS, f"{path}.{name}", struct, unknown) if each is not None else {}
                for name, each in named.items()
            }
        case "rules":
            items = _typed(value, list, path, "v1.ValidationRules", struct)
            return [
                {"rule": "", **_cleaned(each, _RULE_FIELDS, f"{path}[{index}]", "ValidationRule", unknown)}
                for index, each in enumerate(items)
            ]
        case "documentation":
            return _cleaned(value, _DOC_FIELDS, path, "ExternalDocumentation", unknown)
        case _:
            return _alternative(value, form, path, struct, unknown)


def _alternative(value: Json, form: str, path: str, struct: str, unknown: list[str]) -> Json:
    """Fields that take one of two forms."""
    if form == _ANYTHING:
        return value
    if form == _ONE_OR_FLAG and isinstance(value, bool):
        return value
    if form == _ONE_OR_MANY and isinstance(value, list):
        return [_cleaned(each, FIELDS, f"{path}[{index}]", struct, unknown) for index, each in enumerate(value)]
    if form == _ONE_OR_TEXTS:
        named = _typed(value, dict, path, "v1.JSONSchemaDependencies", struct)
        return {
            name: each if isinstance(each, list) else _cleaned(each, FIELDS, f"{path}.{name}", struct, unknown)
            for name, each in named.items()
        }
    return _cleaned(value, FIELDS, path, struct, unknown)


def _typed(value: Json, wanted: type, path: str, name: str, struct: str) -> Json:
    if not isinstance(value, wanted):
        raise _mismatch(value, path, name, struct)
    return value


def _mismatch(value: Json, path: str, wanted: str, struct: str) -> WrongTypeError:
    match value:
        case bool():
            found = "bool"
        case str():
            found = "string"
        case int() | float():
            found = "number"
        case list():
            found = "array"
        case _:
            found = "object"
    return WrongTypeError(f"json: cannot unmarshal {found} into Go struct field {struct}.{path} of type {wanted}")


def children(schema: Schema) -> Iterator[tuple[str, Schema]]:
    """The schemas directly below one, with their places: all of them, in the order a server goes through them."""
    items = schema.get("items")
    if isinstance(items, list):
        yield from ((f"items[{index}]", each) for index, each in enumerate(items))
    elif items is not None:
        yield "items", items
    for name in ("allOf", "anyOf", "oneOf"):
        yield from ((f"{name}[{index}]", each) for index, each in enumerate(schema.get(name, ())))
    if "not" in schema:
        yield "not", schema["not"]
    for name in sorted(schema.get("properties", {})):
        yield f"properties[{name}]", schema["properties"][name]
    for name in ("additionalProperties", "additionalItems"):
        if isinstance(schema.get(name), dict):
            yield name, schema[name]
    for group in ("patternProperties", "definitions"):
        yield from ((f"{group}[{name}]", each) for name, each in sorted(schema.get(group, {}).items()))
    for name, each in sorted(schema.get("dependencies", {}).items()):
        if isinstance(each, dict):
            yield f"dependencies[{name}]", each


def everywhere(schema: Schema) -> Iterator[Schema]:
    """A schema and all below it."""
    waiting = [schema]
    while waiting:
        each = waiting.pop()
        yield each
        waiting.extend(below for _, below in reversed(list(children(each))))
