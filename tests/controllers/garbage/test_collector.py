"""The garbage collector against a server of a few lines, so that everything can happen between two of its steps."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest

from muster.client import Discovery, Reply, ServedResource
from muster.controllers.garbage.collector import GarbageCollector
from muster.controllers.garbage.ownership import BoundedSet
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.errors import ApiError

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.controllers.runtime.events import About

Object = dict[str, Any]
OCM = "cluster.open-cluster-management.io"
VERBS = ("get", "list", "watch", "patch", "delete")
CONFIG_MAPS = ServedResource("", "v1", "configmaps", "configmap", "ConfigMap", True, verbs=VERBS)
SECRETS = ServedResource("", "v1", "secrets", "secret", "Secret", True, verbs=VERBS)
REVIEWS = ServedResource("", "v1", "reviews", "review", "Review", False, verbs=("create",))
CLUSTERS = ServedResource(OCM, "v1", "managedclusters", "managedcluster", "ManagedCluster", False, verbs=VERBS)
SETS = ServedResource(OCM, "v1beta2", "managedclustersets", "", "ManagedClusterSet", False, verbs=VERBS)
ALL = (CONFIG_MAPS, SECRETS, REVIEWS, CLUSTERS, SETS)


class Server:
    """Objects by path. Tells the collector of changes only when it is asked to: watches can be behind."""

    def __init__(self) -> None:
        self.objects: dict[str, Object] = {}
        self.asked: list[str] = []
        self.events: list[tuple[str, str]] = []
        self.before: Callable[[str, str], None] = lambda _method, _path: None
        self.collector = GarbageCollector(self, self, Discovery(ALL), ControllerMetrics())  # type: ignore[arg-type]
        self._handlers = {resource: self.collector.mirror(resource) for resource in ALL}
        self._revision = 0

    # --- what a client and an event recorder do

    async def request(self, method: str, path: str, **given: Any) -> Reply:
        await asyncio.sleep(0)
        self.before(method, path)
        self.asked.append(f"{method} {path}")
        obj = self.objects.get(unquote(path))
        if obj is None:
            raise ApiError(404, "NotFound", f"{path} is not there")
        body = given.get("body") or {}
        if method == "DELETE":
            self._check(obj, body["preconditions"])
            self.delete(obj, body["propagationPolicy"])
        elif method == "PATCH":
            self._check(obj, body["metadata"])
            changes = {key: value for key, value in body["metadata"].items() if key not in ("uid", "resourceVersion")}
            obj["metadata"] |= changes
            for key in [key for key, value in changes.items() if value is None]:
                del obj["metadata"][key]
            self.store(obj)
            if obj["metadata"].get("deletionTimestamp") and not obj["metadata"].get("finalizers"):
                del self.objects[unquote(path)]
        return Reply(200, json.dumps(obj).encode(), ())

    def record(self, about: About, reason: str, message: str, kind: str = "Normal") -> None:
        self.events.append((about.name, reason))

    # --- what tests do

    def store(self, obj: Object) -> Object:
        self._revision += 1
        obj["metadata"]["resourceVersion"] = str(self._revision)
        self.objects[path_of(obj)] = obj
        return obj

    def create(
        self, resource: ServedResource, name: str, *owners: Object, namespace: str = "apps", **more: Any
    ) -> Object:
        metadata: Object = {"name": name, "uid": f"uid-{name}-{self._revision}", **more}
        if resource.namespaced:
            metadata["namespace"] = namespace
        if owners:
            metadata["ownerReferences"] = list(owners)
        return self.store({"apiVersion": resource.api_version, "kind": resource.kind, "metadata": metadata})

    def delete(self, obj: Object, policy: str = "Background") -> None:
        metadata = obj["metadata"]
        finalizer = {"Foreground": "foregroundDeletion", "Orphan": "orphan"}.get(policy)
        if finalizer:
            metadata["finalizers"] = [*metadata.get("finalizers", []), finalizer]
        if metadata.get("finalizers"):
            metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z"
            self.store(obj)
        else:
            del self.objects[path_of(obj)]

    def tell(self) -> None:
        """The collector's watches catch up."""
        for resource, handler in self._handlers.items():
            of_kind = [each for each in self.objects.values() if each["kind"] == resource.kind]
            handler.replace([json.dumps(each).encode() for each in of_kind])

    def settle(self) -> None:
        """Watches and collector take turns until nothing happens."""

        async def work() -> None:
            for _ in range(200):
                before = self._revision, len(self.objects)
                self.tell()
                while len(self.collector.queue):
                    await self.work_once()
                if (self._revision, len(self.objects)) == before:
                    return
            raise AssertionError("it never settles")

        asyncio.run(work())

    async def work_once(self) -> None:
        uid = await self.collector.queue.get()
        again = False
        try:
            await self.collector._look_at(uid)
        except ApiError as error:
            if error.code not in (404, 409):  # somebody else was first: as for the runner
                raise
            again = True
        finally:
            self.collector.queue.done(uid)
        if again:
            self.tell()
            self.collector.queue.add(uid)

    def names(self) -> set[str]:
        return {each["metadata"]["name"] for each in self.objects.values()}

    def _check(self, obj: Object, read: Object) -> None:
        for key in ("uid", "resourceVersion"):
            if read[key] != obj["metadata"][key]:
                raise ApiError(409, "Conflict", f"{key} is another")


