"""SIG-Multicluster's PlacementDecisions beside Open Cluster Management's, where that is set."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.controllers.placements.multicluster import label_of
from muster.controllers.placements.pages import packed
from muster.values.names import label_value_problems
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.placements.test_guards import defaults, settle
from tests.controllers.running import CLUSTERS, Driver, controllers, driven_hub, eventually

SLICES = "/apis/multicluster.x-k8s.io/v1alpha1/namespaces/apps/placementdecisions"
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]


def slices(hub: Driver) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = hub.get(SLICES)["items"]
    return found


def names(hub: Driver) -> list[str]:
    return sorted(each["clusterProfileRef"]["name"] for page in slices(hub) for each in page["decisions"])


def test_decisions_are_written_as_slices_that_stay_as_they_are_when_nothing_changes() -> None:
    with driven_hub() as hub:
        hub.create(a_binding("global"), a_placement(predicates=PROD))
        hub.create(*(a_cluster(f"c{number:03d}", {"env": "prod"}) for number in range(120)))
        with controllers(hub.hub) as manager:
            eventually(lambda: len(hub.decided()), 120)
            assert slices(hub) == []
            defaults(hub, multicluster_decisions="true")
            eventually(lambda: len(names(hub)), 120)
            settle(manager)
            first, second = slices(hub)
            assert first["metadata"]["labels"] == {
                "multicluster.x-k8s.io/decision-key": "p1",
                "multicluster.x-k8s.io/decision-index": "0",
            }
            assert (second["metadata"]["name"], len(second["decisions"])) == ("p1-decision-2", 20)
            assert first["schedulerName"] == "muster"
            reference = {"name": "c000", "namespace": "apps"}
            assert first["decisions"][0] == {"clusterProfileRef": reference, "reason": "matches predicate 1"}
            assert {"spec", "status"}.isdisjoint(first)
            # A change in the first slice leaves the second as it is, byte by byte.
            hub.patch(f"{CLUSTERS}/c000", {"metadata": {"labels": {"env": "test"}}})
            eventually(lambda: "c000" in names(hub), False)
            settle(manager)
            assert slices(hub)[1] == second
        with controllers(hub.hub) as manager:
            before = slices(hub)
            settle(manager)
            assert slices(hub) == before
            path = "/api/v1/namespaces/kube-system/configmaps/muster-decisions"
            # A typing mistake deletes nothing.
            hub.patch(path, {"data": {"multicluster-decisions": "yes"}})
            eventually(lambda: manager.placements.guards.fleet.guard is not None, True)
            settle(manager)
            assert slices(hub) == before
            hub.patch(path, {"data": {"multicluster-decisions": "false"}})
            eventually(lambda: slices(hub), [])


clusters = st.lists(st.integers(0, 400).map(lambda number: f"c{number}"), unique=True, max_size=320)


@given(st.lists(clusters, min_size=1, max_size=4))
def test_slices_hold_exactly_what_is_wanted_and_nobody_moves(states: list[list[str]]) -> None:
    present: list[tuple[str, ...]] = []
    for wanted in states:
        found = packed(present, wanted, 100)
        assert sorted(name for each in found for name in each) == sorted(wanted)
        assert all(len(each) <= 100 for each in found)
        home = {name: index for index, each in enumerate(present) for name in each}
        assert all(home.get(name, index) == index for index, each in enumerate(found) for name in each)
        assert packed(found, wanted, 100) == found
        present = found


@pytest.mark.parametrize("name", ["p1", "a" * 63, "a" * 64, "b" * 253, "x." * 100 + "y"])
def test_every_name_of_a_placement_has_a_label(name: str) -> None:
    assert label_value_problems(label_of(name)) == []
