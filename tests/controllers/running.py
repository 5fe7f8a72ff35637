"""A hub and the controllers beside it, in threads of this process, and a client to drive them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import tempfile
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster.client import Connection
from muster.controllers.manager import Manager, Options, run_controllers, utc_now
from muster.controllers.permissions import COLLECTOR, CONTROLLERS, REGISTRAR
from muster.hub.auth.tokens import AUTHENTICATED
from muster.hub.requests import User
from muster.questions.observer import Observer
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from datetime import datetime

    from muster.client import Candidate
    from muster.hub.access import AccessSettings

GROUP = "/apis/cluster.open-cluster-management.io"
CLUSTERS = f"{GROUP}/v1/managedclusters"
SETS = f"{GROUP}/v1beta2/managedclustersets"
APPS = f"{GROUP}/v1beta1/namespaces/apps"
PATIENCE = 20.0
SERVICES = {
    CONTROLLERS: "the-token-of-the-controllers",
    COLLECTOR: "the-token-of-the-collector",
    REGISTRAR: "the-token-of-the-registrar",
}


@dataclass
class Driver:
    """Speaks to the hub as an administrator."""

    hub: RunningHub

    def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        data = None if body is None else json.dumps(body).encode()
        code, _, answer = self.hub.request(method, path, data, {"Content-Type": content_type})
        decoded = json.loads(answer)
        assert code < 300, decoded
        return decoded

    def create(self, *objects: Mapping[str, Any]) -> None:
        paths = {
            "ManagedCluster": CLUSTERS,
            "ManagedClusterSet": SETS,
            "Placement": f"{APPS}/placements",
            "ManagedClusterSetBinding": f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings",
        }
        for obj in objects:
            self.send("POST", paths[obj["kind"]], obj)
            if obj["kind"] == "ManagedCluster":
                self.patch(f"{CLUSTERS}/{obj['metadata']['name']}/status", {"status": available(obj)})

    def patch(self, path: str, body: Any) -> Any:
        return self.send("PATCH", path, body, "application/merge-patch+json")

    def get(self, path: str) -> Any:
        code, _, answer = self.hub.request("GET", path)
        return json.loads(answer) if code == 200 else None

    def decided(self, placement: str = "p1") -> list[str]:
        """The clusters in all pages of a placement."""
        label = f"cluster.open-cluster-management.io%2Fplacement%3D{placement}"
        pages = self.get(f"{APPS}/placementdecisions?labelSelector={label}")["items"]
        return sorted(
            decision["clusterName"] for page in pages for decision in page.get("status", {}).get("decisions", [])
        )

    def condition(self, path: str, kind: str) -> tuple[str, str] | None:
        conditions = ((self.get(path) or {}).get("status") or {}).get("conditions") or []
        return next(((each["status"], each["reason"]) for each in conditions if each["type"] == kind), None)


def available(cluster: Mapping[str, Any]) -> dict[str, Any]:
    condition = {
        "type": "ManagedClusterConditionAvailable",
        "status": "True",
        "reason": "Available",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    return {**cluster.get("status", {}), "conditions": [condition]}


def eventually(question: Callable[[], Any], expected: Any) -> None:
    """Ask until the answer is as expected."""
    deadline = time.monotonic() + PATIENCE
    while (answer := question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        time.sleep(0.02)


def connection_of(hub: RunningHub, user: str) -> Connection:
    """A connection as one of the hub's services, with no more than its roles allow."""
    return Connection(hub.url, "default", {"Authorization": f"Bearer {SERVICES[user]}"})


@contextlib.contextmanager
def controllers(
    hub: RunningHub,
    candidate: Candidate | None = None,
    clock: Callable[[], datetime] = utc_now,
    loop: asyncio.AbstractEventLoop | None = None,
    address: Path | None = None,
    profiles: bool = False,
) -> Iterator[Manager]:
    """The controllers, connected to a hub as the users they are there. A loop is for who wants to call into them.

    With an address, the file in which the hub looks for them, they answer questions.
    """
    found: list[Manager] = []
    ready = threading.Event()
    loop = loop or asyncio.new_event_loop()
    observer = None if address is None else Observer
    options = Options(
        candidate,
        connection_of(hub, COLLECTOR),
        address,
        clock=clock,
        observer=observer,
        registrar=connection_of(hub, REGISTRAR),
        profiles=profiles,
    )

    def started(manager: Manager) -> None:
        found.append(manager)
        ready.set()

    task = loop.create_task(run_controllers(connection_of(hub, CONTROLLERS), started, options))

    def main() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=main, name="controllers")
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield found[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(PATIENCE)
        loop.close()


@contextlib.contextmanager
def driven_hub(
    clock: Callable[[], datetime] = utc_now, settings: AccessSettings | None = None, state: Path | None = None
) -> Iterator[Driver]:
    """A hub with roles, admission and the namespace `apps`."""
    users = {token: User(name, name, (AUTHENTICATED,)) for name, token in SERVICES.items()}
    with (
        tempfile.TemporaryDirectory() as folder,
        running_hub(state=state or Path(folder), users=users, access_settings=settings, clock=clock) as hub,
    ):
        driver = Driver(hub)
        driver.send(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
        )
        yield driver
