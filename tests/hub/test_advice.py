"""Warnings about a placement that only the fleet can give: when they are given, to whom, and how many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.hub.advice import FOR_EVERYBODY, MOST_BYTES, WITHOUT_FIX, bounded, told_to_everybody
from muster.placement.lint.placements import RULES, Finding
from tests.builders import a_placement
from tests.hub.rest.asking import GROUP, NAMESPACE, PLACEMENTS, Asker, asked_hub, wanting
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MERGE = "application/merge-patch+json"
MISTAKE = wanting("Amazon", "mistaken", label="clod")
UNBOUND = a_placement("unbound", clusterSets=["globl"])


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with pytest.MonkeyPatch.context() as patch, asked_hub(tmp_path_factory.mktemp("state")) as asker:
        patch.setattr("muster.hub.advice.PATIENCE", 10.0)  # the machine may be busy
        yield asker


def warning(asker: Asker, method: str, path: str, body: Any, user: str = "writer", **headers: str) -> str:
    """The Warning header of a write that is carried out."""
    code, answered, answer = asker.send(method, path, body, user, **headers)
    assert code in (200, 201), answer
    return answered.get("warning", "")


def test_a_label_that_no_cluster_has_is_told_with_the_nearest_that_exists(asker: Asker) -> None:
    created = warning(asker, "POST", PLACEMENTS, MISTAKE)
    assert created.startswith('299 - "spec.predicates[0]')
    assert "'clod'" in created
    assert "cloud" in created


def test_an_update_and_a_patch_are_looked_at_if_they_change_the_spec(asker: Asker) -> None:
    warning(asker, "POST", PLACEMENTS, wanting("Amazon", "changing"))
    path = f"{PLACEMENTS}/changing"
    patch = {"spec": MISTAKE["spec"]}
    assert "'clod'" in warning(asker, "PATCH", path, patch, **{"Content-Type": MERGE})
    labelled = {"metadata": {"labels": {"a": "b"}}}
    assert warning(asker, "PATCH", path, labelled, **{"Content-Type": MERGE}) == ""
    stored = asker.send("GET", path)[2]
    assert warning(asker, "PUT", path, stored | {"spec": wanting("Azur")["spec"]}) != ""
    status = {"status": {"numberOfSelectedClusters": 1}}
    assert warning(asker, "PATCH", f"{path}/status", status, "", **{"Content-Type": MERGE}) == ""


def test_a_dry_run_of_a_write_is_warned_about_as_well(asker: Asker) -> None:
    tried = wanting("Amazon", "not-stored", label="clod")
    assert "'clod'" in warning(asker, "POST", f"{PLACEMENTS}?dryRun=All", tried)
    assert "'clod'" in asker.send("POST", f"{PLACEMENTS}/not-stored/explain", tried)[1]["warning"]


def test_what_clusters_have_is_not_told_to_those_who_may_not_list_them(asker: Asker) -> None:
    said = warning(asker, "POST", PLACEMENTS, wanting("Amazon", "by-hand", label="clod"), "hand")
    assert "no cluster has the label 'clod'" in said
    assert "cloud" not in said
    assert warning(asker, "POST", PLACEMENTS, wanting("Azur", "by-hand-too"), "hand") == ""
    assert "globl" in warning(asker, "POST", PLACEMENTS, UNBOUND, "hand")


def test_only_rules_that_there_are_are_told_to_everybody() -> None:
    assert RULES.keys() >= FOR_EVERYBODY | WITHOUT_FIX
    told = told_to_everybody([Finding(code, "spec", "said", "a label that some cluster has") for code in RULES])
    assert [each.code for each in told if each.fix and each.code in WITHOUT_FIX] == []
    assert not {"never-holds", "useless-toleration", "missing-key"} & {each.code for each in told}


def test_nothing_is_said_about_a_placement_that_is_all_right(asker: Asker) -> None:
    assert warning(asker, "POST", PLACEMENTS, wanting("Amazon", "right")) == ""


def test_without_controllers_a_write_is_carried_out_without_advice(tmp_path: Path) -> None:
    with running_hub(state=tmp_path) as hub:
        asker = Asker(hub, tmp_path)
        asker.send("POST", "/api/v1/namespaces", NAMESPACE)
        assert warning(asker, "POST", PLACEMENTS, MISTAKE, "") == ""
        (tmp_path / "controllers.json").write_text('{"port": 9, "secret": "of controllers that died"}')
        assert warning(asker, "POST", PLACEMENTS, UNBOUND, "") == ""
        assert len(asker.send("GET", PLACEMENTS)[2]["items"]) == 2


def test_other_kinds_are_written_without_a_question(asker: Asker) -> None:
    lease = {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": {"name": "new"}, "spec": {}}
    assert warning(asker, "POST", f"/apis/{GROUP}/v1/managedclusters", lease, "") == ""


def test_warnings_fit_into_an_answer() -> None:
    few = ["a" * 100, "b" * 100]
    assert bounded(few) == tuple(few)
    many = bounded([f"finding {number} " + "x" * 500 for number in range(20)])
    assert many[-1] == "and 12 more findings, which `muster lint` shows"
    assert sum(len(text.encode()) for text in many[:-1]) <= MOST_BYTES
