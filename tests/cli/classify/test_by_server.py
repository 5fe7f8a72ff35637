"""`muster classify`, `muster explain classification` and `muster resolve` against a server: the same as over files."""

from __future__ import annotations

import contextlib
import io
import json
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
import yaml

from muster.cli import main
from muster.controllers.placements.preview import world_of
from muster.questions.observer import Observer
from tests.controllers.questions.answering import NOW, answering
from tests.controllers.resolutions.running import blobs, needs
from tests.hub.rest.running import RunningHub, running_hub
from tests.questions.previewing import (
    WorkedHere,
    a_catalog_map,
    a_host,
    a_query,
    a_resolution,
    hosts_of,
    resolutions_of,
)

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

Object = dict[str, Any]
HOSTS = "/apis/agent-install.openshift.io/v1beta1/namespaces/hosts"
KIND = {"apiVersion": "agent-install.openshift.io/v1beta1"}
FLEET: list[Object] = [
    a_host("small", {"cpu": {"count": 2}}),
    a_host("large", {"cpu": {"count": 64}}),
    a_query("big", ".cpu.count > 8"),
    a_query("every", "true", value="any"),
    a_query("failing", "[.disks[]] | length > 0", key="disks"),
]
NEEDING = {"1.0.0": [needs("db", ">=1.0.0")]}
CATALOG = a_catalog_map("operators", [*blobs("shop", "1.0.0", requires=NEEDING), *blobs("db", "1.0.0")])
SHOP = a_resolution("shop", wants=[{"package": "shop"}], catalogs=[{"name": "c", "configMap": {"name": "operators"}}])


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The kubeconfig of a hub with these objects, whose questions are answered from the same."""
    state = tmp_path_factory.mktemp("hub")
    world = resolutions_of([CATALOG, SHOP], {})
    observer = partial(Observer, hosts=hosts_of(FLEET), resolutions=world)
    with pytest.MonkeyPatch.context() as patched, running_hub(state=state) as hub, contextlib.ExitStack() as stack:
        patched.setattr("muster.questions.previews.WorkerPool", lambda **_: WorkedHere())
        stack.enter_context(answering(state / "controllers.json", world_of([], NOW), observer=observer))
        for name in ("hosts", "apps"):
            created(hub, "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        plurals = {"Agent": "agents", "AgentClassification": "agentclassifications"}
        for obj in FLEET:
            bare = {**obj, "metadata": {"name": obj["metadata"]["name"]}}
            created(hub, f"{HOSTS}/{plurals[obj['kind']]}", {**KIND, **bare})
        resolution = {**SHOP, "metadata": {"name": "shop"}}
        created(hub, "/apis/resolution.muster.dev/v1alpha1/namespaces/apps/resolutions", resolution)
        config = {"apiVersion": "v1", **CATALOG, "metadata": {**CATALOG["metadata"], "resourceVersion": None}}
        created(hub, "/api/v1/namespaces/apps/configmaps", config)
        yield kubeconfig(hub, state)


def created(hub: RunningHub, path: str, obj: Object) -> None:
    code, _, answer = hub.request("POST", path, json.dumps(obj).encode(), {"Content-Type": "application/json"})
    assert code == 201, answer
    if obj["kind"] == "Agent":
        body = json.dumps({"status": obj["status"]}).encode()
        patch = {"Content-Type": "application/merge-patch+json"}
        code, _, answer = hub.request("PATCH", f"{path}/{obj['metadata']['name']}/status", body, patch)
        assert code == 200, answer


def kubeconfig(hub: RunningHub, state: Path) -> str:
    path = state / "test.kubeconfig"
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "h", "cluster": {"server": hub.url}}],
        "users": [{"name": "u", "user": {"token": hub.token}}],
        "contexts": [{"name": "c", "context": {"cluster": "h", "user": "u"}}],
        "current-context": "c",
    }
    path.write_text(json.dumps(config))
    return str(path)


def called(*args: str) -> tuple[int, str, str]:
    out, err = io.StringIO(), io.StringIO()
    return main.run(list(args), io.StringIO(), out, err), out.getvalue(), err.getvalue()


@pytest.fixture
def files(tmp_path: Path) -> str:
    path = tmp_path / "fleet.ndjson"
    path.write_text("".join(json.dumps({**KIND, **each}) + "\n" for each in FLEET))
    return str(path)


@pytest.mark.parametrize("output", ["table", "wide", "json", "name"])
def test_classify_says_the_same_as_over_files(server: str, files: str, output: str) -> None:
    asked = called("classify", "--kubeconfig", server, "-o", output)

    assert asked == called("classify", "-f", files, "--agents", files, "-o", output)
    assert asked == called("classify", "-f", files, "--kubeconfig", server, "-o", output)
    assert (asked[0], "large" in asked[1]) == (1, True)


def test_classify_explains_one_host(server: str, files: str) -> None:
    asked = called("classify", "--kubeconfig", server, "--why", "large")

    assert asked == called("classify", "-f", files, "--agents", files, "--why", "large")
    assert "every (size=any): match\n  the label is not applied, its key has the value big, from AgentC" in asked[1]


@pytest.mark.parametrize("more", [(), ("--agent", "small"), ("-o", "json"), ("--agent", "large", "-o", "json")])
def test_a_classification_is_explained_as_over_files(server: str, files: str, more: tuple[str, ...]) -> None:
    asked = called("explain", "classification", "big", "-n", "hosts", "--kubeconfig", server, *more)

    assert asked == called("explain", "classification", "big", "--fleet", files, *more)
    assert asked[2] == ""


def test_what_is_not_there_is_said_by_name(server: str) -> None:
    for args, told in (
        (("none",), "there is no AgentClassification 'none' in namespace hosts"),
        (("big", "--agent", "nobody"), "there is no agent 'nobody' in namespace hosts"),
    ):
        code, _, err = called("explain", "classification", *args, "-n", "hosts", "--kubeconfig", server)
        assert (code, err) == (2, f"muster: {told}\n")


def test_a_saved_resolution_is_resolved_by_the_server(server: str) -> None:
    code, out, err = called("resolve", "--resolution", "shop", "-n", "apps", "--kubeconfig", server)

    assert (code, err) == (0, "")
    assert out.splitlines()[:3] == ["2 to install", "+ shop.v1.0.0 from c, channel stable", "    because you want shop"]


def test_one_in_a_file_is_resolved_with_the_servers_catalogs(server: str, tmp_path: Path) -> None:
    file, lock = tmp_path / "shop.yaml", tmp_path / "lock.yaml"
    file.write_text(yaml.safe_dump(SHOP))
    code, out, _ = called("resolve", "-f", str(file), "--kubeconfig", server, "--lock", str(lock), "-o", "json")

    assert (code, [each["name"] for each in json.loads(out)["plan"]]) == (0, ["shop.v1.0.0", "db.v1.0.0"])
    assert [each["name"] for each in yaml.safe_load(lock.read_text())["operators"]] == ["db.v1.0.0", "shop.v1.0.0"]
    assert called("resolve", "-f", str(file), "--kubeconfig", server, "--explain", "db")[1].startswith("db: db.v1.0.0")


def test_a_server_without_the_kinds_is_read_and_the_same_is_done_here(
    server: str, files: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("muster.client.asking.collection_path", lambda *_: "/apis/none.example/v1/nothing")

    assert called("classify", "--kubeconfig", server) == called("classify", "-f", files, "--agents", files)
    asked = called("explain", "classification", "big", "-n", "hosts", "--kubeconfig", server)
    assert asked == called("explain", "classification", "big", "--fleet", files)
    code, out, _ = called("resolve", "--resolution", "shop", "-n", "apps", "--kubeconfig", server)
    assert (code, out.splitlines()[0]) == (0, "2 to install")
    code, _, err = called("resolve", "-w", "shop", "-n", "apps", "--kubeconfig", server)
    assert (code, "the server does not resolve with its own" in err) == (2, True)


def test_wants_without_catalogs_are_for_the_servers_own(server: str) -> None:
    code, _, err = called("resolve", "-w", "shop", "-n", "apps", "--kubeconfig", server)

    assert (code, "there is no catalog to choose from" in err) == (2, True)


def test_a_resolution_with_all_its_catalogs_needs_no_server(tmp_path: Path) -> None:
    file = tmp_path / "alone.yaml"
    catalog = {"name": "i", "inline": blobs("db", "1.0.0")}
    file.write_text(yaml.safe_dump(a_resolution("x", wants=[{"package": "db"}], catalogs=[catalog])))

    assert called("resolve", "-f", str(file), "--kubeconfig", "/nowhere")[:2] == (
        0,
        "1 to install\n+ db.v1.0.0 from i, channel stable\n    because you want db\n",
    )
