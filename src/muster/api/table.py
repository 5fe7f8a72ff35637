"""Objects as rows of a Table, the form in which kubectl asks for lists. Called by REST; knows no HTTP.

Columns come from the kind: JSONPaths for kinds that a CustomResourceDefinition describes, computed cells for built-in
kinds. Ages need the present, which is an argument.
"""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.ages import UNKNOWN, age
from muster.api.jsonpath import compile_path
from muster.api.resource import PrinterColumn
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.api.resource import Resource, Version


# The server's own words: clients show them in `kubectl get --help`-like output, and tests compare them.
_NAME_DESCRIPTION: Final = (
    "Name must be unique within a namespace. Is required when creating resources, although some resources may allow a "
    "client to request the generation of an appropriate name automatically. Name is primarily intended for creation "
    "idempotence and configuration definition. Cannot be updated. More info: "
    "https://kubernetes.io/docs/concepts/overview/working-with-objects/names#names"
)
CREATION_DESCRIPTION: Final = (
    "CreationTimestamp is a timestamp representing the server time when this object was created. It is not guaranteed "
    "to be set in happens-before order across separate operations. Clients may not set this value. It is represented "
    "in RFC3339 form and is in UTC.\n\nPopulated by the system. Read-only. Null for lists. More info: "
    "https://git.k8s.io/community/contributors/devel/sig-architecture/api-conventions.md#metadata"
)
# As Go's JSON package writes them.
_ESCAPED: Final = str.maketrans(
    {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
)
_NAME: Final = PrinterColumn(
    "Name",
    "string",
    description=_NAME_DESCRIPTION,
    format="name",
    cell=lambda obj, _: obj.get("metadata", {}).get("name", ""),
)


def column_definitions(resource: Resource, version: Version) -> list[JsonObject]:
    """The column definitions of a Table."""
    return [
        {
            "name": column.name,
            "type": column.type,
            "format": column.format,
            "description": column.description
            or f"Custom resource definition column (in JSONPath format): {column.path}",
            "priority": column.priority,
        }
        for column in _columns(resource, version)
    ]


def cells(resource: Resource, version: Version, obj: JsonObject, now: datetime) -> list[Json]:
    """The cells of one row."""
    return [_cell(column)(obj, now) for column in _columns(resource, version)]


def row(resource: Resource, version: Version, obj: JsonObject, now: datetime, include: str = "Metadata") -> JsonObject:
    """One row. `include` says what comes with the cells: None, Metadata or Object."""
    match include:
        case "None":
            shown: JsonObject | None = None
        case "Object":
            shown = obj
        case _:
            shown = partial_metadata(obj)
    return {"cells": cells(resource, version, obj, now), "object": shown}


def table(
    resource: Resource, version: Version, rows: list[JsonObject], metadata: JsonObject, *, header: bool = True
) -> JsonObject:
    """The whole Table. Later events of a watch leave out the header."""
    return {
        "kind": "Table",
        "apiVersion": "meta.k8s.io/v1",
        "metadata": metadata,
        "columnDefinitions": column_definitions(resource, version) if header else None,
        "rows": rows,
    }


def partial_metadata(obj: JsonObject) -> JsonObject:
    """An object reduced to its metadata."""
    return {"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": obj.get("metadata", {})}


def _columns(resource: Resource, version: Version) -> tuple[PrinterColumn, ...]:
    # Events have no name worth a first column; kubectl shows theirs only in wide output.
    named = any(column.format == "name" for column in version.columns)
    return version.columns if named and resource.builtin else (_NAME, *version.columns)


def _cell(column: PrinterColumn) -> Callable[[JsonObject, datetime], Json]:
    if column.cell is not None:
        return column.cell
    path = compile_path(column.path)
    match column.type:
        case "string":
            return lambda obj, _: _text(path.values(obj))
        case "date":
            return lambda obj, now: _age(path.first(obj), now)
        case "integer":
            return lambda obj, _: _integer(path.first(obj))
        case "number":
            return lambda obj, _: _number(path.first(obj))
        case _:
            return lambda obj, _: value if isinstance(value := path.first(obj), bool) else None


def _text(found: list[Json]) -> str | None:
    """The first of what was found: text as it is, numbers as Go prints them, everything else as JSON."""
    if not found:
        return None
    value = found[0]
    if isinstance(value, str):
        return value
    if value is None:
        return "<no value>"
    if isinstance(value, float):
        return _float_text(value)
    return msgspec.json.encode(value, order="sorted").decode().translate(_ESCAPED)


def _float_text(value: float) -> str:
    """The shortest digits; with an exponent below 0.0001 and from a million on."""
    number = Decimal(repr(value)).normalize()
    if number.is_zero() or -4 <= number.adjusted() < 6:
        return format(number, "f")
    sign, digits, _ = number.as_tuple()
    first, *rest = map(str, digits)
    fraction = f".{''.join(rest)}" if rest else ""
    return f"{'-' if sign else ''}{first}{fraction}e{number.adjusted():+03d}"


def _age(value: Json, now: datetime) -> str | None:
    if not isinstance(value, str):
        return None
    return age(value, now) if value else UNKNOWN


def _integer(value: Json) -> int | None:
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def _number(value: Json) -> float | None:
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None
