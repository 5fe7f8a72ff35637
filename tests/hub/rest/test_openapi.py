"""OpenAPI documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muster.api import RESOURCES
from muster.api.resource import Resource, Scale, Version
from muster.hub.rest.openapi import OpenApi

OPENAPI = OpenApi(RESOURCES.values())
NAMES = sorted(
    {
        f"apis/{kind.group}/{version.name}" if kind.group else f"api/{version.name}"
        for kind in RESOURCES.values()
        for version in kind.versions
        if version.served
    }
)


def content(name: str) -> Any:
    found = OPENAPI.find(name)
    assert found is not None
    return json.loads(found.body)


def references(node: Any) -> set[str]:
    if isinstance(node, dict):
        own = {node["$ref"]} if "$ref" in node else set()
        return own.union(*(references(item) for item in node.values()))
    if isinstance(node, list):
        return set().union(*(references(item) for item in node))
    return set()


def test_the_index_leads_to_every_document() -> None:
    index = json.loads(OPENAPI.index.body)["paths"]
    assert set(index) == {*NAMES, "api", "apis", "version"}
    for name, entry in index.items():
        found = OPENAPI.find(name)
        assert found is not None
        digest = found.etag.strip('"')
        assert entry == {"serverRelativeURL": f"/openapi/v3/{name}?hash={digest}"}


@pytest.mark.parametrize("name", NAMES)
def test_every_reference_leads_somewhere(name: str) -> None:
    document = content(name)
    known = {f"#/components/schemas/{schema}" for schema in document["components"]["schemas"]}
    assert references(document) - known == set()


@pytest.mark.parametrize("name", NAMES)
def test_every_operation_has_its_own_identity(name: str) -> None:
    identities = [
        operation["operationId"]
        for item in content(name)["paths"].values()
        for method, operation in item.items()
        if method != "parameters"
    ]
    assert len(identities) == len(set(identities))


def test_writes_tell_kubectl_of_field_validation_and_dry_runs() -> None:
    paths = content("apis/cluster.open-cluster-management.io/v1")["paths"]
    collection = paths["/apis/cluster.open-cluster-management.io/v1/managedclusters"]
    single = paths["/apis/cluster.open-cluster-management.io/v1/managedclusters/{name}"]
    for operation in (collection["post"], single["put"], single["patch"]):
        names = {parameter["name"] for parameter in operation["parameters"]}
        assert {"dryRun", "fieldManager", "fieldValidation"} <= names
        assert operation["x-kubernetes-group-version-kind"] == {
            "group": "cluster.open-cluster-management.io",
            "kind": "ManagedCluster",
            "version": "v1",
        }


def test_a_kind_is_found_by_group_version_and_kind() -> None:
    schemas = content("apis/cluster.open-cluster-management.io/v1")["components"]["schemas"]
    found = schemas["io.open-cluster-management.cluster.v1.ManagedCluster"]
    assert found["x-kubernetes-group-version-kind"] == [
        {"group": "cluster.open-cluster-management.io", "kind": "ManagedCluster", "version": "v1"}
    ]


def test_only_built_in_kinds_take_strategic_patches() -> None:
    strategic = "application/strategic-merge-patch+json"
    namespaces = content("api/v1")["paths"]["/api/v1/namespaces/{name}"]["patch"]
    clusters = content("apis/cluster.open-cluster-management.io/v1")["paths"]
    patch = clusters["/apis/cluster.open-cluster-management.io/v1/managedclusters/{name}"]["patch"]
    assert strategic in namespaces["requestBody"]["content"]
    assert strategic not in patch["requestBody"]["content"]


def test_a_part_that_another_kind_answers_is_not_taken_for_the_kind() -> None:
    """kubectl chooses the type of a patch by the first operation that names the kind."""
    widgets = Resource(
        group="example.com",
        kind="Widget",
        plural="widgets",
        singular="widget",
        list_kind="WidgetList",
        namespaced=True,
        custom=True,
        versions=(Version("v1", {"type": "object"}, (), scale=Scale(".spec.replicas", ".status.replicas")),),
    )
    found = OpenApi([widgets]).find("apis/example.com/v1")
    assert found is not None
    paths = json.loads(found.body)["paths"]
    scale = paths["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}/scale"]["patch"]
    named = scale["x-kubernetes-group-version-kind"]
    assert named == {"group": "autoscaling", "kind": "Scale", "version": "v1"}
