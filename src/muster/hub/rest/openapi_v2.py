"""OpenAPI 2 in its protobuf form, for kubectl up to 1.26: it explains, validates and diffs by this document only.

Made by `openapi` from the same schemas as the OpenAPI 3 documents. It holds what those clients look for: the
definitions, and on each PATCH the parameters and the kind, by which they see that dry runs work. The field numbers are
those of gnostic's `openapi.v2.Document`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from muster.hub.rest.protobuf import length_delimited, varint_field

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Schema = dict[str, Any]

_V3_PREFIX = "#/components/schemas/"
_V2_PREFIX = "#/definitions/"
_EXTENSIONS = (
    "x-kubernetes-group-version-kind",
    "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type",
    "x-kubernetes-patch-merge-key",
    "x-kubernetes-patch-strategy",
    "x-kubernetes-preserve-unknown-fields",
)
_KIND = "x-kubernetes-group-version-kind"


def document(title: str, version: str, paths: Mapping[str, Any], schemas: Mapping[str, Any]) -> bytes:
    """The document of all paths and schemas, which are given in the form of OpenAPI 3."""
    info = _text(1, title) + _text(2, version)
    patches = b"".join(_path(path, item["patch"]) for path, item in paths.items() if "patch" in item)
    definitions = b"".join(_named(1, name, _schema(schema)) for name, schema in schemas.items())
    return b"".join(
        (
            _text(1, "2.0"),
            length_delimited(2, info),
            length_delimited(8, patches),
            length_delimited(9, definitions),
        )
    )


def _text(number: int, text: str) -> bytes:
    return length_delimited(number, text.encode())


def _named(number: int, name: str, content: bytes) -> bytes:
    """An entry of one of gnostic's ordered maps: name and value."""
    return length_delimited(number, _text(1, name) + length_delimited(2, content))


def _extensions(number: int, node: Mapping[str, Any], names: Iterable[str]) -> bytes:
    """Vendor extensions; their values travel as YAML, and JSON is YAML."""
    return b"".join(
        _named(number, name, length_delimited(2, msgspec.json.encode(node[name]))) for name in names if name in node
    )


def _path(path: str, operation: Mapping[str, Any]) -> bytes:
    parameters = b"".join(
        length_delimited(8, length_delimited(1, length_delimited(2, length_delimited(3, _query(parameter)))))
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    )
    shown = _text(5, operation["operationId"]) + parameters + _extensions(13, operation, (_KIND,))
    return _named(2, path, length_delimited(8, shown))


def _query(parameter: Mapping[str, Any]) -> bytes:
    kind = parameter["schema"]["type"]
    return _text(2, "query") + _text(3, parameter["description"]) + _text(4, parameter["name"]) + _text(6, kind)


def _schema(schema: Mapping[str, Any]) -> bytes:
    description = _text(4, schema["description"]) if "description" in schema else b""
    reference = _reference(schema)
    if reference:
        return _text(1, _V2_PREFIX + reference.removeprefix(_V3_PREFIX)) + description
    kind = schema.get("type")
    if kind == "array" and "items" not in schema:
        kind = None
    encoded = [description]
    if "format" in schema:
        encoded.append(_text(2, schema["format"]))
    encoded += [_text(19, name) for name in schema.get("required", ())]
    more = schema.get("additionalProperties")
    if isinstance(more, dict):
        encoded.append(length_delimited(21, length_delimited(1, _schema(more))))
    elif more:
        encoded.append(length_delimited(21, varint_field(2, 1)))
    if isinstance(kind, str) and not schema.get("x-kubernetes-int-or-string"):
        encoded.append(length_delimited(22, _text(1, kind)))
    if kind == "array":
        encoded.append(length_delimited(23, length_delimited(1, _schema(schema["items"]))))
    if schema.get("properties"):
        properties = b"".join(_named(1, name, _schema(item)) for name, item in schema["properties"].items())
        encoded.append(length_delimited(25, properties))
    encoded.append(_extensions(31, schema, _EXTENSIONS))
    return b"".join(encoded)


def _reference(schema: Mapping[str, Any]) -> str:
    """What a schema refers to, directly or, with a description beside it, as its only part."""
    found = schema.get("$ref", "")
    parts = schema.get("allOf", ())
    if not found and len(parts) == 1:
        found = parts[0].get("$ref", "")
    return str(found)
