"""One object that cannot be read stops nothing: its last good state stays, it is counted, logged once and told."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from prometheus_client import CollectorRegistry

from muster.api.agent import Agent
from muster.api.parts import Condition
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.cluster_sets import BUILT_IN, roll_back, set_condition
from muster.controllers.clusters import CLUSTERS, ClusterController, lease_ends
from muster.controllers.hosts.world import AgentWorld
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.mirrors import PlacementMirrors
from muster.controllers.placements.readers import SETS
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.mirror import Mirror, Stored
from muster.hub.patches.merge import merge_patched
from muster.values.times import FIRST, LAST
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint, a_time
from tests.controllers.placements.worlds import a_page, a_world, chosen, stored
from tests.controllers.seeing import put, put_cluster

NOW = datetime(2026, 1, 1, tzinfo=UTC)
P1 = Key("apps", "p1")
NOT_A_TIME = "2030-01-01T00:00:00+99:00"
DEEP = "[" * 5000 + "]" * 5000
TYPO = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [{"key": "gold", "operator": "Inn"}]}}


def encoded(obj: dict[str, Any], revision: int = 1) -> bytes:
    return json.dumps(stored(obj, revision)).encode()


class Watched:
    """A registry, the guards that count in it, and the events that were told."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        self.unreadable = Unreadable(self.registry)
        self.events: list[tuple[str, str]] = []
        self.unreadable.tell_with(lambda about, *said: self.events.append((about.name, said[1])))

    def count(self, kind: str) -> tuple[float, float]:
        """How often objects of a kind could not be read, and how many of them cannot now."""
        seen = self.registry.get_sample_value("muster_unreadable_objects_total", {"kind": kind})
        now = self.registry.get_sample_value("muster_unreadable_objects_now", {"kind": kind})
        assert seen is not None
        assert now is not None
        return seen, now


class Seen(PlacementMirrors):
    """A world behind its mirrors; `woken` has all that was told."""

    def __init__(self, watched: Watched, world: PlacementWorld) -> None:
        client: Any = None
        self.controller = ClusterController(world, client, lambda: NOW, ControllerMetrics())
        self.woken: list[Key | SetKey] = []
        super().__init__(world, self.controller, self.woken.extend, lambda _: None, watched.unreadable)


# ------------------------------------------------------------------------------------------------------------- mirrors


def test_a_score_that_cannot_be_read_keeps_its_last_good_state_and_is_told_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    watched, world = Watched(), PlacementWorld()
    scores = Seen(watched, world).scores
    scores.put(encoded(a_score("a", {"cpu": 10}), 1))
    bad = encoded(a_score("a", {"cpu": 90}, valid_until=NOT_A_TIME), 2)
    for _ in range(3):
        scores.put(bad)
    scores.put(encoded(a_score("b", {"cpu": 20}), 3))
    assert world.fleet.scores.items_of("a")["usage"][0]["value"] == 10
    assert world.fleet.scores.items_of("b")["usage"][0]["value"] == 20
    assert watched.count("addonplacementscores") == (1, 1)
    assert len(watched.events) == 1
    assert "status.validUntil" in watched.events[0][1]
    lines = [each.getMessage() for each in caplog.records]
    assert len(lines) == 1
    assert lines[0].startswith("addonplacementscores a/usage cannot be read at revision 2: status.validUntil: ")
    scores.put(encoded(a_score("a", {"cpu": 90}, valid_until="2030-01-01t00:00:00z"), 4))
    assert watched.count("addonplacementscores") == (1, 0)
    assert world.fleet.scores.items_of("a")["usage"][0]["value"] == 90


def test_a_list_with_objects_that_cannot_be_read_is_taken_in_but_for_these() -> None:
    watched, world = Watched(), PlacementWorld()
    scores = Seen(watched, world).scores
    scores.replace([encoded(a_score("a", {"cpu": 1})), encoded(a_score("c", {"cpu": 3})), encoded(a_score("gone", {}))])
    deep = f'{{"metadata": {{"namespace": "a", "name": "usage", "resourceVersion": "7"}}, "x": {DEEP}}}'.encode()
    odd = a_score("c", {"cpu": 1})
    odd["status"]["scores"] = [{"name": "cpu", "value": "many"}]
    scores.replace([deep, encoded(odd, 2), encoded(a_score("b", {"cpu": 2}))])
    assert watched.count("addonplacementscores") == (2, 2)
    assert world.fleet.scores.get("gone", "usage") is None
    assert world.fleet.scores.items_of("a")["usage"][0]["value"] == 1
    assert world.fleet.scores.items_of("b")["usage"][0]["value"] == 2
    assert world.fleet.scores.items_of("c")["usage"][0]["value"] == 3
    scores.remove(encoded(odd))
    scores.replace([encoded(a_score("b", {"cpu": 2}))])
    assert watched.count("addonplacementscores") == (2, 0)
    assert world.fleet.scores.get("a", "usage") is None


