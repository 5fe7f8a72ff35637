"""A hub as users run it — roles, admission, every controller — over HTTP, with clocks of the test's.

Recorded cases are written to it one after another, and asked for when it has seen everything and come to rest.
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import time
from copy import deepcopy
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from muster.controllers.clusters import AVAILABLE, UNAVAILABLE_TAINT, UNREACHABLE_TAINT
from muster.selectors.membership import DEFAULT_SET, GLOBAL_SET
from tests.builders import a_time
from tests.controllers.running import controllers, driven_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from muster.controllers.manager import Manager
    from tests.hub.rest.running import RunningHub

GROUP = "/apis/cluster.open-cluster-management.io"
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
_PAUSED = "cluster.open-cluster-management.io/experimental-scheduling-disable"
Object = dict[str, Any]


class RefusedError(Exception):
    """The hub does not take an object."""

    def __init__(self, request: str, answer: bytes) -> None:
        super().__init__(f"{request}: {answer.decode()}")
        self.reason: str = json.loads(answer).get("reason", "")


class Replay:
    """Writes objects as their owners would, and waits."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.now = datetime(2026, 1, 1, tzinfo=UTC)
        self.admission_time = self.now
        self._loop = loop
        self._found: tuple[RunningHub, Manager] | None = None
        self._connection: http.client.HTTPConnection | None = None
        self._namespaces: set[str] = set()
        self._written: dict[str, int] = {}  # by resource, the revision that must have been seen
        self._there: dict[tuple[str, str, str], None] = {}

    def connect(self, hub: RunningHub, manager: Manager) -> None:
        self._found = (hub, manager)
        self._connection = http.client.HTTPConnection(hub.host, hub.port, timeout=30)

    @property
    def hub(self) -> RunningHub:
        assert self._found is not None
        return self._found[0]

    @property
    def manager(self) -> Manager:
        assert self._found is not None
        return self._found[1]

    # --------------------------------------------------------------------------------------------------- writing

    def apply(self, obj: Mapping[str, Any], *, heard: bool = True) -> None:
        """Make an object be as given, its status too. Raises RefusedError.

        A cluster that has not been `heard` of says no more about itself than the case does.
        """
        if obj["kind"] == "ManagedCluster" and heard:
            self._apply_cluster(_named(obj))
        else:
            self._store(_named(obj), obj.get("status") if obj["kind"] != "Placement" else None)

    def _apply_cluster(self, obj: Object) -> None:
        """A cluster and the word of its agent, from which taints of the hub's own follow.

        The time of a taint is the time at which it is written, so each is written at its own.
        """
        taints = (obj.get("spec") or {}).get("taints") or []
        status = heard(obj)
        dated = [each for each in taints if each.get("timeAdded")]
        if dated:
            with self._paused():
                self._store(_tainted(obj, []), status)
                for at in sorted({each["timeAdded"] for each in dated}):
                    self.admission_time = a_time(at)
                    self._store(_tainted(obj, [each for each in dated if each["timeAdded"] <= at]), status)
                self.admission_time = self.now
                self._store(_tainted(obj, taints), status)
        elif ("ManagedCluster", "", obj["metadata"]["name"]) in self._there:
            self._store(_tainted(obj, taints), status)
        else:
            # Until its agent has spoken it is out of reach, and no placement takes it for a moment.
            unreachable = [] if _has(taints, UNREACHABLE_TAINT) else [{"key": UNREACHABLE_TAINT, "effect": "NoSelect"}]
            self._store(_tainted(obj, [*unreachable, *taints]), status)

    @contextlib.contextmanager
    def _paused(self) -> Iterator[None]:
        """No placement is scheduled meanwhile."""
        pause = [key for key in self._there if key[0] == "Placement"]
        for kind, namespace, name in pause:
            self._patch(kind, namespace, name, {"metadata": {"annotations": {_PAUSED: "true"}}})
        self.settle()
        yield
        self.settle()
        for kind, namespace, name in pause:
            self._patch(kind, namespace, name, {"metadata": {"annotations": {_PAUSED: None}}})

    def _store(self, obj: Object, status: Mapping[str, Any] | None) -> None:
        kind, metadata = obj["kind"], obj["metadata"]
        for field in ("uid", "resourceVersion", "creationTimestamp"):
            metadata.pop(field, None)
        leaving = metadata.pop("deletionTimestamp", None) is not None
        if leaving:
            metadata["finalizers"] = ["example.com/stays"]
        key = (kind, metadata.get("namespace", ""), metadata["name"])
        collection, path = _collection(kind, key[1]), _path(*key)
        self._ensure_namespace(key[1])
        present = self.get(path)
        if present is None:
            self._send("POST", collection, obj)
            self._there[key] = None
        else:
            self._there.setdefault(key)
            self._replace(path, obj)
        if status is not None:
            self._send("PATCH", f"{path}/status", {"status": status}, _MERGE)
        if leaving:
            self._send("DELETE", path)

    def _replace(self, path: str, obj: Object) -> None:
        """Write over what is there, although controllers write to it as well."""
        for _ in range(20):
            revision = {"resourceVersion": (self.get(path) or {}).get("metadata", {}).get("resourceVersion")}
            code, answer = self._ask("PUT", path, {**obj, "metadata": {**obj["metadata"], **revision}})
            if code != 409:
                break
        if code >= 300:
            raise RefusedError(f"PUT {path}", answer)

    def _ensure_namespace(self, namespace: str) -> None:
        if namespace and namespace not in self._namespaces:
            body = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": namespace}}
            self._send("POST", "/api/v1/namespaces", body)
            self._namespaces.add(namespace)

    def _patch(self, kind: str, namespace: str, name: str, body: Mapping[str, Any]) -> None:
        self._send("PATCH", _path(kind, namespace, name), body, _MERGE)

    def delete(self, kind: str, namespace: str, name: str) -> None:
        key = (kind, namespace if _PLURALS[kind][2] else "", name.lower())
        self._there.pop(key, None)
        present = self.get(_path(*key))
        if present is None:
            return
        if present["metadata"].get("finalizers"):
            self._patch(*key, {"metadata": {"finalizers": None}})
        before = self.hub.revision
        code, _ = self._ask("DELETE", _path(*key))
        if code == 200:
            self._written[_PLURALS[kind][1]] = before + 1

    def clear(self) -> None:
        """Nothing is left of the case before but the namespaces; the built-in sets are as in a new hub."""
        self.admission_time = self.now
        for kind, namespace, name in sorted(self._there, key=lambda key: key[0] != "Placement"):
            self.delete(kind, namespace, name)
        deadline = time.monotonic() + _PATIENCE
        while self.pages() or not all(self.get(_path("ManagedClusterSet", "", name)) for name in _BUILT_IN):
            assert time.monotonic() < deadline, "something of the case before stays"
            for page in self.pages():
                if not page["metadata"].get("ownerReferences"):  # which the garbage collector would take
                    self.delete("PlacementDecision", page["metadata"]["namespace"], page["metadata"]["name"])
            time.sleep(0.01)
        self.settle()

    def advance(self, now: datetime) -> None:
        """It is later. Expired tolerations have a timer of their own, which a jump of the clock does not move."""
        self.now = self.admission_time = now

        async def look() -> None:
            self.manager.wake(self.manager.world.advance(now))
            self.manager.wake_all()

        asyncio.run_coroutine_threadsafe(look(), self._loop).result(_PATIENCE)

    # -------------------------------------------------------------------------------------------------- reading

    def settle(self) -> None:
        """Until all that is in the hub has been seen, and nothing is left to do."""
        deadline = time.monotonic() + _PATIENCE
        quiet = 0
        while quiet < 3:
            quiet = quiet + 1 if self._has_seen_everything() and self.manager.idle else 0
            assert time.monotonic() < deadline, "the controllers do not settle"
            time.sleep(0.003)

    def _has_seen_everything(self) -> bool:
        newest = self.hub.call(self._newest())
        seen = {each.kind: int(each.revision or 0) for each in self.manager.reflectors}
        return all(seen[plural] >= at for plural, at in newest.items())

    async def _newest(self) -> dict[str, int]:
        """The newest revision of each resource. Runs on the hub's loop."""
        newest = {}
        for _, plural, _ in _PLURALS.values():
            records = self.hub.store.scan(f"{plural}.cluster.open-cluster-management.io")
            newest[plural] = max((record.revision for record in records), default=0)
        return {plural: max(at, self._written.get(plural, 0)) for plural, at in newest.items()}

    def pages(self) -> list[Object]:
        found: list[Object] = self._send("GET", f"{GROUP}/v1beta1/placementdecisions")["items"]
        return found

    def object(self, obj: Mapping[str, Any]) -> Object:
        """An object as it is now."""
        named = _named(obj)
        found: Object = self._send(
            "GET", _path(obj["kind"], named["metadata"].get("namespace", ""), named["metadata"]["name"])
        )
        return found

    def get(self, path: str) -> Object | None:
        code, answer = self._ask("GET", path)
        return json.loads(answer) if code == 200 else None

    def _send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        code, answer = self._ask(method, path, body, content_type)
        if code >= 300:
            raise RefusedError(f"{method} {path}", answer)
        return json.loads(answer)

    def _ask(
        self, method: str, path: str, body: Any = None, content_type: str = "application/json"
    ) -> tuple[int, bytes]:
        assert self._connection is not None
        headers = {"Authorization": f"Bearer {self.hub.token}", "Content-Type": content_type}
        self._connection.request(method, path, None if body is None else json.dumps(body).encode(), headers)
        answer = self._connection.getresponse()
        return answer.status, answer.read()


