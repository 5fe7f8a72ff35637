"""Every move of decisions keeps its cause: with the real hub and the real controllers."""

from __future__ import annotations

import time
import zlib
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.history_record import digest_of
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint
from tests.controllers.running import APPS, CLUSTERS, GROUP, SETS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e
HISTORIES = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementhistories"
MERGE = "application/merge-patch+json"


class Story:
    """A hub with controllers, and the placement of one test in it."""

    def __init__(self, hub: Driver, name: str) -> None:
        self.hub = hub
        self.name = name

    def begins(self, *objects: dict[str, Any], decided: list[str], **spec: Any) -> None:
        """The placement sees its own set only, so that tests do not meet each other's clusters."""
        self.hub.create(a_set(self.name, {"story": self.name}), a_binding(self.name), *objects)
        self.hub.create(a_placement(self.name, clusterSets=[self.name], **spec))
        self.settles(decided)

    def cluster(self, name: str, **labels: str) -> dict[str, Any]:
        return a_cluster(f"{self.name}-{name}", {"story": self.name, **labels})

    def called(self, *names: str) -> list[str]:
        return [f"{self.name}-{name}" for name in names]

    def patch(self, path: str, body: Any, who: str = "alice") -> None:
        self.hub.send("PATCH", f"{path}?fieldManager={who}", body, MERGE)

    def record(self) -> dict[str, Any]:
        found: dict[str, Any] = self.hub.get(f"{HISTORIES}/{self.name}") or {}
        return found

    def changes(self) -> list[dict[str, Any]]:
        return self.record().get("changes") or []

    def settles(self, decided: list[str]) -> None:
        """Waits until the decisions are these and the history leads to them."""
        eventually(lambda: self.hub.decided(self.name), decided)
        wanted = {"count": len(decided), "digest": digest_of(decided)}
        eventually(lambda: self.record().get("decided"), wanted)

    def move(self, decided: list[str]) -> dict[str, Any]:
        """The last entry when the decisions are these; times are left out."""
        self.settles(decided)
        entry = self.changes()[-1]
        assert abs(datetime.fromisoformat(entry.pop("time")) - datetime.now(UTC)) < timedelta(seconds=60)
        for cause in entry["causes"]:
            cause.pop("time", None)
        return entry


@pytest.fixture(scope="module")
def running() -> Iterator[Driver]:
    with driven_hub() as driver, controllers(driver.hub):
        yield driver


@pytest.fixture
def story(running: Driver, request: pytest.FixtureRequest) -> Story:
    return Story(running, f"s{zlib.crc32(request.node.name.encode())}")


def wanting(**labels: str) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": {"labelSelector": {"matchLabels": labels}}}]


def expressing(text: str) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}]


def lost(*names: str, before: int, causes: list[Any], flips: list[Any], generation: int = 1) -> dict[str, Any]:
    return {
        "generation": generation,
        "before": before,
        "after": before - len(names),
        "gained": {"count": 0, "examples": []},
        "lost": {"count": len(names), "examples": list(names)},
        "causes": causes,
        "flips": flips,
    }


def codes(was: str, now: str) -> dict[str, str]:
    return {"wasCode": was, "nowCode": now}


def changed(kind: str, name: str, field: str, old: str, new: str, who: str = "alice", **more: str) -> dict[str, Any]:
    return {
        "kind": kind,
        "name": name,
        **more,
        "deed": "Changed",
        "fields": [{"field": field, "old": old, "new": new}],
        "manager": who,
        "operation": "Update",
    }


def test_a_changed_label_is_named_with_its_values_its_writer_and_the_predicate(story: Story) -> None:
    a, b = story.called("a", "b")
    story.begins(
        story.cluster("a", cloud="Amazon"),
        story.cluster("b", cloud="Amazon"),
        predicates=wanting(cloud="Amazon"),
        decided=[a, b],
    )
    story.patch(f"{CLUSTERS}/{a}", {"metadata": {"labels": {"cloud": "Azure"}}})
    assert story.move([b]) == lost(
        a,
        before=2,
        causes=[changed("ManagedCluster", a, "metadata.labels.cloud", '"Amazon"', '"Azure"')],
        flips=[
            {
                "cluster": a,
                "stage": "Predicate",
                "was": "fits",
                "now": "predicate 1: label cloud is 'Azure'; wanted cloud=Amazon",
                **codes("Fits", "NoPredicateHolds"),
            }
        ],
    )


def test_a_changed_claim_is_named(story: Story) -> None:
    (a,) = story.called("a")
    cluster = story.cluster("a") | {"status": {"clusterClaims": [{"name": "version", "value": "1.30.1"}]}}
    text = 'managedCluster.status.clusterClaims.exists(c, c.name == "version" && c.value.startsWith("1.30"))'
    story.begins(cluster, predicates=expressing(text), decided=[a])
    story.patch(f"{CLUSTERS}/{a}/status", {"status": {"clusterClaims": [{"name": "version", "value": "1.31.0"}]}})
    entry = story.move([])
    assert entry["causes"] == [
        changed("ManagedCluster", a, "status.clusterClaims[name=version]", '"1.30.1"', '"1.31.0"')
    ]
    assert [(flip["cluster"], flip["stage"], flip["was"]) for flip in entry["flips"]] == [(a, "Predicate", "fits")]


