"""A hub without HTTP for tests: the API machinery on a store in memory, spoken to in a few words."""

from __future__ import annotations

import asyncio
import functools
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from muster.api import RESOURCES
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.requests import (
    DeleteOptions,
    ListOptions,
    ObjectBody,
    PatchType,
    Target,
    User,
    WatchOptions,
    WriteOptions,
)
from muster.hub.status import StatusError
from muster.hub.storage import Store

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Coroutine, Sequence

    from muster.hub.requests import Admission, Authorizer, Body, ListAnswer, WatchEvent

Object = dict[str, Any]
Names = list[str]  # within Hub the word means the verb
GROUP = "cluster.open-cluster-management.io"
CLUSTERS = f"managedclusters.{GROUP}"
SETS = f"managedclustersets.{GROUP}"
PLACEMENTS = f"placements.{GROUP}"
ADMIN = User("admin", "1", ("system:masters", "system:authenticated"))
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


def story(test: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an asynchronous test."""

    @functools.wraps(test)
    def run(*args: Any, **kwargs: Any) -> None:
        asyncio.run(test(*args, **kwargs))

    return run


class Hub:
    """The verbs, with defaults for everything a test is not about."""

    def __init__(self, store: Store, authorizer: Authorizer, admission: Sequence[Admission]) -> None:
        self.store = store
        self.now = START
        self.api = Api(store, authorizer, admission=admission, clock=lambda: self.now)
        self.warnings: tuple[str, ...] = ()

    def later(self, seconds: float = 60) -> None:
        self.now += timedelta(seconds=seconds)

    def target(
        self, resource: str, name: str = "", namespace: str = "", subresource: str = "", version: str = ""
    ) -> Target:
        kind = RESOURCES[resource]
        found = kind.version(version) if version else kind.storage_version
        assert found is not None
        if kind.namespaced and not namespace and name:
            namespace = "default"
        return Target(kind, found, namespace, name, subresource)

    def target_of(self, obj: Object, *, named: bool = True, subresource: str = "") -> Target:
        group, _, version = obj["apiVersion"].rpartition("/")
        kind = next(each for each in RESOURCES.values() if (each.group, each.kind) == (group, obj["kind"]))
        found = kind.version(version)
        assert found is not None
        namespace = (obj["metadata"].get("namespace") or "default") if kind.namespaced else ""
        return Target(kind, found, namespace, obj["metadata"]["name"] if named else "", subresource)

    async def create(self, obj: Object, user: User = ADMIN, manager: str = "test", **options: Any) -> Object:
        target = self.target_of({"metadata": {}, **obj}, named=False)
        answer = await self.api.create(user, target, ObjectBody(obj), WriteOptions(field_manager=manager, **options))
        assert answer.code == 201
        self.warnings = answer.warnings
        return answer.decoded()

    async def get(self, resource: str, name: str, namespace: str = "", version: str = "", user: User = ADMIN) -> Object:
        return (await self.api.get(user, self.target(resource, name, namespace, version=version))).decoded()

    async def update(
        self, obj: Object, subresource: str = "", manager: str = "test", user: User = ADMIN, **options: Any
    ) -> Object:
        target = self.target_of(obj, subresource=subresource)
        answer = await self.api.update(user, target, ObjectBody(obj), WriteOptions(field_manager=manager, **options))
        self.warnings = answer.warnings
        return answer.decoded()

    async def patch(
        self,
        target: Target,
        patch: Any,
        kind: PatchType = PatchType.MERGE,
        manager: str = "test",
        user: User = ADMIN,
        **options: Any,
    ) -> Object:
        body: Body = ObjectBody(patch)
        answer = await self.api.patch(user, target, kind, body, WriteOptions(field_manager=manager, **options))
        self.warnings = answer.warnings
        return answer.decoded()

    async def apply(self, obj: Object, manager: str, subresource: str = "", **options: Any) -> Object:
        target = self.target_of(obj, subresource=subresource)
        return await self.patch(target, obj, PatchType.APPLY, manager, **options)

    async def delete(self, resource: str, name: str, namespace: str = "", user: User = ADMIN, **options: Any) -> Object:
        target = self.target(resource, name, namespace)
        answer = await self.api.delete(user, target, DeleteOptions(**options))
        self.warnings = answer.warnings
        return answer.decoded()

    async def names(self, resource: str, namespace: str = "", **options: Any) -> Names:
        return names_in(await self.list(resource, namespace, **options))

    async def list(self, resource: str, namespace: str = "", version: str = "", **options: Any) -> ListAnswer:
        target = self.target(resource, namespace=namespace, version=version)
        return await self.api.list(ADMIN, target, ListOptions(**options))

    @asynccontextmanager
    async def watching(self, resource: str, namespace: str = "", **options: Any) -> AsyncIterator[Watcher]:
        stream = await self.api.watch(ADMIN, self.target(resource, namespace=namespace), WatchOptions(**options))
        try:
            yield Watcher(aiter(stream))
        finally:
            stream.close()


class Watcher:
    """Reads a watch event by event."""

    def __init__(self, batches: AsyncIterator[Sequence[WatchEvent]]) -> None:
        self._batches = batches
        self._ready: list[WatchEvent] = []

    async def event(self) -> WatchEvent:
        while not self._ready:
            async with asyncio.timeout(5):
                self._ready.extend(await anext(self._batches))
        return self._ready.pop(0)

    async def next(self) -> tuple[str, Object]:
        event = await self.event()
        return event.type, msgspec.json.decode(event.object)

    async def brief(self, count: int) -> list[tuple[str, str]]:
        """Type and name of the next events."""
        found = [await self.next() for _ in range(count)]
        return [(type_, obj["metadata"].get("name", "")) for type_, obj in found]

    async def rest(self) -> list[tuple[str, Object]]:
        """Everything until the watch ends by itself."""
        found = list(self._ready)
        async for batch in self._batches:
            found.extend(batch)
        return [(event.type, msgspec.json.decode(event.object)) for event in found]


def names_in(answer: ListAnswer) -> list[str]:
    return [msgspec.json.decode(item)["metadata"]["name"] for item in answer.items]


@asynccontextmanager
async def a_hub(authorizer: Authorizer | None = None, admission: Sequence[Admission] = ()) -> AsyncIterator[Hub]:
    """A hub that has just been started."""
    store = Store.open(None)
    hub = Hub(store, authorizer or AdministratorsOnlyAuthorizer(), admission)
    await hub.api.start()
    try:
        yield hub
    finally:
        await hub.api.close()
        await store.close()


def cluster(name: str = "c1", labels: dict[str, str] | None = None, **spec: Any) -> Object:
    metadata: Object = {"name": name}
    if labels is not None:
        metadata["labels"] = labels
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ManagedCluster",
        "metadata": metadata,
        "spec": {"hubAcceptsClient": True, **spec},
    }


def placement(name: str = "p1", namespace: str = "default", **metadata: Any) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {},
    }


def namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def config_map(name: str = "m1", namespace: str = "default", **data: str) -> Object:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": namespace}, "data": data}


def denied(kind: str, text: str, part: str = "validators") -> str:
    """What a hook of a kind says, with the words that a server puts before it."""
    return f'admission webhook "{kind}{part}.admission.{GROUP}" denied the request: {text}'


async def refusal(call: Coroutine[Any, Any, Any]) -> StatusError:
    """The StatusError a call must end with."""
    with pytest.raises(StatusError) as caught:
        await call
    return caught.value


async def complaint(call: Coroutine[Any, Any, Any]) -> tuple[int, str, str]:
    """Code, reason and message of the refusal a call must end with."""
    error = await refusal(call)
    return error.code, error.reason, error.message
