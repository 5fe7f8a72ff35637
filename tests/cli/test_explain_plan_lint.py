"""`muster explain`, `muster plan` and `muster lint` over files."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement, a_set

if TYPE_CHECKING:
    from pathlib import Path


def amazon(**spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}
    return a_placement("p1", predicates=[{"requiredClusterSelector": selector}], **spec)


def written(path: Path, *objects: dict[str, Any]) -> str:
    path.write_bytes(b"".join(msgspec.json.encode(obj) + b"\n" for obj in objects))
    return str(path)


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    clusters = [a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})]
    return written(tmp_path / "fleet.json", a_set("global"), a_binding("global"), *clusters, amazon())


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(args, io.StringIO(), out, err), out.getvalue(), err.getvalue()


def test_explain_shows_the_funnel_and_the_way_of_one_cluster(fleet: str) -> None:
    code, out, _ = called("explain", "placement", "p1", "-n", "apps", "--fleet", fleet)
    assert (code, out) == (
        0,
        "placement p1: 1 of 2 clusters\n"
        "├─ ClusterSets: 2 → 2\n"
        "├─ Predicate: 2 → 1\n"
        "│         1 predicate 1: labels do not satisfy cloud=Amazon (b)\n"
        "├─ TaintToleration: 1 → 1\n"
        "├─ Pick: 1 → 1\n"
        "└─ a\n",
    )
    code, out, _ = called("explain", "placement", "p1", "-n", "apps", "--fleet", fleet, "--cluster", "b")
    assert code == 1
    assert "├─ ✗ predicate 1: label cloud is 'Azure'; wanted cloud=Amazon\n" in out
    found = json.loads(called("explain", "placement", "p1", "-n", "apps", "--fleet", fleet, "--json")[1])
    assert found["selected"] == ["a"]


def test_explain_cluster_and_set(fleet: str) -> None:
    assert called("explain", "cluster", "b", "--fleet", fleet)[1] == (
        "no  apps/p1: Predicate: predicate 1: label cloud is 'Azure'; wanted cloud=Amazon\n"
    )
    assert called("explain", "set", "global", "--fleet", fleet)[1] == (
        "global has 2 clusters, by no condition\nbound to: apps\n  a\n  b\n"
    )
    code, _, err = called("explain", "set", "nope", "--fleet", fleet)
    assert (code, err) == (2, "muster: there is no ManagedClusterSet 'nope'\n")


def test_plan_shows_gains_and_losses_and_its_guards_trip(fleet: str, tmp_path: Path) -> None:
    change = written(tmp_path / "change.json", a_cluster("a", {"cloud": "Google"}))
    assert called("plan", "-f", change, "--fleet", fleet) == (0, "apps/p1: 1 → 0 clusters\n  - a\n", "")
    code, _, err = called("plan", "-f", change, "--fleet", fleet, "--fail-if-empty")
    assert (code, err) == (1, "guard: apps/p1 would lose 1 of 1\n")
    assert called("plan", "-f", change, "--fleet", fleet, "--fail-if-removes", "2")[0] == 0
    assert called("plan", "-f", fleet, "--fleet", fleet)[1] == "no placement changes\n"


def test_lint_finds_and_counts(fleet: str, tmp_path: Path) -> None:
    assert called("lint", "--fleet", fleet) == (0, "0 findings in 1 placements over 2 clusters\n", "")
    bad = written(tmp_path / "bad.json", amazon(tolerations=[{"key": "x", "operator": "Exists"}]))
    code, out, _ = called("lint", "-f", bad, "--fleet", fleet)
    assert (code, out.splitlines()) == (
        1,
        [
            f"{bad}:1: apps/p1: spec.tolerations[0]: tolerates no taint that a cluster has (there are none)",
            "1 findings in 1 placements over 2 clusters",
        ],
    )
