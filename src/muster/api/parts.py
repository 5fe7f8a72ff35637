"""Pieces that the schemas of several kinds share: small constructors, conditions, selectors, references, columns.

Imported by the modules of single kinds only. Schemas are plain JSON-like dictionaries, as a CustomResourceDefinition
holds them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.api.resource import PrinterColumn
from muster.values.json import JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterable


QUALIFIED_NAME_PATTERN: Final = (
    r"^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?"
    r"(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$"
)
QUANTITY_PATTERN: Final = (
    r"^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))"
    r"(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$"
)


# ----------------------------------------------------------------------------------------------------------------------
# Schema constructors. Extra keywords go into the schema as they are.


def string(description: str = "", **extra: Any) -> Schema:
    return _described({"type": "string"}, description, extra)


def integer(description: str = "", form: str = "int32", **extra: Any) -> Schema:
    return _described({"type": "integer", "format": form}, description, extra)


def boolean(description: str = "", **extra: Any) -> Schema:
    return _described({"type": "boolean"}, description, extra)


def time(description: str = "", **extra: Any) -> Schema:
    return _described({"type": "string", "format": "date-time"}, description, extra)


def obj(
    description: str = "", required: tuple[str, ...] = (), properties: Schema | None = None, **extra: Any
) -> Schema:
    schema: Schema = {"type": "object"}
    if properties:
        schema["properties"] = properties
    if required:
        schema["required"] = list(required)
    return _described(schema, description, extra)


def array(items: Schema, description: str = "", **extra: Any) -> Schema:
    return _described({"type": "array", "items": items}, description, extra)


def map_list(items: Schema, keys: tuple[str, ...], description: str = "") -> Schema:
    """A list in which no two elements share their keys; server-side apply merges it by them."""
    return array(items, description) | {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": list(keys)}


def string_map(description: str = "") -> Schema:
    return _described({"type": "object", "additionalProperties": {"type": "string"}}, description, {})


def quantity(description: str = "") -> Schema:
    return _described(
        {
            "anyOf": [{"type": "integer"}, {"type": "string"}],
            "pattern": QUANTITY_PATTERN,
            "x-kubernetes-int-or-string": True,
        },
        description,
        {},
    )


def anything(description: str = "") -> Schema:
    """An object whose fields are not ours to know."""
    return _described({"type": "object", "x-kubernetes-preserve-unknown-fields": True}, description, {})


def immutable(schema: Schema, message: str) -> Schema:
    return schema | {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": message}]}


def kind(
    description: str, spec: Schema | None = None, status: Schema | None = None, *, needs_spec: bool = False
) -> Schema:
    """The schema of a whole object."""
    properties: Schema = {
        "apiVersion": string("The group and version this object is written in."),
        "kind": string("The kind of this object."),
        "metadata": {"type": "object"},
    }
    if spec is not None:
        properties["spec"] = spec
    if status is not None:
        properties["status"] = status
    return obj(description, ("spec",) if needs_spec else (), properties)


def _described(schema: Schema, description: str, extra: Schema) -> Schema:
    if description:
        schema["description"] = description
    return schema | extra


# ----------------------------------------------------------------------------------------------------------------------
# Conditions, selectors and references.

_CONDITION: Final = obj(
    "One aspect of the object's current state.",
    ("lastTransitionTime", "message", "reason", "status", "type"),
    {
        "type": string("What the condition is about, in CamelCase.", maxLength=316, pattern=QUALIFIED_NAME_PATTERN),
        "status": string("True, False or Unknown.", enum=["True", "False", "Unknown"]),
        "reason": string(
            "Why, for programs: one word in CamelCase.",
            maxLength=1024,
            minLength=1,
            pattern="^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$",
        ),
        "message": string("Why, for people. May be empty.", maxLength=32768),
        "lastTransitionTime": time("When the status last changed."),
        "observedGeneration": integer("The generation this condition was computed from.", "int64", minimum=0),
    },
)

CONDITIONS: Final = map_list(_CONDITION, ("type",), "Conditions of this object, one per type.")
ATOMIC_CONDITIONS: Final = array(_CONDITION, "Conditions of this object.")

LOOSE_CONDITIONS: Final = array(
    obj(
        "One aspect of the object's current state.",
        ("status", "type"),
        {
            "type": string("What the condition is about."),
            "status": string("True, False or Unknown."),
            "reason": string("Why, for programs."),
            "message": string("Why, for people."),
            "lastTransitionTime": time("When the status last changed."),
            "lastHeartbeatTime": time("When the condition was last checked."),
        },
    ),
    "Conditions of this object.",
)

_LABEL_REQUIREMENT: Final = obj(
    "A key, an operator, and the values it relates the key to.",
    ("key", "operator"),
    {
        "key": string("The key the requirement is about."),
        "operator": string("In, NotIn, Exists or DoesNotExist."),
        "values": array(string(), "Values for In and NotIn; none for Exists and DoesNotExist.")
        | {"x-kubernetes-list-type": "atomic"},
    },
)


def requirements(description: str) -> Schema:
    return array(_LABEL_REQUIREMENT, description)


def label_selector(description: str) -> Schema:
    return obj(
        description,
        properties={
            "matchLabels": string_map("Labels and the values they must have, all of them."),
            "matchExpressions": requirements("Requirements on labels, all of which must hold.")
            | {"x-kubernetes-list-type": "atomic"},
        },
    ) | {"x-kubernetes-map-type": "atomic"}


def reference(description: str) -> Schema:
    """Name and namespace of another object."""
    return obj(
        description,
        ("name", "namespace"),
        {"name": string("The object's name."), "namespace": string("The object's namespace.")},
    )


AGE: Final = PrinterColumn("Age", "date", ".metadata.creationTimestamp")


def condition_column(name: str, condition: str, field: str = "status", priority: int = 0) -> PrinterColumn:
    """A column that shows one field of one condition."""
    path = f'.status.conditions[?(@.type=="{condition}")].{field}'
    return PrinterColumn(name, "string", path, priority=priority)


# ----------------------------------------------------------------------------------------------------------------------
# Typed views shared by kinds. Field names are camel case in JSON; unknown fields are ignored when decoding.


class Part(msgspec.Struct, frozen=True, gc=False, omit_defaults=True, rename="camel"):
    """A leaf of a typed view: it refers to nothing that could refer back."""


class Node(Part, frozen=True):
    """A typed view that holds others. JSON has no circles, so that nobody has to look for them."""


class OwnerReference(Part, frozen=True):
    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool | None = None
    block_owner_deletion: bool | None = None


class Identity(Part, frozen=True):
    """Which object it is, in which state, and what keeps it: all that can be said of every kind without its labels."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: int = 0
    deletion_timestamp: str | None = None
    finalizers: tuple[str, ...] = ()
    owner_references: tuple[OwnerReference, ...] = ()

    @property
    def is_going(self) -> bool:
        """Whether it is being deleted."""
        return bool(self.deletion_timestamp)


