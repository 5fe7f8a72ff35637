"""Discovery documents."""

from __future__ import annotations

import json
from typing import Any

import pytest

from muster.api import RESOURCES
from muster.hub.rest.discovery import Discovery, version_rank

DISCOVERY = Discovery(RESOURCES.values())
AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
BETA = "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList"


def document(path: str, accept: str = "") -> Any:
    found = DISCOVERY.find(path, accept, "127.0.0.1:1")
    assert found is not None
    return json.loads(found.body)


def test_versions_are_ordered_best_first() -> None:
    names = ["v1alpha1", "v1", "v1beta1", "v2alpha1", "v2", "v1beta2", "other"]
    assert sorted(names, key=version_rank) == ["v2", "v1", "v1beta2", "v1beta1", "v2alpha1", "v1alpha1", "other"]


def test_a_group_names_its_versions() -> None:
    assert document("/apis/clusters.openmcp.cloud") == {
        "kind": "APIGroup",
        "apiVersion": "v1",
        "name": "clusters.openmcp.cloud",
        "versions": [{"groupVersion": "clusters.openmcp.cloud/v1alpha1", "version": "v1alpha1"}],
        "preferredVersion": {"groupVersion": "clusters.openmcp.cloud/v1alpha1", "version": "v1alpha1"},
    }


def test_a_version_names_its_kinds_and_their_status() -> None:
    assert document("/apis/cluster.open-cluster-management.io/v1") == {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": "cluster.open-cluster-management.io/v1",
        "resources": [
            {
                "name": "managedclusters",
                "singularName": "managedcluster",
                "namespaced": False,
                "kind": "ManagedCluster",
                "verbs": ["delete", "deletecollection", "get", "list", "patch", "create", "update", "watch"],
                "shortNames": ["mcl", "mcls"],
                "storageVersionHash": "DuqQMgCnGgw=",
            },
            {
                "name": "managedclusters/status",
                "singularName": "",
                "namespaced": False,
                "kind": "ManagedCluster",
                "verbs": ["get", "patch", "update"],
            },
        ],
    }


@pytest.mark.parametrize("path", ["/api", "/api/"])
def test_the_core_group_tells_the_address_it_was_reached_at(path: str) -> None:
    assert document(path) == {
        "kind": "APIVersions",
        "versions": ["v1"],
        "serverAddressByClientCIDRs": [{"clientCIDR": "0.0.0.0/0", "serverAddress": "127.0.0.1:1"}],
    }


@pytest.mark.parametrize(
    ("accept", "kind", "version"),
    [
        (AGGREGATED, "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"),
        (f"{AGGREGATED},{BETA},application/json", "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2"),
        (BETA, "APIGroupDiscoveryList", "apidiscovery.k8s.io/v2beta1"),
        ("application/json", "APIGroupList", "v1"),
        (f"application/json,{AGGREGATED}", "APIGroupList", "v1"),
        ("", "APIGroupList", "v1"),
    ],
)
def test_the_accept_header_decides_on_the_form(accept: str, kind: str, version: str) -> None:
    found = document("/apis", accept)
    assert (found["kind"], found["apiVersion"]) == (kind, version)


def test_both_forms_tell_of_the_same_kinds() -> None:
    legacy = {
        (group["name"], version["version"], kind["name"])
        for group in document("/apis")["groups"]
        for version in group["versions"]
        for kind in document(f"/apis/{version['groupVersion']}")["resources"]
        if "/" not in kind["name"]
    }
    aggregated = {
        (group["metadata"]["name"], version["version"], kind["resource"])
        for group in document("/apis", AGGREGATED)["items"]
        for version in group["versions"]
        for kind in version["resources"]
    }
    assert legacy == aggregated
    assert ("cluster.open-cluster-management.io", "v1", "managedclusters") in legacy


def test_an_unknown_group_has_no_document() -> None:
    assert DISCOVERY.find("/apis/nope.example.com", "", "") is None


def test_the_aggregated_form_has_an_etag_that_stays_the_same() -> None:
    again = Discovery(RESOURCES.values()).find("/apis", AGGREGATED, "elsewhere")
    found = DISCOVERY.find("/apis", AGGREGATED, "here")
    assert found is not None
    assert again is not None
    assert found.etag == again.etag != ""
