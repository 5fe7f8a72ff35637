"""Taints that follow from availability, and leases that end."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from muster.api.parts import Condition
from muster.controllers.clusters import AVAILABLE, CLUSTERS, fault_of, is_tainted_wrongly, lease_ends, wanted_taints
from muster.controllers.runtime.conditions import merged
from tests.builders import a_cluster, a_taint

UNREACHABLE = "cluster.open-cluster-management.io/unreachable"
UNAVAILABLE = "cluster.open-cluster-management.io/unavailable"
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("status", "expected"),
    [("True", ["x"]), ("False", ["x", UNAVAILABLE]), ("Unknown", ["x", UNREACHABLE]), (None, ["x", UNREACHABLE])],
)
def test_taints_follow_the_available_condition(status: str | None, expected: list[str]) -> None:
    conditions = [{"type": AVAILABLE, "status": status}] if status else []
    cluster = a_cluster("c", taints=[a_taint(UNAVAILABLE), a_taint("x"), a_taint(UNREACHABLE)], conditions=conditions)
    assert sorted(taint.key for taint in wanted_taints(CLUSTERS.demanded(cluster))) == sorted(expected)


def test_a_taint_that_is_right_already_keeps_its_time() -> None:
    cluster = CLUSTERS.demanded(a_cluster("c", taints=[a_taint(UNREACHABLE, added="2026-01-01T00:00:00Z")]))
    assert wanted_taints(cluster) == cluster.spec.taints


def test_a_lease_ends_after_five_times_its_duration() -> None:
    cluster = a_cluster("c")
    assert lease_ends(NOW, CLUSTERS.demanded(cluster)) == NOW + timedelta(seconds=300)
    cluster["spec"]["leaseDurationSeconds"] = 10
    assert lease_ends(NOW, CLUSTERS.demanded(cluster)) == NOW + timedelta(seconds=50)


@pytest.mark.parametrize("status", ["True", "False", "Unknown", None])
@pytest.mark.parametrize("present", [[], [UNREACHABLE], [UNAVAILABLE], [UNREACHABLE, "x"], [UNREACHABLE, UNAVAILABLE]])
def test_a_look_finds_exactly_the_clusters_with_wrong_taints(status: str | None, present: list[str]) -> None:
    conditions = [{"type": AVAILABLE, "status": status}] if status else []
    cluster = CLUSTERS.demanded(a_cluster("c", taints=[a_taint(key) for key in present], conditions=conditions))
    assert is_tainted_wrongly(cluster) == ([taint.key for taint in wanted_taints(cluster)] != present)
    assert fault_of(cluster) is None


def test_the_time_of_a_condition_moves_only_with_its_status() -> None:
    present = [
        Condition("A", "True", "r", "m", "2025-01-01T00:00:00Z"),
        Condition("Gone", "True", "r", "", "2025-01-01T00:00:00Z"),
    ]
    wanted = {"A": ("True", "other", "text"), "B": ("False", "new", "")}
    assert merged(present, wanted, NOW, drop=["Gone"]) == (
        Condition("A", "True", "other", "text", "2025-01-01T00:00:00Z"),
        Condition("B", "False", "new", "", "2026-01-01T00:00:00Z"),
    )
    flipped = merged(present, {"A": ("False", "r", "m")}, NOW)
    assert flipped[0].last_transition_time == "2026-01-01T00:00:00Z"
