"""Whether a schema is structural: every field has one type, and logic only adds conditions to what has been specified.

What Kubernetes demands of the schema of a custom kind, in its words. Called by `openapi_schema` for every schema of a
definition. It works on schemas that `schema_props` has cleaned.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.hub.custom.schema_props import children
from muster.values.causes import Cause, forbidden, invalid, required
from muster.values.json import Json, Schema
from muster.values.regexes import InvalidRegexError, compile_regex

if TYPE_CHECKING:
    from collections.abc import Iterator


_ROOT, _ITEM, _FIELD = "root", "item", "field"
_INT_OR_STRING: Final = [{"type": "integer"}, {"type": "string"}]
_UNTYPED: Final = {
    _ROOT: "must not be empty at the root",
    _ITEM: "must not be empty for specified array items",
    _FIELD: "must not be empty for specified object fields",
}
# What may not be said within allOf, anyOf, oneOf and not: field and complaint.
_NOT_NESTED: Final = (
    ("default", "must be undefined to be structural"),
    ("title", "must be empty to be structural"),
    ("description", "must be empty to be structural"),
    ("nullable", "must be false to be structural"),
    ("x-kubernetes-preserve-unknown-fields", "must be false to be structural"),
    ("x-kubernetes-embedded-resource", "must be false to be structural"),
    ("x-kubernetes-int-or-string", "must be false to be structural"),
    ("x-kubernetes-list-map-keys", "must be empty to be structural"),
    ("x-kubernetes-list-type", "must be undefined to be structural"),
    ("x-kubernetes-map-type", "must be undefined to be structural"),
    ("x-kubernetes-validations", "must be empty to be structural"),
)
_UNSUPPORTED: Final = {
    "id": "id",
    "$schema": "schema",
    "$ref": "$ref",
    "additionalItems": "additionalItems",
    "patternProperties": "patternProperties",
    "definitions": "definitions",
    "dependencies": "dependencies",
}


def structural_problem(schema: Schema) -> str | None:
    """Why a schema cannot be read as a structural one at all."""
    for name, shown in _UNSUPPORTED.items():
        if name in schema:
            return f"OpenAPIV3Schema '{shown}' is not supported"
    if isinstance(schema.get("items"), list):
        return "OpenAPIV3Schema 'items' must be a schema, but is an array"
    below = [schema["not"]] if "not" in schema else []
    below += [each for name in ("allOf", "anyOf", "oneOf") for each in schema.get(name, ())]
    below += schema.get("properties", {}).values()
    below += [schema[name] for name in ("items", "additionalProperties") if isinstance(schema.get(name), dict)]
    return next((problem for each in below if (problem := structural_problem(each)) is not None), None)


#: Instructions that the patterns of one schema may be compiled into, together. A few characters can become thousands.
MOST_PATTERN_SIZE: Final = 200_000


def structural_causes(schema: Schema, path: str) -> list[Cause]:
    """What keeps the schema of a kind from being structural, sorted."""
    patterns = list(_pattern_causes(schema, path))
    found = [*_invariants(schema, _ROOT, path), *_incomplete(schema, schema, path, path)]
    return sorted([*found, *patterns], key=str)


def _pattern_causes(schema: Schema, path: str) -> Iterator[Cause]:
    """Patterns that RE2 does not take. Compiling stops where it would take too long."""
    left = MOST_PATTERN_SIZE
    waiting = [(schema, path)]
    while waiting:
        each, place = waiting.pop()
        if pattern := each.get("pattern"):
            try:
                left -= compile_regex(pattern).size
            except InvalidRegexError as error:
                left -= MOST_PATTERN_SIZE // 10 if error.too_large else 0
                yield invalid(f"{place}.pattern", pattern, f"must be a valid regular expression, but isn't: {error}")
            if left < 0:
                yield forbidden(path, f"its patterns take more than the {MOST_PATTERN_SIZE} steps that the hub allows")
                return
        waiting.extend((below, f"{place}.{name}") for name, below in children(each))


def _invariants(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    kind = schema.get("type", "")
    properties: dict[str, Schema] = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    if kind == "array" and "items" not in schema:
        yield required(f"{path}.items", "must be specified")
    if "items" in schema:
        yield from _invariants(schema["items"], _ITEM, f"{path}.items")
    for name, child in properties.items():
        yield from _invariants(child, _FIELD, f"{path}.properties[{name}]")
    if additional is not None and level == _ROOT:
        yield forbidden(f"{path}.additionalProperties", "must not be used at the root")
    if isinstance(additional, dict):
        yield from _invariants(additional, _FIELD, f"{path}.additionalProperties")
    yield from _extensions(schema, path)
    yield from _values(schema, path, is_int_or_string(schema.get("anyOf")), _begins_with_int_or_string(schema))
    yield from _typing(schema, level, path)
    if schema.get("x-kubernetes-embedded-resource") and additional is not None:
        yield forbidden(f"{path}.additionalProperties", "must not be used if x-kubernetes-embedded-resource is set")
    if level == _ROOT and kind and kind != "object":
        yield invalid(f"{path}.type", kind, "must be object at the root")
    yield from _meta(schema, level, path)


def _typing(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-embedded-resource") and kind != "object":
        detail = "must be object if x-kubernetes-embedded-resource is true"
        yield invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)
    elif not kind and not schema.get("x-kubernetes-int-or-string") and not _keeps_unknown(schema):
        yield required(f"{path}.type", _UNTYPED[level])


def _meta(schema: Schema, level: str, path: str) -> Iterator[Cause]:
    """apiVersion, kind and metadata belong to every object: little may be said of them."""
    embedded = bool(schema.get("x-kubernetes-embedded-resource"))
    properties: dict[str, Schema] = schema.get("properties", {})
    checked = level == _ROOT or embedded
    for name in ("kind", "apiVersion"):
        if checked and name in properties and properties[name].get("type") != "string":
            yield invalid(f"{path}.properties[{name}].type", properties[name].get("type", ""), "must be string")
    if "metadata" in properties:
        metadata, below = properties["metadata"], f"{path}.properties[metadata]"
        if checked and metadata.get("type") != "object":
            yield invalid(f"{below}.type", metadata.get("type", ""), "must be object")
        if level == _ROOT:
            names = set(metadata.get("properties", {}))
            said = (
                set(metadata) - {"type", "default"} - ({"properties"} if names <= {"name", "generateName"} else set())
            )
            if said:
                yield forbidden(
                    below,
                    "must not specify anything other than name and generateName, but metadata is implicitly specified",
                )
    if embedded and not _keeps_unknown(schema) and not properties:
        yield required(
            f"{path}.properties",
            "must not be empty if x-kubernetes-embedded-resource is true without x-kubernetes-preserve-unknown-fields",
        )


def _keeps_unknown(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-preserve-unknown-fields"))


def _extensions(schema: Schema, path: str) -> Iterator[Cause]:
    if schema.get("x-kubernetes-int-or-string"):
        for name in ("x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource"):
            if schema.get(name):
                yield invalid(f"{path}.{name}", True, "must be false if x-kubernetes-int-or-string is true")


def is_int_or_string(alternatives: Json) -> bool:
    """Whether this is the one anyOf that may name types."""
    return bool(alternatives == _INT_OR_STRING)


def _begins_with_int_or_string(schema: Schema) -> bool:
    parts = schema.get("allOf", [])
    return len(parts) > 0 and is_int_or_string(parts[0].get("anyOf"))


def _values(schema: Schema, path: str, skip_any: bool, skip_first: bool) -> Iterator[Cause]:
    if not skip_any:
        for index, each in enumerate(schema.get("anyOf", ())):
            yield from _nested(each, f"{path}.anyOf[{index}]")
    for index, each in enumerate(schema.get("allOf", ())):
        yield from _nested(each, f"{path}.allOf[{index}]", skip_any=skip_first and index == 0)
    for index, each in enumerate(schema.get("oneOf", ())):
        yield from _nested(each, f"{path}.oneOf[{index}]")
    if "not" in schema:
        yield from _nested(schema["not"], f"{path}.not")


def _nested(schema: Schema, path: str, *, skip_any: bool = False) -> Iterator[Cause]:
    yield from _values(schema, path, skip_any, skip_first=False)
    if "items" in schema:
        yield from _nested(schema["items"], f"{path}.items")
    properties: dict[str, Schema] = schema.get("properties", {})
    for name, child in properties.items():
        yield from _nested(child, f"{path}.properties[{name}]")
    if "type" in schema:
        yield forbidden(f"{path}.type", "must be empty to be structural")
    if "additionalProperties" in schema:
        yield forbidden(f"{path}.additionalProperties", "must be undefined to be structural")
    for name, detail in _NOT_NESTED:
        if schema.get(name) not in (None, False):
            yield forbidden(f"{path}.{name}", detail)
    if "metadata" in properties:
        yield forbidden(f"{path}.properties[metadata]", "must not be specified in a nested context")


def _incomplete(values: Schema, schema: Schema | None, place: str, path: str) -> Iterator[Cause]:
    """Fields that only logic speaks of."""
    if "not" in values:
        yield from _nested_incomplete(values["not"], schema, place, f"{path}.not")
    for name in ("allOf", "anyOf", "oneOf"):
        for index, each in enumerate(values.get(name, ())):
            yield from _nested_incomplete(each, schema, place, f"{path}.{name}[{index}]")


def _nested_incomplete(values: Schema, schema: Schema | None, place: str, path: str) -> Iterator[Cause]:
    if schema is None:
        yield required(place, f"because it is defined in {path}")
        return
    yield from _incomplete(values, schema, place, path)
    if "items" in values:
        yield from _nested_incomplete(values["items"], schema.get("items"), f"{place}.items", f"{path}.items")
    declared = schema.get("properties", {})
    for name, child in values.get("properties", {}).items():
        below = f".properties[{name}]"
        yield from _nested_incomplete(child, declared.get(name), place + below, path + below)
