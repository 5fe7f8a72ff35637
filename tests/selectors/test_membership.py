"""Which clusters are in which set."""

from __future__ import annotations

from typing import Any

import pytest

from muster.errors import InvalidObjectError
from muster.selectors.match import no, yes
from muster.selectors.membership import DEFAULT_KEY, SETS, membership, sets_of
from tests.builders import a_cluster, a_set

APAC = a_set("apac", exclusiveKey="region")
DEV = a_set("dev", clusterSelector={"selectorType": "ExclusiveClusterSetLabel"})


def members(cluster_set: dict[str, Any], clusters: list[dict[str, Any]]) -> list[str]:
    rule = membership(cluster_set)
    return [cluster["metadata"]["name"] for cluster in clusters if rule.match(cluster)]


def test_members_carry_the_exclusive_key_with_the_name_of_the_set() -> None:
    fleet = [
        a_cluster("a", {"region": "apac"}),
        a_cluster("b", {"region": "us"}),
        a_cluster("c", {DEFAULT_KEY: "apac"}),
    ]
    assert members(APAC, fleet) == ["a"]


def test_an_unset_key_means_the_default_one() -> None:
    assert SETS.demanded(DEV).spec.effective_key == DEFAULT_KEY
    assert members(DEV, [a_cluster("a", {DEFAULT_KEY: "dev"}), a_cluster("b")]) == ["a"]


def test_a_cluster_is_in_one_set_per_key_and_in_any_number_of_label_sets() -> None:
    cluster = a_cluster("a", {"region": "apac", DEFAULT_KEY: "dev", "gpu": "yes"})
    sets = [APAC, DEV, a_set("global"), a_set("gpu", {"gpu": "yes"}), a_set("us", exclusiveKey="region")]
    assert sets_of(cluster, sets) == ["apac", "dev", "global", "gpu"]


def test_membership_says_why() -> None:
    rule = membership(APAC)
    assert rule.match(a_cluster("a", {"region": "apac"})) == yes("label region names the set")
    assert rule.match(a_cluster("a")) == no("label region is missing; members of apac carry 'apac'")


def test_a_label_set_without_a_selector_has_no_members() -> None:
    assert members(a_set("x", clusterSelector={"selectorType": "LabelSelector"}), [a_cluster()]) == []


def test_a_set_that_cannot_be_evaluated_says_what_is_wrong() -> None:
    with pytest.raises(InvalidObjectError, match="selectorType is not right: Nope"):
        membership(a_set("x", clusterSelector={"selectorType": "Nope"}))
    with pytest.raises(InvalidObjectError, match="not exclusive"):
        membership(a_set("x", exclusiveKey="region", clusterSelector={"selectorType": "LabelSelector"}))
