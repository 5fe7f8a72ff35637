"""What is set aside is not evaluated; what was decided stays; a change, or an administrator, brings it back."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.api.agent import Agent
from muster.api.agent_classification import AgentClassification
from muster.api.config_map import ConfigMap
from muster.api.parts import Identity
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.hosts.world import AgentWorld
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.timed_selectors import TimedSelector
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.quarantine import Entry, Quarantine, read_entries
from muster.supervision import Notes, Subject
from muster.supervision.notes import subject_of
from tests.builders import a_binding, a_cluster, a_placement, a_placement_spec, a_set
from tests.controllers.seeing import put, put_cluster, remove, stored_as

if TYPE_CHECKING:
    from muster.controllers.runtime.mirror import Stored
    from muster.fleet.masks import Mask

NOW = datetime(2026, 1, 1, tzinfo=UTC)
CLASSIFICATIONS = Reader(AgentClassification)
P1, P2 = Key("apps", "p1"), Key("apps", "p2")


def at(obj: dict[str, Any], generation: int, revision: int = 1, uid: str = "u") -> dict[str, Any]:
    known = {"uid": uid, "generation": generation, "resourceVersion": str(revision)}
    return {**obj, "metadata": {**obj["metadata"], **known}}


def an_entry(kind: str, name: str, generation: int = 1, namespace: str = "apps", **more: Any) -> Entry:
    subject = Subject(kind, namespace, name, "u", generation, **more)
    return Entry(subject, "it died of SIGABRT", "2026-01-01T00:00:00Z")


def cel(text: str) -> dict[str, Any]:
    return {"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}]}


def a_world() -> PlacementWorld:
    quarantine = Quarantine()
    world = PlacementWorld(quarantine=quarantine)

    def reconsider(place: tuple[str, str, str]) -> None:
        world.reconsider(*place)

    quarantine.changed = reconsider
    put_cluster(world, json.dumps(a_cluster("a")).encode())
    put(world, at(a_set(), 1))
    put(world, a_binding())
    put(world, at(a_placement("p1", **cel("managedCluster.metadata.name == 'a'")), 1))
    put(world, at(a_placement("p2"), 1))
    return world


def test_a_placement_in_quarantine_is_not_decided_and_others_are() -> None:
    world = a_world()
    world.quarantine.set_aside(an_entry("Placement", "p1"))
    assert world.decide(P1, NOW) is None
    assert list(world.steps(P1)) == []
    held = world.plans.held(P1)
    assert held is not None
    status, reason, message = held.condition("kube-system")
    assert (status, reason) == ("True", "EvaluationFailed")
    assert "Placement apps/p1 when it died of SIGABRT" in message
    assert world.plans.held(P2) is None
    assert world.decide(P2, NOW) is not None


def test_another_generation_is_a_new_chance_and_so_is_another_object_of_that_name() -> None:
    world = a_world()
    world.quarantine.set_aside(an_entry("Placement", "p1"))
    put(world, at(a_placement("p1"), 2, revision=2))
    assert world.plans.held(P1) is None
    world.quarantine.set_aside(an_entry("Placement", "p2"))
    remove(world, at(a_placement("p2"), 1))
    put(world, at(a_placement("p2"), 1, uid="another"))
    assert world.plans.held(P2) is None


def test_a_change_of_status_or_labels_is_no_new_chance() -> None:
    world = a_world()
    world.quarantine.set_aside(an_entry("Placement", "p2"))
    put(world, at(a_placement("p2"), 1, revision=9) | {"status": {"conditions": []}})
    assert world.plans.held(P2) is not None


def test_what_has_the_same_expression_is_held_with_it() -> None:
    world = a_world()
    plan, _ = world.plans._plans[P1]
    (digest,) = [each.digest for each in plan.selectors if isinstance(each, TimedSelector)]
    world.quarantine.set_aside(an_entry("Placement", "p1", part=digest))
    put(world, at(a_placement("twin", **cel("managedCluster.metadata.name == 'a'")), 1))
    held = world.plans.held(Key("apps", "twin"))
    assert held is not None
    assert held.condition("kube-system")[1] == "DependsOnQuarantined"
    question = a_placement_spec(**cel("managedCluster.metadata.name == 'a'"))
    assert world.plans.set_aside_like(question) is not None
    assert world.plans.set_aside_like(a_placement_spec(**cel("true"))) is None


def test_placements_that_choose_from_a_set_in_quarantine_wait_for_it() -> None:
    world = a_world()
    world.quarantine.set_aside(an_entry("ManagedClusterSet", "global", namespace=""))
    assert world.decide(P2, NOW) is None
    told = put(world, at(a_set(labels={"x": "y"}), 2, revision=2))
    assert {P1, P2, SetKey("global")} <= told
    assert world.decide(P2, NOW) is not None


def test_the_note_names_who_a_selector_is_evaluated_for() -> None:
    notes, seen = Notes(), list[bytes]()
    world = PlacementWorld(notes=notes)

    def watch(mask: Mask) -> None:
        world.notes._note_mask(mask)
        seen.append(notes._text)

    world.fleet.watcher = watch
    put_cluster(world, json.dumps(a_cluster("a")).encode())
    put(world, at(a_set(), 1))
    put(world, a_binding())
    put(world, at(a_placement("p1", **cel("managedCluster.metadata.name == 'a'")), 3))
    with world.notes.evaluating(P1):
        list(world.steps(P1))
    subjects = {subject_of(text) for text in seen}
    assert {(each.kind, each.name, each.generation) for each in subjects if each} == {
        ("Placement", "p1", 3),
        ("ManagedClusterSet", "global", 1),
    }
    seen.clear()
    put_cluster(world, json.dumps(a_cluster("b")).encode())
    assert {each.name for each in map(subject_of, seen) if each} == {"p1", "global"}


def test_a_query_in_quarantine_does_not_run_and_its_labels_stay() -> None:
    quarantine = Quarantine()
    world = AgentWorld(lambda _: None, lambda _: None, quarantine.holds)
    quarantine.changed = lambda place: world.reconsider(Place(place[1], place[2]))
    quarantine.set_aside(an_entry("AgentClassification", "bad"))
    label = "inventoryclassification.agent-install.openshift.io/big"
    spec = {"labelKey": "big", "labelValue": "yes", "query": ".x"}
    for name in ("bad", "twin"):
        obj = at({"metadata": {"name": name, "namespace": "apps"}, "spec": spec}, 1)
        world.put_classification(stored_as(CLASSIFICATIONS, obj))
    metadata = {"name": "host", "namespace": "apps", "resourceVersion": "1", "labels": {label: "yes"}}
    world.put_agent(stored_as(Reader(Agent), {"metadata": metadata}))
    roster = world.roster("apps")
    assert roster.look("host")
    plan = roster.plan_so_far("host")
    assert plan is not None
    assert dict(plan.changes) == {}
    assert world.work.runs == 0
    for name in ("bad", "twin"):
        classification = roster.classification(name)
        assert classification is not None
        assert roster.is_held(classification)
    changed = {**spec, "query": "false"}
    obj = at({"metadata": {"name": "bad", "namespace": "apps"}, "spec": changed}, 2, revision=2)
    world.put_classification(stored_as(CLASSIFICATIONS, obj))
    assert world.work.runs == 0
    roster.look("host")
    assert world.work.runs == 2  # the twin's query is nobody's now that is set aside


def config_map(version: int, *entries: Entry) -> Stored[ConfigMap]:
    data = {entry.key: msgspec.json.encode(entry).decode() for entry in entries}
    return stored_as(Reader(ConfigMap), {"metadata": {"resourceVersion": str(version)}, "data": data})


def test_the_config_map_adds_and_releases_and_what_is_not_written_yet_stays() -> None:
    quarantine, told = Quarantine(), list[Any]()
    quarantine.changed = told.append
    mine, theirs = an_entry("Placement", "p1"), an_entry("Placement", "p2")
    quarantine.set_aside(mine)
    quarantine.put(config_map(5, theirs))
    assert {entry.subject.name for entry in quarantine.entries()} == {"p1", "p2"}
    quarantine.written([mine], "6")
    quarantine.put(config_map(5, theirs))  # older than what was written
    assert {entry.subject.name for entry in quarantine.entries()} == {"p1", "p2"}
    quarantine.put(config_map(7, mine))
    assert [entry.subject.name for entry in quarantine.entries()] == ["p1"]
    quarantine.remove()
    assert quarantine.entries() == []
    assert told[-1] == ("Placement", "apps", "p1")


def test_an_entry_that_cannot_be_read_is_passed_over() -> None:
    quarantine = Quarantine()
    broken = config_map(1, an_entry("Placement", "p1"))
    broken.obj.data["x"] = "{"
    quarantine.put(broken)
    assert [entry.subject.name for entry in quarantine.entries()] == ["p1"]


@pytest.mark.parametrize(
    ("metadata", "later", "over"),
    [
        (Identity(uid="u", generation=1), 100, False),
        (Identity(uid="u", generation=2), 0, True),
        (Identity(uid="u", generation=0), 100, False),  # an older state than the one that was set aside
        (None, 5, False),
        (None, 100, True),
        (Identity(uid="v", generation=1), 5, False),
        (Identity(uid="v", generation=1), 100, True),
    ],
)
def test_an_entry_is_over_when_its_state_is_known_to_be_gone(metadata: Identity | None, later: int, over: bool) -> None:
    assert an_entry("Placement", "p1").is_over(metadata, NOW + timedelta(seconds=later)) is over


def test_what_a_supervisor_hands_over_is_read() -> None:
    text = msgspec.json.encode([an_entry("Placement", "p1")]).decode()
    assert read_entries(text) == [an_entry("Placement", "p1")]
    assert read_entries("") == []
