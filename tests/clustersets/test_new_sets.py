"""When a set begins to have members."""

from __future__ import annotations

from typing import Any

import pytest

from muster.clustersets.new_sets import denying, key_permissions, new_membership, take_in_permissions
from muster.selectors.membership import DEFAULT_KEY, SETS, ExclusiveMembership


def a_set(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"name": "apac"}, "spec": spec}


BY_LABELS = a_set(clusterSelector={"selectorType": "LabelSelector", "labelSelector": {}})
EXCLUSIVE = a_set(clusterSelector={"selectorType": "ExclusiveClusterSetLabel"})
BY_REGION = a_set(exclusiveKey="region")


@pytest.mark.parametrize(
    ("new", "old", "key"),
    [
        (BY_REGION, None, "region"),
        (EXCLUSIVE, None, DEFAULT_KEY),
        (BY_LABELS, None, None),
        (EXCLUSIVE, BY_LABELS, DEFAULT_KEY),
        (BY_LABELS, EXCLUSIVE, None),
        (EXCLUSIVE, a_set(exclusiveKey=DEFAULT_KEY), None),
        ({**BY_REGION, "status": {"x": 1}}, BY_REGION, None),
    ],
)
def test_a_set_begins_when_it_was_not_exclusive_by_this_key_before(new: Any, old: Any, key: str | None) -> None:
    before = None if old is None else SETS.partly(old)
    assert new_membership(SETS.partly(new), before) == (None if key is None else ExclusiveMembership(key, "apac"))


def test_the_default_key_is_everybody_s() -> None:
    assert key_permissions(ExclusiveMembership(DEFAULT_KEY, "apac")) == []
    assert [each.name for each in key_permissions(ExclusiveMembership("region", "apac"))] == ["region"]


def test_every_cluster_that_is_taken_in_needs_to_be_updatable() -> None:
    permissions = take_in_permissions(ExclusiveMembership("region", "apac"), ["mc1", "mc2"])
    assert [(each.verb, each.path, each.name) for each in permissions] == [
        ("update", "managedclusters", "mc1"),
        ("update", "managedclusters", "mc2"),
    ]


@pytest.mark.parametrize(
    ("key", "entry"),
    [
        ("kubernetes.io/os", "kubernetes.io/"),
        ("app.kubernetes.io/name", "kubernetes.io/"),
        ("team", "team"),
        ("teams", None),
        ("notkubernetes.io/os", None),
        ("kubernetes.io", None),
        ("example.com/kubernetes.io", None),
    ],
)
def test_a_denied_key_is_one_key_or_a_domain(key: str, entry: str | None) -> None:
    assert denying(key, ("kubernetes.io/", "team")) == entry
