"""Replacing objects: the common road of update, patch and apply, from the stored state to the next one.

Called by `Api` with a function that makes the new state from the old; retried while others write in between.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import msgspec

from muster.api.codec import encode_split
from muster.hub import bodies, namespaces, status
from muster.hub.creation import GUARD_ATTEMPTS
from muster.hub.heavy_work import LIGHT
from muster.hub.objects import decode, encode, key_of, merge_versions, same, shown, stored_form
from muster.hub.patches import managed_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.renewals import renewed
from muster.hub.requests import Answer, MalformedBodyError
from muster.hub.storage import ConflictError, Delete, GuardFailedError, Put, StorageUnavailableError
from muster.hub.write_checks import AdmissionOutcome, refuse_invalid
from muster.values.causes import invalid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.heavy_work import HeavyWork
    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.options import Write
    from muster.hub.requests import Body, Target, User
    from muster.hub.storage import Record, Store
    from muster.hub.write_checks import WriteChecks

# What is stored is read fast, and mostly shared with the new state: it weighs so many times less than what is sent.
_STORED_WEIGHT = 4
# Seconds that renewals of leases wait for each other. A hundred thousand agents renew theirs once a minute: written one
# by one each would cost a transaction of its own, and to none of them a hundredth of a second makes a difference.
_GATHERING = 0.01
# What a client cannot change by writing it.
_SERVER_OWNED = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink", "generation")


@dataclass(slots=True)
class Proposal:
    """A new state as a client wants it. `owners` are its managedFields when apply has already settled them."""

    obj: JsonObject
    warnings: tuple[str, ...] = ()
    owners: list[JsonObject] | None = field(default=None)


class Replacement:
    """Writes new states of objects that exist."""

    def __init__(
        self,
        store: Store,
        write_checks: WriteChecks,
        cleaner: NamespaceCleaner,
        now: Callable[[], str],
        heavy_work: HeavyWork,
    ) -> None:
        self._store = store
        self._heavy = heavy_work
        self._write_checks = write_checks
        self._cleaner = cleaner
        self._now = now

    async def replace(
        self,
        user: User,
        target: Target,
        propose: Callable[[JsonObject], Proposal],
        options: Write,
        *,
        attempts: int,
        weight: int = 0,
    ) -> Answer | None:
        """Store what `propose` makes of the object; None if there is no object. Raises 409 after so many attempts.

        `weight` is what the request may cost, beside what the object itself does.
        """
        conflicts = 0
        for _ in range(GUARD_ATTEMPTS + attempts):
            record = self._store.get(key_of(target))
            if record is None:
                return None
            try:
                return await self._attempt(
                    user, target, record, propose, options, weight + len(record.value) // _STORED_WEIGHT
                )
            except ConflictError:
                conflicts += 1
                if conflicts >= attempts:
                    raise status.stale(target.resource.group, target.resource.plural, target.name) from None
            except GuardFailedError:
                continue  # something that admission looked at has changed: ask it again
            except StorageUnavailableError as error:
                raise status.unavailable(str(error)) from None
        raise status.unavailable("the objects that this write depends on change too often; try again")

    async def renew(self, user: User, target: Target, body: Body, options: Write) -> Answer | None:
        """Answer a renewal of a lease. Raises 409.

        None if it is not one, or has to be looked at more closely: then nothing was written, and it is for `replace`.
        """
        record = self._store.get(key_of(target))
        if record is None or target.subresource or options.dry_run or body.weight > LIGHT:
            return None
        try:
            sent = body.read()
        except (MalformedBodyError, status.StatusError):
            return None
        if sent.duplicates:
            return None  # whoever sent it is to be told
        old = decode(record.value)
        new = renewed(sent.value, old, options.manager, target.api_version, self._now())
        if new is None:
            return None
        admitted, mutated = await self._write_checks.mutated("UPDATE", target, user, old, new, dry_run=False)
        if admitted != new:
            return None  # what admission adds has an owner too
        passed = await self._write_checks.validated("UPDATE", target, user, old, new, dry_run=False)
        put = Put(record.key, *stored_form(target, new), record.revision)
        try:
            records = await self._store.commit([put], (*mutated.guards, *passed.guards), gathers=_GATHERING)
        except ConflictError:
            raise status.stale(target.resource.group, target.resource.plural, target.name) from None
        except GuardFailedError:
            return None
        except StorageUnavailableError as error:
            raise status.unavailable(str(error)) from None
        return Answer(200, shown(records[0].value, target), (*mutated.warnings, *passed.warnings))

    async def _attempt(
        self,
        user: User,
        target: Target,
        record: Record,
        propose: Callable[[JsonObject], Proposal],
        options: Write,
        weight: int,
    ) -> Answer:
        # 1. The new state. Nobody changes what it shares with the old one.
        proposing = partial(_proposed, target, record, propose, self._now())
        old, new, proposal, sent = await self._heavy.done(user.name, weight, proposing)
        try:
            return await self._attempt_proposal(user, target, record, old, new, proposal, sent, options, weight)
        except status.StatusError as error:
            error.warnings = (*proposal.warnings, *error.warnings)  # what is odd is said with a refusal too
            raise

    async def _attempt_proposal(
        self,
        user: User,
        target: Target,
        record: Record,
        old: JsonObject,
        new: JsonObject,
        proposal: Proposal,
        sent: JsonObject,
        options: Write,
        weight: int,
    ) -> Answer:
        # 2. Admission may change it; ownership covers the result. Refuse what is wrong.
        new, mutated = await self._write_checks.mutated(
            "UPDATE", target, user, old, new, dry_run=options.dry_run, weight=weight
        )
        completing = partial(self._complete, target, old, new, sent, proposal.owners, options)
        unchanged, checked = await self._heavy.done(user.name, weight, completing)

        # 3. Ask whether it may happen.
        passed = await self._write_checks.validated(
            "UPDATE", target, user, old, new, dry_run=options.dry_run, weight=weight
        )
        warnings = (
            *proposal.warnings,
            *checked,
            *bodies.metadata_advice(target, new, old),
            *mutated.warnings,
            *passed.warnings,
        )
        guards = AdmissionOutcome(guards=(*mutated.guards, *passed.guards))

        # 4. Store, unless nothing has changed.
        if unchanged:
            return Answer(200, shown(record.value, target), warnings)
        answer = await self._store_state(target, record, new, options, warnings, guards)
        advice = await self._write_checks.advice("UPDATE", target, user, old, new, dry_run=options.dry_run)
        return msgspec.structs.replace(answer, warnings=(*answer.warnings, *advice)) if advice else answer

    async def _store_state(
        self,
        target: Target,
        record: Record,
        new: JsonObject,
        options: Write,
        warnings: tuple[str, ...],
        passed: AdmissionOutcome,
    ) -> Answer:
        if options.dry_run:
            return Answer(200, encode(new), warnings)
        if _is_done(target, new):
            # The last finalizer has gone: so does the object. Watchers see its last stored state.
            head, tail = encode_split(decode(record.value))
            await self._store.commit([Delete(record.key, head, tail, record.revision)], passed.guards)
            self._cleaner.object_removed(record.key)
            if namespaces.is_namespace(target.resource):
                self._cleaner.namespace_deleted(record.key.name)  # somebody let it go before it was empty
            return Answer(200, encode(new), warnings)
        head, tail = stored_form(target, new)
        records = await self._store.commit([Put(record.key, head, tail, record.revision)], passed.guards)
        return Answer(200, shown(records[0].value, target), warnings)

    def _complete(
        self,
        target: Target,
        old: JsonObject,
        new: JsonObject,
        sent: JsonObject,
        owners: list[JsonObject] | None,
        options: Write,
    ) -> tuple[bool, tuple[str, ...]]:
        """Record who owns what of the new state, and check it. Whether nothing has changed; warnings. Raises 422."""
        self._own(target, old, new, sent, owners, options)
        if target.resource.generation and _is_new_generation(target, old, new):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1
        if target.resource.complete is not None and not target.subresource:
            target.resource.complete(new, old)
        warnings = refuse_invalid(target, new, old)
        return _unchanged(old, new), warnings

    def _own(
        self,
        target: Target,
        old: JsonObject,
        new: JsonObject,
        sent: JsonObject,
        owners: list[JsonObject] | None,
        options: Write,
    ) -> None:
        """Record in managedFields who set what."""
        if owners is None:
            managers = managed_fields.managers_of(old, sent, target.subresource)
            if managers:
                writer = Writer(options.manager, target.api_version, self._now(), target.subresource)
                versions = merge_versions(target.resource)
                reset = target.resource.reset.get(target.subresource, {})
                owners = managed_fields.encoded(managed_fields.tracked(old, new, managers, versions, writer, reset))
        if owners:
            new["metadata"]["managedFields"] = owners
        else:
            # Nobody's fields were recorded, or a client asked to forget them: then nobody's are from here on.
            new["metadata"].pop("managedFields", None)


def _proposed(
    target: Target, record: Record, propose: Callable[[JsonObject], Proposal], now: str
) -> tuple[JsonObject, JsonObject, Proposal, JsonObject]:
    """The stored state, the new one, and what was sent."""
    old = target.resource.to_version(decode(record.value), target.version)
    proposal = propose(old)
    sent = proposal.obj
    _check_lock(target, sent, old)
    _refuse_deletion_by_update(target, sent, old)
    return old, _composed(target, sent, old, now), proposal, sent


def _check_lock(target: Target, sent: JsonObject, old: JsonObject) -> None:
    """The state the client started from must be the stored one, as far as the client names it."""
    resource = target.resource
    metadata, stored = sent["metadata"], old["metadata"]
    uid = metadata.get("uid")
    if uid and uid != stored["uid"]:
        namespace = f"{target.namespace}/" if resource.namespaced else ""
        path = f"/registry/{resource.group + '/' if resource.group else ''}{resource.plural}/{namespace}{target.name}"
        why = (
            f"StorageError: invalid object, Code: 4, Key: {path}, ResourceVersion: 0, AdditionalErrorMsg: "
            f"Precondition failed: UID in precondition: {uid}, UID in object meta: {stored['uid']}"
        )
        raise status.conflict(resource.group, resource.plural, target.name, why)
    revision = metadata.get("resourceVersion")
    if revision and revision != stored["resourceVersion"]:
        raise status.stale(resource.group, resource.plural, target.name)


def _refuse_deletion_by_update(target: Target, sent: JsonObject, old: JsonObject) -> None:
    """An object is deleted by deleting it."""
    wanted = sent["metadata"].get("deletionTimestamp")
    if target.subresource or not wanted or "deletionTimestamp" in old["metadata"]:
        return
    # The real server finds this twice: once for every object, once for the kind.
    causes = [invalid("metadata.deletionTimestamp", wanted, "field is immutable")] * 2
    raise status.invalid(target.resource.group, target.resource.kind, target.name, causes)


def _composed(target: Target, sent: JsonObject, old: JsonObject, now: str) -> JsonObject:
    """What the client may write, on top of what it may not."""
    compose = target.resource.compose
    if target.subresource == "status" and compose is None:
        new = {key: value for key, value in old.items() if key != "status"}
        new["metadata"] = dict(old["metadata"])
        if "status" in sent:
            new["status"] = sent["status"]
        return new
    new = sent
    if compose is not None:
        compose(target.subresource, new, old, now)
    elif target.version.status:
        new.pop("status", None)
        if "status" in old:
            new["status"] = old["status"]
    metadata, stored = new["metadata"], old["metadata"]
    for name in _SERVER_OWNED:
        if name in stored:
            metadata[name] = stored[name]
        else:
            metadata.pop(name, None)
    metadata["uid"] = stored["uid"]
    metadata["resourceVersion"] = stored["resourceVersion"]
    if namespaces.is_namespace(target.resource) and target.subresource != "finalize" and "spec" in old:
        new["spec"] = {**new.get("spec", {}), "finalizers": old["spec"].get("finalizers", [])}
        if not new["spec"]["finalizers"]:
            del new["spec"]["finalizers"]
    return new


def _is_new_generation(target: Target, old: JsonObject, new: JsonObject) -> bool:
    """Whether anything but metadata has changed, and status where that is written apart."""
    apart = ("metadata", "status") if target.version.status else ("metadata",)
    keys = {*old, *new}.difference(apart)
    return any(old.get(key) != new.get(key) for key in keys)


def _unchanged(old: JsonObject, new: JsonObject) -> bool:
    """Whether the write changes nothing but the time of its own entry in managedFields."""
    before, after = old["metadata"], new["metadata"]
    if any(old.get(key) != new.get(key) for key in {*old, *new} if key != "metadata"):
        return False
    if any(before.get(key) != after.get(key) for key in {*before, *after} if key != "managedFields"):
        return False
    owners = managed_fields.without_times
    if owners(before.get("managedFields")) != owners(after.get("managedFields")):
        return False
    forget = {"managedFields": None}
    return same({**old, "metadata": before | forget}, {**new, "metadata": after | forget})


def _is_done(target: Target, new: JsonObject) -> bool:
    """Whether an object that waits for its finalizers waits no longer."""
    metadata = new["metadata"]
    if "deletionTimestamp" not in metadata or metadata.get("finalizers"):
        return False
    return not (namespaces.is_namespace(target.resource) and new.get("spec", {}).get("finalizers"))
