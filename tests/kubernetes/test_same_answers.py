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
from muster.errors import ApiError
from muster.kubernetes.settings import HomeSettings
from muster.questions.asked import served
from tests.controllers.processes import hub_process
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import LEASE, User, eventually, install, install_kinds, replica
from tests.questions.test_same_answers import ASKED

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.kubernetes.replicas import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
_SETTINGS: Final = HomeSettings(webhooks=False, policies=False, questions=True)
_DECISION: Final = ("cluster.open-cluster-management.io/v1beta1", "PlacementDecision")
_MADE: Final = (_DECISION[1], "ManagedClusterSet")  # by controllers: of sets, default and global
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
    with asyncio.Runner() as runner, hub_process(folder, "--demo") as hub:
        # Decisions depend on those before them, so that nobody decides there: the lease is somebody else's.
        loaded(folder / "fleet.json", runner.run(_copied(hub.kubeconfig)), server)
        others = {
            "holderIdentity": "somebody",
            "leaseDurationSeconds": 3600,
            "renewTime": "2126-01-01T00:00:00.000000Z",
        }
        lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "spec": others}
        admin.ok("POST", LEASE.rpartition("/")[0], {**lease, "metadata": {"name": LEASE.rpartition("/")[2]}})
        with replica(server.kubeconfig, "--no-webhooks", "--questions", ports=(ports[0], ports[1])):
            yield from _asked(runner, admin, hub.kubeconfig, server.kubeconfig)


def _asked(runner: asyncio.Runner, admin: User, hub: Path, kubernetes: Path) -> Iterator[Both]:
    """Both, once the aggregated API answers."""
    path = "/apis/apiregistration.k8s.io/v1/apiservices/v1alpha1.fleet.muster.dev"
    eventually(lambda: [each["status"] for each in admin.ok("GET", path)["status"]["conditions"]], ["True"], 240.0)
    stack = contextlib.AsyncExitStack()

    async def opened() -> Both:
        clients = [
            await stack.enter_async_context(Client(await load_connection(path=str(each)))) for each in (hub, kubernetes)
        ]
        for each in clients:
            await _answers(each)
        return Both(runner, *clients)

    async def closed() -> None:
        await stack.aclose()
        await asyncio.sleep(0.1)  # transports of closed connections want another round of the loop

    yield runner.run(opened())
    runner.run(closed())


async def _answers(client: Client) -> None:
    """Until the controllers, which have just started, have read the fleet."""
    async with asyncio.timeout(120):
        while True:
            try:
                await ServerAsker(client).ask("FleetFacets", {})
            except ApiError as error:
                if error.code != 503:
                    raise
                await asyncio.sleep(0.2)
            else:
                return


def loaded(file: Path, objects: list[dict[str, Any]], server: Server) -> None:
    file.write_text("\n".join(json.dumps(each) for each in objects))
    out, err = io.StringIO(), io.StringIO()
    given = ["apply", "-q", "-f", str(file), "--with-status", "--force-conflicts", "--field-manager", "muster-demo"]
    given += ["--kubeconfig", str(server.kubeconfig)]
    assert run(given, io.StringIO(), out, err) == 0, err.getvalue()


async def _copied(kubeconfig: Path) -> list[dict[str, Any]]:
    """The demo as its hub has decided on it: objects with their labels and their status, and the decisions."""
    demo = {_key(each): each for each in fleet_objects(Fleet())}
    async with Client(await load_connection(path=str(kubeconfig))) as client:
        await _decided(client)
        kinds = {(each["apiVersion"], each["kind"]) for each in demo.values()} | {_DECISION}
        found = []
        for resource in (await client.discover()).resources:
            version = "/".join(filter(None, (resource.group, resource.version)))
            if (version, resource.kind) not in kinds:
                continue
            async for page in client.pages(resource.path()):
                for obj in page["items"]:
                    named = {"apiVersion": version, "kind": resource.kind, "metadata": _plain(obj["metadata"])}
                    if _key(named) in demo or resource.kind in _MADE:
                        found.append({**obj, **named})
        order = {key: number for number, key in enumerate(demo)}
        return sorted(found, key=lambda obj: order.get(_key(obj), len(order)))


def _key(obj: dict[str, Any]) -> tuple[str, str, str]:
    return obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"]


def _plain(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: metadata[name] for name in ("name", "namespace", "labels", "annotations") if name in metadata}


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
