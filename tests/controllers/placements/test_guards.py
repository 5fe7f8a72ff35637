"""The stories of guards, with a hub and the controllers: nothing is lost without approval, additions are never late."""

from __future__ import annotations

import json
import random
import time
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.running import APPS, CLUSTERS, GROUP, SETS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.controllers.manager import Manager

P1 = f"{APPS}/placements/p1"
RECORD = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementguardrecords/p1"
BINDINGS = f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings"
PREFIX = "placement.muster.dev"
EVENTS = "/api/v1/namespaces/apps/events"
TEN = [f"c{number}" for number in range(10)]
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]


class Clock:
    """Moves when it is told to."""

    def __init__(self) -> None:
        self.now = datetime(2026, 11, 16, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def advance(self, **length: float) -> None:
        self.now += timedelta(**length)


def guarded(name: str = "p1", /, **texts: str) -> dict[str, Any]:
    placement = a_placement(name, predicates=PROD)
    annotations = {f"{PREFIX}/{key.replace('_', '-')}": text for key, text in texts.items()}
    placement["metadata"] |= {"annotations": annotations}
    return placement


@contextmanager
def stage(*placements: dict[str, Any], clock: Clock | None = None) -> Iterator[tuple[Driver, Manager]]:
    """Ten clusters that every placement selects."""
    at = clock or Clock()
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN), *placements)
        with controllers(hub.hub, clock=at) as manager:
            for placement in placements:
                name = placement["metadata"]["name"]
                eventually(partial(hub.decided, name), TEN)
            yield hub, manager


def relabel(hub: Driver, names: list[str], env: str | None) -> None:
    for name in names:
        hub.patch(f"{CLUSTERS}/{name}", {"metadata": {"labels": {"env": env}}})


def held(hub: Driver, name: str = "p1") -> dict[str, Any] | None:
    record = hub.get(RECORD.replace("p1", name))
    return None if record is None else record.get("held")


def held_names(hub: Driver, name: str = "p1") -> list[str]:
    return list((held(hub, name) or {}).get("clusters", ()))


def held_count(hub: Driver, name: str) -> int:
    return len(held_names(hub, name))


def message(hub: Driver) -> str:
    conditions = hub.get(P1)["status"]["conditions"]
    return next((each["message"] for each in conditions if each["type"] == "RemovalsHeld"), "")


def approve(hub: Driver, digest: str, name: str = "p1") -> None:
    annotation = {f"{PREFIX}/approve-removals": digest}
    hub.patch(P1.replace("p1", name), {"metadata": {"annotations": annotation}})


def look_again(hub: Driver, *names: str) -> None:
    """Have placements looked at: the tests' clock moves without anybody waking up."""
    for name in names or ("p1",):
        hub.patch(P1.replace("p1", name), {"metadata": {"labels": {"looked-at": str(time.monotonic_ns())}}})


def settle(manager: Manager) -> None:
    """Until nothing is to be done, twice in a row."""
    quiet = 0
    deadline = time.monotonic() + 20
    while quiet < 3:
        quiet = quiet + 1 if manager.idle else 0
        assert time.monotonic() < deadline
        time.sleep(0.03)


def test_a_label_edit_that_would_empty_a_placement_removes_nothing_and_says_so() -> None:
    with stage(guarded(max_removals="3")) as (hub, manager):
        hub.patch(
            P1,
            {"spec": {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "x"}}}}]}},
        )
        eventually(lambda: held_names(hub), TEN)
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "TooManyRemovals"))
        settle(manager)
        assert hub.decided() == TEN
        found = held(hub)
        assert found is not None
        assert found["digest"] in message(hub)
        assert "10 of 10 clusters would be removed" in message(hub)
        assert "c0, c1, c2" in message(hub)
        events = hub.get(EVENTS)["items"]
        assert [each["type"] for each in events if each["reason"] == "RemovalsHeld"] == ["Warning"]
        assert hub.get(P1)["status"]["numberOfSelectedClusters"] == 10
        # Additions are not late.
        hub.create(a_cluster("new", {"env": "x"}))
        eventually(lambda: hub.decided(), [*TEN, "new"])
        # An approval lets exactly this change through, once.
        approve(hub, found["digest"])
        eventually(lambda: hub.decided(), ["new"])
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), None)
        eventually(lambda: held(hub), None)
        eventually(lambda: "RemovalsApproved" in {each["reason"] for each in hub.get(EVENTS)["items"]}, True)


