"""Every question gets the same answer on the hub and, through the aggregated API, on a real Kubernetes server.

Both have the demo fleet, and controllers of ours that have decided on it. `tests/questions/test_same_answers.py` has
the questions, and asks the observers that list.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from muster.cli.main import run
from muster.client import Client, load_connection
from muster.client.asking import ServerAsker
from muster.demo import Fleet, fleet_objects
from muster.kubernetes.settings import HomeSettings
from muster.questions.local_fleet import served
from tests.controllers.processes import hub_process
from tests.kubernetes.replicas import User, eventually, free_ports, install, install_kinds, replica
from tests.questions.test_same_answers import ASKED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.replicas import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
_SETTINGS: Final = HomeSettings(webhooks=False, policies=False, questions=True)
_DECIDED: Final = ("placements", "placementdecisions", "managedclusters", "managedclustersets", "agents")
_OF_EACH_SERVER: Final = ("token", "changed")  # uids are in it
_OF_ITS_ROLES: Final = ("who", "whoIsHidden")
_OF_ITS_USER: Final = ("user", "permissions")


class Both:
    """A hub and a Kubernetes server, asked as their administrators."""

    def __init__(self, runner: asyncio.Runner, hub: Client, kubernetes: Client) -> None:
        self._runner = runner
        self._homes = (hub, kubernetes)

    def ask(self, kind: str, spec: dict[str, Any]) -> tuple[Any, Any]:
        hub, kubernetes = (self._runner.run(ServerAsker(home).ask(kind, spec)) for home in self._homes)
        return _comparable(hub.status), _comparable(kubernetes.status)


def _comparable(encoded: msgspec.Raw) -> Any:
    """An answer without what is of one server and not of the fleet: counters, uids, roles and who asks."""
    status = msgspec.json.decode(encoded)
    for name in (*_OF_EACH_SERVER, *_OF_ITS_ROLES, *_OF_ITS_USER):
        status.pop(name, None)
    if isinstance(status.get("metadata"), dict):
        status["metadata"]["resourceVersion"] = ""
    for need in (status.get("move") or {}).get("needs", ()):
        need.pop("grantedBy", None)
    if status.get("move"):
        status["move"].pop("user", None)
    return status


@pytest.fixture(scope="module")
def both(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    folder = tmp_path_factory.mktemp("both")
    admin, ports = User(server.kubeconfig), free_ports(2)
    install(admin, _SETTINGS, *ports)
    install_kinds(admin, _SETTINGS)
    with asyncio.Runner() as runner, hub_process(folder, "--demo") as hub, contextlib.ExitStack() as later:
        # Decisions depend on those before them: what the hub has decided stands before anybody else decides.
        loaded(folder / "fleet.json", [*fleet_objects(Fleet()), *runner.run(_decisions(hub.kubeconfig))], server)
        options = ("--no-webhooks", "--questions")
        running = later.enter_context(replica(server.kubeconfig, *options, ports=(ports[0], ports[1])))
        eventually(lambda: running.says("leading"), patience=240.0)
        path = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.fleet.muster.dev"
        eventually(lambda: [each["status"] for each in admin.ok("GET", path)["status"]["conditions"]], ["True"], 240.0)
        stack = contextlib.AsyncExitStack()

        async def opened() -> Both:
            clients = [
                await stack.enter_async_context(Client(await load_connection(path=str(each))))
                for each in (hub.kubeconfig, server.kubeconfig)
            ]
            for each in clients:
                await _decided(each)
            return Both(runner, *clients)

        async def closed() -> None:
            await stack.aclose()
            await asyncio.sleep(0.1)  # transports of closed connections want another round of the loop

        yield runner.run(opened())
        runner.run(closed())


def loaded(file: Path, objects: list[dict[str, Any]], server: Server) -> None:
    file.write_text("\n".join(json.dumps(each) for each in objects))
    out, err = io.StringIO(), io.StringIO()
    given = ["apply", "-q", "-f", str(file), "--with-status", "--force-conflicts", "--field-manager", "muster-demo"]
    given += ["--kubeconfig", str(server.kubeconfig)]
    assert run(given, io.StringIO(), out, err) == 0, err.getvalue()


async def _decisions(kubeconfig: Path) -> list[dict[str, Any]]:
    """The pages of a server that has decided, as another server takes them."""
    async with Client(await load_connection(path=str(kubeconfig))) as client:
        await _decided(client)
        pages = (await client.request("GET", served("placementdecisions").path())).json()["items"]
        kept = ("name", "namespace", "labels", "annotations")
        kind = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "PlacementDecision"}
        return [
            {**kind, "metadata": {name: page["metadata"][name] for name in kept if name in page["metadata"]}}
            | {"status": page["status"]}
            for page in pages
        ]


async def _decided(client: Client) -> None:
    """A fleet that is still being decided would answer differently a moment later."""
    deadline, before, equal = time.monotonic() + 300, None, 0
    while equal < 5:
        now = [(await client.request("GET", served(each).path())).json()["items"] for each in _DECIDED]
        done = bool(now[0]) and all("conditions" in each.get("status", {}) for each in now[0])
        equal = equal + 1 if done and now == before else 0
        before = now
        assert time.monotonic() < deadline
        await asyncio.sleep(0.5)


@pytest.mark.parametrize(("kind", "spec"), ASKED, ids=lambda each: each if isinstance(each, str) else str(each)[:60])
def test_kubernetes_gives_the_answer_of_the_hub(both: Both, kind: str, spec: dict[str, Any]) -> None:
    hub, kubernetes = both.ask(kind, spec)

    assert kubernetes == hub