def test_after_a_restart_the_values_of_a_score_with_a_wrong_time_are_used_and_it_is_told() -> None:
    watched, world = Watched(), a_world("a", p1={})
    Seen(watched, world).scores.replace([encoded(a_score("a", {"cpu": 90}, valid_until=NOT_A_TIME))])
    assert world.fleet.scores.items_of("a")["usage"][0]["value"] == 90
    assert watched.count("addonplacementscores") == (1, 1)


def test_what_we_wrote_ourselves_wakes_nobody_and_neither_does_the_watch_when_it_brings_it() -> None:
    seen = Seen(Watched(), world := a_world("a", p1={}))
    seen.decisions.put_written(encoded(a_page("p1", 5, "a"), 5))
    seen.decisions.put(encoded(a_page("p1", 5, "a"), 5))
    seen.decisions.put(encoded(a_page("p1", 4), 4))  # late, and older than what we know
    assert [page.clusters for page in world.decisions.of(P1)] == [("a",)]
    seen.decisions.remove_written(Place("apps", "p1-decision-1"))
    seen.decisions.put(encoded(a_page("p1", 5, "a"), 5))
    assert world.decisions.of(P1) == []
    assert seen.woken == []
    seen.decisions.put(encoded(a_page("p1", 7, "b"), 7))
    assert seen.woken == [P1]


def test_a_placement_whose_spec_cannot_be_read_keeps_its_decisions_and_says_so() -> None:
    watched, world = Watched(), a_world("a", "b", p1={})
    seen = Seen(watched, world)
    seen.decisions.put(encoded(a_page("p1", 3, "a", "b"), 3))
    seen.placements.put(encoded(a_placement("p1", predicates={"requiredClusterSelector": 5}), 4))
    result = world.decide(P1, NOW)
    assert result is not None
    assert str(result.fault) == ":spec cannot be read (spec.predicates: expected a list, not an object)"
    assert result.conditions["PlacementMisconfigured"].status == "True"
    assert watched.count("placements") == (1, 1)
    seen.placements.put(encoded(a_placement("p1", numberOfClusters=1), 5))
    assert chosen(world, P1) == ["a"]
    assert watched.count("placements") == (1, 0)


def test_a_set_whose_spec_cannot_be_read_keeps_its_last_good_rule() -> None:
    watched, world = Watched(), PlacementWorld()
    seen = Seen(watched, world)
    seen.sets.put(encoded(a_set("s", {"gold": "yes"}), 1))
    good = world.rules["s"]
    seen.sets.put(encoded(a_set("s", clusterSelector=[1]), 2))
    assert world.rules["s"].membership == good.membership
    assert world.rules["s"].fault == "spec cannot be read (spec.clusterSelector: expected an object, not a list)"
    assert watched.count("managedclustersets") == (1, 1)


def test_agents_with_odd_inventories_keep_no_other_out() -> None:
    watched = Watched()
    world = AgentWorld(lambda _: None, lambda _: None)
    mirror = Mirror(Reader(Agent), world.put_agent, world.remove_agent, unreadable=watched.unreadable.of("agents"))

    def agent(name: str, inventory: str, labels: str = "{}", revision: int = 3) -> bytes:
        metadata = f'{{"namespace": "n", "name": "{name}", "resourceVersion": "{revision}", "labels": {labels}}}'
        return f'{{"metadata": {metadata}, "status": {{"inventory": {inventory}}}}}'.encode()

    odd = [
        agent("deep", DEEP),
        agent("labels", "{}", '{"a": 5}'),
        b'{"metadata": {"namespace": "n", "name": "status", "resourceVersion": "3"}, "status": 5}',
    ]
    mirror.replace([*odd, agent("good", '{"cpu": {"count": 4}}')])
    assert world.places() == {Place("n", "good")}
    assert watched.count("agents") == (3, 3)
    fine = ('"text"', "[1, 2]", "1e400", "1" * 4301, "null", "true", "18446744073709551616")
    for revision, inventory in enumerate(fine, start=4):
        mirror.put(agent("any", inventory, revision=revision))
        roster = world.roster("n")
        assert roster.look("any")
        assert roster.plan_so_far("any") is not None
    mirror.replace([agent("deep", "{}", revision=12), agent("good", "{}", revision=13)])
    assert watched.count("agents") == (3, 0)
    assert world.places() == {Place("n", "good"), Place("n", "deep")}


