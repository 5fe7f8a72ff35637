"""Valid placements that cannot be meant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from muster.fleet import Fleet, score_of
from muster.placement import plan_of, visibility
from muster.placement.lint import lint, vocabulary
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

LIMIT = 10_000_000


def findings(binding: str = "global", **spec: Any) -> list[str]:
    fleet = Fleet()
    fleet.put_score("a", "usage", score_of(a_score("a", {"cpu": 1})))
    fleet.advance(datetime(2026, 1, 1, tzinfo=UTC))
    clusters = [
        a_cluster("a", {"cloud": "Amazon", "region": "eu-west-1"}, {"platform": "AWS"}, [a_taint("gpu")]),
        a_cluster("b", {"cloud": "Azure"}),
    ]
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    plan = plan_of(a_placement(**spec), cel_compiler(fleet.scores))
    seen = visibility("apps", plan.cluster_sets, [a_binding(binding)], [a_set("global"), a_set("gpu", {"gpu": "yes"})])
    return [str(finding) for finding in lint(plan, fleet, seen, vocabulary(fleet), LIMIT)]


def predicate(**selectors: Any) -> dict[str, Any]:
    return {"requiredClusterSelector": selectors}


def labels(**wanted: str) -> dict[str, Any]:
    return predicate(labelSelector={"matchLabels": wanted})


def cel(*expressions: str) -> dict[str, Any]:
    return predicate(celSelector={"celExpressions": list(expressions)})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"predicates": [labels(cloud="Amazon")]}, []),
        (
            {"predicates": [labels(clowd="Amazon")]},
            ["spec.predicates[0].labelSelector: no cluster has the label 'clowd' (did you mean cloud?)"],
        ),
        (
            {"predicates": [labels(cloud="Amazn")]},
            ["spec.predicates[0].labelSelector: no cluster has cloud in (Amazn) (did you mean Amazon?)"],
        ),
        (
            {"predicates": [predicate(claimSelector={"matchExpressions": [{"key": "platfrm", "operator": "Exists"}]})]},
            ["spec.predicates[0].claimSelector: no cluster has the claim 'platfrm' (did you mean platform?)"],
        ),
        (
            {"predicates": [labels(cloud="Amazon"), labels(cloud="Amazon")]},
            ["spec.predicates[1]: is the same as predicate 1 (remove one)"],
        ),
        (
            {"predicates": [labels(cloud="Amazon"), predicate()]},
            ["spec.predicates[1]: matches every cluster, so the other predicates mean nothing (remove it, or them)"],
        ),
        (
            {"predicates": [cel("managedCluster.metadata.labels['region'] == 'eu-west-1'")]},
            [
                "spec.predicates[0].celSelector: fails on 1 clusters that have no label 'region' "
                '(write managedCluster.metadata.labels[?"region"].orValue(""))'
            ],
        ),
        ({"predicates": [cel('managedCluster.metadata.labels[?"region"].orValue("") == "eu-west-1"')]}, []),
        (
            {"predicates": [cel("managedCluster.scores('usge').size() > 0")]},
            ["spec.predicates[0].celSelector: no cluster has the score 'usge' (did you mean usage?)"],
        ),
        (
            {"tolerations": [{"key": "gpus", "operator": "Exists"}]},
            ["spec.tolerations[0]: tolerates no taint that a cluster has (did you mean gpu?)"],
        ),
        (
            {"clusterSets": ["globl"]},
            ["spec.clusterSets: 'globl' is not bound to the namespace (did you mean global?)"],
        ),
        ({"numberOfClusters": -1}, ["spec: numberOfClusters must not be negative, it is -1"]),
    ],
)
def test_a_placement_that_cannot_be_meant_is_told_what_where_and_how_to_fix_it(
    spec: dict[str, Any], expected: list[str]
) -> None:
    assert findings(**spec) == expected


def test_contradictory_requirements_are_found() -> None:
    both = [{"key": "cloud", "operator": "In", "values": ["Azure"]}]
    selector = {"matchLabels": {"cloud": "Amazon"}, "matchExpressions": both}
    assert findings(predicates=[predicate(labelSelector=selector)]) == [
        "spec.predicates[0].labelSelector: asks for two different values of 'cloud' at once: nothing can match"
    ]


def test_a_namespace_without_binding_and_an_empty_set_are_found() -> None:
    assert findings(binding="elsewhere") == [
        "metadata.namespace: no cluster set is bound to namespace apps (create a ManagedClusterSetBinding in apps)"
    ]
    assert findings(binding="gpu") == ["spec.clusterSets: no cluster is in gpu"]


def test_costly_expressions_are_found() -> None:
    claims = "managedCluster.status.clusterClaims"
    pair = "a.value == b.value && a.name.startsWith(b.value)"
    (finding,) = findings(predicates=[cel(f"{claims}.all(a, {claims}.all(b, {pair}))")])
    assert "may cost up to" in finding
    assert "of the limit (compare fewer or shorter things)" in finding
