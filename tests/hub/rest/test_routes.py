"""Paths and what they name."""

from __future__ import annotations

import pytest

from muster.api import RESOURCES
from muster.hub.rest.routes import Routes

ROUTES = Routes(RESOURCES.values())
OCM = "/apis/cluster.open-cluster-management.io"


@pytest.mark.parametrize(
    ("path", "found"),
    [
        (f"{OCM}/v1/managedclusters", ("ManagedCluster", "v1", "", "", "", False)),
        (f"{OCM}/v1/managedclusters/", ("ManagedCluster", "v1", "", "", "", False)),
        (f"{OCM}/v1/managedclusters/c1", ("ManagedCluster", "v1", "", "c1", "", False)),
        (f"{OCM}/v1/managedclusters/c1/status", ("ManagedCluster", "v1", "", "c1", "status", False)),
        (f"{OCM}/v1/watch/managedclusters", ("ManagedCluster", "v1", "", "", "", True)),
        (f"{OCM}/v1/watch/managedclusters/c1", ("ManagedCluster", "v1", "", "c1", "", True)),
        (f"{OCM}/v1beta1/namespaces/n/placements/p", ("Placement", "v1beta1", "n", "p", "", False)),
        (f"{OCM}/v1beta1/placements", ("Placement", "v1beta1", "", "", "", False)),
        (f"{OCM}/v1beta1/watch/namespaces/n/placements", ("Placement", "v1beta1", "n", "", "", True)),
        ("/api/v1/namespaces", ("Namespace", "v1", "", "", "", False)),
        ("/api/v1/namespaces/n", ("Namespace", "v1", "", "n", "", False)),
        ("/api/v1/namespaces/n/status", ("Namespace", "v1", "", "n", "status", False)),
        ("/api/v1/namespaces/n/configmaps", ("ConfigMap", "v1", "n", "", "", False)),
        ("/api/v1/namespaces/status/configmaps/x", ("ConfigMap", "v1", "status", "x", "", False)),
    ],
)
def test_a_path_names_a_kind_and_an_object(path: str, found: tuple[str, str, str, str, str, bool]) -> None:
    route = ROUTES.find(path)
    assert route is not None
    shown = (route.resource.kind, route.version.name, route.namespace, route.name, route.subresource, route.watch)
    assert shown == found


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/api",
        "/api/v1",
        "/api/v2/namespaces",
        "/api/v1/pods",
        OCM,
        f"{OCM}/v1",
        f"{OCM}/v9/managedclusters",
        f"{OCM}/v1/foos",
        f"{OCM}/v1/namespaces/n/managedclusters",
        f"{OCM}/v1beta1/placements/p",
        f"{OCM}/v1/managedclusters//status",
        f"{OCM}/v1/managedclusters/c1/status/more",
        f"{OCM}/v1/watch",
        "//api/v1/namespaces",
        "",
    ],
)
def test_other_paths_name_nothing(path: str) -> None:
    assert ROUTES.find(path) is None