def path_of(obj: Object) -> str:
    resource = next(each for each in ALL if each.kind == obj["kind"])
    metadata = obj["metadata"]
    return unquote(resource.object_path(metadata.get("namespace", ""), metadata["name"]))


def owner(obj: Object, **more: Any) -> Object:
    metadata = obj["metadata"]
    return {
        "apiVersion": obj["apiVersion"],
        "kind": obj["kind"],
        "name": metadata["name"],
        "uid": metadata["uid"],
        **more,
    }


def a_ghost(kind: str = "ConfigMap", name: str = "ghost", version: str = "v1") -> Object:
    return {"apiVersion": version, "kind": kind, "name": name, "uid": "never-existed"}


# --- Names of owners


@pytest.mark.parametrize("name", ["?watch=true&x=", "../secrets", "..", ".", "", "a/b", "%2e%2e", "x?limit=1#", "*"])
def test_the_name_of_an_owner_is_never_more_than_a_name(name: str) -> None:
    server = Server()
    for number in range(4):
        server.create(CONFIG_MAPS, f"c{number}", a_ghost(name=name))
    server.settle()
    for asked in server.asked:
        path = asked.partition(" ")[2]
        assert "?" not in path
        assert ".." not in path
        assert path.count("/") == 6, asked
    assert server.names() == set()


# --- Stale copies


def test_a_dependent_is_read_before_it_is_deleted() -> None:
    """Its owner reference was removed, and the watch has not told yet."""
    server = Server()
    dependent = server.create(CONFIG_MAPS, "c", a_ghost())
    server.tell()
    del dependent["metadata"]["ownerReferences"]
    server.store(dependent)
    asyncio.run(server.work_once())
    assert server.names() == {"c"}


def test_a_dependent_that_changes_while_it_is_judged_is_not_deleted() -> None:
    server = Server()
    dependent = server.create(CONFIG_MAPS, "c", a_ghost())
    server.tell()

    def adopt(method: str, _: str) -> None:
        if method == "DELETE":
            dependent["metadata"].pop("ownerReferences", None)
            server.store(dependent)

    server.before = adopt
    asyncio.run(server.work_once())
    assert server.names() == {"c"}


def test_another_object_of_the_same_name_is_left_alone() -> None:
    server = Server()
    dependent = server.create(CONFIG_MAPS, "c", a_ghost())
    server.tell()
    server.delete(dependent)
    server.create(CONFIG_MAPS, "c")
    asyncio.run(server.work_once())
    assert server.names() == {"c"}


