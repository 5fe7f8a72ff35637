"""What people get to read when they hand a command the wrong thing."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING

from muster.app import DATABASE
from muster.cli.main import run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n"
FLEET = "apiVersion: cluster.open-cluster-management.io/v1\nkind: ManagedCluster\nmetadata: {name: a}\n"


NOBODY = (
    "current-context: x\ncontexts: [{name: x, context: {cluster: x}}]\n"
    "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:9'}}]\nusers: []\n"
)


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


def test_a_file_with_nothing_in_it_is_not_taken_for_done(tmp_path: Path) -> None:
    (tmp_path / "empty.yaml").write_text("# later\n")
    (tmp_path / "kubeconfig").write_text(NOBODY)
    for command in ("apply", "plan", "delete", "lint"):
        args = [command, "-f", str(tmp_path / "empty.yaml")]
        code, out, said = muster(*args, "--kubeconfig", str(tmp_path / "kubeconfig"))
        assert (code, out) == (2, ""), command
        assert said == f"muster: {tmp_path}/empty.yaml: there is no object in it\n"


def test_a_fleet_of_another_kind_is_not_taken_for_an_answer(tmp_path: Path) -> None:
    cluster = "apiVersion: clusters.openmcp.cloud/v1alpha1\nkind: Cluster\nmetadata: {name: a, labels: {team: x}}\n"
    (tmp_path / "fleet.yaml").write_text(cluster)
    fleet = ("--fleet", str(tmp_path / "fleet.yaml"))
    assert muster("select", "-l", "team=x", *fleet) == (0, "a\n", "")
    assert muster("select", "-l", "team=y", *fleet) == (1, "", "")
    assert muster("select", "-l", "team=x", "--kind", "Agent", *fleet)[0] == 1
    code, out, said = muster("select", "true", *fleet)
    assert (code, out) == (1, "")
    assert said == "none of these was looked at: 1 Cluster; --kind names the kind to select from\n"


def test_what_is_no_boolean_is_told_in_words_of_the_language(tmp_path: Path) -> None:
    (tmp_path / "fleet.yaml").write_text(FLEET)
    code, _, said = muster("select", "managedCluster.metadata.name", "--fleet", str(tmp_path / "fleet.yaml"))
    assert code == 1
    assert "'managedCluster.metadata.name' is string, not a boolean" in said


def test_a_package_that_no_catalog_has_is_told_with_those_that_there_are(tmp_path: Path) -> None:
    catalog = "schema: olm.package\nname: argocd-operator\ndefaultChannel: a\n---\n"
    catalog += "schema: olm.channel\npackage: argocd-operator\nname: a\nentries: [{name: argocd.v1.0.0}]\n---\n"
    catalog += "schema: olm.bundle\nname: argocd.v1.0.0\npackage: argocd-operator\nproperties:\n"
    catalog += "- {type: olm.package, value: {packageName: argocd-operator, version: 1.0.0}}\n"
    (tmp_path / "catalog.yaml").write_text(catalog)
    for wanted, hint in (
        ("argo", "no catalog has a package 'argo': did you mean argocd-operator?"),
        ("zzz", "no catalog has a package 'zzz'; there are argocd-operator"),
    ):
        code, _, said = muster("resolve", "-c", str(tmp_path / "catalog.yaml"), "-w", wanted)
        assert code == 1
        assert hint in said
    code, out, said = muster("resolve", "-c", str(tmp_path / "catalog.yaml"), "-w", "argocd-operater")
    assert "did you mean argocd-operator?" in out + said


def test_a_hub_that_is_down_is_told_with_what_starts_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hub = tmp_path / "hub"
    hub.mkdir()
    (hub / DATABASE).write_bytes(b"")
    (hub / "kubeconfig").write_text(NOBODY)
    monkeypatch.setenv("KUBECONFIG", str(hub / "kubeconfig"))
    code, out, said = muster("hub", "status")
    assert (code, said) == (3, "")
    assert out.startswith("no answer from http://127.0.0.1:9")
    assert f"the hub in {hub} is not running; `muster hub run --data {hub}` starts it" in out
    monkeypatch.delenv("KUBECONFIG")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert muster("hub", "status", "--data", str(hub))[1] == out
    document = json.loads(muster("hub", "status", "--data", str(hub), "-o", "json")[1])
    assert document["ready"] is False


def test_who_has_no_kubeconfig_is_shown_the_hub_of_the_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert "There is a hub" not in muster("get", "placements")[2]
    (tmp_path / ".muster").mkdir()
    (tmp_path / ".muster" / "kubeconfig").write_text(NOBODY)
    assert f"export KUBECONFIG={tmp_path}/.muster/kubeconfig" in muster("get", "placements")[2]
