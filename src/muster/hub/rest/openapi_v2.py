"""OpenAPI 2, in protobuf for kubectl up to 1.26, which explains, validates and diffs by this document only, and in JSON
for other clients of that age.

Made by `openapi` from the same schemas as the OpenAPI 3 documents. It holds what those clients look for: the
definitions, and on each PATCH the parameters and the kind, by which they see that dry runs work. The field numbers are
those of gnostic's `openapi.v2.Document`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.hub.rest.protobuf import length_delimited, varint_field
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable


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
_KEEPS = "x-kubernetes-preserve-unknown-fields"


def document(title: str, version: str, paths: JsonMapping, schemas: JsonMapping) -> bytes:
    """The document of all paths and schemas, which are given in the form of OpenAPI 3."""
    info = _text(1, title) + _text(2, version)
    patches = b"".join(_path(path, item["patch"]) for path, item in paths.items() if "patch" in item)
    definitions = b"".join(_named(1, name, _schema(_definition(schema))) for name, schema in schemas.items())
    return b"".join(
        (
            _text(1, "2.0"),
            length_delimited(2, info),
            length_delimited(8, patches),
            length_delimited(9, definitions),
        )
    )


def plain_document(title: str, version: str, paths: JsonMapping, schemas: JsonMapping) -> JsonObject:
    """The same document as a value: with every operation, because nothing here has to be encoded by hand."""
    return {
        "swagger": "2.0",
        "info": {"title": title, "version": version},
        "paths": {path: _plain_item(item) for path, item in paths.items()},
        "definitions": {name: _plain_schema(_definition(schema)) for name, schema in schemas.items()},
        "securityDefinitions": {
            "BearerToken": {"type": "apiKey", "name": "authorization", "in": "header", "description": "Bearer token."}
        },
        "security": [{"BearerToken": []}],
    }


def _plain_item(item: JsonMapping) -> JsonObject:
    shown = {name: _plain_operation(each) for name, each in item.items() if name != "parameters"}
    parameters = [_plain_parameter(each) for each in item.get("parameters", ())]
    return {**shown, "parameters": parameters} if parameters else shown


def _plain_operation(operation: JsonMapping) -> JsonObject:
    """OpenAPI 2 has one schema per answer, whatever its media type, and a body among the parameters."""
    responses: JsonMapping = operation["responses"]
    parameters = [_plain_parameter(each) for each in operation.get("parameters", ())]
    takes = operation.get("requestBody", {}).get("content", {})
    if takes:
        schema = _plain_schema(next(iter(takes.values()))["schema"])
        parameters.append({"name": "body", "in": "body", "required": True, "schema": schema})
    gives: JsonMapping = next((each.get("content", {}) for code, each in responses.items() if code.startswith("2")), {})
    shown = {name: value for name, value in operation.items() if name not in ("parameters", "requestBody", "responses")}
    return {
        **shown,
        **({"consumes": list(takes)} if takes else {}),
        "produces": list(gives),
        "parameters": parameters,
        "responses": {code: _plain_response(each) for code, each in responses.items()},
    }


def _plain_response(response: JsonMapping) -> JsonObject:
    content = response.get("content", {})
    shown = {"description": response.get("description", "")}
    return {**shown, "schema": _plain_schema(next(iter(content.values()))["schema"])} if content else shown


def _plain_parameter(parameter: JsonMapping) -> JsonObject:
    shown = {name: value for name, value in parameter.items() if name != "schema"}
    return {**shown, **_plain_schema(parameter["schema"])}


def _definition(schema: JsonMapping) -> JsonMapping:
    """A kind that keeps whatever it is given is an object and nothing else: old kubectls refuse what is not listed."""
    if _KEEPS in schema and _KIND in schema:
        return {"type": "object", _KIND: schema[_KIND]}
    return schema


def _told_apart(schema: JsonMapping) -> JsonMapping:
    """Without what makes old kubectls refuse a null, or fields that they do not find listed."""
    properties = schema.get("properties", {})
    nullable = [name for name, below in properties.items() if below.get("nullable")]
    if nullable and "required" in schema:
        schema = {**schema, "required": [name for name in schema["required"] if name not in nullable]}
    if not schema.get("nullable") and not schema.get(_KEEPS):
        return schema
    hidden = {"items", "properties"}
    if schema.get("nullable") or schema.get("type") in ("object", "array"):
        hidden.add("type")
    return {name: value for name, value in schema.items() if name not in hidden}


def _plain_schema(schema: JsonMapping) -> JsonObject:
    """A schema in the words of OpenAPI 2, which knows neither alternatives nor null."""
    schema = _told_apart(schema)
    reference = _reference(schema)
    if reference:
        described = {"description": schema["description"]} if "description" in schema else {}
        return {**described, "$ref": _V2_PREFIX + reference.removeprefix(_V3_PREFIX)}
    shown: JsonObject = {}
    for name, value in schema.items():
        match name:
            case "properties":
                shown[name] = {each: _plain_schema(below) for each, below in value.items()}
            case "items" | "additionalProperties" if isinstance(value, dict):
                shown[name] = _plain_schema(value)
            case "anyOf" | "oneOf" | "allOf" | "not" | "nullable" | "default":
                continue
            case _:
                shown[name] = value
    if schema.get("x-kubernetes-int-or-string"):
        shown.pop("type", None)
    return shown


def _text(number: int, text: str) -> bytes:
    return length_delimited(number, text.encode())


def _named(number: int, name: str, content: bytes) -> bytes:
    """An entry of one of gnostic's ordered maps: name and value."""
    return length_delimited(number, _text(1, name) + length_delimited(2, content))


def _extensions(number: int, node: JsonMapping, names: Iterable[str]) -> bytes:
    """Vendor extensions; their values travel as YAML, and JSON is YAML."""
    return b"".join(
        _named(number, name, length_delimited(2, msgspec.json.encode(node[name]))) for name in names if name in node
    )


def _path(path: str, operation: JsonMapping) -> bytes:
    parameters = b"".join(
        length_delimited(8, length_delimited(1, length_delimited(2, length_delimited(3, _query(parameter)))))
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    )
    shown = _text(5, operation["operationId"]) + parameters + _extensions(13, operation, (_KIND,))
    return _named(2, path, length_delimited(8, shown))


def _query(parameter: JsonMapping) -> bytes:
    kind = parameter["schema"]["type"]
    return _text(2, "query") + _text(3, parameter["description"]) + _text(4, parameter["name"]) + _text(6, kind)


def _schema(schema: JsonMapping) -> bytes:
    schema = _told_apart(schema)
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


def _reference(schema: JsonMapping) -> str:
    """What a schema refers to, directly or, with a description beside it, as its only part."""
    found = schema.get("$ref", "")
    parts = schema.get("allOf", ())
    if not found and len(parts) == 1:
        found = parts[0].get("$ref", "")
    return str(found)
