"""Writing objects before anything is written: to a hub in memory that has just the objects which they touch.

It is the hub's own code that merges, defaults, admits and refuses, so a plan starts from exactly the objects that
writing would leave behind: fields of other managers stay, those that a manager drops go. Objects see one another: a
placement may come with its namespace. Nobody's permissions are needed; those that would be are written down. Called
for Plans, by `plans` on the hub and by commands that have no server to ask.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.api import RESOURCES
from muster.api.crds import KEY as DEFINITIONS
from muster.errors import ApiError
from muster.hub.admission import ObjectChecks
from muster.hub.api import Api
from muster.hub.objects import key_of, stored_form
from muster.hub.requests import (
    AccessRules,
    Attributes,
    Decision,
    DeleteOptions,
    ObjectBody,
    PatchType,
    Target,
    User,
    WriteOptions,
)
from muster.hub.storage import Put, ScratchStore
from muster.values.json import JsonMapping, JsonObject
from muster.values.json_members import object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from muster.api.fleet_plan import ObjectReference, PlanSpec
    from muster.hub.storage import Key

APPLY, REPLACE, LABEL, DELETE = "apply", "replace", "label", "delete"
# What other objects live in or refer to goes first; everything else has the same rank.
_FIRST: Final = {"Namespace": 0, "ManagedClusterSet": 1, "ManagedCluster": 2}
_LAST: Final = 3
_WRITER: Final = User("muster:plan", groups=("system:authenticated",))
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that would be written. `where` is its place in the question."""

    where: str
    deed: str
    object: JsonObject
    target: Target

    @property
    def name(self) -> str:
        """For people."""
        target = self.target
        return f"{target.resource.kind} {f'{target.namespace}/' if target.namespace else ''}{target.name}"


@dataclass(frozen=True, slots=True)
class RefusedChange:
    """A change that the server would not take, and why."""

    change: Change
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """The objects as they would be, those that would be gone, what would be refused, and what it takes to write."""

    applied: tuple[JsonObject, ...]
    deleted: tuple[JsonObject, ...]
    refused: tuple[RefusedChange, ...]
    permissions: tuple[Attributes, ...]


def changes_in(spec: PlanSpec) -> tuple[list[Change], list[tuple[str, str]]]:
    """What a plan would write, and what of it a hub does not know or keep: where it is, and its kind."""
    found: list[Change] = []
    unknown: list[tuple[str, str]] = []
    for where, deed, obj in _given(spec):
        target = target_of(obj)
        if target is None:
            unknown.append((where, f"{obj['kind']} of {obj['apiVersion']}"))
        else:
            found.append(Change(where, deed, obj, target))
    return found, unknown


def _given(spec: PlanSpec) -> Iterator[tuple[str, str, JsonObject]]:
    for list_name, deed, objects in (("objects", APPLY, spec.objects), ("replace", REPLACE, spec.replace)):
        for number, obj in enumerate(objects):
            yield f"spec.{list_name}[{number}]", deed, obj
    for number, edit in enumerate(spec.labels):
        obj = _referred(edit)
        yield f"spec.labels[{number}]", LABEL, {**obj, "metadata": {**obj["metadata"], "labels": edit.labels}}
    for number, each in enumerate(spec.delete):
        yield f"spec.delete[{number}]", DELETE, _referred(each)


def _referred(each: ObjectReference) -> JsonObject:
    place = {"name": each.name} | ({"namespace": each.namespace} if each.namespace else {})
    return {"apiVersion": each.api_version, "kind": each.kind, "metadata": place}


async def written_in_memory(
    changes: Sequence[Change],
    present: Mapping[Key, JsonObject],
    spec: PlanSpec,
    now: datetime,
    *,
    namespaces: Iterable[str],
    sets: Iterable[JsonObject] = (),
) -> Outcome:
    """Write all changes, in an order in which objects can exist, deletions last.

    `present` are the touched objects as they are, by their keys in a store; `namespaces` those that exist; `sets` the
    cluster sets that labels name, so that what it takes to join them is asked for.
    """
    store = ScratchStore()
    asked = _AskedFor()
    api = Api(store, asked, admission=(ObjectChecks(store, asked, clock=lambda: now),), clock=lambda: now)
    try:
        await api.start(definitions=any(each.target.resource.key == DEFINITIONS for each in changes))
        stage = _Stage(store, api, spec)
        await stage.set_up(present, sets, namespaces)
        asked.attributes.clear()
        for change in _in_order(changes):
            await stage.write(change)
        applied = tuple(stage.applied.values())
        return Outcome(applied, tuple(stage.deleted), tuple(stage.refused), tuple(asked.attributes))
    finally:
        await api.close()
        await store.close()


def _in_order(changes: Sequence[Change]) -> list[Change]:
    def rank(change: Change) -> tuple[bool, bool, int]:
        first = _FIRST.get(change.target.resource.kind, _LAST)
        return change.deed == DELETE, change.deed == LABEL, -first if change.deed == DELETE else first

    return sorted(changes, key=rank)


@dataclass(frozen=True, slots=True)
class _AskedFor:
    """An authorizer that allows everything, and writes down what it was asked for."""

    attributes: dict[Attributes, None] = field(default_factory=dict)

    async def authorize(self, user: User, attributes: Attributes) -> Decision:  # noqa: ARG002 - the protocol
        self.attributes[attributes] = None
        return Decision(allowed=True)

    async def missing(
        self,
        user: User,  # noqa: ARG002 - the protocol
        verb: str,
        resource: str,
        names: Sequence[str],
        namespace: str = "",
    ) -> list[str]:
        plural, _, group = resource.partition(".")
        plural, _, subresource = plural.partition("/")
        for name in names:
            self.attributes[Attributes(verb, group, "", plural, subresource, namespace, name)] = None
        return []

    async def rules(self, user: User, namespace: str) -> AccessRules:  # noqa: ARG002 - the protocol
        return AccessRules()


