"""The sync controller beside a hub, in a thread, with quick settings."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import json
import threading
from typing import TYPE_CHECKING, Any

from muster.client import Connection
from muster.collecting.reading import ReadLimits
from muster.controllers.manager import utc_now
from muster.controllers.syncing.controller import SyncSettings
from muster.controllers.syncing.running import SyncOptions, run_sync
from muster.controllers.syncing.verdicts import Patience
from muster.importing.found import ACCESS, SOURCE
from tests.controllers.running import CLUSTERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.client import Candidate
    from muster.collecting.plugins import Plugins
    from muster.controllers.syncing.controller import SyncController
    from tests.collecting.fakes import FakeClusters
    from tests.controllers.running import Driver

LIMITS = ReadLimits(seconds=2.0, total_seconds=6.0, answer_bytes=2**22, total_bytes=2**23, nodes=600)
QUICK = SyncSettings(0.3, 0.3, 8, 2, Patience(2, 0.0), LIMITS)


@contextlib.contextmanager
def syncing(
    hub: Driver,
    settings: SyncSettings = QUICK,
    plugins: Plugins | None = None,
    candidate: Candidate | None = None,
) -> Iterator[SyncController]:
    """Keeps imported clusters true until the end of the block."""
    loop = asyncio.new_event_loop()
    started = threading.Event()
    found: list[SyncController] = []

    def ready(controller: SyncController) -> None:
        found.append(controller)
        started.set()

    headers = {"Authorization": f"Bearer {hub.hub.token}"}
    options = SyncOptions(settings, utc_now, candidate, plugins)
    task = loop.create_task(run_sync(Connection(hub.hub.url, "default", headers), options, ready))

    def run() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(asyncio.sleep(0.1))  # transports end a moment after they are closed

    thread = threading.Thread(target=run, name="sync")
    thread.start()
    try:
        assert started.wait(20)
        yield found[0]
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(20)
        loop.close()


def imported(hub: Driver, clusters: FakeClusters, name: str, access: str = "secret", **told: Any) -> None:
    """A cluster as an import with credentials leaves it."""
    hub.send("POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
    config = json.dumps(clusters.kubeconfig(name, **told)).encode()
    keep(hub, name, config)
    cluster = {
        "apiVersion": "cluster.open-cluster-management.io/v1",
        "kind": "ManagedCluster",
        "metadata": {"name": name, "labels": {SOURCE: "kubeconfig"}, "annotations": {ACCESS: access}},
        "spec": {"hubAcceptsClient": True, "leaseDurationSeconds": 1},
    }
    hub.send("POST", CLUSTERS, cluster)


def keep(hub: Driver, name: str, kubeconfig: bytes) -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "muster-kubeconfig", "namespace": name},
        "data": {"kubeconfig": base64.b64encode(kubeconfig).decode()},
    }
    path = f"/api/v1/namespaces/{name}/secrets/muster-kubeconfig"
    hub.send("PATCH", f"{path}?fieldManager=test&force=true", secret, "application/apply-patch+yaml")
