"""`muster explain` over files: trees for people, documents for machines."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

import pytest
import yaml

from muster.cli.main import run
from muster.cli.terminal.paint import paint_for
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.cli.explaining import a_fleet_file, amazon, called, written

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    return a_fleet_file(tmp_path)


def test_the_funnel_of_a_placement_is_shown_with_counts_values_and_near_misses(fleet: str) -> None:
    assert called("explain", "placement", "p1", "-n", "apps", "--fleet", fleet) == (
        0,
        "placement apps/p1: 1 of 2 clusters\n"
        "├─ ClusterSets: 2 → 2\n"
        "├─ Predicate: 2 → 1\n"
        "│       1  predicate 1: label cloud=Amazon does not hold\n"
        "│          they have: Azure (1)\n"
        "│          b\n"
        "├─ TaintToleration: 1 → 1\n"
        "├─ Pick: 1 → 1\n"
        "├─ nearest misses\n"
        "│    b: Predicate: predicate 1: label cloud is 'Azure'; wanted cloud=Amazon\n"
        "└─ selected\n"
        "     a: rank 1, score 100 (Balance 100, Steady 0)\n",
        "",
    )


def test_the_way_of_one_cluster_is_shown_step_by_step(fleet: str) -> None:
    assert called("explain", "placement", "p1", "--fleet", fleet, "--cluster", "b") == (
        1,
        "b in apps/p1: no: Predicate: predicate 1: label cloud is 'Azure'; wanted cloud=Amazon\n"
        "├─ ✓ set global: every label requirement holds (bound by ManagedClusterSetBinding apps/global)\n"
        '├─ ✗ predicate 1: label cloud=Amazon; labels["cloud"] = "Azure"\n'
        "├─ ✓ taints: none\n"
        "└─ removed by Predicate\n",
        "",
    )
    code, out, _ = called("explain", "placement", "p1", "--fleet", fleet, "--cluster", "a")
    assert (code, out.splitlines()[-3:]) == (
        0,
        [
            "├─ Balance: 100",
            "├─ Steady: 0",
            "└─ score 100, rank 1, above the cut: all 1 that fit are taken (all are wanted)",
        ],
    )


def test_machines_get_json_and_yaml(fleet: str) -> None:
    args = ("explain", "placement", "p1", "--fleet", fleet)
    found = json.loads(called(*args, "-o", "json")[1])
    assert found == yaml.safe_load(called(*args, "-o", "yaml")[1])
    assert (found["selected"], found["nearMisses"][0]["cluster"]) == (["a"], "b")
    assert found["funnel"][1]["reasons"][0]["values"] == [["Azure", 1]]
    (way,) = [json.loads(called(*args, "--cluster", "b", "-o", "json")[1])]
    assert (way["stage"], way["checks"][1]["observed"][0]["value"]) == ("Predicate", '"Azure"')


def test_a_placement_that_is_not_saved_is_explained_from_its_file(fleet: str, tmp_path: Path) -> None:
    draft = written(tmp_path / "draft.json", a_placement("draft", namespace="elsewhere"))
    code, out, _ = called("explain", "placement", "-f", draft, "--fleet", fleet)
    assert (code, out.splitlines()[2]) == (0, "│       2  no cluster set is bound to namespace elsewhere")
    code, _, err = called("explain", "placement", "--fleet", fleet)
    assert (code, err) == (
        2,
        "muster: say which placement: by name, or with -f FILE that has one Placement in it\n",
    )


def test_a_placement_that_cannot_be_scheduled_is_explained_too(fleet: str, tmp_path: Path) -> None:
    broken = {"requiredClusterSelector": {"celSelector": {"celExpressions": ["nope"]}}}
    draft = written(tmp_path / "draft.json", a_placement("draft", predicates=[broken]))
    code, out, _ = called("explain", "placement", "-f", draft, "--fleet", fleet)
    assert (code, out.splitlines()[2:4]) == (
        0,
        [
            "├─ Misconfigured: 2 → 0",
            "│       2  the placement is misconfigured: failed to compile CEL expression 'nope': ERROR: <input>:1:1: "
            "undeclared reference to 'nope' (in container '')",
        ],
    )


def test_a_cluster_is_explained_over_all_placements(fleet: str) -> None:
    assert called("explain", "cluster", "b", "--fleet", fleet)[1] == (
        "cluster b: taken by 0 of 1 placements\n"
        "├─ in set global: every label requirement holds; bound to apps\n"
        "├─ no  apps/p1: Predicate: predicate 1: label cloud is 'Azure'; wanted cloud=Amazon\n"
        "└─ more: muster explain placement NAME --cluster b\n"
    )


def test_many_placements_are_summarised_by_stage(tmp_path: Path) -> None:
    placements = [{**amazon(), "metadata": {"name": f"p{number:02}", "namespace": "apps"}} for number in range(30)]
    file = written(tmp_path / "many.json", a_set(), a_binding(), a_cluster("b"), *placements)
    lines = called("explain", "cluster", "b", "--fleet", file)[1].splitlines()
    assert (len(lines), lines[-2]) == (24, "├─ … and 10 more placements: removed by Predicate")


def test_a_set_is_explained_by_its_rule_its_members_and_who_chooses_from_it(fleet: str, tmp_path: Path) -> None:
    assert called("explain", "set", "global", "--fleet", fleet)[1] == (
        "set global: 2 clusters by every cluster\n"
        "├─ members: a, b\n"
        "├─ bound to: apps\n"
        "└─ placements that choose from it: apps/p1\n"
    )
    file = written(tmp_path / "set.json", a_set("gpu", {"gpu": "yes"}), a_cluster("a", {"gpu": "no"}))
    assert called("explain", "set", "gpu", "--fleet", file)[1] == (
        "set gpu: 0 clusters by labels gpu=yes\n"
        "├─      1  without labels gpu=yes\n"
        "│          they have: no (1)\n"
        "│          a\n"
        "├─ bound to: no namespace, so no placement can choose from it\n"
        "└─ placements that choose from it: none\n"
    )


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("set", "globl"), "there is no ManagedClusterSet 'globl': did you mean global?"),
        (("cluster", "nothing-like-it"), "there is no ManagedCluster 'nothing-like-it'"),
        (("placement", "p2"), "there is no Placement 'p2' in namespace default"),
        (
            ("placement", "p1", "-n", "shop"),
            "there is no Placement 'p1' in namespace shop; it is in apps: name one with -n",
        ),
    ],
)
def test_a_name_that_is_not_there_is_told_what_is(fleet: str, args: tuple[str, ...], message: str) -> None:
    assert called("explain", *args, "--fleet", fleet) == (2, "", f"muster: {message}\n")


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_colour_is_for_terminals_only_and_not_with_no_color(monkeypatch: pytest.MonkeyPatch, fleet: str) -> None:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    terminal = _Terminal()
    run(["explain", "placement", "p1", "--fleet", fleet], io.StringIO(), terminal, io.StringIO())
    assert "\x1b[32ma\x1b[0m: rank 1" in terminal.getvalue()
    assert not paint_for(io.StringIO()).coloured
    monkeypatch.setenv("NO_COLOR", "1")
    assert not paint_for(_Terminal()).coloured


def test_values_cannot_steer_the_terminal(tmp_path: Path) -> None:
    selector = {"claimSelector": {"matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}}
    placement = a_placement("p1", predicates=[{"requiredClusterSelector": selector}])
    file = written(tmp_path / "odd.json", a_cluster("a", claims={"k": "\x1b[2J"}), placement)
    for args in (("placement", "p1"), ("placement", "p1", "--cluster", "a"), ("cluster", "a")):
        assert "\x1b" not in called("explain", *args, "--fleet", file)[1]


def test_a_number_that_is_none_in_a_field_that_nobody_reads_keeps_nobody_from_an_answer(tmp_path: Path) -> None:
    reading = "managedCluster.spec.leaseDurationSeconds > 5"
    predicate = {"requiredClusterSelector": {"celSelector": {"celExpressions": [reading]}}}
    placements = [a_placement("labels"), a_placement("reads", predicates=[predicate])]
    file = tmp_path / "fleet.json"
    text = written(file, a_set("global"), a_binding("global"), *placements, a_cluster("a", {"cloud": "Amazon"}))
    cluster = (
        '{"apiVersion":"v1","kind":"ManagedCluster","metadata":{"name":"b"},"spec":{"leaseDurationSeconds":1e999}}\n'
    )
    file.write_bytes(file.read_bytes() + cluster.encode())
    code, out, _ = called("explain", "placement", "labels", "-n", "apps", "--fleet", text)
    assert (code, out.splitlines()[0]) == (0, "placement apps/labels: 2 of 2 clusters")
    assert called("explain", "placement", "reads", "-n", "apps", "--fleet", text) == (
        2,
        "",
        f"muster: {text}:6: not valid JSON: Number out of range - at `$[...][...]`\n",
    )