class ObjectMeta(Identity, frozen=True):
    """What the core needs of `metadata`."""

    creation_timestamp: str | None = None
    labels: dict[str, str] = msgspec.field(default_factory=dict)
    annotations: dict[str, str] = msgspec.field(default_factory=dict)


class PartialObject(Node, frozen=True):
    """An object of any kind, of which only the identity is read."""

    metadata: Identity = Identity()


class FieldManager(Node, frozen=True):
    """A writer of an object, as `metadata.managedFields` has it: what it owns, and when it last changed that."""

    manager: str = ""
    operation: str = ""
    api_version: str = ""
    time: str = ""
    subresource: str = ""
    fields_v1: JsonObject = msgspec.field(default_factory=dict, name="fieldsV1")


class ManagedMeta(Node, frozen=True):
    managed_fields: tuple[FieldManager, ...] = ()


class ManagedObject(Node, frozen=True):
    """An object of any kind, of which only its writers are read."""

    metadata: ManagedMeta = ManagedMeta()


class Condition(Part, frozen=True):
    """One aspect of an object's state. The first four are written even when they are empty: schemas require them."""

    type: str = msgspec.field(default_factory=str)
    status: str = msgspec.field(default_factory=str)
    reason: str = msgspec.field(default_factory=str)
    message: str = msgspec.field(default_factory=str)
    last_transition_time: str | None = None
    last_heartbeat_time: str | None = None
    observed_generation: int = 0


def plain_conditions(conditions: Iterable[Condition]) -> list[JsonObject]:
    """As they are written."""
    found: list[JsonObject] = msgspec.to_builtins(list(conditions))
    return found


class LabelRequirement(Part, frozen=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Part, frozen=True):
    """The object form of a label selector; None where a spec has none at all."""

    match_labels: dict[str, str] = msgspec.field(default_factory=dict)
    match_expressions: tuple[LabelRequirement, ...] = ()
