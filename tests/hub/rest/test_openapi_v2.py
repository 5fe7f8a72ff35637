"""OpenAPI 2 in protobuf, read back with field tables of gnostic's messages."""

from __future__ import annotations

from muster.api import RESOURCES
from muster.hub.rest.openapi import OpenApi
from muster.hub.rest.openapi_v2 import document
from muster.hub.rest.protobuf import Field, Message, Scalar, decode

TEXT = Scalar.STRING
ANY = Message({2: Field("yaml", TEXT)})
EXTENSION = Message({1: Field("name", TEXT), 2: Field("value", ANY)})
SCHEMA = Message()
NAMED_SCHEMA = Message({1: Field("name", TEXT), 2: Field("value", SCHEMA, pointer=True)})
SCHEMA.update(
    {
        1: Field("$ref", TEXT),
        4: Field("description", TEXT),
        19: Field("required", TEXT, repeated=True),
        21: Field("additionalProperties", Message({1: Field("schema", SCHEMA), 2: Field("boolean", Scalar.BOOLEAN)})),
        22: Field("type", Message({1: Field("value", TEXT, repeated=True)})),
        23: Field("items", Message({1: Field("schema", SCHEMA, repeated=True)})),
        25: Field("properties", Message({1: Field("entries", NAMED_SCHEMA, repeated=True)})),
        31: Field("extensions", EXTENSION, repeated=True),
    }
)
QUERY = Message({2: Field("in", TEXT), 4: Field("name", TEXT), 6: Field("type", TEXT)})
PARAMETER = Message({1: Field("parameter", Message({2: Field("other", Message({3: Field("query", QUERY)}))}))})
OPERATION = Message(
    {8: Field("parameters", PARAMETER, repeated=True), 13: Field("extensions", EXTENSION, repeated=True)}
)
PATH = Message({1: Field("name", TEXT), 2: Field("value", Message({8: Field("patch", OPERATION)}))})
DOCUMENT = Message(
    {
        1: Field("swagger", TEXT),
        8: Field("paths", Message({2: Field("entries", PATH, repeated=True)})),
        9: Field("definitions", Message({1: Field("entries", NAMED_SCHEMA, repeated=True)})),
    }
)


def test_a_schema_keeps_what_old_clients_look_for() -> None:
    schema = {
        "type": "object",
        "description": "d",
        "required": ["a"],
        "properties": {
            "a": {"type": "array", "items": {"type": "string"}},
            "b": {"description": "r", "default": {}, "allOf": [{"$ref": "#/components/schemas/Other"}]},
            "c": {"type": "object", "additionalProperties": {"type": "string"}},
            "d": {"x-kubernetes-int-or-string": True, "type": "string"},
            "e": {"type": "array"},
        },
        "x-kubernetes-group-version-kind": [{"group": "g", "kind": "K", "version": "v1"}],
    }
    found = decode(document("t", "v", {}, {"K": schema}), DOCUMENT)
    text = {"type": {"value": ["string"]}}
    mapping = {"type": {"value": ["object"]}, "additionalProperties": {"schema": text}}
    assert found["definitions"]["entries"] == [
        {
            "name": "K",
            "value": {
                "description": "d",
                "required": ["a"],
                "type": {"value": ["object"]},
                "properties": {
                    "entries": [
                        {"name": "a", "value": {"type": {"value": ["array"]}, "items": {"schema": [text]}}},
                        {"name": "b", "value": {"$ref": "#/definitions/Other", "description": "r"}},
                        {"name": "c", "value": mapping},
                        {"name": "d", "value": {}},
                        {"name": "e", "value": {}},
                    ]
                },
                "extensions": [
                    {
                        "name": "x-kubernetes-group-version-kind",
                        "value": {"yaml": '[{"group":"g","kind":"K","version":"v1"}]'},
                    }
                ],
            },
        }
    ]


def test_every_writable_kind_says_that_it_knows_dry_runs() -> None:
    found = decode(OpenApi(RESOURCES.values()).v2.body, DOCUMENT)
    assert found["swagger"] == "2.0"
    paths = {entry["name"]: entry["value"]["patch"] for entry in found["paths"]["entries"]}
    writable = [kind for kind in RESOURCES.values() if "patch" in kind.verbs]
    assert len(paths) >= len(writable)
    for operation in paths.values():
        names = {parameter["parameter"]["other"]["query"]["name"] for parameter in operation["parameters"]}
        assert "dryRun" in names
        assert operation["extensions"][0]["name"] == "x-kubernetes-group-version-kind"
