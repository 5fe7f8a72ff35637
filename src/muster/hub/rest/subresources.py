"""Subresources that another kind answers, such as placements/explain, as discovery and OpenAPI show them.

Whoever answers a subresource describes it; `application` gathers the descriptions.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec

from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class SubresourceDescription:
    """Its name, the kind it answers with, the verbs it takes, and its schemas by name. A create takes the object."""

    name: str
    group: str
    version: str
    kind: str
    verbs: tuple[str, ...]
    schemas: Mapping[str, Schema] = field(default_factory=dict)
    parameters: tuple[Schema, ...] = ()
    prefix: str = ""  # of the names of its schemas, where it is not that of the group

    @property
    def schema(self) -> str:
        """The name of the answer's schema."""
        return (self.prefix or schema_prefix(self.group, self.version)) + self.kind


# By the key of the resource they belong to.
Descriptions = dict[str, list[SubresourceDescription]]


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


_AUTOSCALING: Final = "io.k8s.api.autoscaling.v1."
_COUNT: Final = {"type": "integer", "format": "int32"}
_SCHEMA: Final[JsonObject] = {
    "type": "object",
    "description": "How many replicas an object has and wants.",
    "properties": {
        "apiVersion": {"type": "string", "description": "autoscaling/v1."},
        "kind": {"type": "string", "description": "Scale."},
        "metadata": {
            "description": "Of the object that is scaled.",
            "default": {},
            "allOf": [{"$ref": "#/components/schemas/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"}],
        },
        "spec": {"type": "object", "properties": {"replicas": {**_COUNT, "description": "The wanted number."}}},
        "status": {
            "type": "object",
            "properties": {
                "replicas": {**_COUNT, "description": "The present number."},
                "selector": {"type": "string", "description": "What is counted, as a label selector."},
            },
        },
    },
    "x-kubernetes-group-version-kind": [{"group": "autoscaling", "version": "v1", "kind": "Scale"}],
}
SCALE: Final = SubresourceDescription(
    "scale",
    "autoscaling",
    "v1",
    "Scale",
    ("get", "patch", "update"),
    {f"{_AUTOSCALING}Scale": _SCHEMA},
    prefix=_AUTOSCALING,
)