def test_what_is_put_right_again_goes_on_as_if_nothing_had_happened() -> None:
    with stage(guarded(freeze_removals="true")) as (hub, manager):
        relabel(hub, TEN[:5], None)
        eventually(lambda: held_names(hub), TEN[:5])
        relabel(hub, TEN[:5], "prod")
        eventually(lambda: held(hub), None)
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), None)
        settle(manager)
        assert hub.decided() == TEN


@pytest.mark.parametrize("revoked", [f"{BINDINGS}/global", f"{SETS}/blue"])
def test_what_a_revoked_binding_or_a_deleted_set_would_take_is_held_and_flagged(revoked: str) -> None:
    by_set = guarded(max_removals="20%")
    is_set = revoked.endswith("blue")
    with driven_hub() as hub:
        selector = {"selectorType": "LabelSelector", "labelSelector": {"matchLabels": {"env": "prod"}}}
        blue = {
            "apiVersion": "cluster.open-cluster-management.io/v1beta2",
            "kind": "ManagedClusterSet",
            "metadata": {"name": "blue"},
            "spec": {"clusterSelector": selector},
        }
        hub.create(blue, a_binding("blue" if is_set else "global"))
        hub.create(*(a_cluster(name, {"env": "prod"}) for name in TEN), by_set)
        with controllers(hub.hub) as manager:
            eventually(lambda: hub.decided(), TEN)
            hub.send("DELETE", revoked)
            eventually(lambda: (held(hub) or {}).get("revoked"), 10)
            eventually(lambda: "in no cluster set any more" in message(hub), True)
            settle(manager)
            assert hub.decided() == TEN


def test_forty_percent_unreachable_within_a_quiet_time_are_one_change_and_lose_nothing() -> None:
    clock = Clock()
    with stage(guarded(max_removals="30%", quiet_time="5m"), clock=clock) as (hub, manager):
        for name in TEN[:4]:
            unknown = {"type": "ManagedClusterConditionAvailable", "status": "Unknown", "reason": "LeaseLost"}
            status = {"conditions": [{**unknown, "message": "", "lastTransitionTime": "2026-11-16T12:00:00Z"}]}
            hub.patch(f"{CLUSTERS}/{name}/status", {"status": status})
        eventually(lambda: held_names(hub), TEN[:4])
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "TooManyRemovals"))
        clock.advance(minutes=6)
        look_again(hub)
        settle(manager)
        assert hub.decided() == TEN


def test_clusters_that_are_deleted_are_held_too() -> None:
    with stage(guarded(max_removals="3")) as (hub, manager):
        for name in TEN[:4]:
            hub.send("DELETE", f"{CLUSTERS}/{name}")
        eventually(lambda: held_names(hub)[-1:], ["c3"])
        eventually(lambda: "do not exist any more" in message(hub), True)
        settle(manager)
        # Those that went before it became too many were within the guard.
        assert set(TEN) - set(hub.decided()) <= set(TEN[:3])
        assert len(held_names(hub)) + len(set(TEN) - set(hub.decided())) == 4


def test_a_restart_in_the_middle_forgets_neither_the_window_nor_the_hold() -> None:
    clock = Clock()
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(guarded(max_removals="3", removal_window="1h"))
        with controllers(hub.hub, clock=clock) as manager:
            eventually(lambda: hub.decided(), TEN)
            hub.patch(P1, {"spec": {"numberOfClusters": 8}})
            eventually(lambda: len(hub.decided()), 8)
            settle(manager)
        eight = hub.decided()
        hub.patch(P1, {"spec": {"numberOfClusters": 6}})
        with controllers(hub.hub, clock=clock) as manager:
            eventually(lambda: (held(hub) or {}).get("count"), 2)
            settle(manager)
            before = held(hub)
        with controllers(hub.hub, clock=clock) as manager:
            settle(manager)
            assert hub.decided() == eight
            assert held(hub) == before
            clock.advance(minutes=61)
            look_again(hub)
            eventually(lambda: len(hub.decided()), 6)


def test_an_outdated_approval_lets_nothing_through() -> None:
    with stage(guarded(freeze_removals="true")) as (hub, manager):
        relabel(hub, TEN[:2], None)
        eventually(lambda: held_names(hub), TEN[:2])
        outdated = held(hub)
        assert outdated is not None
        relabel(hub, TEN[2:3], None)
        eventually(lambda: held_names(hub), TEN[:3])
        approve(hub, outdated["digest"])
        eventually(lambda: (held(hub) or {}).get("reasons"), ["RemovalsFrozen", "ApprovalOutdated"])
        settle(manager)
        assert hub.decided() == TEN