_BUILT_IN = (DEFAULT_SET, GLOBAL_SET)


def _named(obj: Mapping[str, Any]) -> Object:
    """A copy under a name that an API server takes; recorded fixtures have others."""
    copied: Object = deepcopy(dict(obj))
    copied["metadata"]["name"] = copied["metadata"]["name"].lower()
    if not _PLURALS[obj["kind"]][2]:
        copied["metadata"].pop("namespace", None)
    if obj["kind"] == "ManagedClusterSetBinding":
        copied["spec"]["clusterSet"] = copied["spec"]["clusterSet"].lower()
    return copied


def _tainted(obj: Mapping[str, Any], taints: Sequence[Mapping[str, Any]]) -> Object:
    """A copy with these taints, without their times, which are the server's to set. None is not an empty list."""
    copied: Object = deepcopy(dict(obj))
    own = [{name: value for name, value in taint.items() if name != "timeAdded"} for taint in taints]
    if own or "taints" in (copied.get("spec") or {}):
        copied["spec"] = {**(copied.get("spec") or {}), "taints": own}
    return copied


def _has(taints: Sequence[Mapping[str, Any]], key: str) -> bool:
    return any(taint["key"] == key for taint in taints)


def heard(cluster: Mapping[str, Any]) -> Object:
    """A cluster's status with the word of its agent, if it has none, that fits the cluster's taints."""
    status = dict(cluster.get("status") or {})
    conditions = status.get("conditions") or []
    if not any(each["type"] == AVAILABLE for each in conditions):
        status["conditions"] = [*conditions, _availability((cluster.get("spec") or {}).get("taints") or ())]
    return status


def _availability(taints: Sequence[Mapping[str, Any]]) -> Object:
    """The word of an agent that fits the taints of its cluster."""
    status = "Unknown" if _has(taints, UNREACHABLE_TAINT) else "False" if _has(taints, UNAVAILABLE_TAINT) else "True"
    when = "2026-01-01T00:00:00Z"
    return {"type": AVAILABLE, "status": status, "reason": "Told", "message": "", "lastTransitionTime": when}


def _collection(kind: str, namespace: str) -> str:
    version, plural, namespaced = _PLURALS[kind]
    return f"{GROUP}/{version}" + (f"/namespaces/{namespace}" if namespaced else "") + f"/{plural}"


def _path(kind: str, namespace: str, name: str) -> str:
    return f"{_collection(kind, namespace)}/{name}"


@contextlib.contextmanager
def replaying() -> Iterator[Replay]:
    """A hub with everything it has, and the controllers beside it."""
    loop = asyncio.new_event_loop()
    replay = Replay(loop)
    with (
        driven_hub(lambda: replay.admission_time) as driver,
        controllers(driver.hub, clock=lambda: replay.now, loop=loop) as manager,
    ):
        replay.connect(driver.hub, manager)
        yield replay
