"""About api/table.py and api/ages.py: what kubectl get shows."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from muster.api import RESOURCES
from muster.api.ages import age, human_duration
from muster.api.table import cells, column_definitions, partial_metadata, row, table
from muster.values.times import parse_time, time_text

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)
CREATED = "2026-01-01T11:58:30Z"


def shown(key: str, obj: dict[str, Any]) -> dict[str, Any]:
    """Cells by column name."""
    resource = RESOURCES[key]
    version = resource.versions[0]
    metadata = {"name": "a", "creationTimestamp": CREATED} | obj.pop("metadata", {})
    names = [column["name"] for column in column_definitions(resource, version)]
    return dict(zip(names, cells(resource, version, obj | {"metadata": metadata}, NOW), strict=True))


def test_a_managed_cluster_shows_its_first_url_and_its_conditions() -> None:
    obj: dict[str, Any] = {
        "spec": {"hubAcceptsClient": True, "managedClusterClientConfigs": [{"url": "https://a"}, {"url": "https://b"}]},
        "status": {"conditions": [{"type": "ManagedClusterConditionAvailable", "status": "True"}]},
    }
    assert shown("managedclusters.cluster.open-cluster-management.io", obj) == {
        "Name": "a",
        "Hub Accepted": True,
        "Managed Cluster URLs": "https://a",
        "Joined": None,
        "Available": "True",
        "Age": "90s",
    }


def test_a_cluster_shows_lists_as_json_and_escaped_labels() -> None:
    obj: dict[str, Any] = {
        "metadata": {"labels": {"clusters.openmcp.cloud/provider": "kind"}},
        "spec": {"purposes": ["mcp"], "profile": "p"},
    }
    assert shown("clusters.clusters.openmcp.cloud", obj) == {
        "Name": "a",
        "Purposes": '["mcp"]',
        "Phase": None,
        "Version": None,
        "Provider": "kind",
        "Profile": "p",
        "Info": None,
        "Age": "90s",
    }


@pytest.mark.parametrize(
    ("key", "obj", "expected"),
    [
        ("namespaces", {"status": {"phase": "Active"}}, {"Name": "a", "Status": "Active", "Age": "90s"}),
        ("configmaps", {"data": {"x": "y"}, "binaryData": {"z": ""}}, {"Name": "a", "Data": 2, "Age": "90s"}),
        ("secrets", {"data": {"x": "eQ=="}}, {"Name": "a", "Type": "Opaque", "Data": 1, "Age": "90s"}),
        ("serviceaccounts", {}, {"Name": "a", "Secrets": 0, "Age": "90s"}),
        ("leases.coordination.k8s.io", {"spec": {"holderIdentity": "me"}}, {"Name": "a", "Holder": "me", "Age": "90s"}),
        ("clusterroles.rbac.authorization.k8s.io", {}, {"Name": "a", "Created At": CREATED}),
        (
            "rolebindings.rbac.authorization.k8s.io",
            {
                "roleRef": {"kind": "Role", "name": "r"},
                "subjects": [
                    {"kind": "User", "name": "u"},
                    {"kind": "User", "name": "v"},
                    {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
                ],
            },
            {
                "Name": "a",
                "Role": "Role/r",
                "Age": "90s",
                "Users": "u, v",
                "Groups": "",
                "ServiceAccounts": "n/s",
            },
        ),
    ],
)
def test_built_in_kinds_have_the_columns_kubectl_users_know(
    key: str, obj: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert shown(key, obj) == expected


def test_an_event_shows_when_and_how_often_and_its_name_last() -> None:
    obj: dict[str, Any] = {
        "type": "Warning",
        "reason": "Failed",
        "message": " text\n",
        "count": 3,
        "firstTimestamp": "2026-01-01T10:00:00Z",
        "lastTimestamp": "2026-01-01T11:59:50Z",
        "involvedObject": {"kind": "Placement", "name": "p"},
        "source": {"component": "scheduler"},
    }
    assert shown("events", obj) == {
        "Last Seen": "10s",
        "Type": "Warning",
        "Reason": "Failed",
        "Object": "placement/p",
        "Subobject": "",
        "Source": "scheduler",
        "Message": "text",
        "First Seen": "120m",
        "Count": 3,
        "Name": "a",
    }


def test_every_kind_can_be_shown_even_when_it_is_empty() -> None:
    for resource in RESOURCES.values():
        for version in resource.versions:
            definitions = column_definitions(resource, version)
            assert len(cells(resource, version, {"metadata": {}}, NOW)) == len(definitions)
            assert all(definition["description"] for definition in definitions)


def test_a_row_carries_as_much_of_the_object_as_is_asked_for() -> None:
    resource = RESOURCES["namespaces"]
    version = resource.versions[0]
    obj = {"metadata": {"name": "a"}, "status": {"phase": "Active"}}
    assert row(resource, version, obj, NOW, "None")["object"] is None
    assert row(resource, version, obj, NOW, "Object")["object"] == obj
    assert row(resource, version, obj, NOW)["object"] == partial_metadata(obj)
    later = table(resource, version, [], {"resourceVersion": "5"}, header=False)
    assert later["columnDefinitions"] is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (-2, "<invalid>"),
        (-1, "0s"),
        (0, "0s"),
        (119, "119s"),
        (120, "2m"),
        (310, "5m10s"),
        (600, "10m"),
        (3 * 3600 - 1, "179m"),
        (3 * 3600, "3h"),
        (7 * 3600 + 60, "7h1m"),
        (47 * 3600, "47h"),
        (2 * 86400, "2d"),
        (6 * 86400 + 4 * 3600, "6d4h"),
        (8 * 86400, "8d"),
        (730 * 86400, "2y"),
        (830 * 86400, "2y100d"),
        (3000 * 86400, "8y"),
    ],
)
def test_ages_get_coarser_with_time(seconds: int, text: str) -> None:
    assert human_duration(timedelta(seconds=seconds)) == text


def test_what_is_no_time_has_no_age() -> None:
    assert age(None, NOW) == "<unknown>"
    assert age("soon", NOW) == "<invalid>"
    assert parse_time(time_text(NOW)) == NOW
