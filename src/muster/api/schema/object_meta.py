"""The shape of `metadata`, the same for every kind. Used to prune unknown metadata fields and by OpenAPI."""

from __future__ import annotations

from typing import Final

from muster.values.json import JsonObject

_STRING: Final = {"type": "string"}
_TIME: Final = {"type": "string", "format": "date-time", "nullable": True}

OBJECT_META: Final[JsonObject] = {
    "type": "object",
    "description": "Standard object metadata.",
    "properties": {
        "name": _STRING,
        "generateName": _STRING,
        "namespace": _STRING,
        "selfLink": _STRING,
        "uid": _STRING,
        "resourceVersion": _STRING,
        "generation": {"type": "integer", "format": "int64"},
        "creationTimestamp": _TIME,
        "deletionTimestamp": _TIME,
        "deletionGracePeriodSeconds": {"type": "integer", "format": "int64"},
        "labels": {"type": "object", "additionalProperties": _STRING},
        "annotations": {"type": "object", "additionalProperties": _STRING},
        "finalizers": {"type": "array", "items": _STRING, "x-kubernetes-list-type": "set"},
        "ownerReferences": {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["uid"],
            "items": {
                "type": "object",
                "required": ["apiVersion", "kind", "name", "uid"],
                "properties": {
                    "apiVersion": _STRING,
                    "kind": _STRING,
                    "name": _STRING,
                    "uid": _STRING,
                    "controller": {"type": "boolean"},
                    "blockOwnerDeletion": {"type": "boolean"},
                },
            },
        },
        "managedFields": {
            "type": "array",
            "x-kubernetes-list-type": "atomic",
            "items": {
                "type": "object",
                "properties": {
                    "manager": _STRING,
                    "operation": _STRING,
                    "apiVersion": _STRING,
                    "time": _TIME,
                    "fieldsType": _STRING,
                    "fieldsV1": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                    "subresource": _STRING,
                },
            },
        },
    },
}
