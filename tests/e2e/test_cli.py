"""The commands that speak to a server, against a hub."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import msgspec
import pytest

from muster.cli.main import run
from tests.builders import a_cluster
from tests.hub.custom.a_kind import definition, toy
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    with running_hub() as running:
        os.environ["KUBECONFIG"] = str(running.kubeconfig(tmp_path_factory.mktemp("cli") / "kubeconfig"))
        yield running
        del os.environ["KUBECONFIG"]


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return run(args, io.StringIO(), out, err), out.getvalue(), err.getvalue()


def a_file(path: Path, *objects: object) -> str:
    path.write_bytes(b"".join(msgspec.json.encode(obj) + b"\n" for obj in objects))
    return str(path)


@pytest.mark.usefixtures("hub")
def test_objects_are_applied_shown_and_deleted(tmp_path: Path) -> None:
    name = "managedclusters.cluster.open-cluster-management.io"
    file = a_file(tmp_path / "c.json", a_cluster("cli-a", {"cloud": "Amazon"}), a_cluster("cli-b"))
    code, out, err = called("apply", "-f", file, "--with-status")
    assert (code, sorted(out.splitlines()), err) == (0, [f"{name}/cli-a created", f"{name}/cli-b created"], "")
    assert sorted(called("apply", "-f", file)[1].splitlines()) == [f"{name}/cli-a applied", f"{name}/cli-b applied"]
    assert called("get", "mcl", "-l", "cloud=Amazon", "-o", "name") == (0, f"{name}/cli-a\n", "")
    code, out, _ = called("get", "managedcluster/cli-a")
    assert (code, out.split()[:2]) == (0, ["NAME", "HUB"])
    assert out.splitlines()[1].startswith("cli-a")
    assert json.loads(called("get", "managedcluster/cli-a", "-o", "json")[1])["status"]["clusterClaims"] == []
    assert "name: cli-a" in called("get", "managedclusters", "cli-a", "-o", "yaml")[1]
    assert called("delete", "-f", file)[1].splitlines() == [f"{name}/cli-b deleted", f"{name}/cli-a deleted"]
    code, _, err = called("get", "managedclusters", "cli-a")
    assert (code, err) == (1, f'muster: {name} "cli-a" not found\n')


@pytest.mark.usefixtures("hub")
def test_what_the_server_refuses_is_listed_and_the_rest_goes_on(tmp_path: Path) -> None:
    bad = a_cluster("Bad_Name")
    file = a_file(tmp_path / "c.json", bad, a_cluster("good"), {**a_cluster("odd"), "kind": "Nope"})
    code, out, err = called("apply", "-f", file)
    assert (code, out) == (2, "managedclusters.cluster.open-cluster-management.io/good created\n")
    assert f'{file}:1: ManagedCluster.cluster.open-cluster-management.io "Bad_Name" is invalid' in err
    assert f"{file}:3: the server has no kind 'Nope'" in err
    assert called("delete", "managedclusters", "good")[0] == 0


@pytest.mark.usefixtures("hub")
def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    file = a_file(tmp_path / "c.json", a_cluster("dry"))
    assert called("apply", "-f", file, "--dry-run")[1].endswith("created (dry run)\n")
    assert called("get", "managedclusters", "dry")[0] == 1


@pytest.mark.usefixtures("hub")
def test_unknown_resources_and_bad_selectors_are_explained() -> None:
    code, _, err = called("get", "pods")
    assert (code, err) == (
        2,
        "muster: the server doesn't have a resource type 'pods'; `kubectl api-resources` lists them\n",
    )
    code, _, err = called("get", "managedclusters", "-l", "x in (")
    assert code == 2
    assert "unable to parse requirement" in err


def test_a_server_that_is_not_there_is_server_trouble(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(
        "current-context: x\ncontexts: [{name: x, context: {cluster: x}}]\n"
        "clusters: [{name: x, cluster: {server: 'http://127.0.0.1:9'}}]\nusers: []\n"
    )
    code, _, err = called("get", "managedclusters", "--kubeconfig", str(config))
    assert code == 3
    assert err.startswith("muster: no answer from http://127.0.0.1:9: ")
    assert "Traceback" not in err


def test_a_bad_token_is_a_matter_of_permission(hub: RunningHub, tmp_path: Path) -> None:
    config = hub.kubeconfig(tmp_path / "kubeconfig")
    config.write_text(config.read_text().replace(hub.token, "wrong"))
    assert called("get", "managedclusters", "--kubeconfig", str(config)) == (4, "", "muster: Unauthorized\n")


@pytest.fixture
def three(tmp_path: Path) -> Iterator[None]:
    """Clusters whose names, numbers and labels are in different orders, and a set."""
    clusters = [
        {**a_cluster(f"of-three-{number}", labels), "spec": {"leaseDurationSeconds": seconds, "hubAcceptsClient": True}}
        for number, labels, seconds in (
            (2, {"cloud": "B"}, 100),
            (10, {"cloud": "A", "tier.example.com/x": "y"}, 9),
            (1, {}, 60),
        )
    ]
    a_set = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": "of-three"},
    }
    file = a_file(tmp_path / "three.json", *clusters, a_set)
    assert called("apply", "-f", file, "-q") == (0, "", "")
    yield
    assert called("delete", "-f", file)[0] == 0


@pytest.mark.usefixtures("hub", "three")
def test_several_kinds_are_shown_one_after_the_other() -> None:
    code, out, err = called("get", "managedclusters,managedclustersets")
    assert (code, err) == (0, "")
    first, second = out.split("\n\n")
    assert "managedcluster.cluster.open-cluster-management.io/of-three-1 " in first
    assert first.splitlines()[0].split()[:3] == ["NAME", "HUB", "ACCEPTED"]
    assert "managedclusterset.cluster.open-cluster-management.io/of-three " in second
    listed = json.loads(called("get", "managedcluster/of-three-1", "managedclusterset/of-three", "-o", "json")[1])
    assert [each["kind"] for each in listed["items"]] == ["ManagedCluster", "ManagedClusterSet"]
    names = called("get", "mcl,managedclustersets", "-o", "name")[1].splitlines()
    assert "managedclustersets.cluster.open-cluster-management.io/of-three" in names
    assert called("get", "managedclusters,nosuch")[0] == 2
    code, _, err = called("get", "placements,placementdecisions")
    assert (code, err) == (0, "No resources found in default namespace\n")


@pytest.mark.usefixtures("hub", "three")
def test_labels_have_columns_and_fields_an_order() -> None:
    code, out, _ = called("get", "mcl", "-L", "cloud,tier.example.com/x", "--sort-by", ".metadata.name")
    lines = [line.split() for line in out.splitlines()]
    assert code == 0
    assert lines[0][-2:] == ["CLOUD", "X"]
    assert [line[0] for line in lines[1:]] == ["of-three-1", "of-three-2", "of-three-10"]
    assert lines[3][-2:] == ["A", "y"]
    by_seconds = called("get", "mcl", "--sort-by", "{.spec.leaseDurationSeconds}", "--no-headers")[1].splitlines()
    assert [line.split()[0] for line in by_seconds] == ["of-three-10", "of-three-1", "of-three-2"]
    names = called("get", "mcl", "-o", "name", "--sort-by", "spec.leaseDurationSeconds")[1].splitlines()
    assert [name.rpartition("-")[2] for name in names] == ["10", "1", "2"]
    code, _, err = called("get", "mcl", "--sort-by", ".spec.nosuch")
    assert (code, err) == (2, "muster: --sort-by: no object has a field .spec.nosuch\n")
    assert "is not the path of a field" in called("get", "mcl", "--sort-by", "{.items[*].kind}")[2]


def test_what_kubectl_does_is_left_to_it_with_the_line_to_type(hub: RunningHub, tmp_path: Path) -> None:
    code, _, err = called("get", "mcl", "-o", "jsonpath={.items[*].metadata.name}")
    assert (code, err) == (
        2,
        "muster: --output: jsonpath is left to kubectl: kubectl get mcl -o 'jsonpath={.items[*].metadata.name}'\n",
    )
    assert "kubectl get mcl -o custom-columns=A:.kind" in called("get", "mcl", "-o", "custom-columns=A:.kind")[2]
    assert called("get", "mcl", "-o", "jsn")[2] == (
        "muster: --output: 'jsn' is none of table, wide, json, yaml, name; kubectl has more\n"
    )
    config = str(hub.kubeconfig(tmp_path / "kubeconfig"))
    code, _, err = called("describe", "placement", "a b", "--kubeconfig", config)
    assert (code, err) == (
        2,
        "muster: `describe` is left to kubectl, which works against the hub: "
        f"kubectl describe placement 'a b' --kubeconfig {config}\n",
    )


def test_the_line_for_kubectl_names_the_kubeconfig_that_it_would_not_find(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    assert ": kubectl api-resources" in called("api-resources")[2]
    (tmp_path / ".muster").mkdir()
    (tmp_path / ".muster" / "kubeconfig").write_text("")
    assert f": KUBECONFIG={tmp_path}/.muster/kubeconfig kubectl api-resources" in called("api-resources")[2]


def test_a_watch_prints_changes_as_they_come(hub: RunningHub) -> None:
    watching = subprocess.Popen(
        [sys.executable, "-m", "muster", "get", "managedclusters", "-w"], stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        assert watching.stdout is not None
        time.sleep(1.5)
        body = msgspec.json.encode(a_cluster("watched"))
        path = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
        code, _, answer = hub.request("POST", path, body, {"Content-Type": "application/json"})
        assert code == 201, answer
        lines = [watching.stdout.readline() for _ in range(2)]
        assert lines[0].startswith("NAME")
        assert lines[1].startswith("watched")
    finally:
        _interrupted(watching)
        if watching.stdout is not None:
            watching.stdout.close()
    assert watching.returncode == 130


def _interrupted(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGINT)
    try:
        process.wait(30)
    finally:
        process.kill()


@pytest.mark.usefixtures("hub")
def test_a_file_may_define_a_kind_and_hold_objects_of_it(tmp_path: Path) -> None:
    file = a_file(tmp_path / "toys.yaml", toy("a", {}), definition())
    code, out, err = called("apply", "-f", file)
    assert (code, err, "toys.shop.example.com/a created" in out) == (0, "", True), out
    assert "a" in called("get", "toys")[1]
