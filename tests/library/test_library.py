"""`import muster`: results, tables for notebooks, and errors of ours for whatever is handed in."""

from __future__ import annotations

import asyncio
import datetime as dt
import doctest
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
import yaml

import muster
from muster.errors import InvalidObjectError
from tests.builders import a_binding, a_cluster, a_placement, a_set

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "examples"
FLEET = [a_set(), a_binding(), a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})]
AMAZON = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}}
HOST = {"kind": "Agent", "metadata": {"name": "h", "namespace": "n"}, "status": {"inventory": {"cpu": {"count": 64}}}}
BIG = {"labelKey": "size", "labelValue": "big", "query": ".cpu.count > 8"}
CLASSIFICATION = {"kind": "AgentClassification", "metadata": {"name": "<b>big", "namespace": "n"}, "spec": BIG}
CATALOG = EXAMPLES / "03-resolve-operators" / "catalog.yaml"


def placed(*predicates: dict[str, Any]) -> dict[str, Any]:
    return a_placement("web", predicates=list(predicates))


@pytest.mark.parametrize("module", ["classifying", "linting", "loading", "planning", "resolving"])
def test_examples_in_docstrings_are_true(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    results = doctest.testmod(import_module(f"muster.library.{module}"))
    assert (results.failed, results.attempted > 0) == (0, True)


# ------------------------------------------------------------------------------------------------------- results


def test_load_reads_files_and_directories_and_finds_objects_by_name() -> None:
    objects = muster.load(EXAMPLES / "05-why-not" / "fleet.yaml", str(EXAMPLES / "06-first-look"))
    assert objects.kinds["ManagedCluster"] == 8
    assert [each["metadata"]["name"] for each in objects.of_kind("Placement")] == ["checkout"]
    assert objects.named("prod", "ManagedClusterSet")["kind"] == "ManagedClusterSet"
    assert repr(objects[:0]) == "<Objects: none>"
    assert len(objects[:2] + objects[2:]) == len(objects)
    with pytest.raises(
        InvalidObjectError, match="object 'prod' may be any of ManagedClusterSet prod, ManagedClusterSetB"
    ):
        objects.named("prod")
    with pytest.raises(InvalidObjectError, match="there is no Placement 'nothing'"):
        objects.named("nothing", "Placement")


def test_load_says_where_a_file_cannot_be_read(tmp_path: Path) -> None:
    broken = tmp_path / "broken.yaml"
    broken.write_text("apiVersion: v1\nkind: {", encoding="utf-8")
    with pytest.raises(InvalidObjectError, match=r"broken.yaml:\d+:\d+: not valid YAML"):
        muster.load(broken)
    with pytest.raises(InvalidObjectError, match="no such file or directory"):
        muster.load(tmp_path / "nothing")


def test_what_other_yaml_readers_make_of_times_is_taken() -> None:
    text = "kind: ManagedCluster\nmetadata: {name: a, creationTimestamp: 2024-05-06T07:08:09Z}"
    found = muster.select([yaml.safe_load(text)], "managedCluster.metadata.creationTimestamp == '2024-05-06T07:08:09Z'")
    assert found.names == ("a",)


def test_a_list_as_kubectl_prints_it_is_a_fleet() -> None:
    listed = {"apiVersion": "v1", "kind": "List", "items": FLEET}
    assert muster.select(listed, labels="cloud=Azure").names == ("b",)
    assert muster.select(FLEET[2], labels="cloud=Amazon").names == ("a",)


def test_a_selection_is_a_collection_and_a_table() -> None:
    found = muster.select(FLEET, labels="cloud=Amazon")
    assert (list(found), len(found), "a" in found, "b" in found) == (["a"], 1, True, False)
    assert str(found).splitlines()[0] == "1 of 2 selected"
    by_placement = muster.select(FLEET, placement=placed(AMAZON))
    assert dict(by_placement.reasons).keys() == {"a", "b"}
    assert "<td" in by_placement._repr_html_()


def test_a_plan_says_who_gains_and_loses_and_what_guards_say() -> None:
    everything, azure = (
        placed(),
        placed({"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "x"}}}}),
    )
    planned = muster.plan(FLEET, placed(AMAZON))
    assert [(each.name, each.before, each.after, each.gained.names) for each in planned.placements] == [
        ("web", 0, 1, ("a",))
    ]
    assert planned.allowed
    shrunk = muster.plan([*FLEET, everything], azure, fail_if_empty=True)
    assert [one.name for one in shrunk.placements[0].lost.clusters] == ["a", "b"]
    assert not shrunk.allowed
    assert "apps/web" in shrunk._repr_html_()
    gone = muster.plan([*FLEET, everything], delete=everything)
    assert gone.placements[0].deleted


def test_a_plan_says_what_a_server_would_refuse() -> None:
    planned = muster.plan(FLEET, a_placement("web", numberOfClusters="two"))
    assert (planned.allowed, len(planned.refused)) == (False, 1)
    assert "refused" in str(planned)


def test_a_plan_is_made_where_a_loop_runs_as_in_a_notebook() -> None:
    async def cell() -> int:
        return len(muster.plan(FLEET, placed(AMAZON)).placements)

    assert asyncio.run(cell()) == 1


def test_lint_judges_objects_by_the_fleet_and_without_one() -> None:
    misspelt = placed({"requiredClusterSelector": {"labelSelector": {"matchLabels": {"clowd": "Amazon"}}}})
    found = muster.lint(misspelt, FLEET)
    assert [(each.code, each.severity, each.object) for each in found] == [
        ("no-such-label", "warning", "Placement apps/web")
    ]
    assert len(muster.lint(misspelt)) == 0
    assert repr(muster.lint(misspelt)) == "<Findings: 0, judged by 0 clusters>"
    assert "did you mean cloud?" in found._repr_html_()


def test_classify_labels_hosts_by_the_classifications_among_them_or_others() -> None:
    labels = {"inventoryclassification.agent-install.openshift.io/size": "big"}
    assert [each.labels for each in muster.classify([HOST, CLASSIFICATION])] == [labels]
    assert [each.labels for each in muster.classify([HOST], [CLASSIFICATION])] == [labels]
    assert len(muster.classify([HOST])) == 1
    assert repr(muster.classify([HOST])) == "<HostLabels: 1 hosts, 0 classifications>"


def test_resolve_gives_a_plan_or_a_story_with_fixes() -> None:
    found = muster.resolve(CATALOG, "shop")
    assert (found.resolved, found.versions["shop"]) == (True, "2.0.0")
    without = muster.resolve({"ours": CATALOG}, ["shop", "nothing"])
    assert not without.resolved
    assert "no catalog has a package nothing" in without.story
    assert [each.text for each in without.fixes] == ["drop nothing"]
    assert str(without).startswith("no plan: impossible")


def test_nothing_that_an_object_says_becomes_markup() -> None:
    evil = "<script>alert(1)</script>"
    hostile = a_cluster("a", {"cloud": evil})
    shown = [
        muster.load(EXAMPLES / "05-why-not" / "fleet.yaml")._repr_html_(),
        muster.select([hostile], labels="cloud=x")._repr_html_(),
        muster.explain([hostile], placed(AMAZON))._repr_html_(),
        muster.lint(placed({"requiredClusterSelector": {"labelSelector": {"matchLabels": {evil: "x"}}}}))._repr_html_(),
        muster.resolve(CATALOG, evil.replace("/", ""))._repr_html_(),
        muster.classify([{**HOST, "metadata": {"name": evil}}])._repr_html_(),
    ]
    assert [text for text in shown if "<script" in text] == []
    assert any("&lt;script&gt;" in text for text in shown)


# ------------------------------------------------------------------------------------------------ wrong arguments

WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "a number for a fleet": (lambda: muster.select(5, "true"), "fleet: expected objects, this is of type int"),  # type: ignore[arg-type]
    "a text for a fleet": (lambda: muster.select("fleet.yaml", "true"), "muster.load reads files"),  # type: ignore[arg-type]
    "a number among objects": (lambda: muster.select([1], "true"), r"fleet\[0\]: expected an object"),  # type: ignore[list-item]
    "no name": (lambda: muster.select([{}], "true"), r"fleet\[0\].metadata.name: expected a text"),
    "no metadata": (lambda: muster.select([{"metadata": 5}], "true"), r"fleet\[0\].metadata: expected a mapping"),
    "labels that are a list": (
        lambda: muster.select([{"metadata": {"name": "a", "labels": []}}], "true"),
        r"fleet\[0\].metadata.labels: expected a mapping",
    ),
    "a set": (
        lambda: muster.select([{"metadata": {"name": "a"}, "x": {"y": {1}}}], "true"),
        r"fleet\[0\].x.y: this is of type set, and JSON has no such values",
    ),
    "a key that is no text": (lambda: muster.select([{"metadata": {"name": "a"}, 5: 1}], "true"), "keys are texts"),  # type: ignore[dict-item]
    "a number for CEL": (lambda: muster.select(FLEET, 5), "cel: expected a text or a list of texts"),  # type: ignore[arg-type]
    "a number for labels": (lambda: muster.select(FLEET, labels=5), "labels: expected a label selector"),  # type: ignore[arg-type]
    "a list for a selector": (lambda: muster.select(FLEET, selector=[]), "selector: expected an object"),  # type: ignore[arg-type]
    "a number for a placement": (lambda: muster.select(FLEET, placement=5), "placement: expected an object"),  # type: ignore[arg-type]
    "a placement that is none": (lambda: muster.select(FLEET, placement={"spec": 5}), "spec cannot be read"),
    "a text for a time": (lambda: muster.select(FLEET, "true", now="now"), "now: expected a datetime"),  # type: ignore[arg-type]
    "a time without a zone": (
        lambda: muster.select(FLEET, "true", now=dt.datetime(2026, 1, 1)),  # noqa: DTZ001
        "now: the time needs a time zone",
    ),
    "a number for a kind": (lambda: muster.select(FLEET, "true", kind=5), "kind: expected the name of a kind"),  # type: ignore[arg-type]
    "a number to explain": (lambda: muster.explain(FLEET, 5), "placement: expected an object"),  # type: ignore[call-overload]
    "a number for a cluster": (lambda: muster.explain(FLEET, cluster=5), "cluster: expected a name"),  # type: ignore[call-overload]
    "nothing to load": (muster.load, "paths: name at least one file"),
    "a number to load": (lambda: muster.load(5), r"paths\[0\]: expected a path"),  # type: ignore[arg-type]
    "nothing to plan": (lambda: muster.plan(FLEET), "say what would be written, or deleted"),
    "an object without a version": (lambda: muster.plan(FLEET, {"metadata": {"name": "x"}}), "apiVersion: expected"),
    "a guard that is no number": (lambda: muster.plan(FLEET, placed(), fail_if_removes="1"), "fail_if_removes"),  # type: ignore[arg-type]
    "a number to lint": (lambda: muster.lint(5), "objects: expected objects"),  # type: ignore[arg-type]
    "a classification that says nothing": (
        lambda: muster.classify([{"kind": "AgentClassification", "metadata": {"name": "c"}}]),
        "AgentClassification c: spec.labelKey must be a string",
    ),
    "hosts that are none": (lambda: muster.classify("hosts"), "hosts: expected objects"),  # type: ignore[arg-type]
    "a number for a catalog": (lambda: muster.resolve(5, "shop"), "catalogs: expected a path"),  # type: ignore[arg-type]
    "nothing wanted": (lambda: muster.resolve(CATALOG, []), "want: say what is wanted"),
    "a number wanted": (lambda: muster.resolve(CATALOG, 5), "want: expected a text"),  # type: ignore[arg-type]
    "installed without a name": (lambda: muster.resolve(CATALOG, "shop", installed=[{}]), r"installed\[0\].name"),
    "a policy that is none": (lambda: muster.resolve(CATALOG, "shop", optional="no"), "optional: 'no' is none of"),
    "a number for CEL text": (
        lambda: muster.cel.compile_program(5, muster.cel.environment("standard")),  # type: ignore[arg-type]
        "text: expected an expression",
    ),
    "a name for an environment": (lambda: muster.cel.compile_program("1", "standard"), "env: expected an environment"),  # type: ignore[arg-type]
    "an unknown environment": (
        lambda: muster.cel.environment("kubernetes-9"),
        "unknown CEL environment 'kubernetes-9'",
    ),
    "a list for an environment": (lambda: muster.cel.environment([]), "name: expected the name of an environment"),  # type: ignore[arg-type]
    "a text for a type": (
        lambda: muster.cel.environment("standard").with_variables(x="int"),  # type: ignore[arg-type]
        "x: expected a type such as DYN",
    ),
    "variables that are none": (
        lambda: muster.cel.compile_program("1", muster.cel.environment("standard")).evaluate(5),  # type: ignore[arg-type]
        "variables: expected a mapping",
    ),
    "a limit that is none": (
        lambda: muster.cel.compile_program("1", muster.cel.environment("standard")).evaluate({}, cost_limit="x"),  # type: ignore[arg-type]
        "cost_limit: expected a number",
    ),
    "a number for a query": (lambda: muster.jq.compile_query(5), "text: expected a query"),  # type: ignore[arg-type]
    "a text for variables": (lambda: muster.jq.compile_query(".", variables="x"), "variables: a list of names"),
    "limits that are none": (lambda: muster.jq.compile_query(".").run(1, limits=5), "limits: expected Limits"),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("what", WRONG)
def test_a_wrong_argument_is_told_by_its_name(what: str) -> None:
    call, message = WRONG[what]
    with pytest.raises(muster.MusterError, match=message):
        call()
