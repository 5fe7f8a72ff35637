"""The placement controller over HTTP with a clock of the test's, and the means to wait until it has seen everything."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.client import Client, Connection
from muster.client.reflector import Reflector
from muster.controllers.manager import Manager
from tests.hub.rest.running import RunningHub, running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_GROUP = "/apis/cluster.open-cluster-management.io"
_PATIENCE = 15.0
_PLURALS = {
    "ManagedCluster": ("v1", "managedclusters", False),
    "ManagedClusterSet": ("v1beta2", "managedclustersets", False),
    "ManagedClusterSetBinding": ("v1beta2", "managedclustersetbindings", True),
    "Placement": ("v1beta1", "placements", True),
    "PlacementDecision": ("v1beta1", "placementdecisions", True),
    "AddOnPlacementScore": ("v1alpha1", "addonplacementscores", True),
}
_MERGE = "application/merge-patch+json"
Object = dict[str, Any]


class Replay:
    """Writes objects and waits. Only the placement controller runs: taints and sets are as the case has them."""

    def __init__(self, hub: RunningHub) -> None:
        self._hub = hub
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self._manager: Manager | None = None
        self._reflectors: dict[str, Reflector] = {}
        self._namespaces: set[str] = set()
        self._written: dict[str, int] = {}
        self._there: dict[tuple[str, str, str], None] = {}

    async def run(self, started: threading.Event) -> None:
        connection = Connection(self._hub.url, "default", {"Authorization": f"Bearer {self._hub.token}"})
        async with Client(connection) as client:
            discovery = await client.discover()
            self._manager = manager = Manager(client, lambda: self.now)
            handlers = manager.handlers()
            plurals = [plural for _, plural, _ in _PLURALS.values()]
            self._reflectors = {each: Reflector(client, discovery.named(each), handlers[each]) for each in plurals}
            async with asyncio.TaskGroup() as tasks:
                for reflector in self._reflectors.values():
                    tasks.create_task(reflector.run())
                for reflector in self._reflectors.values():
                    await reflector.synced.wait()
                tasks.create_task(manager.placements.run())
                started.set()

    def apply(self, obj: Mapping[str, Any]) -> None:
        """Make an object be as given, its status too."""
        version, plural, namespaced = _PLURALS[obj["kind"]]
        metadata = {key: value for key, value in obj["metadata"].items() if key not in ("uid", "resourceVersion")}
        namespace = metadata.get("namespace", "") if namespaced else ""
        if namespace and namespace not in self._namespaces:
            self._send(
                "POST", "/api/v1/namespaces", {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace}}
            )
            self._namespaces.add(namespace)
        leaving = metadata.pop("deletionTimestamp", None) is not None
        if leaving:
            metadata["finalizers"] = ["example.com/stays"]
        collection = f"{_GROUP}/{version}" + (f"/namespaces/{namespace}" if namespace else "") + f"/{plural}"
        path = f"{collection}/{metadata['name']}"
        key = (obj["kind"], namespace, metadata["name"])
        body = {**obj, "metadata": metadata}
        if key in self._there:
            present = self._send("GET", path)
            body["metadata"] = metadata | {"resourceVersion": present["metadata"]["resourceVersion"]}
            stored = self._send("PUT", path, body)
        else:
            stored = self._send("POST", collection, body)
            self._there[key] = None
        if obj["kind"] != "Placement" and obj.get("status") is not None:
            stored = self._send("PATCH", f"{path}/status", {"status": obj["status"]}, _MERGE)
        self._written[plural] = int(stored["metadata"]["resourceVersion"])
        if leaving:
            self._written[plural] = self._hub.revision + 1  # the event comes after all that is there now
            self._send("DELETE", path)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        version, plural, namespaced = _PLURALS[kind]
        path = f"{_GROUP}/{version}" + (f"/namespaces/{namespace}" if namespaced else "") + f"/{plural}/{name}"
        code, _, _ = self._hub.request("GET", path)
        self._there.pop((kind, namespace, name), None)
        if code != 200:
            return
        self._send("PATCH", path, {"metadata": {"finalizers": None}}, _MERGE)
        before = self._hub.revision
        code, _, _ = self._hub.request("DELETE", path)
        if code == 200:
            self._written[plural] = before + 1

    def clear(self) -> None:
        """Nothing is left of the case before."""
        for kind, namespace, name in sorted(self._there, key=lambda key: key[0] != "Placement"):
            self.delete(kind, namespace, name)
        self.settle()
        for page in self.pages():
            self.delete("PlacementDecision", page["metadata"]["namespace"], page["metadata"]["name"])
        self.settle()

    def advance(self, now: datetime) -> None:
        """It is later. Expired tolerations have a timer of their own, which a jump of the clock does not move."""
        self.now = now
        manager = self._running()
        loop_time = time.monotonic() + 2.0
        manager.placements.wake(list(manager.world.placements))
        while manager.world.fleet.scores.now != now:
            assert time.monotonic() < loop_time
            time.sleep(0.01)

    def settle(self) -> None:
        """Until all that was written has been seen, and nothing is left to do."""
        manager, deadline = self._running(), time.monotonic() + _PATIENCE
        quiet = 0
        while quiet < 3:
            seen = all(int(self._reflectors[plural].revision or 0) >= at for plural, at in self._written.items())
            quiet = quiet + 1 if seen and manager.placements.queue.idle else 0
            assert time.monotonic() < deadline, "the controller does not settle"
            time.sleep(0.004)

    def pages(self) -> list[Object]:
        found: list[Object] = self._send("GET", f"{_GROUP}/v1beta1/placementdecisions")["items"]
        return found

    def placement(self, obj: Mapping[str, Any]) -> Object:
        metadata = obj["metadata"]
        path = f"{_GROUP}/v1beta1/namespaces/{metadata['namespace']}/placements/{metadata['name']}"
        found: Object = self._send("GET", path)
        return found

    def _running(self) -> Manager:
        assert self._manager is not None
        return self._manager

    def _send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        data = None if body is None else json.dumps(body).encode()
        code, _, answer = self._hub.request(method, path, data, {"Content-Type": content_type})
        assert code < 300, (method, path, body, answer)
        return json.loads(answer)


@contextlib.contextmanager
def replaying() -> Iterator[Replay]:
    """A hub without admission, and the placement controller beside it."""
    with running_hub() as hub:
        replay = Replay(hub)
        loop = asyncio.new_event_loop()
        started = threading.Event()
        task = loop.create_task(replay.run(started))

        def main() -> None:
            with contextlib.suppress(asyncio.CancelledError):
                loop.run_until_complete(task)

        thread = threading.Thread(target=main, name="placement-controller")
        thread.start()
        try:
            assert started.wait(_PATIENCE)
            yield replay
        finally:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(_PATIENCE)
            loop.close()
