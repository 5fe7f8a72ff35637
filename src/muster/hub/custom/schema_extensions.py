"""What a definition's schema may say in Kubernetes' own keywords: list and map types, keys of lists, texts of rules.

Called by `openapi_schema` for every node of a schema. The checks and texts are Kubernetes'. What rules mean and cost is
judged there.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from muster.hub.custom.field_paths import InvalidPathError, read_path
from muster.hub.custom.rules import VALIDATIONS
from muster.values.causes import Cause, forbidden, invalid, not_supported, required
from muster.values.json import Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

_REASONS: Final = ("FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired")
_LINE_BREAK: Final = re.compile(r"[\n\r]")


def extension_causes(schema: Schema, path: str) -> Iterator[Cause]:
    """What is wrong with the list type, the map type and the keys of a list."""
    kind = schema.get("type", "")
    if schema.get("x-kubernetes-preserve-unknown-fields") is False:
        yield invalid(f"{path}.x-kubernetes-preserve-unknown-fields", False, "must be true or undefined")
    map_type, list_type = schema.get("x-kubernetes-map-type"), schema.get("x-kubernetes-list-type")
    if map_type is not None:
        if kind != "object":
            yield _wrong_type(path, kind, "must be object if x-kubernetes-map-type is specified")
        if map_type not in ("atomic", "granular"):
            yield not_supported(f"{path}.x-kubernetes-map-type", map_type, ("atomic", "granular"))
    if list_type is not None:
        if kind != "array":
            yield _wrong_type(path, kind, "must be array if x-kubernetes-list-type is specified")
        elif list_type == "set" and isinstance(schema.get("items"), dict):
            yield from _set_items(schema["items"], f"{path}.items")
        if list_type not in ("atomic", "set", "map"):
            yield not_supported(f"{path}.x-kubernetes-list-type", list_type, ("atomic", "set", "map"))
    keys = schema.get("x-kubernetes-list-map-keys", ())
    if keys and list_type != "map":
        detail = "must be map if x-kubernetes-list-map-keys is non-empty"
        place = f"{path}.x-kubernetes-list-type"
        yield required(place, detail) if list_type is None else invalid(place, list_type, detail)
    if list_type == "map":
        yield from _map_list(schema, path)


def _wrong_type(path: str, kind: str, detail: str) -> Cause:
    return invalid(f"{path}.type", kind, detail) if kind else required(f"{path}.type", detail)


def _set_items(items: Schema, path: str) -> Iterator[Cause]:
    detail = "must be atomic as item of a list with x-kubernetes-list-type=set"
    list_type = items.get("x-kubernetes-list-type")
    if items.get("type") == "array" and list_type not in (None, "atomic"):
        yield invalid(f"{path}.x-kubernetes-list-type", list_type, detail)
    if items.get("type") == "object" and items.get("x-kubernetes-map-type") != "atomic":
        yield invalid(f"{path}.x-kubernetes-map-type", list_type, detail)


def _map_list(schema: Schema, path: str) -> Iterator[Cause]:
    keys = schema.get("x-kubernetes-list-map-keys", [])
    place = f"{path}.x-kubernetes-list-map-keys"
    if not keys:
        yield required(place, "must not be empty if x-kubernetes-list-type is map")
    items = schema.get("items")
    if items is None:
        yield required(f"{path}.items", "must have a schema if x-kubernetes-list-type is map")
    elif not isinstance(items, dict):
        yield invalid(f"{path}.items", items, "must only have a single schema if x-kubernetes-list-type is map")
    elif items.get("type") != "object":
        detail = "must be object if parent array's x-kubernetes-list-type is map"
        yield invalid(f"{path}.items.type", items.get("type", ""), detail)
    else:
        seen: set[str] = set()
        for key in keys:
            of_key = items.get("properties", {}).get(key)
            if of_key is None:
                yield invalid(place, keys, "entries must all be names of item properties")
            elif of_key.get("type") in ("array", "object"):
                detail = "must be a scalar type if parent array's x-kubernetes-list-type is map"
                yield invalid(f"{path}.items.properties[{key}].type", items["type"], detail)
            if key in seen:
                yield invalid(place, keys, "must not contain duplicate entries")
            seen.add(key)


def key_causes(schema: Schema, path: str) -> Iterator[Cause]:
    """Items of sets and maps are never null, and the keys of map lists always there."""
    list_type, items = schema.get("x-kubernetes-list-type"), schema.get("items")
    if not isinstance(items, dict) or list_type not in ("set", "map"):
        return
    if items.get("nullable"):
        yield forbidden(f"{path}.items.nullable", f"cannot be nullable when x-kubernetes-list-type is {list_type}")
    if list_type == "set":
        return
    for key in schema.get("x-kubernetes-list-map-keys", ()):
        of_key = items.get("properties", {}).get(key)
        if of_key is None:
            continue
        why = "this property is in x-kubernetes-list-map-keys, so it"
        if key not in items.get("required", ()) and "default" not in of_key:
            place = f"{path}.items.properties[{key}].default"
            yield required(place, f"{why} must have a default or be a required property")
        if of_key.get("nullable"):
            yield forbidden(f"{path}.items.properties[{key}].nullable", f"{why} cannot be nullable")


def rule_text_causes(schema: Schema, path: str) -> Iterator[Cause]:
    """What is wrong with how rules are written, before anybody compiles them."""
    for index, rule in enumerate(schema[VALIDATIONS]):
        place = f"{path}.{VALIDATIONS}[{index}]"
        text, message = rule.get("rule", "").strip(), rule.get("message", "")
        if not text:
            yield required(f"{place}.rule", "rule is not specified")
        elif message and not message.strip():
            yield invalid(f"{place}.message", message, "must be non-empty if specified")
        elif _LINE_BREAK.search(message.strip()):
            yield invalid(f"{place}.message", message, "must not contain line breaks")
        elif _LINE_BREAK.search(text) and not message.strip():
            yield required(f"{place}.message", "message must be specified if rule contains line breaks")
        expression = rule.get("messageExpression", "")
        if expression and not expression.strip():
            yield required(f"{place}.messageExpression", "messageExpression must be non-empty if specified")
        if rule.get("reason") is not None and rule["reason"] not in _REASONS:
            yield not_supported(f"{place}.reason", rule["reason"], _REASONS)
        yield from _rule_path(schema, rule.get("fieldPath", ""), f"{place}.fieldPath")


def _rule_path(schema: Schema, path: str, place: str) -> Iterator[Cause]:
    if not path:
        return
    if not path.strip():
        yield invalid(place, path, "must be non-empty if specified")
    if _LINE_BREAK.search(path):
        yield invalid(place, path, "must not contain line breaks")
    try:
        read_path(path, schema)
    except InvalidPathError:
        yield invalid(place, path, "must be a valid path")
