"""Deleting objects: preconditions, finalizers, propagation policies, and whole collections.

Called by `Api` after authorization. An object with finalizers is only marked; it goes with the last of them.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from muster.api.codec import encode_split
from muster.api.crds import KEY as DEFINITIONS
from muster.api.metadata import finalizers_of
from muster.hub import namespaces, status
from muster.hub.creation import GUARD_ATTEMPTS
from muster.hub.custom.naming import with_condition
from muster.hub.lists import listed
from muster.hub.objects import decode, encode, key_of, shown
from muster.hub.pace import turn
from muster.hub.requests import Answer, Target
from muster.hub.storage import ConflictError, Delete, GuardFailedError, Put, StorageUnavailableError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.requests import DeleteOptions, ListAnswer, ListOptions, User
    from muster.hub.storage import Guard, Record, Store
    from muster.hub.write_checks import WriteChecks

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"  # held by a definition until its objects are gone
_CONCURRENT = 16  # deletes of a collection under way at once: they share transactions, and one turn of the loop


class Deletion:
    """Deletes objects from the store."""

    def __init__(
        self, store: Store, write_checks: WriteChecks, cleaner: NamespaceCleaner, now: Callable[[], str]
    ) -> None:
        self._store = store
        self._write_checks = write_checks
        self._cleaner = cleaner
        self._now = now

    async def delete(self, user: User, target: Target, options: DeleteOptions) -> Answer:
        """Delete one object: a Status if it has gone, the object if it waits for finalizers."""
        resource = target.resource
        if namespaces.is_namespace(resource):
            namespaces.refuse_immortal(target.name)
        for _ in range(GUARD_ATTEMPTS):
            record = self._store.get(key_of(target))
            if record is None:
                raise status.not_found(resource.group, resource.plural, target.name)
            try:
                return await self._attempt(user, target, record, options)
            except (ConflictError, GuardFailedError):
                continue  # the preconditions, if there are any, are checked again on the new state
            except StorageUnavailableError as error:
                raise status.unavailable(str(error)) from None
        raise status.stale(resource.group, resource.plural, target.name)

    async def delete_collection(
        self, user: User, target: Target, selection: ListOptions, options: DeleteOptions
    ) -> ListAnswer:
        """Delete everything a list would show, and answer with that list."""
        answer = await listed(self._store, target, selection)
        pending = answer.items
        for start in range(0, len(pending), _CONCURRENT):
            await asyncio.gather(
                *(self._delete_item(user, target, item, options) for item in pending[start : start + _CONCURRENT])
            )
            await turn()
        return answer

    async def _delete_item(self, user: User, collection: Target, item: bytes, options: DeleteOptions) -> None:
        metadata = decode(item)["metadata"]
        target = Target(collection.resource, collection.version, metadata.get("namespace", ""), metadata["name"])
        try:
            await self.delete(user, target, options)
        except status.StatusError as error:
            if error.code != 404:  # somebody else was faster
                raise

    async def _attempt(self, user: User, target: Target, record: Record, options: DeleteOptions) -> Answer:
        stored = decode(record.value)
        _check_preconditions(target, stored["metadata"], options)
        passed = await self._write_checks.validated(
            "DELETE",
            target,
            user,
            target.resource.to_version(stored, target.version),
            None,
            dry_run=bool(options.dry_run),
        )
        metadata = dict(stored["metadata"])
        present = finalizers_of(stored)
        finalizers = _finalizers(present, options)
        ends_a_kind = target.resource.key == DEFINITIONS and "deletionTimestamp" not in metadata
        if ends_a_kind:  # whatever is to become of what it owns, its objects go first
            finalizers = [*(name for name in present if name != CLEANUP), CLEANUP]
        waits = finalizers or (namespaces.is_namespace(target.resource) and stored.get("spec", {}).get("finalizers"))
        if not waits:
            return await self._remove(target, record, options, passed.guards, passed.warnings)
        if "deletionTimestamp" in metadata and finalizers == present:
            return Answer(200, shown(record.value, target), passed.warnings)

        # Mark it, and let the finalizers do their work.
        marked = {**stored, "metadata": metadata}
        if finalizers:
            metadata["finalizers"] = finalizers
        if "deletionTimestamp" not in metadata:
            namespaces.mark_deleted(metadata, self._now())
        if ends_a_kind:
            marked = _ending(stored, marked, self._now())
        if namespaces.is_namespace(target.resource):
            metadata.pop("deletionGracePeriodSeconds", None)  # nobody sets one for a namespace
            marked["status"] = {**stored.get("status", {}), "phase": "Terminating"}
        return await self._mark(target, record, marked, options, passed.guards, passed.warnings)

    async def _remove(
        self,
        target: Target,
        record: Record,
        options: DeleteOptions,
        guards: tuple[Guard, ...],
        warnings: tuple[str, ...],
    ) -> Answer:
        stored = decode(record.value)
        resource = target.resource
        if not options.dry_run:
            head, tail = encode_split(stored)
            await self._store.commit([Delete(record.key, head, tail, record.revision)], guards)
            self._cleaner.object_removed(record.key)
        details = status.details_of(resource.group, resource.plural, target.name)
        return Answer(200, encode(status.success(details | {"uid": stored["metadata"]["uid"]})), warnings)

    async def _mark(
        self,
        target: Target,
        record: Record,
        marked: JsonObject,
        options: DeleteOptions,
        guards: tuple[Guard, ...],
        warnings: tuple[str, ...],
    ) -> Answer:
        if options.dry_run:
            return Answer(200, shown(encode(marked), target), warnings)
        head, tail = encode_split(marked)
        records = await self._store.commit([Put(record.key, head, tail, record.revision)], guards)
        if namespaces.is_namespace(target.resource):
            self._cleaner.namespace_deleted(target.name)
        return Answer(200, shown(records[0].value, target), warnings)


def _ending(stored: JsonObject, marked: JsonObject, now: str) -> JsonObject:
    """A definition that is to go, as a real server marks it: its generation stays, and it says what comes next."""
    metadata = {key: value for key, value in marked["metadata"].items() if key != "deletionGracePeriodSeconds"}
    if "generation" in stored["metadata"]:
        metadata["generation"] = stored["metadata"]["generation"]
    text = "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon"
    status_ = with_condition(stored["status"], "Terminating", "True", "InstanceDeletionPending", text, now)
    return {**marked, "metadata": metadata, "status": status_}


def _check_preconditions(target: Target, metadata: JsonObject, options: DeleteOptions) -> None:
    resource = target.resource
    if options.uid is not None and options.uid != metadata["uid"]:
        why = (
            f"the UID in the precondition ({options.uid}) does not match the UID in record ({metadata['uid']}). "
            "The object might have been deleted and then recreated"
        )
        raise status.conflict(resource.group, resource.kind, target.name, why)
    revision = options.resource_version
    if revision is not None and revision != metadata["resourceVersion"]:
        why = (
            f"the ResourceVersion in the precondition ({revision}) does not match the ResourceVersion in record "
            f"({metadata['resourceVersion']}). The object might have been modified"
        )
        raise status.conflict(resource.group, resource.kind, target.name, why)


def _finalizers(present: list[str], options: DeleteOptions) -> list[str]:
    """The finalizers a delete leaves: a propagation policy is one of them, put there for the garbage collector."""
    policy = options.propagation_policy
    if policy is None and options.orphan_dependents is not None:
        policy = "Orphan" if options.orphan_dependents else "Background"
    if policy is None:
        return present
    kept = [name for name in present if name not in (ORPHAN, FOREGROUND)]
    match policy:
        case "Orphan":
            return [*kept, ORPHAN]
        case "Foreground":
            return [*kept, FOREGROUND]
        case _:
            return kept
