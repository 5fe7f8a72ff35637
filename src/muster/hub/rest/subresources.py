"""Subresources that another kind answers, such as placements/explain, as discovery and OpenAPI show them.

Whoever answers a subresource describes it; `application` gathers the descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from collections.abc import Mapping

Schema = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Described:
    """Its name, the kind it answers with, the verbs it takes, and its schemas by name. A create takes the object."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    parameters: tuple[Schema, ...] = ()

    @property
    def schema(self) -> str:
        """The name of the answer's schema."""
        return schema_prefix(self.group, self.version) + self.kind


# By the key of the resource they belong to.
Descriptions = dict[str, list[Described]]


def schema_prefix(group: str, version: str) -> str:
    return ".".join([*reversed(group.split(".")), version, ""])


def schemas_of(answer: type[msgspec.Struct], group: str, version: str, kind: str) -> dict[str, Schema]:
    """The schemas of a typed answer and its parts, generated from the types."""
    prefix = schema_prefix(group, version)
    _, found = msgspec.json.schema_components([answer], ref_template=f"#/components/schemas/{prefix}{{name}}")
    root = found.pop(answer.__name__)
    shown = {f"{prefix}{name}": _on_one_line(schema) for name, schema in found.items()}
    identity = [{"group": group, "kind": kind, "version": version}]
    shown[f"{prefix}{kind}"] = _on_one_line(root) | {"x-kubernetes-group-version-kind": identity}
    return shown


def query_parameter(name: str, kind: str, description: str) -> Schema:
    schema = {"type": kind, "uniqueItems": True}
    return {"name": name, "in": "query", "description": description, "schema": schema}


def _on_one_line(schema: Schema) -> Schema:
    without_title = {key: value for key, value in schema.items() if key != "title"}
    return without_title | {"description": " ".join(schema.get("description", "").split())}
