"""`muster plan` over files: gains and losses, guards, merging, refusals, deletions."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set
from tests.cli.explaining import written

if TYPE_CHECKING:
    from pathlib import Path


def amazon(name: str = "p1", **spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}
    return a_placement(name, predicates=[{"requiredClusterSelector": selector}], **spec)


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    clusters = [a_cluster("a", {"cloud": "Amazon", "tier": "gold"}), a_cluster("b", {"cloud": "Azure"})]
    return written(tmp_path / "fleet.json", a_set("global"), a_binding("global"), *clusters, amazon())


def planned(fleet: str, change: str, *more: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run(["plan", "-f", change, "--fleet", fleet, *more], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def test_clusters_gained_and_lost_are_shown_by_placement(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", a_cluster("a", {"cloud": "Google"}), a_cluster("b", {"cloud": "Amazon"}))
    assert planned(fleet, change) == (0, "apps/p1: 1 → 1 clusters\n  + b\n  - a\n", "")
    assert planned(fleet, fleet) == (0, "no placement changes\n", "")


def test_what_a_file_leaves_out_stays_as_it_is(fleet: str, tmp_path: Path) -> None:
    """The label that the placement asks for is not in the file."""
    partial = {"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster"}
    change = written(tmp_path / "change.json", partial | {"metadata": {"name": "a", "labels": {"tier": "silver"}}})
    assert planned(fleet, change) == (0, "no placement changes\n", "")


def test_a_status_counts_only_where_apply_would_send_it(fleet: str, tmp_path: Path) -> None:
    text = 'managedCluster.scores("usage").exists(s, s.value > 5)'
    selector = {"celSelector": {"celExpressions": [text]}}
    wanted = a_placement("p1", predicates=[{"requiredClusterSelector": selector}])
    change = written(tmp_path / "change.json", wanted, a_score("b", {"free": 9}))
    assert planned(fleet, change)[1] == "apps/p1: 1 → 0 clusters\n  - a\n"
    assert planned(fleet, change, "--with-status")[1] == "apps/p1: 1 → 1 clusters\n  + b\n  - a\n"


def test_guards_trip_at_what_would_be_lost_and_at_what_would_be_empty(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", a_cluster("a", {"cloud": "Google"}))
    assert planned(fleet, change, "--fail-if-empty")[::2] == (1, "guard: apps/p1 would have no cluster\n")
    assert planned(fleet, change, "--fail-if-removes", "1")[::2] == (1, "guard: apps/p1 would lose 1 of 1 clusters\n")
    assert planned(fleet, change, "--fail-if-removes", "2")[0] == 0
    empty = written(tmp_path / "empty.json", amazon("p2", clusterSets=["nowhere"]))
    assert planned(fleet, empty, "--fail-if-empty")[::2] == (1, "guard: apps/p2 would have no cluster\n")


@pytest.mark.parametrize(
    ("annotation", "text", "code", "said"),
    [
        ("min-clusters", "1", 1, "the placement wants at least 1 clusters left, and 0 would be"),
        ("freeze-removals", "true", 1, "removals are frozen by the placement"),
        ("quiet-time", "10m", 0, "clusters go when they have been unwanted for 10m"),
        ("max-removals", "1", 0, ""),
    ],
)
def test_guards_of_a_placement_say_what_they_would_hold(
    tmp_path: Path, annotation: str, text: str, code: int, said: str
) -> None:
    """What only has to wait is told, and is no objection."""
    placement = amazon()
    placement["metadata"]["annotations"] = {f"placement.muster.dev/{annotation}": text}
    fleet = written(tmp_path / "f.json", a_set("global"), a_binding("global"), a_cluster("a", {"cloud": "Amazon"}))
    placements = written(tmp_path / "p.json", placement)
    change = written(tmp_path / "change.json", a_cluster("a", {"cloud": "Google"}))
    found, out, err = planned(fleet, change, "--fleet", placements)
    assert found == code
    told = err if code else out
    assert said in told
    assert ("apps/p1: 1 of 1 clusters would stay for now: a: " in told) is bool(said)
    assert out.startswith("apps/p1: 1 → 0 clusters\n")


def test_an_object_that_would_be_refused_is_named_with_its_place(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", amazon(numberOfClusters="many"))
    code, out, _ = planned(fleet, change, "-o", "json")
    (refused,) = json.loads(out)["refused"]
    assert (code, refused["origin"], refused["kind"], refused["name"]) == (1, f"{change}:1", "Placement", "p1")
    assert "numberOfClusters" in refused["reason"]


def test_a_misconfigured_placement_keeps_its_decisions(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", amazon(tolerations=[{"operator": "Equal"}]))
    code, out, _ = planned(fleet, change)
    assert code == 0
    assert out.startswith("apps/p1: 1 → 1 clusters\n  ! misconfigured, its decisions would stay: ")


def test_deleting_is_planned_too(fleet: str, tmp_path: Path) -> None:
    cluster = written(tmp_path / "cluster.json", a_cluster("a"))
    assert planned(fleet, cluster, "--delete")[1] == "apps/p1: 1 → 0 clusters\n  - a\n"
    binding = written(tmp_path / "binding.json", a_binding("global"))
    assert planned(fleet, binding, "--delete")[1] == "apps/p1: 1 → 0 clusters\n  - a\n"
    nothing = written(tmp_path / "nothing.json", a_cluster("z"))
    assert planned(fleet, nothing, "--delete")[1] == "no placement changes\n"


def test_machines_get_all_of_it(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", amazon("p2"))
    assert json.loads(planned(fleet, change, "-o", "json")[1]) == {
        "placements": [
            {
                "namespace": "apps",
                "name": "p2",
                "before": 0,
                "after": 1,
                "gained": ["a"],
                "lost": [],
                "isNew": True,
                "isDeleted": False,
            }
        ],
        "refused": [],
    }


def test_without_files_there_is_nothing_to_plan() -> None:
    out, err = io.StringIO(), io.StringIO()
    assert run(["plan"], io.StringIO(), out, err) == 2
    assert err.getvalue() == "muster: nothing to plan: name files, directories or - with -f\n"
