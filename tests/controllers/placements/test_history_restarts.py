"""Histories over restarts and deaths of the controllers, and within their bounds."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.placements.history import HistoryKeeper
from muster.controllers.placements.history_record import (
    digest_of,
)
from muster.controllers.placements.keys import Key
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
