"""How custom kinds come and go: names are settled, kinds served, and with a definition go its objects.

`Api` calls `settle` after every write of a definition, before the answer goes out, so that whoever has been answered
finds the kind served. Deleting a definition deletes its objects in the background; those with finalizers are awaited.
At the start everything is taken up where it was left.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from muster.api.codec import encode_split
from muster.api.crds import KEY, custom_resource_definitions
from muster.api.custom_resource_definition import read_definition
from muster.api.metadata import finalizers_of
from muster.controllers.permissions import CUSTOM_KINDS, custom_rules
from muster.errors import StorageError
from muster.hub.custom.definition import ESTABLISHED
from muster.hub.custom.kinds import custom_kind
from muster.hub.custom.naming import TERMINATING, NamesInUse, named, with_condition
from muster.hub.custom.reading import completed, normalized
from muster.hub.deletion import CLEANUP
from muster.hub.namespaces import BATCH, BATCH_BYTES, mark_deleted
from muster.hub.objects import decode, is_deleting, merge_versions
from muster.hub.pace import Pace
from muster.hub.patches import managed_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.storage import ConflictError, Delete, Key, Put
from muster.values.json import Json, JsonObject
from muster.values.json_members import list_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.api.custom_resource_definition import Definition, DefinitionNames
    from muster.hub.custom.live import Kinds
    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.storage import Change, Record, Store

_log = logging.getLogger(__name__)
_ROLE: Final = Key("clusterroles.rbac.authorization.k8s.io", "", CUSTOM_KINDS)
_ATTEMPTS: Final = 50
_MANAGER: Final = "kube-apiserver"  # who owns what the server says of a definition
_PAUSE: Final = 1.0  # seconds, when the disk does not take what is to be written


@dataclass(frozen=True, slots=True)
class _Facts:
    """What is remembered of a definition, so that its schemas are not read again for a name."""

    group: str
    accepted: DefinitionNames
    settled: bool


def _facts(definition: Definition) -> _Facts:
    spec, accepted = definition.spec, definition.status.accepted_names
    return _Facts(spec.group, accepted, spec.names == accepted)


def key_of_definition(name: str) -> Key:
    return Key(KEY, "", name)


class CustomKinds:
    """Keeps `kinds` true to the definitions in the store."""

    def __init__(self, store: Store, kinds: Kinds, cleaner: NamespaceCleaner, now: Callable[[], str]) -> None:
        self._store = store
        self._kinds = kinds
        self._cleaner = cleaner
        self._now = now
        self._tasks: dict[str, asyncio.Task[None]] = {}
        self._facts: dict[str, _Facts] = {}
        self._served: dict[str, tuple[Json, ...]] = {}  # what the kinds that are served were made of

    # --- Life -----------------------------------------------------------------------------------------------

    def load(self) -> None:
        """Serve what the store defines. Nothing is written."""
        for record in self._store.scan(KEY):
            definition = read_definition(decode(record.value))
            self._facts[record.key.name] = _facts(definition)
            self._serve(record.key.name, definition)

    async def start(self) -> None:
        """Write the definitions of the hub's own kinds, and go on with what was left half done."""
        own = custom_resource_definitions(self._kinds.values(), self._now())
        for name, definition in own.items():
            await self._ensure(name, definition)
        for record in list(self._store.scan(KEY)):
            await self.settle(record.key.name)

    async def close(self) -> None:
        tasks = list(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _ensure(self, name: str, wanted: JsonObject) -> None:
        """The definition of a kind of our own is what this program says. Labels and annotations are whoever's."""
        normalized(wanted)
        completed(wanted, None)
        record = self._store.get(key_of_definition(name))
        if record is None:
            with contextlib.suppress(ConflictError):
                await self._store.commit([Put(key_of_definition(name), *encode_split(wanted), 0)])
            return
        stored = decode(record.value)
        if stored.get("spec") == wanted["spec"] and read_definition(stored).is_true(ESTABLISHED):
            return
        metadata = {**stored["metadata"], "generation": stored["metadata"].get("generation", 1) + 1}
        status = {**wanted["status"], "conditions": stored["status"]["conditions"] or wanted["status"]["conditions"]}
        changed = {**stored, "metadata": metadata, "spec": wanted["spec"], "status": status}
        with contextlib.suppress(ConflictError):
            await self._store.commit([Put(record.key, *encode_split(changed), record.revision)])

    # --- Names ----------------------------------------------------------------------------------------------

    async def settle(self, name: str) -> None:
        """Take up what a definition says now; others of its group may get a name that has become free."""
        await self._settle_one(name)
        group = name.partition(".")[2]
        for other, facts in list(self._facts.items()):
            if other != name and facts.group == group and not facts.settled:
                await self._settle_one(other)
        await self._grant()

    async def _grant(self) -> None:
        """The garbage collector may read and delete objects of the kinds there are now, where there are roles."""
        rules = custom_rules((kind.group, kind.plural) for kind in self._kinds.custom.values())
        for _ in range(_ATTEMPTS):
            record = self._store.get(_ROLE)
            if record is None:
                return
            role = decode(record.value)
            if list_at(role, "rules") == rules:
                return
            with contextlib.suppress(ConflictError):
                await self._store.commit([Put(record.key, *encode_split({**role, "rules": rules}), record.revision)])

    async def _settle_one(self, name: str) -> None:
        for _ in range(_ATTEMPTS):
            record = self._store.get(key_of_definition(name))
            if record is None:
                self._facts.pop(name, None)
                self._served.pop(name, None)
                self._kinds.remove(name)
                return
            obj = decode(record.value)
            definition = read_definition(obj)
            self._facts[name] = _facts(definition)
            status = None
            if not definition.metadata.is_going and not self._kinds.is_own(name):
                status = named(obj, self._taken(name), self._now())
            if status is None:
                break
            try:
                await self._put(record, obj, status)
            except ConflictError:
                continue  # somebody has written it meanwhile
        self._serve(name, definition)
        if definition.metadata.is_going and CLEANUP in definition.metadata.finalizers:
            self._terminate(name)

    def _taken(self, name: str) -> NamesInUse:
        group = self._facts[name].group
        taken = NamesInUse()
        taken.add_builtin(each for each in self._kinds.values() if each.group == group and not each.custom)
        for facts in self._facts.values():
            if facts.group == group:
                taken.add_names(facts.accepted)
        return taken

    async def _put(self, record: Record, old: JsonObject, status: JsonObject) -> None:
        """Store a new status, in the server's own name."""
        new = {**old, "metadata": dict(old["metadata"]), "status": status}
        writer = Writer(_MANAGER, old["apiVersion"], self._now(), "status")
        managers = managed_fields.stored(old["metadata"].get("managedFields"))
        owners = managed_fields.tracked(old, new, managers, merge_versions(self._kinds[KEY]), writer)
        new["metadata"]["managedFields"] = managed_fields.encoded(owners)
        await self._store.commit([Put(record.key, *encode_split(new), record.revision)])

    def _serve(self, name: str, definition: Definition) -> None:
        if self._kinds.is_own(name) or not definition.is_true(ESTABLISHED):
            return
        metadata = definition.metadata
        # Labels and conditions do not make another kind of it, and need no compiling.
        now = (metadata.uid, metadata.generation, metadata.is_going, self._facts[name].accepted)
        if name not in self._kinds.custom or self._served.get(name) != now:
            self._served[name] = now
            self._kinds.put(custom_kind(definition))

    # --- The end --------------------------------------------------------------------------------------------

    def _terminate(self, name: str) -> None:
        if name in self._tasks:
            return
        task = asyncio.get_running_loop().create_task(self._terminated(name))
        self._tasks[name] = task
        task.add_done_callback(lambda _: self._tasks.pop(name, None))

    async def _terminated(self, name: str) -> None:
        """Delete the objects of a kind, and its definition with the last of them."""
        while True:
            try:
                await self._empty(name)
                return
            except StorageError as error:
                _log.warning("%s cannot be removed, trying again: %s", name, error)
                await asyncio.sleep(_PAUSE)

    async def _empty(self, name: str) -> None:
        if not await self._marked(name, "InstanceDeletionInProgress", "CustomResource deletion is in progress"):
            return
        revision = self._store.revision
        with contextlib.closing(self._store.watch(name, None, revision)) as watch:
            await self._delete_objects(name)
            if self._store.count(name):
                async for _ in watch:
                    if not self._store.count(name) or not self._is_terminating(name):
                        break
        await self._finish(name)

    def _is_terminating(self, name: str) -> bool:
        record = self._store.get(key_of_definition(name))
        return record is not None and is_deleting(record)

    async def _marked(self, name: str, reason: str, message: str) -> bool:
        """Whether the definition is still being deleted; says how far that is."""
        for _ in range(_ATTEMPTS):
            record = self._store.get(key_of_definition(name))
            definition = None if record is None else decode(record.value)
            if record is None or definition is None or "deletionTimestamp" not in definition["metadata"]:
                return False
            status = with_condition(definition["status"], TERMINATING, "True", reason, message, self._now())
            try:
                await self._put(record, definition, status)
                return True
            except ConflictError:
                continue
        return True

    async def _delete_objects(self, name: str) -> None:
        pace = Pace()
        batch: list[Change] = []
        removed: list[Key] = []
        size = 0
        for record in self._store.rows(name):
            change = _deletion(record, self._now())
            if change is not None:
                batch.append(change)
                size += len(record.value)
                if isinstance(change, Delete):
                    removed.append(record.key)
            if len(batch) >= BATCH or size >= BATCH_BYTES:
                await self._commit(batch)
                batch, size = [], 0
            if pace.is_due():
                await pace.pause()
        if batch:
            await self._commit(batch)
        for key in removed:
            self._cleaner.object_removed(key)

    async def _commit(self, batch: list[Change]) -> None:
        try:
            await self._store.commit(batch)
        except ConflictError:
            for (
                change
            ) in batch:  # something changed under our hands: then one by one, and what changed is looked at again
                with contextlib.suppress(ConflictError):
                    record = self._store.get(change.key)
                    again = None if record is None else _deletion(record, self._now())
                    if again is not None:
                        await self._store.commit([again])

    async def _finish(self, name: str) -> None:
        """Everything has gone: so does the definition, unless somebody else holds it."""
        for _ in range(_ATTEMPTS):
            record = self._store.get(key_of_definition(name))
            if record is None or not is_deleting(record):
                break  # somebody has let it go, and may have defined it anew
            definition = decode(record.value)
            metadata = dict(definition["metadata"])
            metadata["finalizers"] = [each for each in finalizers_of(definition) if each != CLEANUP]
            status = with_condition(
                definition["status"],
                TERMINATING,
                "False",
                "InstanceDeletionCompleted",
                "removed all instances",
                self._now(),
            )
            change: Change = Delete(record.key, *encode_split(definition), record.revision)
            if metadata["finalizers"]:
                changed = {**definition, "metadata": metadata, "status": status}
                change = Put(record.key, *encode_split(changed), record.revision)
            try:
                await self._store.commit([change])
                break
            except ConflictError:
                continue
        if self._store.get(key_of_definition(name)) is None:
            await self.settle(name)


def _deletion(record: Record, now: str) -> Change | None:
    obj = decode(record.value)
    metadata = obj["metadata"]
    if not metadata.get("finalizers"):
        return Delete(record.key, *encode_split(obj), record.revision)
    if "deletionTimestamp" in metadata:
        return None  # it waits for its finalizers
    mark_deleted(metadata, now)
    return Put(record.key, *encode_split(obj), record.revision)