@pytest.mark.parametrize("policy", ["Foreground", "Orphan"])
def test_dependents_that_come_and_go_meanwhile_stop_nothing(policy: str) -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    children = [server.create(CONFIG_MAPS, f"c{each}", owner(parent)) for each in range(5)]
    server.tell()
    server.delete(parent, policy)
    server.tell()
    left = list(children)

    def change(_: str, path: str) -> None:
        server.before = lambda *_: None  # the watches ask too
        if left and path_of(left[0]) in server.objects:
            server.delete(left.pop(0))
            server.create(CONFIG_MAPS, f"late-{len(left)}", owner(parent))
            server.tell()
        server.before = change

    server.before = change
    server.settle()
    assert "parent" not in server.names()


# --- Owners


def test_what_belongs_to_nothing_that_exists_goes() -> None:
    server = Server()
    server.create(CONFIG_MAPS, "c", a_ghost())
    server.settle()
    assert server.names() == set()


def test_an_owner_with_another_uid_is_another_owner() -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    server.create(CONFIG_MAPS, "c", {**owner(parent), "uid": "before"})
    server.settle()
    assert server.names() == {"parent"}


def test_a_uid_that_belongs_to_something_else_is_no_owner() -> None:
    server = Server()
    secret = server.create(SECRETS, "s")
    server.create(CONFIG_MAPS, "c", {**owner(secret), "kind": "ConfigMap", "name": "other"})
    server.settle()
    assert server.names() == {"s"}


@pytest.mark.parametrize(
    "reference",
    [a_ghost("Nonsense"), a_ghost(version="no/such/version"), a_ghost("Review"), a_ghost("ManagedCluster", "c", "v1")],
    ids=["kind", "version", "not readable", "group"],
)
def test_a_kind_that_nobody_can_look_up_keeps_its_dependents(reference: Object) -> None:
    server = Server()
    server.create(CONFIG_MAPS, "c", reference)
    server.settle()
    assert server.names() == {"c"}


def test_an_owner_in_another_namespace_is_none_and_that_is_told_once() -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent", namespace="other")
    server.create(CONFIG_MAPS, "c", owner(parent))
    server.settle()
    assert server.names() == {"parent"}
    assert server.events == [("c", "OwnerRefInvalidNamespace")]


@pytest.mark.parametrize("exists", [True, False])
def test_what_is_in_no_namespace_does_not_follow_an_owner_that_is(exists: bool) -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    server.create(CLUSTERS, "c", owner(parent) if exists else a_ghost())
    server.settle()
    server.delete(parent)
    server.settle()
    assert server.names() == {"c"}
    assert ("c", "OwnerRefInvalidNamespace") in server.events


def test_thousands_of_owners_are_looked_up_a_few_at_a_time() -> None:
    server = Server()
    references = [{**a_ghost(name=f"g{each}"), "uid": f"u{each}"} for each in range(170)]
    server.create(CONFIG_MAPS, "c", *references)
    server.tell()
    asyncio.run(server.work_once())
    assert len(server.asked) <= 52
    server.settle()
    assert server.names() == set()


def test_one_owner_that_is_there_keeps_the_dependent() -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    child = server.create(CONFIG_MAPS, "c", a_ghost(), owner(parent))
    server.settle()
    assert server.names() == {"parent", "c"}
    assert [each["name"] for each in child["metadata"]["ownerReferences"]] == ["parent"]


def test_what_is_remembered_of_the_absent_is_bounded() -> None:
    remembered: BoundedSet[int] = BoundedSet(3)
    for number in range(10):
        remembered.add(number)
    assert len(remembered) == 3
    assert 9 in remembered
    assert 0 not in remembered


# --- Manners of deletion


def test_a_dependent_with_another_owner_survives_a_foreground_deletion() -> None:
    server = Server()
    first, second = server.create(CONFIG_MAPS, "a"), server.create(CONFIG_MAPS, "b")
    server.create(CONFIG_MAPS, "c", owner(first, blockOwnerDeletion=True), owner(second))
    server.settle()
    server.delete(first, "Foreground")
    server.settle()
    assert server.names() == {"b", "c"}