def test_plans_ask_the_same_guards_and_change_nothing() -> None:
    with stage(guarded(max_removals="3")) as (hub, manager):
        guards, key = manager.placements.guards, next(iter(manager.world.placements))
        metadata = manager.world.placements[key].obj.metadata
        seen = [guards.foresee(key, metadata, TEN, TEN[4:], datetime(2026, 11, 16, 12, tzinfo=UTC)) for _ in range(2)]
        assert [each.held for each in seen] == [tuple(TEN[:4])] * 2
        assert guards.foresee(key, metadata, TEN, TEN[3:], datetime(2026, 11, 16, 12, tzinfo=UTC)).held == ()
        assert hub.get(RECORD) is None


def test_an_approval_is_used_once() -> None:
    with stage(guarded(freeze_removals="true")) as (hub, manager):
        relabel(hub, TEN[:2], None)
        eventually(lambda: held_names(hub), TEN[:2])
        digest = (held(hub) or {})["digest"]
        approve(hub, digest)
        eventually(lambda: hub.decided(), TEN[2:])
        relabel(hub, TEN[:2], "prod")
        eventually(lambda: hub.decided(), TEN)
        relabel(hub, TEN[:2], None)
        eventually(lambda: held_names(hub), TEN[:2])
        settle(manager)
        assert hub.decided() == TEN
        assert (held(hub) or {})["digest"] != digest


def test_a_quiet_time_outlasts_a_flap() -> None:
    clock = Clock()
    with stage(guarded(quiet_time="10m"), clock=clock) as (hub, manager):
        relabel(hub, TEN[:1], None)
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "QuietTime"))
        clock.advance(minutes=9)
        relabel(hub, TEN[:1], "prod")
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), None)
        relabel(hub, TEN[:1], None)
        eventually(lambda: held_names(hub), TEN[:1])
        clock.advance(minutes=9)
        look_again(hub)
        settle(manager)
        assert hub.decided() == TEN
        clock.advance(minutes=2)
        look_again(hub)
        eventually(lambda: hub.decided(), TEN[1:])


def test_held_clusters_may_exceed_the_wanted_number_and_new_ones_still_come() -> None:
    placement = guarded(freeze_removals="true")
    placement["spec"]["numberOfClusters"] = 10
    with stage(placement) as (hub, _):
        hub.create(*(a_cluster(f"d{number}", {"env": "prod"}) for number in range(5)))
        relabel(hub, TEN[:5], None)
        eventually(lambda: hub.decided(), [*TEN, *(f"d{number}" for number in range(5))])
        eventually(lambda: hub.get(P1)["status"]["numberOfSelectedClusters"], 15)
        eventually(lambda: hub.get(P1)["status"]["decisionGroups"][0]["clusterCount"], 15)


def test_a_deleted_page_comes_back_with_the_clusters_that_are_held() -> None:
    with stage(guarded(freeze_removals="true")) as (hub, manager):
        relabel(hub, TEN[:5], None)
        eventually(lambda: held_names(hub), TEN[:5])
        hub.send("DELETE", f"{APPS}/placementdecisions/p1-decision-1")
        eventually(lambda: hub.decided(), TEN)
        settle(manager)
        assert hub.decided() == TEN


def test_deleting_the_placement_is_the_users_will() -> None:
    with stage(guarded(freeze_removals="true")) as (hub, _):
        hub.send("DELETE", P1)
        eventually(lambda: hub.decided(), [])


def defaults(hub: Driver, **data: str) -> None:
    config_map = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "muster-decisions", "namespace": "kube-system"},
        "data": {name.replace("_", "-"): text for name, text in data.items()},
    }
    hub.send("POST", "/api/v1/namespaces/kube-system/configmaps", config_map)


def test_defaults_of_the_fleet_hold_for_every_placement_and_annotations_only_tighten_them() -> None:
    with stage(guarded(max_removals="9"), guarded("p2"), guarded("p3", max_removals="1")) as (hub, manager):
        defaults(hub, max_removals="2")
        eventually(lambda: manager.placements.guards.fleet.guard is not None, True)
        hub.patch(f"{APPS}/placements/p3", {"spec": {"numberOfClusters": 8}})
        relabel(hub, TEN[:1], None)
        eventually(lambda: hub.decided("p1"), TEN[1:])
        eventually(lambda: hub.decided("p2"), TEN[1:])
        for name in ("p1", "p2"):
            hub.patch(f"{APPS}/placements/{name}", {"spec": {"numberOfClusters": 7}})
            eventually(partial(held_count, hub, name), 2)
        settle(manager)
        assert hub.decided("p3") == TEN


