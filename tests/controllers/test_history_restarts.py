"""Histories over restarts and deaths of the controllers, and within their bounds."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.changes import MOST_CHANGES, ChangeLog, Noted
from muster.controllers.placements.history import HistoryKeeper
from muster.controllers.placements.history_record import (
    MOST_BYTES,
    MOST_ENTRIES,
    MOST_REVISIONS,
    digest_of,
    extended,
    new_record,
    revision_of,
)
from muster.controllers.placements.world import Key
from muster.placement.explain.causes import Change, Ref
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = datetime(2026, 1, 1, tzinfo=UTC)
HISTORY = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementhistories/p1"
P1 = Key("apps", "p1")


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        yield driver


def wanting(**labels: str) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": {"labelSelector": {"matchLabels": labels}}}]


def record(hub: Driver) -> dict[str, Any]:
    found: dict[str, Any] = hub.get(HISTORY) or {}
    return found


def begun(hub: Driver) -> None:
    """Two clusters, one of them decided, and all of that written down."""
    hub.create(a_binding("global"), a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"}))
    hub.create(a_placement("p1", predicates=wanting(cloud="Amazon")))
    with controllers(hub.hub) as manager:
        eventually(hub.decided, ["a"])
        eventually(lambda: manager.idle, True)
    time.sleep(1.1)  # times of managers are in seconds


@pytest.mark.e2e
def test_what_changed_while_nobody_watched_is_seen_after_the_restart_with_who_wrote_it(hub: Driver) -> None:
    begun(hub)
    body = {"metadata": {"labels": {"cloud": "Azure"}}}
    hub.send("PATCH", f"{CLUSTERS}/a?fieldManager=alice", body, "application/merge-patch+json")
    with controllers(hub.hub) as manager:
        eventually(hub.decided, [])
        eventually(lambda: manager.idle, True)
    entry = record(hub)["changes"][-1]
    assert entry["lost"] == {"count": 1, "examples": ["a"]}
    causes = [(cause["kind"], cause["name"], cause["deed"], cause["manager"]) for cause in entry["causes"]]
    assert causes == [("ManagedCluster", "a", "SeenAfterRestart", "alice")]
    assert entry["flips"] == [
        {
            "cluster": "a",
            "stage": "Predicate",
            "was": "not known",
            "now": "predicate 1: label cloud is 'Azure'; wanted cloud=Amazon",
            "wasCode": "NotKnown",
            "nowCode": "NoPredicateHolds",
        }
    ]


@pytest.mark.e2e
def test_an_edit_while_nobody_watched_is_a_revision_after_the_restart(hub: Driver) -> None:
    begun(hub)
    hub.patch(f"{APPS}/placements/p1", {"spec": {"predicates": wanting(cloud="Azure")}})
    with controllers(hub.hub) as manager:
        eventually(hub.decided, ["b"])
        eventually(lambda: manager.idle, True)
    assert [each["revision"] for each in record(hub)["revisions"]] == [1, 2]
    causes = record(hub)["changes"][-1]["causes"]
    assert ("Placement", "p1", "SeenAfterRestart") in [
        (cause["kind"], cause["name"], cause["deed"]) for cause in causes
    ]


@pytest.mark.e2e
def test_killed_between_decision_and_history_the_next_controllers_write_that_something_moved(
    hub: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(hub)

    async def never(*_: object) -> None:
        """As if the process had died before it came to this."""

    with monkeypatch.context() as patched:
        patched.setattr(HistoryKeeper, "_reconcile", never)
        with controllers(hub.hub):
            hub.patch(f"{CLUSTERS}/b", {"metadata": {"labels": {"cloud": "Amazon"}}})
            eventually(hub.decided, ["a", "b"])
    assert record(hub)["decided"]["count"] == 1
    with controllers(hub.hub) as manager:
        eventually(lambda: manager.idle, True)
    kept = record(hub)
    assert kept["decided"] == {"count": 2, "digest": digest_of(["b", "a"])}
    entry = kept["changes"][-1]
    assert (entry["before"], entry["after"], entry["causes"]) == (1, 2, [{"deed": "Unrecorded"}])


@pytest.mark.e2e
def test_decisions_go_on_where_no_history_may_be_kept(hub: Driver) -> None:
    """On a server without the kind, or under roles from before it."""
    role = "/apis/rbac.authorization.k8s.io/v1/clusterroles/system:muster:controllers"
    rules = [each for each in hub.get(role)["rules"] if "placement.muster.dev" not in each["apiGroups"]]
    hub.patch(role, {"rules": rules})
    hub.create(a_binding("global"), a_cluster("a"), a_placement("p1"))
    with controllers(hub.hub) as manager:
        eventually(hub.decided, ["a"])
        eventually(lambda: manager.idle, True)
    assert record(hub) == {}


# ----------------------------------------------------------------------------------------------------------- bounds


def an_entry(number: int, padding: str = "") -> dict[str, Any]:
    return {"time": f"2026-01-01T00:00:{number % 60:02d}Z", "before": number, "after": number + 1, "note": padding}


def a_stored_placement(generation: int, **spec: Any) -> dict[str, Any]:
    placement = a_placement("p1", **spec)
    placement["metadata"] |= {"uid": "u", "generation": generation}
    return placement


def test_a_history_keeps_the_newest_entries_and_specs() -> None:
    kept = new_record(a_stored_placement(1))
    for number in range(60):
        revision = revision_of(a_stored_placement(number + 1, numberOfClusters=number), None, NOW)
        kept = extended(kept, [an_entry(number)], [revision], (number, "d"))
    assert [each["before"] for each in kept["changes"]] == list(range(60 - MOST_ENTRIES, 60))
    assert [each["revision"] for each in kept["revisions"]] == list(range(61 - MOST_REVISIONS, 61))
    assert kept["decided"] == {"count": 59, "digest": "d"}


def test_a_history_is_bounded_in_bytes() -> None:
    entries = [an_entry(number, "x" * 10_000) for number in range(40)]
    kept = extended(new_record(a_stored_placement(1)), entries, [], (1, "d"))
    assert kept["changes"] == entries[-13:]
    assert len(json.dumps(kept["changes"])) <= MOST_BYTES


def test_a_spec_that_is_too_large_is_not_kept() -> None:
    huge = a_stored_placement(2, predicates=[{"requiredClusterSelector": {"x": "y" * MOST_BYTES}}])
    kept = new_record(a_stored_placement(1))
    for placement in (a_stored_placement(1), huge):
        kept = extended(kept, [], [revision_of(placement, None, NOW)], (0, "d"))
    assert [each["revision"] for each in kept["revisions"]] == [1]


def test_a_spec_that_comes_back_unchanged_is_no_new_revision() -> None:
    kept = new_record(a_stored_placement(1))
    for generation in (1, 2):
        revision = revision_of(a_stored_placement(generation, numberOfClusters=1), None, NOW)
        kept = extended(kept, [], [revision], (0, "d"))
    assert [each["revision"] for each in kept["revisions"]] == [1]


def a_ref(number: int) -> Ref:
    return Ref("ManagedCluster", "", f"c{number}")


def test_several_changes_of_one_object_are_one_from_the_first_state_to_the_last() -> None:
    log = ChangeLog(Key)
    for old, new in ((1, 2), (2, 3)):
        log.note([P1], Noted(a_ref(0), {"at": old}, {"at": new}))
    assert log.take(P1).changes() == [Change(a_ref(0), {"at": 1}, {"at": 3})]
    assert log.take(P1).changes() == []


def test_changes_beyond_the_bound_are_counted_and_what_is_given_back_is_joined() -> None:
    log = ChangeLog(Key)
    for number in range(MOST_CHANGES + 5):
        log.note([P1], Noted(a_ref(number), None, {}))
    taken = log.take(P1)
    assert (len(taken.noted), taken.more) == (MOST_CHANGES, 5)
    log.note([P1], Noted(a_ref(0), {}, None))
    log.note([P1], Noted(a_ref(999), None, {}))
    log.give_back(P1, taken)
    joined = log.take(P1)
    assert (len(joined.noted), joined.more) == (MOST_CHANGES, 6)
    assert joined.noted[a_ref(0)] == Noted(a_ref(0), None, None)


def test_what_is_kept_for_longer_is_what_explains_the_move() -> None:
    log = ChangeLog(Key)
    for number in range(6):
        log.note([P1], Noted(a_ref(number), None, {}))
    log.note([P1], Noted(Ref("Placement", "apps", "p1"), {}, {}))
    taken = log.take(P1)
    kept = taken.trimmed({"c5"}, {"c1", "c2", "c5"}, 3)
    assert ([ref.name for ref in kept.noted], kept.more) == (["c5", "p1", "c1"], 1)
    del taken.noted[Ref("Placement", "apps", "p1")]
    beside = taken.trimmed(set(), {"z"}, 2)
    assert ([ref.name for ref in beside.noted], beside.more) == (["c0", "c1"], 4)
