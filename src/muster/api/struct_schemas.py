"""OpenAPI schemas of kinds that are described by structs: one description for what is read, sent and documented.

Called where such a kind is declared. Descriptions come from the structs' docstrings and from `Meta` of their fields.
Schemas of Kubernetes have no references, so that every part is put in where it is used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.values.json import Json, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

_DROPPED: Final = ("title", "default")
_REFERENCE: Final = "#/$defs/"
ANYTHING: Final[Schema] = {"x-kubernetes-preserve-unknown-fields": True}


def schema_of(struct: type[msgspec.Struct]) -> Schema:
    """The schema of a struct with everything in it."""
    found, parts = msgspec.json.schema_components([struct], ref_template=_REFERENCE + "{name}")
    return _inlined(found[0], parts)


def _inlined(schema: Mapping[str, Json], parts: Mapping[str, Json]) -> Schema:
    if "$ref" in schema:
        named = _inlined(parts[schema["$ref"].removeprefix(_REFERENCE)], parts)
        return named | ({"description": schema["description"]} if "description" in schema else {})
    if "anyOf" in schema:  # of something or null
        one, *others = [each for each in schema["anyOf"] if each.get("type") != "null"]
        assert not others, "a schema of Kubernetes has one type for a field"  # noqa: S101
        kept = {key: value for key, value in schema.items() if key != "anyOf" and key not in _DROPPED}
        return _inlined(one, parts) | kept | {"nullable": True}
    found: Schema = {key: value for key, value in schema.items() if key not in _DROPPED}
    if not found.get("required", True):
        del found["required"]
    if "description" in found:
        found["description"] = " ".join(found["description"].split())
    if "properties" in found:
        found["properties"] = {name: _inlined(each, parts) for name, each in found["properties"].items()}
    for inner in ("items", "additionalProperties"):
        if isinstance(found.get(inner), dict):
            found[inner] = _inlined(found[inner], parts)
    if found.get("type") == "array":
        found.setdefault("items", ANYTHING)  # a list of anything says no more than that
    if found.get("enum") and "type" not in found:
        found["type"] = "string"
    if found.get("type") == "integer":
        found["format"] = "int64"
    if "type" not in found and "x-kubernetes-preserve-unknown-fields" not in found:
        found |= ANYTHING  # of any type
    if found.get("type") == "object" and "properties" not in found and "additionalProperties" not in found:
        found |= ANYTHING
    return found
