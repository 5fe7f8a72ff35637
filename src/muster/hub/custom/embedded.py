"""Objects within objects (`x-kubernetes-embedded-resource`): their apiVersion, kind and metadata are those of objects.

Unknown metadata is dropped and named, wrong types cannot be decoded, and names and labels must be well formed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.decoding import metadata_problem
from muster.api.metadata import name_of, validate_metadata, without_empty
from muster.api.schema.object_meta import OBJECT_META
from muster.api.schema.shape import EMBEDDED, compile_shape
from muster.values.causes import Cause, invalid, required
from muster.values.formats import dns_1035_label_problems
from muster.values.json import Json, JsonObject, Schema
from muster.values.names import path_segment_problems

if TYPE_CHECKING:
    from collections.abc import Iterator


_prune: Final = compile_shape(OBJECT_META, prune=True, fill=True)


def has_embedded(schema: Schema) -> bool:
    """Whether there are such objects below the root of a schema."""
    below = [*schema.get("properties", {}).values(), schema.get("items"), schema.get("additionalProperties")]
    return any(isinstance(each, dict) and (bool(each.get(EMBEDDED)) or has_embedded(each)) for each in below)


def _found(value: Json, schema: Schema, path: str) -> Iterator[tuple[str, JsonObject]]:
    """The embedded objects in a value, and where they are; outer ones first."""
    if type(value) is dict:
        if schema.get(EMBEDDED):
            yield path, value
        properties, additional = schema.get("properties", {}), schema.get("additionalProperties")
        for name in sorted(value):
            if name in properties:
                yield from _found(value[name], properties[name], f"{path}.{name}" if path else name)
            elif isinstance(additional, dict):
                yield from _found(value[name], additional, f"{path}[{name}]")
    elif type(value) is list and isinstance(schema.get("items"), dict):
        for index, each in enumerate(value):
            yield from _found(each, schema["items"], f"{path}[{index}]")


def embedded_problem(value: Json, schema: Schema) -> str | None:
    """Why an embedded object cannot be decoded."""
    for path, obj in _found(value, schema, ""):
        for name in ("apiVersion", "kind"):
            if name in obj and not isinstance(obj[name], str):
                return str(invalid(f"{path}.{name}", obj[name], "must be a string"))
        problem = metadata_problem(obj.get("metadata"), "")
        if problem is not None:
            return str(invalid(f"{path}.metadata", obj["metadata"], problem))
    return None


def embedded_unknown(value: Json, schema: Schema) -> list[str]:
    """Drop unknown metadata of embedded objects, in place. Returns the paths of what was dropped."""
    unknown: list[str] = []
    for path, obj in _found(value, schema, ""):
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            unknown.extend(f"{path}.metadata{below}" for below in (_prune(metadata) if _prune else None) or ())
            obj["metadata"] = without_empty(metadata)
    return sorted(unknown)


def embedded_causes(value: Json, schema: Schema, path: str = "") -> Iterator[Cause]:
    """What is wrong with embedded objects."""
    for place, obj in _found(value, schema, path):
        yield from (required(f"{place}.{name}") for name in ("apiVersion", "kind") if name not in obj)
        if "apiVersion" in obj:
            yield from _version(obj["apiVersion"], f"{place}.apiVersion")
        if "kind" in obj:
            yield from _kind(obj["kind"], f"{place}.kind")
        metadata = obj.get("metadata")
        if isinstance(metadata, dict):
            named = {"metadata": {**metadata, "name": name if (name := name_of(obj)) else "fakename"}}
            namespaced = bool(metadata.get("namespace"))
            for cause in validate_metadata(named, None, namespaced, path_segment_problems):
                yield Cause(cause.reason, f"{place}.{cause.field}", cause.message)


def _version(value: Json, path: str) -> Iterator[Cause]:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif value.count("/") > 1:
        yield invalid(path, value, f"unexpected GroupVersion string: {value}")


def _kind(value: Json, path: str) -> Iterator[Cause]:
    if not isinstance(value, str):
        yield invalid(path, value, "must be a string")
    elif not value:
        yield invalid(path, value, "must not be empty")
    elif problems := dns_1035_label_problems(value.lower()):
        detail = "may have mixed case, but should otherwise match: " + ",".join(problems)
        yield invalid(path, value, detail)
