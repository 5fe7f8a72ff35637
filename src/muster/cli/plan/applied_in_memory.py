"""Applying files before anything is written: to a hub in memory that has just the objects which the files touch.

It is the hub's own code that merges, defaults, admits and refuses, so a plan starts from exactly the objects that an
apply would leave behind: fields of other managers stay, those that a manager drops go. Permissions are not rehearsed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.cli.apply import FIRST, LAST
from muster.cli.inputs.fields import text_in
from muster.errors import ApiError
from muster.hub.admission import ObjectChecks
from muster.hub.api import Api
from muster.hub.auth.administrators_only import AdministratorsOnlyAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR
from muster.hub.objects import key_of, stored_form
from muster.hub.requests import DeleteOptions, ObjectBody, PatchType, Target, WriteOptions
from muster.hub.storage import Put, Store
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from muster.cli.apply import How
    from muster.cli.inputs.documents import Document

_NOT_FOUND: Final = 404


@dataclass(frozen=True, slots=True)
class Refused:
    """An object that the server would not take, and why."""

    origin: str
    kind: str
    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The objects as they would be, those that would be gone, and what would be refused."""

    applied: tuple[JsonObject, ...]
    deleted: tuple[JsonObject, ...]
    refused: tuple[Refused, ...]


async def rehearse(
    documents: Sequence[Document], present: Iterable[JsonObject], how: How, now: datetime, *, namespaces: Iterable[str]
) -> Outcome:
    """Apply or delete the documents' objects. `present` are objects as they are, `namespaces` those that exist.

    Documents carry the namespace that they go to.
    """
    store = Store.open(None)
    authorizer = AdministratorsOnlyAuthorizer()
    api = Api(store, authorizer, admission=(ObjectChecks(store, authorizer, clock=lambda: now),), clock=lambda: now)
    try:
        await api.start()
        stage = _Stage(store, api, how)
        await stage.set_up(documents, present, namespaces)
        for document in _in_order(documents, backwards=how.delete):
            await (stage.delete(document) if how.delete else stage.apply(document))
        return Outcome(tuple(stage.applied.values()), tuple(stage.deleted), tuple(stage.refused))
    finally:
        await api.close()
        await store.close()


def _in_order(documents: Sequence[Document], *, backwards: bool) -> list[Document]:
    if backwards:
        return list(reversed(documents))
    return sorted(documents, key=lambda document: FIRST.get(document.object["kind"], LAST))


class _Stage:
    """The hub in memory, and what became of the objects."""

    def __init__(self, store: Store, api: Api, how: How) -> None:
        self._store = store
        self._api = api
        self._how = how
        self.applied: dict[tuple[str, str, str], JsonObject] = {}
        self.deleted: list[JsonObject] = []
        self.refused: list[Refused] = []

    async def set_up(
        self, documents: Sequence[Document], present: Iterable[JsonObject], namespaces: Iterable[str]
    ) -> None:
        for name in namespaces:
            target = _target({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
            if target is not None and self._store.get(key_of(target)) is None:
                await self._api.create(ADMINISTRATOR, _collection(target), ObjectBody(_namespace(name)), WriteOptions())
        touched = {key_of(target) for each in documents if (target := _target(each.object)) is not None}
        puts = []
        for obj in present:
            target = _target(obj)
            if target is None or key_of(target) not in touched:
                continue
            head, tail = stored_form(target, _completed(target, obj))
            puts.append(Put(key_of(target), head, tail, 0))
        if puts:
            await self._store.commit(puts)

    async def apply(self, document: Document) -> None:
        target = _target(document.object)
        if target is None:
            return
        key = (document.object["kind"], target.namespace, target.name)
        options = WriteOptions(field_manager=self._how.manager, field_validation="Strict", force=self._how.force)
        body = ObjectBody(document.object)
        try:
            answer = await self._api.patch(ADMINISTRATOR, target, PatchType.APPLY, body, options)
            if self._how.with_status and "status" in document.object and target.version.status:
                status = Target(target.resource, target.version, target.namespace, target.name, "status")
                answer = await self._api.patch(ADMINISTRATOR, status, PatchType.APPLY, body, options)
        except ApiError as error:
            self._refuse(document, error)
            return
        self.applied[key] = _without_revision(answer.decoded())

    async def delete(self, document: Document) -> None:
        target = _target(document.object)
        if target is None:
            return
        try:
            await self._api.delete(ADMINISTRATOR, target, DeleteOptions())
        except ApiError as error:
            if error.code != _NOT_FOUND:
                self._refuse(document, error)
            return
        record = self._store.get(key_of(target))
        if record is None:
            self.deleted.append(document.object)
        else:  # its finalizers keep it for a while
            found = await self._api.get(ADMINISTRATOR, target)
            key = (document.object["kind"], target.namespace, target.name)
            self.applied[key] = _without_revision(found.decoded())

    def _refuse(self, document: Document, error: ApiError) -> None:
        obj = document.object
        self.refused.append(Refused(document.origin, obj["kind"], str(obj["metadata"].get("name")), str(error)))


def _target(obj: JsonMapping) -> Target | None:
    """Where an object of ours is; None for kinds that a hub does not know or keep."""
    group, _, version = text_in(obj, "apiVersion").rpartition("/")
    for resource in RESOURCES.values():
        if resource.kind != obj["kind"] or resource.virtual or (version and resource.group != group):
            continue
        served = resource.version(version) if version else resource.storage_version
        if served is None:
            return None
        metadata = obj["metadata"]
        namespace = text_in(metadata, "namespace") if resource.namespaced else ""
        return Target(resource, served, namespace, text_in(metadata, "name"))
    return None


def _completed(target: Target, obj: JsonObject) -> JsonObject:
    """An object with what a server gives to every one: those in files seldom have it."""
    given = {"uid": f"{target.namespace}/{target.name}", "creationTimestamp": "2000-01-01T00:00:00Z", "generation": 1}
    return {"apiVersion": target.api_version, **obj, "metadata": {**given, **obj["metadata"]}}


def _without_revision(obj: JsonObject) -> JsonObject:
    """The revisions of this hub mean nothing to anybody else."""
    return {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}}


def _collection(target: Target) -> Target:
    return Target(target.resource, target.version, target.namespace)


def _namespace(name: str) -> JsonObject:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
