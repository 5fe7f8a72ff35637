"""How values merge: a schema's view as maps, lists and scalars, each granular or atomic.

Compiled once per schema from OpenAPI and its x-kubernetes-* extensions; used by comparison, typed_merge and strategic.
It does not validate values: that is the schema's own business.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muster.hub.patches.field_sets import key_element, value_element
from muster.values.json import Json, JsonMapping
from muster.values.json_members import list_at, object_at

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class ScalarType:
    """A value without parts. `kind` is string, boolean or numeric; empty when anything goes."""

    kind: str = ""


@dataclass(frozen=True, slots=True)
class MapType:
    """An object: declared fields, and the type of every other key (None: there are no others).

    `skipped` keys are never owned by anybody. One that is `always` there, as structs of Go are, is nobody's as such.
    """

    fields: Mapping[str, Type] = field(default_factory=dict)
    element: Type | None = None
    atomic: bool = False
    skipped: frozenset[str] = frozenset()
    always: bool = False

    def type_of(self, key: str) -> Type | None:
        return self.fields.get(key, self.element)


@dataclass(frozen=True, slots=True)
class ListType:
    """A list: one value as a whole (atomic), or items found by their value or by their keys."""

    element: Type
    relation: str = "atomic"  # or set, or map
    keys: tuple[str, ...] = ()
    key_defaults: JsonMapping = field(default_factory=dict)

    def item_element(self, item: Json) -> str | None:
        """The path element of an item; None if it lacks every key."""
        if self.relation == "set":
            return value_element(item)
        if not isinstance(item, dict):
            return None
        keys = {name: item[name] for name in self.keys if name in item}
        if len(keys) < len(self.keys):
            keys = {**self.key_defaults, **keys}
        return key_element(keys) if keys else None


class AnyType:
    """Nothing is declared: maps are granular, lists atomic, as their values show."""


Type = ScalarType | MapType | ListType | AnyType

ALWAYS = "x-muster-always-present"  # said of parts of built-in kinds
ANY = AnyType()
SCALAR = ScalarType()
STRING = ScalarType("string")

_OPEN_MAP = MapType(element=ANY)
_ATOMIC_LIST = ListType(ANY)
_STRINGS = MapType(element=STRING)


def deduced(type_: Type, value: object) -> Type:
    """The type, or what the value suggests where nothing is declared."""
    if type_ is not ANY:
        return type_
    if isinstance(value, dict):
        return _OPEN_MAP
    if isinstance(value, list):
        return _ATOMIC_LIST
    return SCALAR


def compile_type(schema: JsonMapping) -> Type:
    """The merge type of an OpenAPI schema."""
    if schema.get("x-kubernetes-int-or-string"):
        return SCALAR
    match schema.get("type"):
        case "object":
            return _compile_map(schema)
        case "array":
            return _compile_list(schema)
        case "string":
            return STRING
        case "boolean":
            return ScalarType("boolean")
        case "integer" | "number":
            return ScalarType("numeric")
        case _:
            return ANY


def _compile_map(schema: JsonMapping) -> MapType:
    fields = {name: compile_type(below) for name, below in object_at(schema, "properties").items()}
    additional = schema.get("additionalProperties")
    element: Type | None = None
    if isinstance(additional, dict):
        element = compile_type(additional)
    elif additional is True or schema.get("x-kubernetes-preserve-unknown-fields"):
        element = ANY
    if schema.get("x-kubernetes-embedded-resource"):
        fields = {"apiVersion": STRING, "kind": STRING, "metadata": METADATA, **fields}
    atomic = schema.get("x-kubernetes-map-type") == "atomic"
    return MapType(fields, element, atomic=atomic, always=bool(schema.get(ALWAYS)))


def _compile_list(schema: JsonMapping) -> ListType:
    items = object_at(schema, "items")
    element = compile_type(items)
    relation = schema.get("x-kubernetes-list-type", "atomic")
    if relation != "map":
        return ListType(element, "set" if relation == "set" else "atomic")
    keys = tuple(list_at(schema, "x-kubernetes-list-map-keys"))
    properties = object_at(items, "properties")
    defaults = {name: properties[name]["default"] for name in keys if "default" in properties.get(name, {})}
    return ListType(element, "map", keys, defaults)


# Owned by the server, or the object's address: no manager ever owns them.
_UNOWNED_METADATA = frozenset(
    {
        "name",
        "namespace",
        "creationTimestamp",
        "selfLink",
        "uid",
        "clusterName",
        "generation",
        "managedFields",
        "resourceVersion",
    }
)

METADATA = MapType(
    {
        **dict.fromkeys((*sorted(_UNOWNED_METADATA - {"generation", "managedFields"}), "generateName"), STRING),
        "generation": ScalarType("numeric"),
        "managedFields": ListType(ANY),
        "deletionTimestamp": STRING,
        "deletionGracePeriodSeconds": ScalarType("numeric"),
        "labels": _STRINGS,
        "annotations": _STRINGS,
        "finalizers": ListType(STRING, "set"),
        "ownerReferences": ListType(
            MapType(
                {
                    **dict.fromkeys(("apiVersion", "kind", "name", "uid"), STRING),
                    "controller": ScalarType("boolean"),
                    "blockOwnerDeletion": ScalarType("boolean"),
                },
                atomic=True,
            ),
            "map",
            ("uid",),
        ),
    },
    skipped=_UNOWNED_METADATA,
)


def object_type(schema: JsonMapping) -> MapType:
    """The type of whole objects of a kind: its schema, with the fields every object has."""
    compiled = compile_type({"type": "object", **schema})
    assert isinstance(compiled, MapType)  # noqa: S101 - the schema of a kind is an object, for mypy
    fields = {**compiled.fields, "apiVersion": STRING, "kind": STRING, "metadata": METADATA}
    return MapType(fields, compiled.element, skipped=frozenset({"apiVersion", "kind"}))