class _Stage:
    """The hub in memory, and what became of the objects."""

    def __init__(self, store: ScratchStore, api: Api, spec: PlanSpec) -> None:
        self._store = store
        self._api = api
        self._spec = spec
        self._revisions: dict[Key, str] = {}  # of the objects as they are, which have others here
        self.applied: dict[Key, JsonObject] = {}
        self.deleted: list[JsonObject] = []
        self.refused: list[RefusedChange] = []

    async def set_up(
        self, present: Mapping[Key, JsonObject], sets: Iterable[JsonObject], namespaces: Iterable[str]
    ) -> None:
        for name in sorted(namespaces):
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            target = target_of(body)
            if target is not None and self._store.get(key_of(target)) is None:
                collection = Target(target.resource, target.version)
                await self._api.create(_WRITER, collection, ObjectBody(body), WriteOptions())
        self._revisions = {key: text_at(obj, "metadata", "resourceVersion") for key, obj in present.items()}
        puts = {}
        for obj in (*sets, *present.values()):
            target = target_of(obj)
            if target is not None and (obj["kind"] != "Namespace" or self._store.get(key_of(target)) is None):
                head, tail = stored_form(target, _completed(target, obj))
                puts[key_of(target)] = Put(key_of(target), head, tail, 0)
        if puts:
            await self._store.commit(list(puts.values()))

    async def write(self, change: Change) -> None:
        try:
            match change.deed:
                case "apply":
                    await self._apply(change)
                case "replace":
                    await self._replace(change)
                case "label":
                    await self._label(change)
                case _:
                    await self._delete(change)
        except ApiError as error:
            self.refused.append(RefusedChange(change, error.reason or str(error.code), str(error)))

    async def _apply(self, change: Change) -> None:
        target, body = change.target, ObjectBody(change.object)
        options = WriteOptions(
            field_manager=self._spec.field_manager, field_validation="Strict", force=self._spec.force_conflicts
        )
        answer = await self._api.patch(_WRITER, target, PatchType.APPLY, body, options)
        self._keep(target, answer.decoded())  # it stands, though its status may be refused
        if self._spec.with_status and "status" in change.object and target.version.status:
            status = Target(target.resource, target.version, target.namespace, target.name, "status")
            answer = await self._api.patch(_WRITER, status, PatchType.APPLY, body, options)
            self._keep(target, answer.decoded())

    async def _replace(self, change: Change) -> None:
        target, obj = change.target, change.object
        stated = text_at(obj, "metadata", "resourceVersion")
        if stated and stated != self._revisions.get(key_of(target), ""):
            raise ApiError(_CONFLICT, "Conflict", f"{change.name} has been changed since it was read")
        # Who states none asks about the present one, which has another version in this memory.
        live = (await self._api.get(_WRITER, target)).decoded()["metadata"]
        obj = {**obj, "metadata": {**obj["metadata"], "resourceVersion": live["resourceVersion"]}}
        options = WriteOptions(field_manager=self._spec.field_manager, field_validation="Strict")
        answer = await self._api.update(_WRITER, target, ObjectBody(obj), options)
        self._keep(target, answer.decoded())

    async def _label(self, change: Change) -> None:
        labels = {"metadata": {"labels": object_at(change.object["metadata"], "labels")}}
        options = WriteOptions(field_manager=self._spec.field_manager)
        answer = await self._api.patch(_WRITER, change.target, PatchType.MERGE, ObjectBody(labels), options)
        self._keep(change.target, answer.decoded())

    async def _delete(self, change: Change) -> None:
        target = change.target
        try:
            await self._api.delete(_WRITER, target, DeleteOptions())
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            return  # it is gone already
        self.applied.pop(key_of(target), None)
        if self._store.get(key_of(target)) is None:
            self.deleted.append({"kind": target.resource.kind, **change.object})
        else:  # its finalizers keep it for a while
            self._keep(target, (await self._api.get(_WRITER, target)).decoded())

    def _keep(self, target: Target, obj: JsonObject) -> None:
        self.applied[key_of(target)] = _without_revision(obj)


def target_of(obj: JsonMapping) -> Target | None:
    """Where an object of ours is; None for kinds that a hub does not know or keep."""
    group, _, version = text_at(obj, "apiVersion").rpartition("/")
    for resource in RESOURCES.values():
        if resource.kind != obj["kind"] or resource.virtual or (version and resource.group != group):
            continue
        served = resource.version(version) if version else resource.storage_version
        if served is None:
            return None
        namespace = text_at(obj, "metadata", "namespace") if resource.namespaced else ""
        return Target(resource, served, namespace, text_at(obj, "metadata", "name"))
    return None


def _completed(target: Target, obj: JsonObject) -> JsonObject:
    """An object with what a server gives to every one: those in files seldom have it."""
    given = {"uid": f"{target.namespace}/{target.name}", "creationTimestamp": "2000-01-01T00:00:00Z", "generation": 1}
    return {"apiVersion": target.api_version, **obj, "metadata": {**given, **obj["metadata"]}}


def _without_revision(obj: JsonObject) -> JsonObject:
    """The revisions of this hub mean nothing to anybody else."""
    return {**obj, "metadata": {name: value for name, value in obj["metadata"].items() if name != "resourceVersion"}}
