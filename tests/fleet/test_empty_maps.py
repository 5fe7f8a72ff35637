"""A map with nothing in it is not there for expressions, so it must not be taken for one that lacks a key."""

from __future__ import annotations

import msgspec
import pytest

from muster.fleet import Fleet
from muster.fleet.extraction import extractor
from muster.selectors.cel import cel_compiler
from muster.selectors.paths import Path, claim_path, project
from muster.values.paths import PRESENT
from tests.builders import a_cluster, a_taint

CLUSTERS = (
    a_cluster("none"),
    a_cluster("other", {"in": "yes"}),
    a_cluster("both", {"env": "prod", "tier": "gold"}),
    {**a_cluster("taints", {"in": "yes"}), "spec": {"hubAcceptsClient": True, "taints": []}},
    a_cluster("tainted", {"in": "yes"}, taints=[a_taint("x")]),
    {**a_cluster("null"), "spec": {"taints": None}, "status": {"clusterClaims": None, "capacity": {}}},
    {**a_cluster("empty"), "spec": {}, "status": {"clusterClaims": [], "capacity": {"cpu": {"x": 1}}}},
    {**a_cluster("odd"), "spec": {"taints": 0}, "status": {"clusterClaims": False, "capacity": ""}},
    {
        **a_cluster("known"),
        "spec": {"leaseDurationSeconds": 60},
        "status": {"version": {"kubernetes": "v1.30.0"}},
    },
    {**a_cluster("unknown"), "spec": {"leaseDurationSeconds": 0}, "status": {"version": {"kubernetes": ""}}},
    {**a_cluster("no objects", {"env": "prod"}), "spec": "x", "status": [1]},
    {**a_cluster("text"), "spec": {"taints": ""}, "status": {"clusterClaims": "", "capacity": {"cpu": ""}}},
)


@pytest.mark.parametrize(
    "text",
    [
        "has(managedCluster.metadata.labels.env) && managedCluster.metadata.labels.env == 'prod'",
        "!has(managedCluster.metadata.labels.env) || managedCluster.metadata.labels.tier == 'gold'",
        "has(managedCluster.metadata.labels)",
        "has(managedCluster.spec.taints)",
        "has(managedCluster.spec.leaseDurationSeconds)",
        "has(managedCluster.status.version.kubernetes)",
        "managedCluster.status.version.kubernetes != 'v1.29.0'",
    ],
)
@pytest.mark.parametrize("order", [1, -1])
def test_the_mask_says_of_every_cluster_what_the_selector_says_of_it_alone(text: str, order: int) -> None:
    clusters = [
        {**each, "metadata": {**each["metadata"], "name": f"{at}"}} for at, each in enumerate(CLUSTERS[::order])
    ]
    fleet = Fleet()
    fleet.put_many(map(msgspec.json.encode, clusters))
    (selector,) = cel_compiler(fleet.scores)([text])
    verdicts = fleet.mask(selector).verdicts
    rows = [fleet.row(str(at)) for at in range(len(clusters))]
    assert [int(verdicts[row or 0]) for row in rows] == [int(selector.match(each).verdict) for each in clusters]


@pytest.mark.parametrize(
    "path",
    [
        ("metadata", "labels", "env"),
        ("metadata", "labels", PRESENT),
        ("metadata", "labels", "env", PRESENT),
        ("spec", "taints", PRESENT),
        ("spec", "taints"),
        ("metadata", "labels"),
        ("status", "clusterClaims"),
        ("status", "clusterClaims", PRESENT),
        claim_path("id"),
        ("spec", "leaseDurationSeconds"),
        ("status", "version", "kubernetes"),
        ("status", "version", "kubernetes", PRESENT),
        ("status", "capacity", "cpu"),
        ("status", "capacity", "cpu", "x"),
        ("status", "capacity", "cpu", "x", PRESENT),
    ],
)
def test_what_is_taken_from_the_bytes_is_the_projection_of_the_object(path: Path) -> None:
    spaced = msgspec.json.format(msgspec.json.encode(CLUSTERS[0]), indent=0)
    encoded = [*map(msgspec.json.encode, CLUSTERS), spaced]
    assert extractor(path)(encoded) == [project(each, path) for each in (*CLUSTERS, CLUSTERS[0])]


@pytest.mark.parametrize("empty", [[], None])
@pytest.mark.parametrize(
    ("part", "name", "path"),
    [
        ("spec", "taints", ("spec", "taints")),
        ("spec", "taints", ("spec", "taints", PRESENT)),
        ("status", "clusterClaims", ("status", "clusterClaims")),
        ("status", "clusterClaims", claim_path("id")),
        ("status", "capacity", ("status", "capacity", "cpu")),
    ],
)
def test_a_list_with_nothing_in_it_that_comes_or_goes_tells_nobody(
    part: str, name: str, path: Path, empty: object
) -> None:
    without = {**a_cluster("c1"), part: {"kept": 1}}
    fleet = Fleet()
    fleet.put(msgspec.json.encode(without))
    fleet.subscribe("placement", [], [path])
    assert fleet.put(msgspec.json.encode({**without, part: {"kept": 1, name: empty}})) == frozenset()
    assert fleet.put(msgspec.json.encode(without)) == frozenset()
    filled = {"cpu": "4"} if name == "capacity" else [{"name": "id", "key": "k"}]
    assert fleet.put(msgspec.json.encode({**without, part: {"kept": 1, name: filled}})) == {"placement"}