def test_a_taint_is_named(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    story.patch(f"{CLUSTERS}/{a}", {"spec": {"taints": [a_taint("broken")]}})
    entry = story.move([])
    (cause,) = entry["causes"]
    assert (cause["name"], cause["manager"], cause["fields"][0]["field"]) == (a, "alice", "spec.taints")
    assert '"key":"broken"' in cause["fields"][0]["new"]
    assert entry["flips"] == [
        {
            "cluster": a,
            "stage": "TaintToleration",
            "was": "fits",
            "now": "taint broken:NoSelect is not tolerated",
            **codes("Fits", "TaintNotTolerated"),
        }
    ]


def test_a_label_that_takes_a_cluster_out_of_its_set_is_named(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    story.patch(f"{CLUSTERS}/{a}", {"metadata": {"labels": {"story": None}}})
    entry = story.move([])
    assert [cause["fields"] for cause in entry["causes"]] == [
        [{"field": "metadata.labels.story", "old": f'"{story.name}"', "new": ""}]
    ]
    assert entry["flips"][0]["stage"] == "ClusterSets"


def test_a_changed_set_is_named(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    selector = {"matchLabels": {"story": "another"}}
    story.patch(f"{SETS}/{story.name}", {"spec": {"clusterSelector": {"labelSelector": selector}}})
    entry = story.move([])
    field = "spec.clusterSelector.labelSelector.matchLabels.story"
    assert entry["causes"] == [changed("ManagedClusterSet", story.name, field, f'"{story.name}"', '"another"')]
    assert entry["flips"][0]["stage"] == "ClusterSets"


def test_a_deleted_binding_is_named_though_nobody_is(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    story.hub.send("DELETE", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings/{story.name}")
    entry = story.move([])
    assert entry["causes"] == [
        {"kind": "ManagedClusterSetBinding", "namespace": "apps", "name": story.name, "deed": "Deleted"}
    ]
    assert entry["flips"][0]["stage"] == "ClusterSets"


def test_a_deleted_cluster_is_named(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    story.hub.send("DELETE", f"{CLUSTERS}/{a}")
    entry = story.move([])
    assert entry["causes"] == [{"kind": "ManagedCluster", "name": a, "deed": "Deleted"}]
    assert entry["flips"] == [
        {
            "cluster": a,
            "stage": "Cluster",
            "was": "fits",
            "now": "there is no such cluster",
            **codes("Fits", "NoSuchCluster"),
        }
    ]


def test_an_edited_placement_is_named_and_its_specs_are_kept(story: Story) -> None:
    a, b = story.called("a", "b")
    story.begins(
        story.cluster("a", cloud="Amazon"),
        story.cluster("b", cloud="Azure"),
        predicates=wanting(cloud="Amazon"),
        decided=[a],
    )
    story.patch(f"{APPS}/placements/{story.name}", {"spec": {"predicates": wanting(cloud="Azure")}})
    entry = story.move([b])
    field = "spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.cloud"
    assert entry["generation"] == 2
    assert entry["causes"] == [changed("Placement", story.name, field, '"Amazon"', '"Azure"', namespace="apps")]
    assert entry["flips"] == [
        {
            "cluster": b,
            "stage": "Predicate",
            "was": "predicate 1: label cloud is 'Azure'; wanted cloud=Amazon",
            "now": "fits",
            **codes("NoPredicateHolds", "Fits"),
        },
        {
            "cluster": a,
            "stage": "Predicate",
            "was": "fits",
            "now": "predicate 1: label cloud is 'Amazon'; wanted cloud=Azure",
            **codes("Fits", "NoPredicateHolds"),
        },
    ]
    revisions = story.record()["revisions"]
    assert [(each["revision"], each.get("manager"), each["spec"]["predicates"]) for each in revisions] == [
        (1, "unknown", wanting(cloud="Amazon")),
        (2, "alice", wanting(cloud="Azure")),
    ]


def test_a_spec_that_cannot_be_scheduled_is_kept_and_moves_nothing(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    moves = len(story.changes())
    story.patch(f"{APPS}/placements/{story.name}", {"spec": {"tolerations": [{"operator": "Equal"}]}})
    eventually(lambda: [each["revision"] for each in story.record()["revisions"]], [1, 2])
    assert (story.hub.decided(story.name), len(story.changes())) == ([a], moves)


def test_a_score_that_turns_the_order_is_named(story: Story) -> None:
    a, b = story.called("a", "b")
    usage = {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "free"}}
    story.begins(
        story.cluster("a"),
        story.cluster("b"),
        prioritizerPolicy={"mode": "Exact", "configurations": [{"scoreCoordinate": usage, "weight": 1}]},
        numberOfClusters=1,
        decided=[a],
    )
    put_score(story, a_score(b, {"free": 10}))
    entry = story.move([b])
    assert (entry["gained"]["examples"], entry["lost"]["examples"]) == ([b], [a])
    assert [(cause["kind"], cause["name"], cause["namespace"]) for cause in entry["causes"]] == [
        ("AddOnPlacementScore", "usage", b)
    ]
    put_score(story, a_score(a, {"free": 50}))
    story.settles([a])
    story.patch(
        f"{GROUP}/v1alpha1/namespaces/{b}/addonplacementscores/usage/status",
        {"status": a_score(b, {"free": 90})["status"]},
        "the-add-on",
    )
    entry = story.move([b])
    (cause,) = entry["causes"]
    field = "status.scores[name=free].value"
    assert cause == changed("AddOnPlacementScore", "usage", field, "10", "90", "the-add-on", namespace=b)
    assert entry["flips"] == [
        {"cluster": b, "stage": "Pick", "was": "fits, not picked", "now": "picked", **codes("FitsNotPicked", "Picked")},
        {"cluster": a, "stage": "Pick", "was": "picked", "now": "fits, not picked", **codes("Picked", "FitsNotPicked")},
    ]


def put_score(story: Story, score: dict[str, Any]) -> None:
    namespace = score["metadata"]["namespace"]
    path = f"{GROUP}/v1alpha1/namespaces/{namespace}/addonplacementscores"
    if story.hub.get(f"/api/v1/namespaces/{namespace}") is None:
        body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
        story.hub.send("POST", "/api/v1/namespaces", body)
    # An object that was created without a field that anybody could own has no managers, then or later.
    metadata = {**score["metadata"], "labels": {"of": "test"}}
    story.hub.send("POST", path, {**score, "metadata": metadata})
    story.patch(f"{path}/{score['metadata']['name']}/status", {"status": score["status"]})


def test_a_score_that_expires_is_named_with_the_expression(story: Story) -> None:
    (a,) = story.called("a")
    text = 'managedCluster.scores("usage").exists(s, s.name == "free" && s.value > 5)'
    ends = (datetime.now(UTC) + timedelta(seconds=2.5)).strftime("%Y-%m-%dT%H:%M:%SZ")
    story.begins(story.cluster("a"), predicates=expressing(text), decided=[])
    put_score(story, a_score(a, {"free": 10}, valid_until=ends))
    story.settles([a])
    entry = story.move([])
    assert entry["causes"] == [
        {"kind": "AddOnPlacementScore", "namespace": a, "name": "usage", "deed": "ScoreExpired", "note": ends}
    ]
    assert [(flip["stage"], flip["was"]) for flip in entry["flips"]] == [("Predicate", "fits")]


def test_a_toleration_that_ends_is_named(story: Story) -> None:
    (a,) = story.called("a")
    tolerations = [{"key": "slow", "operator": "Exists", "tolerationSeconds": 1}]
    story.begins(story.cluster("a"), tolerations=tolerations, decided=[a])
    story.patch(f"{CLUSTERS}/{a}", {"spec": {"taints": [a_taint("slow")]}})
    time.sleep(0.3)
    entry = story.move([])
    (cause,) = entry["causes"]
    assert (cause["kind"], cause["name"], cause["deed"]) == ("ManagedCluster", a, "TolerationExpired")
    assert cause["note"].startswith("taint slow:NoSelect, tolerated for 1 s, until 20")
    assert entry["flips"][0]["stage"] == "TaintToleration"


def test_an_event_says_the_same(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a", cloud="Amazon"), predicates=wanting(cloud="Amazon"), decided=[a])
    story.patch(f"{CLUSTERS}/{a}", {"metadata": {"labels": {"cloud": "Azure"}}})
    story.move([])

    def told() -> list[str]:
        events = story.hub.get("/api/v1/namespaces/apps/events")["items"]
        mine = [event for event in events if event["involvedObject"]["name"] == story.name]
        return [
            event["message"] for event in mine if event["reason"] == "DecisionsChanged" and "lost" in event["message"]
        ]

    eventually(
        told,
        [
            f'lost 1 ({a}), because ManagedCluster {a} changed: metadata.labels.cloud: "Amazon" → "Azure", by alice. '
            f"{a}: Predicate: fits → predicate 1: label cloud is 'Azure'; wanted cloud=Amazon"
        ],
    )


def test_decisions_that_somebody_else_writes_are_named(story: Story) -> None:
    (a,) = story.called("a")
    story.begins(story.cluster("a"), decided=[a])
    moves = len(story.changes())
    page = f"{APPS}/placementdecisions/{story.name}-decision-1"
    story.patch(f"{page}/status", {"status": {"decisions": []}}, "mallory")
    eventually(lambda: len(story.changes()), moves + 1)
    assert story.changes()[-1]["gained"] == {"count": 1, "examples": [a]}
    (cause,) = story.changes()[-1]["causes"]
    assert (cause["kind"], cause["deed"], cause["manager"]) == ("PlacementDecision", "Changed", "mallory")


def test_the_history_goes_with_its_placement(story: Story) -> None:
    story.begins(decided=[])
    eventually(lambda: bool(story.record()), True)
    story.hub.send("DELETE", f"{APPS}/placements/{story.name}")
    eventually(story.record, {})
