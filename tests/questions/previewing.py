"""Previews without HTTP and without controllers: the hub's side, roles, and an observer over given objects."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any, cast

import msgspec

from muster.access.policy import Policy
from muster.api.agent import Agent
from muster.api.fleet_questions import QUESTIONS
from muster.api.parts import PartialObject
from muster.api.reading import Reader
from muster.api.resolution import CATALOG_LABEL, Resolution
from muster.classification.classification import CLASSIFICATIONS
from muster.controllers.hosts.reported import mirror_of
from muster.controllers.hosts.world import AgentWorld
from muster.controllers.placements.preview import world_of
from muster.controllers.questions.kinds import Refusal
from muster.controllers.resolutions.jobs import Job
from muster.controllers.resolutions.worker import CatalogCache, preview_of
from muster.controllers.resolutions.world import ResolutionWorld
from muster.controllers.runtime.mirror import Mirror
from muster.hub.auth.rbac.authorizer import RbacAuthorizer
from muster.hub.questions import Questions
from muster.hub.requests import Target, User
from muster.hub.status import StatusError
from muster.importing.hosts import OTHER_KINDS
from muster.questions.observer import Observer
from tests.controllers.questions.answering import NOW

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.api.fleet_resolution import ResolutionPreviewStatus

Object = dict[str, Any]
HOSTS = "agent-install.openshift.io"
KINDS = {each.kind: each for each in QUESTIONS}


def a_host(name: str, inventory: Object | None = None, namespace: str = "hosts", **labels: str) -> Object:
    metadata = {"name": name, "namespace": namespace, "labels": labels, "resourceVersion": "1"}
    return {"kind": "Agent", "metadata": metadata, "status": {} if inventory is None else {"inventory": inventory}}


def a_query(name: str, query: str, key: str = "size", value: str = "big", namespace: str = "hosts") -> Object:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": "1", "uid": f"of-{name}", "generation": 1}
    spec = {"labelKey": key, "labelValue": value, "query": query}
    return {"kind": "AgentClassification", "metadata": metadata, "spec": spec}


def a_resolution(name: str, namespace: str = "apps", **spec: Any) -> Object:
    metadata = {"name": name, "namespace": namespace, "resourceVersion": "1", "generation": 1}
    kind = {"apiVersion": "resolution.muster.dev/v1alpha1", "kind": "Resolution"}
    return {**kind, "metadata": metadata, "spec": spec}


def a_catalog_map(name: str, blobs: Iterable[Object], namespace: str = "apps") -> Object:
    labels = {CATALOG_LABEL: "true"}
    metadata = {"name": name, "namespace": namespace, "resourceVersion": "1", "labels": labels}
    lines = "\n".join(msgspec.json.encode(each).decode() for each in blobs)
    return {"kind": "ConfigMap", "metadata": metadata, "data": {"catalog.ndjson": lines}}


def hosts_of(objects: Iterable[Object], holds: Any = lambda *_: None) -> AgentWorld:
    world = AgentWorld(lambda _: None, lambda _: None, holds)
    mirrors: dict[str, Any] = {
        "Agent": Mirror(Reader(Agent), world.put_agent, world.remove_agent),
        "AgentClassification": Mirror(CLASSIFICATIONS, world.put_classification, world.remove_classification),
        **{each.kind: mirror_of(each, world) for each in OTHER_KINDS.values()},
    }
    for obj in objects:
        if obj["kind"] in mirrors:
            mirrors[obj["kind"]].put(msgspec.json.encode(obj))
    return world


def resolutions_of(objects: Iterable[Object], paths: Mapping[str, str]) -> ResolutionWorld:
    world = ResolutionWorld(lambda _: None, paths)
    mirrors: dict[str, Any] = {
        "Resolution": Mirror(Reader(Resolution), world.put_resolution, world.remove_resolution),
        "ConfigMap": Mirror(Reader(PartialObject), world.put_config_map, world.remove_config_map),
    }
    for obj in objects:
        if obj["kind"] in mirrors:
            mirrors[obj["kind"]].put(msgspec.json.encode(obj))
    return world


def rule(resource: str, *verbs: str, group: str = HOSTS, names: Iterable[str] | None = None) -> Object:
    found: Object = {"apiGroups": [group], "resources": [resource], "verbs": list(verbs)}
    return found if names is None else {**found, "resourceNames": list(names)}


def may(rules: Iterable[Object], namespace: str = "") -> Policy:
    """Roles of ada: in all namespaces, or in one."""
    policy = Policy()
    policy.put_role({"kind": "ClusterRole", "metadata": {"name": "some"}, "rules": list(rules)})
    kind = "RoleBinding" if namespace else "ClusterRoleBinding"
    policy.put_binding(
        {
            "kind": kind,
            "metadata": {"name": "some", **({"namespace": namespace} if namespace else {})},
            "roleRef": {"kind": "ClusterRole", "name": "some"},
            "subjects": [{"kind": "User", "name": "ada"}],
        }
    )
    return policy


class NamespacesOf:
    """A store that knows no more than which namespaces there are."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = sorted(names)

    def scan(self, resource: str) -> list[Any]:
        assert resource == "namespaces"
        return [cast("Any", _Record(_Key(each))) for each in self._names]


class _Key(msgspec.Struct):
    name: str


class _Record(msgspec.Struct):
    key: _Key


class WorkedHere:
    """What a worker process does, without one: starting it takes longer than everything else."""

    async def preview(self, job: Job, limit: float) -> ResolutionPreviewStatus:
        del limit
        sent = msgspec.json.decode(msgspec.json.encode(job), type=Job)
        assert sent.preview is not None
        return preview_of(sent, sent.preview, CatalogCache())

    async def close(self) -> None:
        pass


class Asked:
    """One fleet of hosts and resolutions, asked by ada."""

    whose, remedy = "the controllers", "there are none"  # told where they do not answer

    def __init__(
        self,
        objects: list[Object],
        policy: Policy,
        paths: Mapping[str, str] | None = None,
        holds: Any = None,
        *,
        workers: bool = False,
    ) -> None:
        hosts = hosts_of(objects, holds or (lambda *_: None))
        world = resolutions_of(objects, paths or {})
        self.observer = Observer(world_of([], NOW), lambda: NOW, hosts=hosts, resolutions=world)
        self.observer.ready = True
        if not workers:
            self.observer.previews.pool = cast("Any", WorkedHere())
        authorizer = RbacAuthorizer(cast("Any", None))
        authorizer.policy = policy
        store = NamespacesOf({each["metadata"]["namespace"] for each in objects})
        self._questions = Questions(
            cast("Any", store), authorizer, cast("Any", self), cast("Any", None), lambda: policy
        )

    async def question(self, body: bytes, patience: float) -> bytes:
        del patience
        return await self.observer.answer(body)

    async def ask(self, kind: str, spec: Object) -> Any:
        resource = KINDS[kind]
        target = Target(resource, resource.storage_version)
        try:
            answer, _ = await self._questions.answer(User("ada", groups=("system:authenticated",)), target, spec)
        except (StatusError, Refusal) as refusal:
            return {"refused": getattr(refusal, "code", 0), "message": str(refusal)}
        return msgspec.json.decode(bytes(answer))


def asked(
    objects: list[Object], rules: Iterable[Object], kind: str, spec: Object, namespace: str = "", **more: Any
) -> Any:
    """One question."""

    async def ask() -> Any:
        found = Asked(objects, may(rules, namespace), **more)
        try:
            return await found.ask(kind, spec)
        finally:
            await found.observer.close()

    return asyncio.run(ask())
