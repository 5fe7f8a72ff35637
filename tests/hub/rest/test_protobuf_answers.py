"""Answers in protobuf: read back by the same field numbers, they say what the JSON said."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.hub.requests import WatchEvent
from muster.hub.rest.protobuf import decode, open_envelope
from muster.hub.rest.protobuf_answers import encoded, encoded_list, frame
from muster.hub.rest.protobuf_kinds import KINDS
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from pathlib import Path

PROTOBUF = {"Accept": "application/vnd.kubernetes.protobuf"}
METADATA: dict[str, Any] = {
    "name": "n",
    "namespace": "apps",
    "uid": "u",
    "resourceVersion": "7",
    "creationTimestamp": "2026-01-02T03:04:05Z",
    "labels": {"a": "b", "c": "ü"},
    "finalizers": ["x/y"],
    "managedFields": [
        {
            "manager": "m",
            "operation": "Update",
            "apiVersion": "v1",
            "time": "2026-01-02T03:04:05Z",
            "fieldsType": "FieldsV1",
            "fieldsV1": {"f:data": {}},
        }
    ],
}
OBJECTS: list[dict[str, Any]] = [
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}, "binaryData": {"x": "AAE="}, "immutable": False},
    {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "data": {"p": "c2VjcmV0"}},
    {
        "apiVersion": "events.k8s.io/v1",
        "kind": "Event",
        "eventTime": "2026-11-01T10:00:00.123456Z",
        "note": "n",
        "series": {"count": 2, "lastObservedTime": "2026-11-01T10:00:00.000001Z"},
    },
    {
        "apiVersion": "certificates.k8s.io/v1",
        "kind": "CertificateSigningRequest",
        "spec": {"request": "AA==", "usages": ["client auth"], "extra": {"a": ["b", "c"]}, "expirationSeconds": 600},
        "status": {"conditions": [{"type": "Approved", "status": "True", "lastUpdateTime": "2026-01-02T03:04:05Z"}]},
    },
    {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "spec": {
            "versions": [
                {
                    "name": "v1",
                    "schema": {
                        "openAPIV3Schema": {
                            "properties": {
                                "a": {"additionalProperties": {"type": "string"}, "maximum": 1.5, "minimum": -2},
                                "b": {
                                    "additionalProperties": False,
                                    "additionalItems": True,
                                    "items": {"type": "string", "default": "x"},
                                },
                                "c": {"items": [{"type": "string"}, {"enum": ["a", 1, None]}]},
                                "d": {"dependencies": {"a": ["b", "c"], "b": {"type": "string"}}},
                            }
                        }
                    },
                }
            ]
        },
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "rules": [{"verbs": ["get"], "apiGroups": [""], "resources": ["pods"]}],
    },
]


def read(content: bytes) -> dict[str, Any]:
    envelope = open_envelope(content)
    group = envelope.api_version.rpartition("/")[0]
    fields = decode(envelope.raw, KINDS[group, envelope.kind])
    return {"apiVersion": envelope.api_version, "kind": envelope.kind, **fields}


@pytest.mark.parametrize("obj", OBJECTS, ids=lambda obj: obj["kind"])
def test_an_object_comes_back_as_it_was(obj: dict[str, Any]) -> None:
    whole = {**obj, "metadata": METADATA}
    assert read(encoded(msgspec.json.encode(whole))) == whole


@pytest.mark.parametrize(
    ("written", "read_back"),
    [
        ("2026-11-01T10:00:00.123456+01:00", "2026-11-01T09:00:00.123456Z"),
        ("2026-11-01T10:00:00,123456Z", "2026-11-01T10:00:00.123456Z"),
        ("2026-12-31T23:59:60.000000Z", "2027-01-01T00:00:00.000000Z"),
        ("2026-11-02T00:00:00.000000+24:00", "2026-11-01T00:00:00.000000Z"),
        ("0000-01-01T00:00:00.000000Z", "0001-01-01T00:00:00.000000Z"),
    ],
)
def test_every_time_that_may_be_stored_has_a_moment(written: str, read_back: str) -> None:
    """One lease that could not be sent would be the end of every list and watch that it is in."""
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": {"renewTime": written}}
    assert read(encoded(msgspec.json.encode(lease)))["spec"] == {"renewTime": read_back}


def test_a_list_carries_its_revision_and_its_items() -> None:
    items = [{"metadata": {"name": name}, "data": {"k": name}} for name in ("a", "b")]
    head = {"apiVersion": "v1", "kind": "ConfigMapList", "metadata": {"resourceVersion": "9", "continue": "more"}}
    envelope = open_envelope(encoded_list(head, [msgspec.json.encode(item) for item in items]))
    assert (envelope.api_version, envelope.kind) == ("v1", "ConfigMapList")
    assert b"\x12\x019" in envelope.raw
    assert envelope.raw.count(b"\x0a\x01k") == 2


def test_a_frame_of_a_watch_says_its_length() -> None:
    obj = msgspec.json.encode({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}})
    content = frame(WatchEvent("ADDED", obj, 7))
    assert int.from_bytes(content[:4], "big") == len(content) - 4
    assert content[4:11] == b"\x0a\x05ADDED"


def test_who_accepts_only_protobuf_gets_it(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        code, headers, body = hub.request("GET", "/api/v1/namespaces/default", headers=PROTOBUF)
        assert (code, headers["content-type"], read(body)["metadata"]["name"]) == (
            200,
            "application/vnd.kubernetes.protobuf",
            "default",
        )
        code, headers, body = hub.request("GET", "/api/v1/namespaces", headers=PROTOBUF)
        assert (code, open_envelope(body).kind) == (200, "NamespaceList")
        code, headers, body = hub.request("GET", "/api/v1/namespaces/nope", headers=PROTOBUF)
        assert (code, headers["content-type"], open_envelope(body).kind) == (
            404,
            "application/vnd.kubernetes.protobuf",
            "Status",
        )
        path = "/api/v1/namespaces?watch=true&timeoutSeconds=1&resourceVersion=0"
        code, headers, body = hub.request("GET", path, headers=PROTOBUF)
        assert (code, headers["content-type"]) == (200, "application/vnd.kubernetes.protobuf;stream=watch")
        assert body[4:11] == b"\x0a\x05ADDED"


def test_kinds_without_field_numbers_are_still_refused_in_protobuf(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        path = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
        code, _, body = hub.request("GET", path, headers=PROTOBUF)
        assert (code, open_envelope(body).kind) == (406, "Status")


def test_who_accepts_json_as_well_gets_json(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        accept = {"Accept": "application/vnd.kubernetes.protobuf,application/json"}
        _, headers, body = hub.request("GET", "/api/v1/namespaces/default", headers=accept)
        assert (headers["content-type"], json.loads(body)["kind"]) == ("application/json", "Namespace")
