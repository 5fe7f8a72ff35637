"""What people get to read when they hand a command the wrong thing."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
FLEET = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: a}\n"


def muster(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    code = run([*args], io.StringIO(), out, err)
    return code, out.getvalue(), err.getvalue()


def test_a_file_that_is_not_there_is_said_to_be_so(tmp_path: Path) -> None:
    code, _, said = muster("jq", ".a", str(tmp_path / "nosuch.json"))
    assert (code, said) == (2, f"muster: {tmp_path}/nosuch.json: no such file or directory\n")


def test_a_directory_is_no_kubeconfig(tmp_path: Path) -> None:
    code, _, said = muster("get", "placements", "--kubeconfig", str(tmp_path))
    assert code == 2
    assert "is a directory; name the kubeconfig file in it" in said


def test_a_pod_selects_nothing(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    (tmp_path / "fleet.yaml").write_text(FLEET)
    code, _, said = muster("select", "-f", str(tmp_path / "pod.yaml"), "--fleet", str(tmp_path / "fleet.yaml"))
    assert code == 2
    assert "a Pod selects nothing; -f takes a Placement, or a selector, which has no kind" in said


def test_lint_names_what_it_cannot_judge(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text(POD)
    code, out, said = muster("lint", "--offline", "-f", str(tmp_path / "pod.yaml"))
    assert code == 2
    assert "not judged, because lint does not know the kind: Pod" in said
    assert "nothing found" not in out