# ------------------------------------------------------------------------------------------------------------ clusters


def test_a_cluster_with_values_that_cannot_be_used_is_in_use_and_told() -> None:
    watched, world = Watched(), a_world(p1={})
    clusters = Seen(watched, world).clusters
    tainted = a_cluster("tainted", taints=[a_taint("k", "PreferNoSelect", added=NOT_A_TIME)])
    endless = a_cluster("endless", allocatable={"cpu": "1e309"}, capacity={"cpu": "4"})
    fine = a_cluster("fine", allocatable={"cpu": "4", "odd": "x"}, capacity={"cpu": "4"})
    clusters.replace([encoded(each) for each in (tainted, endless, fine)])
    assert chosen(world, P1) == ["endless", "fine", "tainted"]
    assert watched.count("managedclusters") == (2, 2)
    assert [text.split(":")[1].strip() for _, text in watched.events] == [
        "spec.taints[0].timeAdded",
        "status.allocatable.cpu",
    ]
    clusters.put(encoded(a_cluster("tainted"), 2))
    clusters.remove(encoded(endless))
    assert watched.count("managedclusters") == (2, 0)


def test_a_cluster_that_cannot_be_read_keeps_its_last_good_state_in_a_list_too() -> None:
    watched, world = Watched(), PlacementWorld()
    seen = Seen(watched, world)
    seen.clusters.replace([encoded(a_cluster(name)) for name in "ab"])
    for obj in (a_set(), a_binding(), stored(a_placement("p1"), 1)):
        put(world, obj)
    deep = f'{{"metadata": {{"name": "a", "resourceVersion": "7"}}, "spec": {DEEP}}}'.encode()
    shapeless = b'{"metadata": {"name": "c", "resourceVersion": "8"}, "spec": {"taints": true}}'
    seen.clusters.replace([deep, encoded(a_cluster("new")), shapeless])
    assert chosen(world, P1) == ["a", "c", "new"]
    assert watched.count("managedclusters") == (2, 2)


def test_the_time_of_a_lease_may_be_any() -> None:
    watched, world = Watched(), a_world("a")
    seen = Seen(watched, world)
    controller = seen.controller

    def lease(renewed: str, revision: int) -> bytes:
        metadata = {"namespace": "a", "name": "managed-cluster-lease"}
        return encoded({"metadata": metadata, "spec": {"renewTime": renewed}}, revision)

    texts = ("9999-12-31T23:59:59Z", "0000-01-01T00:00:00Z", "2026-01-01T00:00:00.123456789z", NOT_A_TIME, "x")
    for revision, text in enumerate(texts, start=1):
        seen.leases.put(lease(text, revision))
        controller._look_at_lease("a", LAST)
        controller._look_at_lease("a", FIRST)
        controller._look_at_lease("a", NOW)
    assert watched.count("leases") == (2, 1)
    assert controller._renewed["a"] == a_time("2026-01-01T00:00:00.123456Z")


@pytest.mark.parametrize("seconds", [-(2**31), 2**31 - 1, -1, 0, 2**63, 1e30])
@pytest.mark.parametrize("renewed", [FIRST, NOW, LAST])
def test_no_duration_of_a_lease_leaves_time(seconds: float, renewed: datetime) -> None:
    cluster = a_cluster("a")
    cluster["spec"]["leaseDurationSeconds"] = seconds
    assert FIRST <= lease_ends(renewed, CLUSTERS.demanded(cluster)) <= LAST


def test_a_look_at_a_cluster_takes_any_shape_of_its_figures() -> None:
    watched, world = Watched(), PlacementWorld()
    clusters = Seen(watched, world).clusters
    values: list[Any] = ["1e309", 5, 5.5, True, None, [], {}, "x" * 10_000]
    for revision, value in enumerate(values, start=1):
        clusters.put(encoded(a_cluster("a", allocatable={"cpu": value}, capacity={"memory": value}), revision))
        row = world.fleet.row("a")
        assert row is not None
        assert world.fleet.load(row)["metadata"]["resourceVersion"] == str(revision)
    assert watched.count("managedclusters") == (5, 1)
    assert all(len(text) < 200 for _, text in watched.events)


# ---------------------------------------------------------------------------------------------------------------- sets