def test_foreground_waits_for_dependents_with_finalizers() -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    child = server.create(CONFIG_MAPS, "c", owner(parent, blockOwnerDeletion=True), finalizers=["example.com/wait"])
    server.settle()
    server.delete(parent, "Foreground")
    server.settle()
    assert server.names() == {"parent", "c"}
    child["metadata"]["finalizers"] = []
    del server.objects[path_of(child)]
    server.settle()
    assert server.names() == set()


def test_orphans_lose_the_reference_and_stay() -> None:
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    child = server.create(CONFIG_MAPS, "c", owner(parent))
    server.settle()
    server.delete(parent, "Orphan")
    server.settle()
    assert server.names() == {"c"}
    assert "ownerReferences" not in child["metadata"]


def test_an_owner_is_looked_at_again_when_its_last_dependent_no_longer_blocks_it() -> None:
    """By the event of the dependent alone: no new list comes to help."""
    server = Server()
    parent = server.create(CONFIG_MAPS, "parent")
    child = server.create(CONFIG_MAPS, "c", owner(parent, blockOwnerDeletion=True), finalizers=["example.com/wait"])
    server.settle()
    server.delete(parent, "Foreground")
    server.settle()
    assert server.names() == {"parent", "c"}
    child["metadata"]["ownerReferences"] = [owner(parent)]
    server.store(child)
    server.settle()
    assert server.names() == {"c"}


@pytest.mark.parametrize("length", [1, 2, 3, 5])
def test_circles_go_too(length: int) -> None:
    server = Server()
    ring = [server.create(CONFIG_MAPS, f"c{each}") for each in range(length)]
    for each, following in zip(ring, [*ring[1:], ring[0]], strict=True):
        each["metadata"]["ownerReferences"] = [owner(following, blockOwnerDeletion=True)]
        server.store(each)
    server.settle()
    assert len(server.names()) == length
    server.delete(ring[0], "Foreground")
    server.settle()
    assert server.names() == set()


# --- Clusters and sets


@pytest.mark.parametrize("resource", [CLUSTERS, SETS])
@pytest.mark.parametrize(
    "reference",
    [a_ghost("ManagedCluster", version=f"{OCM}/v1"), a_ghost("ManagedCluster", "../x", f"{OCM}/v1"), a_ghost()],
    ids=["absent", "impossible", "in a namespace"],
)
def test_an_owner_that_never_was_takes_no_cluster_and_no_set_with_it(
    resource: ServedResource, reference: Object
) -> None:
    server = Server()
    server.create(resource, "c", reference)
    server.settle()
    assert server.names() == {"c"}
    assert server.events


def test_the_uid_of_an_owner_that_went_before_is_no_evidence() -> None:
    server = Server()
    parent = server.create(CLUSTERS, "parent")
    server.settle()
    server.delete(parent)
    server.settle()
    server.create(CLUSTERS, "c", owner(parent))
    server.settle()
    assert server.names() == {"c"}
    assert server.events == [("c", "OwnerNeverSeen")]


@pytest.mark.parametrize("policy", ["Background", "Foreground"])
def test_a_cluster_follows_an_owner_that_was_seen_to_go(policy: str) -> None:
    server = Server()
    parent = server.create(SETS, "parent")
    server.create(CLUSTERS, "c", owner(parent))
    server.settle()
    server.delete(parent, policy)
    server.settle()
    assert server.names() == set()


# --- Metadata that cannot be read


def test_metadata_that_nobody_understands_is_left_alone() -> None:
    server = Server()
    handler = server.collector.mirror(CONFIG_MAPS)
    for wrong in (b'{"metadata":{"name":"x","uid":"u","ownerReferences":[null]}}', b"[]", b'{"metadata":null}', b"{"):
        handler.put(wrong)
        handler.remove(wrong)
        handler.replace([wrong])
    assert not len(server.collector.queue)
