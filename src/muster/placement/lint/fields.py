"""Fields that a kind does not have and values that its schema refuses, for any kind there is. Needs no fleet."""

from __future__ import annotations

import re
from copy import deepcopy
from typing import TYPE_CHECKING, Final

from muster.api.registry import RESOURCES
from muster.api.schema.object_meta import OBJECT_META
from muster.placement.lint.findings import Finding, close_to, meant
from muster.values.json import JsonMapping

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.api.resource import Version
    from muster.values.causes import Cause

_STEP: Final = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def lint_fields(obj: JsonMapping) -> list[Finding]:
    """Unknown fields and refused values; nothing for kinds that are not served here."""
    version = _version(str(obj.get("apiVersion", "")), str(obj.get("kind", "")))
    if version is None:
        return []
    copy = deepcopy(dict(obj))
    unknown = [
        Finding("unknown-field", path, f"unknown field {path.rpartition('.')[2]!r}", _known_fields(version, path))
        for path in version.compiled.prepare(copy)
    ]
    return [*unknown, *map(_refused, version.compiled.validate(copy))]


def property_names(schema: JsonMapping) -> JsonMapping | None:
    """The fields that an object may have; None when it may have any."""
    if "additionalProperties" in schema or schema.get("x-kubernetes-preserve-unknown-fields"):
        return None
    properties: JsonMapping | None = schema.get("properties")
    return properties


def _version(api_version: str, kind: str) -> Version | None:
    group, _, name = api_version.rpartition("/")
    for resource in RESOURCES.values():
        if resource.kind == kind and resource.group == group:
            return resource.version(name)
    return None


def _known_fields(version: Version, path: str) -> str:
    """What the field may have meant: the fields that stand beside it, else the place where one of that name stands."""
    schema: JsonMapping = version.schema
    steps = list(_steps(path))
    for step in steps[:-1]:
        if isinstance(step, int):
            schema = schema.get("items", {})
        elif step == "metadata":
            schema = OBJECT_META
        else:
            schema = schema.get("properties", {}).get(step, {})
    beside = property_names(schema) or {}
    name = str(steps[-1])
    if close := close_to(name, list(beside)):
        return close
    elsewhere = _place_of(version.schema, name)
    return f"{name} belongs into {elsewhere}" if elsewhere else meant(name, list(beside))


def _place_of(schema: JsonMapping, name: str, path: str = "") -> str:
    """Where in the schema a field of that name stands, the outermost first."""
    waiting = [(path, schema)]
    while waiting:
        path, schema = waiting.pop(0)
        properties = schema.get("properties", {})
        if name in properties and path:
            return path
        waiting += [(f"{path}.{key}" if path else key, child) for key, child in properties.items() if key != "status"]
        if "items" in schema:
            waiting.append((f"{path}[]", schema["items"]))
    return ""


def _steps(path: str) -> Iterator[str | int]:
    for name, index in _STEP.findall(path):
        yield int(index) if index else name


def _refused(cause: Cause) -> Finding:
    hint = meant(cause.given, cause.supported) if cause.supported else ""
    return Finding("invalid-value", cause.field, cause.message, hint)
