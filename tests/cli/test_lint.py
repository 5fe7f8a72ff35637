"""`muster lint` over files: places, carets, exit codes."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from muster.cli.lint import Level
from muster.cli.references.lint import reference
from muster.placement.lint.findings import Severity
from tests.cli.explaining import a_fleet_file, amazon, called, written
from tests.test_docs import ROOT

if TYPE_CHECKING:
    from pathlib import Path

BROKEN = """\
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: first
  namespace: apps
spec: {}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: second
  namespace: apps
spec:
  numberOfCluster: 1
  predicates:
    - requiredClusterSelector:
        labelSelector:
          matchLabels:
            example.com/clowd: Amazon
        celSelector:
          celExpressions:
            - >-
              managedCluster.metadata.labels.cloud == "Amazon" &&
              managedCluster.metadata.labels.cloud.matchess("A")
"""


@pytest.fixture
def fleet(tmp_path: Path) -> str:
    return a_fleet_file(tmp_path)


@pytest.fixture
def broken(tmp_path: Path) -> str:
    path = tmp_path / "broken.yaml"
    path.write_text(BROKEN, encoding="utf-8")
    return str(path)


def test_findings_have_file_line_field_caret_and_fix(fleet: str, broken: str) -> None:
    assert called("lint", "-f", broken, "--fleet", fleet) == (
        1,
        f"{broken}:14: error: unknown field 'numberOfCluster' [unknown-field]\n"
        "    Placement apps/second: spec.numberOfCluster\n"
        "    fix: did you mean numberOfClusters?\n"
        f"{broken}:22: error: undeclared reference to 'matchess' [invalid-expression]\n"
        "    Placement apps/second: spec.predicates[0].requiredClusterSelector.celSelector.celExpressions[0]\n"
        '    | managedCluster.metadata.labels.cloud == "Amazon" && managedCluster.metadata.labels.cloud.matchess("A")\n'
        f"    | {'.' * 97}^\n"
        "    fix: did you mean matches?\n"
        "2 errors in 2 objects, judged over 2 clusters\n",
        "",
    )


def test_a_key_with_dots_is_found_in_its_line(fleet: str, broken: str, tmp_path: Path) -> None:
    path = tmp_path / "fixed.yaml"
    path.write_text(BROKEN.replace("matchess", "matches").replace("numberOfCluster:", "numberOfClusters:"), "utf-8")
    code, out, _ = called("lint", "-f", str(path), "--fleet", fleet, "-o", "json")
    found = json.loads(out)
    assert (code, found["objects"], found["clusters"]) == (1, 2, 2)
    assert found["findings"] == [
        {
            "code": "no-such-label",
            "severity": "warning",
            "file": str(path),
            "line": 19,
            "object": "Placement apps/second",
            "field": "spec.predicates[0].requiredClusterSelector.labelSelector.matchLabels.example.com/clowd",
            "message": "no cluster has the label 'example.com/clowd'",
            "fix": "there are cloud",
            "expression": "",
            "offset": None,
        }
    ]
    assert "broken" in broken


def test_what_fails_is_chosen_and_notes_do_not_fail(fleet: str, tmp_path: Path) -> None:
    few = written(tmp_path / "few.json", amazon(numberOfClusters=5))
    code, out, _ = called("lint", "-f", few, "--fleet", fleet)
    assert (code, out.splitlines()[-1]) == (0, "1 info in 1 object, judged over 2 clusters")
    assert called("lint", "-f", few, "--fleet", fleet, "--fail-on", "info")[0] == 1
    tolerant = written(tmp_path / "tolerant.json", amazon(tolerations=[{"key": "x", "operator": "Exists"}]))
    assert called("lint", "-f", tolerant, "--fleet", fleet)[0] == 1
    assert called("lint", "-f", tolerant, "--fleet", fleet, "--fail-on", "error")[0] == 0


def test_a_fleet_judges_its_own_placements(fleet: str) -> None:
    assert called("lint", "--fleet", fleet) == (0, "nothing found in 3 objects, judged over 2 clusters\n", "")
    assert called("lint", "-f", fleet) == (0, "nothing found in 5 objects, judged over 2 clusters\n", "")


def test_without_a_fleet_only_the_files_are_judged(
    broken: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    code, out, err = called("lint", "-f", broken, "--offline")
    assert (code, out.splitlines()[-1], err) == (1, "2 errors in 2 objects, judged without a fleet", "")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    note = "muster: there is no kubeconfig, so nothing is compared with a fleet (name one: --fleet)\n"
    assert called("lint", "-f", broken) == (code, out, note)
    assert called("lint", "--offline") == (
        2,
        "",
        "muster: nothing to look at: name files, directories or - with -f\n",
    )


def test_a_value_of_the_wrong_type_is_an_error_and_nothing_more_is_judged(fleet: str, tmp_path: Path) -> None:
    wrong = written(tmp_path / "wrong.json", amazon(numberOfClusters="two", clusterSets="global"))
    code, out, _ = called("lint", "-f", wrong, "--fleet", fleet)
    assert (code, out.count("[invalid-value]"), out.splitlines()[-1]) == (
        1,
        2,
        "2 errors in 1 object, judged over 2 clusters",
    )


def test_the_page_of_rules_is_made_from_the_rules() -> None:
    page = ROOT / "docs" / "reference" / "lint.md"
    assert page.read_text(encoding="utf-8") == reference(), (
        "run: python -m muster.cli.references.lint > docs/reference/lint.md"
    )


def test_the_levels_are_the_severities_of_findings() -> None:
    assert [each.value for each in Level] == [each.value for each in Severity]
