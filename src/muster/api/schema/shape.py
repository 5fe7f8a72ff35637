"""Pruning, null dropping and defaulting as one closure per schema node. Works in place.

A shape returns the paths of the unknown fields below it (".bogus", "[0].bogus"), or None: the common case allocates
nothing. A node that has nothing to do compiles to None and is never called.
"""

from __future__ import annotations

from copy import deepcopy
from typing import TYPE_CHECKING, Final

from muster.api.schema.object_meta import OBJECT_META
from muster.values.json import Json, JsonMapping

if TYPE_CHECKING:
    from collections.abc import Callable

    Shape = Callable[[Json], list[str] | None]


def compile_shape(schema: JsonMapping, *, prune: bool, fill: bool, zero: bool = False) -> Shape | None:
    """The shape of one node. `prune` removes unknown fields, `fill` drops nulls and fills defaults.

    With `zero` null items of lists become zero values, as a Go server decodes its own structs and every metadata.
    """
    if "properties" in schema or "additionalProperties" in schema or schema.get("type") == "object":
        return _object(schema, prune=prune, fill=fill, zero=zero)
    if "items" in schema:
        # Where unknown fields of a list are kept, its items keep theirs; what is below these does not.
        items = schema["items"] | {KEEPS: True} if schema.get(KEEPS) else schema["items"]
        return _array(items, prune=prune, fill=fill, zero=zero)
    return None


KEEPS: Final = "x-kubernetes-preserve-unknown-fields"
EMBEDDED: Final = "x-kubernetes-embedded-resource"
TYPE_AND_META: Final = frozenset({"apiVersion", "kind", "metadata"})
_ZEROS: Final[JsonMapping] = {"object": {}, "array": [], "string": "", "integer": 0, "boolean": False}


def _object(schema: JsonMapping, *, prune: bool, fill: bool, zero: bool) -> Shape | None:
    properties: JsonMapping = schema.get("properties", {})
    additional = schema.get("additionalProperties")
    keeps_unknown = bool(schema.get(KEEPS)) or additional is not None
    # Objects within objects have metadata of their own, which is nobody's to declare; see `embedded`.
    implied = TYPE_AND_META if schema.get(EMBEDDED) else frozenset()
    known = implied.union(properties)
    nested = {
        name: shape
        for name, child in properties.items()
        if (
            shape := compile_shape(
                child, prune=prune and name not in implied, fill=fill, zero=zero or child is OBJECT_META
            )
        )
        is not None
    }
    every: Shape | None = None
    if isinstance(additional, dict):
        every = compile_shape(additional, prune=prune, fill=fill, zero=zero)
    elif additional is not None and prune and not schema.get(KEEPS):
        every = _emptied  # nothing is said of what the values contain
    defaults = [(name, child["default"]) for name, child in properties.items() if fill and "default" in child]
    drops_nulls = frozenset(name for name, child in properties.items() if fill and not child.get("nullable"))
    drops_every_null = fill and isinstance(additional, dict) and not additional.get("nullable")
    removes = prune and not keeps_unknown
    if not (nested or every or defaults or drops_nulls or drops_every_null or removes):
        return None

    def shape_object(value: Json) -> list[str] | None:
        if type(value) is not dict:
            return None
        unknown: list[str] | None = None
        if removes and not known.issuperset(value):
            extra = [name for name in value if name not in known]
            unknown = [f".{name}" for name in extra]
            for name in extra:
                del value[name]
        if fill and None in value.values():
            for name in [name for name, each in value.items() if each is None]:
                if name in drops_nulls or (drops_every_null and name not in known):
                    del value[name]
        for name, default in defaults:
            if name not in value:
                value[name] = deepcopy(default) if isinstance(default, dict | list) else default
        if nested:
            # Whichever is shorter decides what is iterated; objects are mostly sparse.
            for name in value:
                child = nested.get(name)
                if child is not None and (below := child(value[name])):
                    unknown = unknown or []
                    unknown.extend(f".{name}{path}" for path in below)
        if every is not None:
            for name, each in value.items():
                if name not in known and (below := every(each)):
                    unknown = unknown or []
                    unknown.extend(f".{name}{path}" for path in below)
        return unknown

    return shape_object


def _emptied(value: Json) -> list[str] | None:
    """Take everything out of the objects in a value of which nothing is known."""
    if type(value) is dict:
        unknown = [f".{name}" for name in value]
        value.clear()
        return unknown or None
    if type(value) is list:
        return [f"[{index}]{path}" for index, each in enumerate(value) for path in _emptied(each) or ()] or None
    return None


def _array(items: JsonMapping, *, prune: bool, fill: bool, zero: bool) -> Shape | None:
    shape = compile_shape(items, prune=prune, fill=fill, zero=zero)
    default = items.get("default") if fill and not items.get("nullable") else None
    if default is None and zero and fill:
        default = _ZEROS.get(items.get("type", ""))
    if shape is None and default is None:
        return None

    def shape_array(value: Json) -> list[str] | None:
        if type(value) is not list:
            return None
        unknown: list[str] | None = None
        for index, each in enumerate(value):
            if each is None and default is not None:
                each = value[index] = deepcopy(default)
            if shape is not None and (below := shape(each)):
                unknown = unknown or []
                unknown.extend(f"[{index}]{path}" for path in below)
        return unknown

    return shape_array
