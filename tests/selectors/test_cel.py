"""A cluster as OCM's expressions see it, through Go types that drop what is empty."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel.libraries.ocm_sizes import STATIC_COST_LIMIT
from muster.selectors.cel import CelLimits, cel_compiler, typed_view
from muster.selectors.paths import GONE_WHEN_EMPTY
from tests.builders import a_cluster


@pytest.mark.parametrize(
    ("part", "name", "empty"),
    [
        ("metadata", "labels", {}),
        ("metadata", "annotations", {}),
        ("metadata", "finalizers", []),
        ("spec", "taints", []),
        ("spec", "managedClusterClientConfigs", []),
        ("spec", "leaseDurationSeconds", 0),
        ("status", "clusterClaims", []),
        ("status", "capacity", {}),
        ("status", "allocatable", {}),
    ],
)
def test_what_go_drops_when_it_is_empty_is_not_there(part: str, name: str, empty: Any) -> None:
    cluster = a_cluster("a", {"x": "y"}, {"c": "d"})
    cluster[part][name] = empty
    assert name not in typed_view(cluster)[part]
    assert (part, name) in GONE_WHEN_EMPTY  # or a column would take it for one that is there
    (has,) = cel_compiler()([f"has(managedCluster.{part}.{name})"])
    assert has.match(cluster).reason.endswith("is false")


def test_an_expression_over_claims_that_are_an_empty_list_fails_as_without_them() -> None:
    (every,) = cel_compiler()(["managedCluster.status.clusterClaims.all(c, c.name != 'x')"])
    assert "no such key: clusterClaims" in every.match(a_cluster("a")).reason


def test_empty_texts_inside_are_dropped_as_well() -> None:
    cluster = a_cluster("a", taints=[{"key": "k", "value": "", "effect": "NoSelect"}], version={"kubernetes": ""})
    view = typed_view(cluster)
    assert view["spec"]["taints"] == [{"key": "k", "effect": "NoSelect"}]
    assert view["status"]["version"] == {}
    assert ("status", "version", "kubernetes") in GONE_WHEN_EMPTY


def test_a_cluster_that_has_everything_is_used_as_it_is() -> None:
    taints = [{"key": "k", "value": "v", "effect": "NoSelect"}]
    full = a_cluster("a", {"x": "y"}, {"c": "d"}, taints, conditions=[], version={"kubernetes": "v1.30.0"})
    assert typed_view(full) is full


def test_the_usual_limit_of_estimates_is_that_of_the_language() -> None:
    assert CelLimits().estimate == STATIC_COST_LIMIT