def gold(name: str) -> str:
    return json.dumps(a_cluster(name, {"gold": "yes"}))


def test_a_typo_in_a_set_removes_no_decision() -> None:
    world = PlacementWorld()
    for name in "ab":
        put_cluster(world, gold(name).encode())
    put_cluster(world, json.dumps(a_cluster("c")).encode())
    put(world, a_set("s", {"gold": "yes"}))
    put(world, a_binding("s"))
    put(world, stored(a_placement("p1"), 1))
    put(world, a_page("p1", 5, "a", "b"))
    assert chosen(world, P1) == ["a", "b"]
    assert P1 in put(world, a_set("s", clusterSelector=TYPO))
    assert chosen(world, P1) == ["a", "b"]
    put_cluster(world, gold("d").encode())  # the last good rule is a rule
    assert chosen(world, P1) == ["a", "b", "d"]
    result = world.decide(P1, NOW)
    assert result is not None
    assert result.conditions["ClusterSetsUsable"].reason == "LastGoodMembersKept"
    assert set_condition(world, "s")["ClusterSetEmpty"] == ("False", "ClustersSelected", "3 ManagedClusters selected")
    put(world, a_set("s", {"silver": "yes"}))
    assert chosen(world, P1) == []


def test_after_a_restart_a_set_with_a_typo_removes_no_decision_either() -> None:
    world = PlacementWorld()
    for name in "abc":
        put_cluster(world, gold(name).encode())
    put(world, a_set("s", clusterSelector=TYPO))
    put(world, a_binding("s"))
    for name in ("p1", "p2"):
        put(world, stored(a_placement(name), 1))
    put(world, a_page("p1", 5, "a", "b"))
    assert chosen(world, P1) == ["a", "b"]
    assert chosen(world, Key("apps", "p2")) == []
    assert set_condition(world, "s")["ClusterSetEmpty"][0] == "Unknown"
    world.remove_cluster("a")  # what is gone is gone
    assert chosen(world, P1) == ["b"]
    world.remove_set("s")
    assert chosen(world, P1) == []


def test_a_changed_set_is_looked_at_when_its_placements_have_their_turn() -> None:
    world = a_world("a", p1={}, p2={})
    told = put(world, a_set("global", {"gold": "yes"}))
    assert told == {P1, Key("apps", "p2"), SetKey("global")}
    assert world.plans._outdated == {P1, Key("apps", "p2")}
    assert chosen(world, P1) == []
    for _ in world.steps(Key("apps", "p2")):
        pass
    assert world.plans._outdated == set()
    assert P1 in put_cluster(world, gold("a").encode())


@pytest.mark.parametrize("name", sorted(BUILT_IN))
@pytest.mark.parametrize(
    "edited",
    [
        {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"a": "b"}}},
        {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Exists"}]}},
        {"selectorType": "ExclusiveClusterSetLabel", "labelSelector": {"matchLabels": {"a": "b"}}},
        {"selectorType": "LabelSelector", "labelSelector": None},
        {"selectorType": "LabelSelector"},
        {"selectorType": "Odd", "more": 1},
        {},
        None,
    ],
)
def test_an_edit_of_a_built_in_set_is_rolled_back_by_a_merge(name: str, edited: Any) -> None:
    present = a_set(name, clusterSelector=edited)
    patch = roll_back(Stored.of(SETS, present))
    assert patch is not None or edited == BUILT_IN[name]
    after = merge_patched(present, patch) if patch is not None else present
    assert after["spec"] == {"clusterSelector": BUILT_IN[name]}
    assert roll_back(Stored.of(SETS, after)) is None


def test_a_key_that_breaks_the_global_set_is_rolled_back_too() -> None:
    present = a_set("global", exclusiveKey="x", clusterSelector=BUILT_IN["global"])
    assert roll_back(Stored.of(SETS, present)) == {"spec": {"exclusiveKey": None}}


# ---------------------------------------------------------------------------------------------------------- conditions


def test_conditions_that_are_written_fit_and_odd_ones_that_are_there_stop_nothing() -> None:
    present = [Condition("A", "True"), Condition(status="True")]
    (first, second, third) = merged(present, {"A": ("True", "r" * 2000, "é" * 40_000), "B": ("False", "x", "y")}, NOW)
    assert first.last_transition_time == "2026-01-01T00:00:00Z"
    assert len(first.message.encode()) <= 32_768
    assert len(first.reason) <= 1_024
    assert second == Condition(status="True")
    assert third.type == "B"