def test_the_brake_of_the_fleet_holds_every_placement_until_it_is_released() -> None:
    clock = Clock()
    with stage(*(guarded(f"p{number}") for number in range(1, 5)), clock=clock) as (hub, manager):
        defaults(hub, brake="11%", brake_window="10m")
        eventually(lambda: manager.placements.guards.fleet.brake is not None, True)
        settle(manager)
        # Forty decisions, of which four may go. The first cluster takes four with it, in four placements.
        relabel(hub, TEN[:1], None)
        for name in ("p1", "p2", "p3", "p4"):
            eventually(partial(hub.decided, name), TEN[1:])
        relabel(hub, TEN[1:2], None)
        for name in ("p1", "p2", "p3", "p4"):
            eventually(partial(held_names, hub, name), TEN[1:2])
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "FleetBrake"))
        settle(manager)
        assert [hub.decided(f"p{number}") for number in range(1, 5)] == [TEN[1:]] * 4
        # One change that is approved goes; the others wait, because what remains is still too much for now.
        approve(hub, (held(hub, "p2") or {})["digest"], "p2")
        eventually(lambda: hub.decided("p2"), TEN[2:])
        settle(manager)
        assert hub.decided("p1") == TEN[1:]
        clock.advance(minutes=11)
        look_again(hub, "p1", "p2", "p3", "p4")
        for name in ("p1", "p3", "p4"):
            eventually(partial(hub.decided, name), TEN[2:])


def test_defaults_that_cannot_be_read_let_nothing_go() -> None:
    with stage(guarded()) as (hub, manager):
        defaults(hub, max_removal="2")
        eventually(lambda: manager.placements.guards.fleet.guard is not None, True)
        relabel(hub, TEN[:1], None)
        eventually(lambda: hub.condition(P1, "RemovalsHeld"), ("True", "GuardUnreadable"))
        settle(manager)
        assert hub.decided() == TEN
        assert "did you mean max-removals?" in message(hub)
        hub.send("DELETE", "/api/v1/namespaces/kube-system/configmaps/muster-decisions")
        eventually(lambda: hub.decided(), TEN[1:])


def removals(hub: Driver, since: str, decided: list[str]) -> list[str]:
    """Every cluster that has left the one page since a version, by all that the hub has kept of it."""
    path = f"{APPS}/placementdecisions?watch=true&resourceVersion={since}&timeoutSeconds=1"
    _, _, answer = hub.hub.request("GET", path)
    gone: list[str] = []
    before = set(decided)
    for line in answer.splitlines():
        now = {each["clusterName"] for each in json.loads(line)["object"].get("status", {}).get("decisions", [])}
        gone += sorted(before - now)
        before = now
    return gone


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2])
def test_whatever_happens_in_whatever_order_a_window_lets_no_more_go_than_it_allows(seed: int) -> None:
    """Labels, edits, outdated approvals and restarts, window by window, with a clock that is ours."""
    order, clock, most = random.Random(seed), Clock(), 3
    with driven_hub() as hub:
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(guarded(max_removals=str(most), removal_window="1h"))
        for window in range(3):
            since, approved = hub.get(f"{APPS}/placementdecisions")["metadata"]["resourceVersion"], list[str]()
            decided = hub.decided()
            for _ in range(2):
                with controllers(hub.hub, clock=clock) as manager:
                    settle(manager)
                    for _ in range(8):
                        match order.choice(("label", "label", "number", "outdated")):
                            case "label":
                                relabel(hub, order.sample(TEN, 2), order.choice(("prod", "test")))
                            case "number":
                                hub.patch(P1, {"spec": {"numberOfClusters": order.choice((3, 6, 10))}})
                            case "outdated":
                                approve(hub, order.choice(("0" * 20, "f" * 20)))
                    settle(manager)
                    if window == 1 and (waiting := held(hub)) is not None:
                        approved += waiting["clusters"]
                        approve(hub, waiting["digest"])
                        eventually(lambda: held(hub), None)
                        settle(manager)
            gone = removals(hub, since, decided)
            for name in approved:
                gone.remove(name)
            assert len(gone) <= most, gone
            clock.advance(minutes=61)
