"""Rules that make claims: the built-in ones, those of users, and what becomes of those that cannot run."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from muster.importing.facts import ClusterFacts, NodeFacts, OpenShift, amounts
from muster.importing.found import cluster_name, fitting_labels
from muster.importing.rules import BUILT_IN, built_in, extended, merged

EXAMPLE = Path(__file__).parents[2] / "examples" / "08-your-fleet" / "rules.yaml"


def a_node(provider: str = "", arch: str = "amd64") -> NodeFacts:
    return NodeFacts(
        name="n", architecture=arch, provider_id=provider, capacity={"cpu": "4"}, kubelet_version="v1.33.0"
    )


@pytest.mark.parametrize(
    ("facts", "platform", "product"),
    [
        (ClusterFacts("v1.30.1-eks-1", nodes=(a_node("aws:///a/i"),)), "AWS", "EKS"),
        (ClusterFacts("v1.30.1-gke.100", nodes=(a_node("gce://p/z/n"),)), "GCP", "GKE"),
        (ClusterFacts("v1.30.1", nodes=(a_node("azure:///subscriptions/x"),)), "Azure", "AKS"),
        (
            ClusterFacts("v1.30.1", nodes=(a_node("aws:///a/i"),), openshift=OpenShift("4.17.1", "x")),
            "AWS",
            "OpenShift",
        ),
        (ClusterFacts("v1.30.1", nodes=(a_node("vsphere://x"),)), "VSphere", "Other"),
        (ClusterFacts("v1.30.1", nodes=(a_node("", "s390x"),)), "IBMZPlatform", "Other"),
        (ClusterFacts("v1.30.1", nodes=(a_node("kind://docker/kind/n"),)), "Other", "Other"),
        (ClusterFacts("v1.30.1", nodes=()), "Other", "Other"),
        (ClusterFacts("v1.30.1", nodes=None), None, None),
    ],
)
def test_platform_and_product_are_known_by_version_and_nodes(
    facts: ClusterFacts, platform: str | None, product: str | None
) -> None:
    found = built_in().claims(facts)
    assert found.faults == ()
    assert found.values.get("platform.open-cluster-management.io") == platform
    assert found.values.get("product.open-cluster-management.io") == product


def test_the_example_of_the_guide_runs() -> None:
    rules = extended(yaml.safe_load(EXAMPLE.read_text()))
    assert rules.faults == ()
    found = rules.claims(ClusterFacts("v1.33.1", nodes=(a_node(), a_node())))
    assert found.faults == ()
    assert found.values["nodes.example.com"] == "2"
    assert found.values["ready-nodes.example.com"] == "0"
    assert found.values["oldest-kubelet.example.com"] == "v1.33.0"
    assert rules.claims(ClusterFacts("v1.33.1")).faults == (), "nodes that may not be read break no rule"


@pytest.mark.parametrize(
    ("rule", "fault"),
    [
        ({"name": "a", "jq": "(("}, "claims[0] (a): "),
        ({"name": "", "jq": "1"}, "the claim's name is a text"),
        ({"name": "a" * 300, "jq": "1"}, "the claim's name is a text"),
        ({"name": "a", "jq": "1" * 20_000}, "the query is a text of at most"),
        ({"name": "a", "jq": "1", "cel": "x"}, "nothing else"),
        ("a", "nothing else"),
    ],
)
def test_a_rule_that_cannot_be_used_is_told_and_the_others_stay(rule: object, fault: str) -> None:
    rules = extended({"claims": [rule, {"name": "good", "jq": "1"}]})
    assert len(rules.faults) == 1
    assert fault in rules.faults[0]
    assert set(rules.programs) == {*BUILT_IN, "good"}


@pytest.mark.parametrize("document", [None, [], {}, {"claims": {}}, "claims", 3])
def test_what_is_no_document_of_rules_leaves_the_built_in_ones(document: object) -> None:
    rules = extended(document)
    assert (set(rules.programs), len(rules.faults)) == (set(BUILT_IN), 1)


@pytest.mark.parametrize(
    ("query", "value", "fault"),
    [
        ("1.5", "1.5", ""),
        ("true", "true", ""),
        ('["a", 2]', "a,2", ""),
        ("null", None, ""),
        ('""', None, ""),
        ("{}", None, "neither a text"),
        ('"x" * 2000', None, "more than 1024 bytes"),
        ('error("no")', None, "no"),
        ("[range(1e12)]", None, "budget"),
    ],
)
def test_a_claim_is_a_short_text(query: str, value: str | None, fault: str) -> None:
    found = extended({"claims": [{"name": "a", "jq": query}]}).claims(ClusterFacts("v1"))
    assert found.values.get("a") == value
    assert [fault in text for text in found.faults] == ([True] if fault else [])


def test_the_clusters_own_word_counts_and_there_is_an_end() -> None:
    found = merged(
        ({"id.k8s.io": "property"}, {"id.k8s.io": "claim", "a": "b", "": "x", "c": ""}), {"a": "z", "d": "e"}
    )
    assert found.values == {"id.k8s.io": "property", "a": "b", "d": "e"}
    assert len(found.faults) == 2
    many = merged(({f"c{at}": "x" for at in range(1000)},), {"id.k8s.io": "kept"})
    assert len(many.values) == 200
    assert many.values["id.k8s.io"] == "kept"


def test_amounts_add_up_whatever_is_among_them() -> None:
    nodes = [a_node(), a_node(), NodeFacts(name="bad", capacity={"cpu": "x", "memory": "-1", "y" * 300: "1"})]
    found = amounts(nodes)
    assert found.capacity == {"cpu": "8"}
    assert len(found.faults) == 3


def test_names_and_labels_are_such_as_objects_can_have() -> None:
    assert cluster_name("arn:aws:eks:eu-west-1:123456789012:cluster/Prod_1") == "prod-1"
    assert cluster_name("gke_shop_europe-west4_web") == "web"
    assert cluster_name("https://10.0.0.1:6443") == "10-0-0-1-6443"
    assert cluster_name("…") == ""
    assert len(cluster_name("x" * 100)) == 63
    kept, notes = fitting_labels({"a": "b", "bad key": "c", "d": "not ok!"})
    assert (kept, len(notes)) == ({"a": "b"}, 2)
