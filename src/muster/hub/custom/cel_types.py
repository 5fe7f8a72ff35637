"""Schemas as CEL sees them: a type for every node, with how large its values can get, as Kubernetes computes it.

The sizes bound what rules may cost: a string without maxLength is as long as a request, a list without maxItems has as
many items as fit into one. Objects whose types are not known are not visible to rules.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.cel.checking.types import (
    BOOL,
    BYTES,
    DOUBLE,
    DURATION,
    DYN,
    INT,
    STRING,
    TIMESTAMP,
    list_of,
    map_of,
    struct,
)
from muster.cel.costs.ranges import Range
from muster.values.json import Schema

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.operands import SizeHints, SizePath


MAX_REQUEST: Final = 3 * 1024 * 1024  # bytes, as Kubernetes counts; a constant of its costs, whatever our limit is
_STRING_SCHEMA: Final = {"type": "string"}
_META: Final = {"type": "object", "properties": {"name": _STRING_SCHEMA, "generateName": _STRING_SCHEMA}}
_RESERVED: Final = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for", "function", "if"),
        *("import", "let", "loop", "package", "namespace", "return", "var", "void", "while"),
    }
)
_ESCAPED: Final = re.compile(r"__|[-./]")
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPABLE: Final = re.compile(r"[A-Za-z_./-][A-Za-z0-9_./-]*", re.ASCII)
# Formats of strings with a type of their own: the type, the smallest size in JSON, the largest.
_FORMATS: Final[Mapping[str, tuple[Type, int, int]]] = {
    "duration": (DURATION, 3, 32),
    "date": (TIMESTAMP, 12, 12),
    "date-time": (TIMESTAMP, 21, 32),
}
_SCALARS: Final[Mapping[str, tuple[Type, int]]] = {"boolean": (BOOL, 4), "number": (DOUBLE, 1), "integer": (INT, 1)}


@dataclass(slots=True)
class Declared:
    """The type of a node: what CEL calls it, the most elements it has, and the least bytes it takes."""

    type: Type
    least_bytes: int
    most: int = 0
    fields: dict[str, Declared] = field(default_factory=dict)
    element: Declared | None = None
    key: Declared | None = None

    @property
    def is_object(self) -> bool:
        return self.element is None and self.type.name == "object"


def escaped(name: str) -> str | None:
    """A property as rules name it; None when they cannot."""
    if name in _RESERVED:
        return f"__{name}__"
    if not _ESCAPABLE.fullmatch(name):
        return None
    return _ESCAPED.sub(lambda found: _ESCAPES[found[0]], name)


def with_type_and_meta(schema: Schema) -> Schema:
    """An object of a kind always has apiVersion and kind, and rules may look at the names in its metadata."""
    properties = {
        **schema.get("properties", {}),
        "kind": _STRING_SCHEMA,
        "apiVersion": _STRING_SCHEMA,
        "metadata": _META,
    }
    return {**schema, "properties": properties}


def declared(schema: Schema, *, root: bool = False) -> Declared | None:
    """The type of a structural schema; None when rules cannot see such values. `root` for whole objects of a kind."""
    if schema.get("x-kubernetes-int-or-string"):
        return Declared(DYN, 1, _most_bytes(schema) if "maxLength" in schema else MAX_REQUEST - 2)
    if root:
        schema = with_type_and_meta(schema)
    match schema.get("type"):
        case "array":
            return _list(schema)
        case "object":
            return _map(schema) if isinstance(schema.get("additionalProperties"), dict) else _object(schema)
        case "string":
            return _string(schema)
        case str(name) if name in _SCALARS:
            return Declared(*_SCALARS[name])
        case _:
            return None


def _list(schema: Schema) -> Declared | None:
    items = schema.get("items")
    element = declared(items, root=is_embedded(items)) if isinstance(items, dict) else None
    if element is None:
        return None
    most = max(schema["maxItems"], 0) if "maxItems" in schema else (MAX_REQUEST - 2) // (element.least_bytes + 1)
    return Declared(list_of(element.type), 2, most, element=element)


def _map(schema: Schema) -> Declared | None:
    values = schema["additionalProperties"]
    element = declared(values, root=is_embedded(values))
    if element is None:
        return None
    most = max(schema["maxProperties"], 0) if "maxProperties" in schema else _most_pairs(element.least_bytes)
    return Declared(map_of(STRING, element.type), 2, most, element=element, key=Declared(STRING, 2))


def _most_pairs(least_bytes: int) -> int:
    return (MAX_REQUEST - 2) // (least_bytes + 6)


def _object(schema: Schema) -> Declared:
    demanded = set(schema.get("required", ()))
    fields: dict[str, Declared] = {}
    least = 2
    for name, child in schema.get("properties", {}).items():
        below = declared(child, root=is_embedded(child))
        if below is None:
            continue
        if (known := escaped(name)) is not None:
            fields[known] = below
        if name in demanded and "default" not in child:
            least += len(name.encode()) + below.least_bytes + 4
    return Declared(struct("object"), least, fields=fields)


def _string(schema: Schema) -> Declared:
    form = schema.get("format", "")
    if form in _FORMATS:
        return Declared(*_FORMATS[form])
    if form == "byte":
        return Declared(BYTES, 2, max(schema["maxLength"], 0) if "maxLength" in schema else MAX_REQUEST - 2)
    if "maxLength" in schema:
        most = _most_bytes(schema)
    elif schema.get("enum"):
        most = max(len(value.encode()) if isinstance(value, str) else 0 for value in schema["enum"])
    else:
        most = MAX_REQUEST - 2
    return Declared(STRING, 2, most)


def _most_bytes(schema: Schema) -> int:
    return max(int(schema["maxLength"]), 0) * 4  # a character has up to four bytes


def is_embedded(schema: Schema) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def named_types(root: Declared, name: str = "selfType") -> tuple[Type, dict[str, dict[str, Type]]]:
    """The type of a variable with every object type in it given a name, and the fields of these."""
    found: dict[str, dict[str, Type]] = {}

    def named(node: Declared, place: str) -> Type:
        if node.element is not None:
            below = named(node.element, f"{place}.@idx" if node.key is None else f"{place}.@elem")
            return list_of(below) if node.key is None else map_of(STRING, below)
        if not node.is_object:
            return node.type
        fields = found[place] = {}
        for field_name, child in node.fields.items():
            fields[field_name] = named(child, f"{place}.{field_name}")
            if field_name.startswith("__") and field_name[2:-2] in _RESERVED:
                fields[field_name[2:-2]] = fields[field_name]  # keywords are fields under their own name too
        return struct(place)

    return named(root, name), found


def sizes(root: Declared) -> SizeHints:
    """How large the values at a path below a variable can get."""

    def size(path: SizePath, _: Type) -> Range | None:
        node: Declared | None = root
        if not path:
            return None
        for step in path[1:]:
            if node is None:
                return None
            if step in ("@items", "@values"):
                node = node.element
            elif step == "@keys":
                node = node.key
            else:
                node = node.fields.get(step)
        return None if node is None else Range(0, node.most)

    return size


def most_of(least_bytes: int) -> int:
    """How often values of a size can be in one request."""
    return MAX_REQUEST // (least_bytes + 1)
