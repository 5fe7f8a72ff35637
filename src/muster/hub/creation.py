"""Creating objects: from POST, from an apply or an update of something that is not there yet.

Called by `Api` with an object that is decoded, pruned and defaulted; gives it a name, an identity and owners.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Self

from muster.api.metadata import name_of
from muster.hub import bodies, namespaces, status
from muster.hub.identities import generated_name, new_uid
from muster.hub.objects import decode, encode, is_deleting, key_of, merge_versions, shown, stored_form
from muster.hub.patches import managed_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.requests import Answer
from muster.hub.storage import ConflictError, GuardFailedError, Put, StorageUnavailableError
from muster.hub.write_checks import refuse_invalid
from muster.values.json import JsonObject
from muster.values.limits import named

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.hub.heavy_work import HeavyWork
    from muster.hub.options import Write
    from muster.hub.requests import Target, User
    from muster.hub.storage import Store
    from muster.hub.write_checks import WriteChecks

_NAME_ATTEMPTS = 8
GUARD_ATTEMPTS = 20
# What only the server may set on a new object.
_SERVER_OWNED = (
    "uid",
    "creationTimestamp",
    "deletionTimestamp",
    "deletionGracePeriodSeconds",
    "selfLink",
    "generation",
)


class _Coming:
    """One object of a kind that is on its way, counted until it is there or will not be."""

    __slots__ = ("_counts", "_kind")

    def __init__(self, counts: dict[str, int], kind: str) -> None:
        self._counts = counts
        self._kind = kind

    def __enter__(self) -> Self:
        self._counts[self._kind] = self._counts.get(self._kind, 0) + 1
        return self

    def end(self) -> None:
        if self._kind:
            self._counts[self._kind] -= 1
            self._kind = ""

    def __exit__(self, *_: object) -> None:
        self.end()


class Creation:
    """Creates objects in the store."""

    def __init__(
        self,
        store: Store,
        write_checks: WriteChecks,
        now: Callable[[], str],
        objects_per_kind: int,
        heavy_work: HeavyWork,
    ) -> None:
        self._store = store
        self._heavy = heavy_work
        self._objects_per_kind = objects_per_kind
        self._coming: dict[str, int] = {}
        self._write_checks = write_checks
        self._now = now

    async def create(
        self,
        user: User,
        target: Target,
        obj: JsonObject,
        options: Write,
        warnings: tuple[str, ...] = (),
        owners: list[JsonObject] | None = None,
        *,
        weight: int = 0,
    ) -> Answer:
        """Store a new object. `owners` are its managedFields when apply has already settled them, `weight` is what
        its checks may cost."""
        pristine = encode(obj)
        for attempt in range(GUARD_ATTEMPTS):
            try:
                with self._counted(target, name_of(obj)) as coming:
                    return await self._attempt(user, target, obj, options, warnings, owners, weight, coming)
            except GuardFailedError:
                # Something that admission looked at has changed: ask it again, with the object as it was sent.
                obj = decode(pristine)
            except _NameTakenError as taken:
                if attempt + 1 >= _NAME_ATTEMPTS:
                    raise status.already_exists(target.resource.group, target.resource.plural, taken.name) from None
                obj = decode(pristine)
            except StorageUnavailableError as error:
                raise status.unavailable(str(error)) from None
            except status.StatusError as error:
                error.warnings = (*warnings, *error.warnings)  # what is odd about the body is said with a refusal too
                raise
        raise status.unavailable("the objects that this write depends on change too often; try again")

    def _counted(self, target: Target, name: str) -> _Coming:
        """One more of its kind on the way, so that many at once do not slip in together. Raises 403 if it is too many.

        Within a namespace that does not take it, that is what the client is told instead.
        """
        kind = target.resource.home.key
        if self._store.count(kind) + self._coming.get(kind, 0) >= self._objects_per_kind:
            namespaces.admitting_namespace(self._store, target, name)
            raise _too_many(target, name, self._objects_per_kind)
        return _Coming(self._coming, kind)

    async def _attempt(
        self,
        user: User,
        target: Target,
        obj: JsonObject,
        options: Write,
        warnings: tuple[str, ...],
        owners: list[JsonObject] | None,
        weight: int,
        coming: _Coming,
    ) -> Answer:
        resource = target.resource
        metadata: JsonObject = obj["metadata"]
        generated = bool(metadata.get("generateName")) and not metadata.get("name")
        guards = namespaces.admitting_namespace(self._store, target, name_of(obj))

        # 1. Identity, and what only the server sets.
        now = self._now()
        if generated:
            metadata["name"] = generated_name(metadata["generateName"])
        if target.version.status:
            obj.pop("status", None)
        if "status" in target.version.zero:
            obj["status"] = {}
        for field in _SERVER_OWNED:
            metadata.pop(field, None)
        metadata["uid"] = new_uid()
        metadata["creationTimestamp"] = now
        if resource.generation:
            metadata["generation"] = 1
        if namespaces.is_namespace(resource):
            namespaces.label(obj)

        # 2. Admission may change it; ownership covers the result.
        obj, mutated = await self._write_checks.mutated(
            "CREATE", target, user, None, obj, dry_run=options.dry_run, weight=weight
        )
        metadata = obj["metadata"]

        # 3. Refuse what is wrong.
        writer = Writer(options.manager, target.api_version, now)
        checked = await self._heavy.done(user.name, weight, partial(_complete, target, obj, owners, writer))
        if metadata.pop("resourceVersion", None):
            raise status.internal("resourceVersion should not be set on objects to be created")
        passed = await self._write_checks.validated(
            "CREATE", target, user, None, obj, dry_run=options.dry_run, weight=weight
        )
        key = key_of(target, metadata["name"])
        existing = self._store.get(key)
        if existing is not None:
            if generated:
                raise _NameTakenError(key.name)
            raise status.already_exists(resource.group, resource.plural, key.name, terminating=is_deleting(existing))
        advice = bodies.metadata_advice(target, obj, None)
        warnings = (*warnings, *checked, *advice, *mutated.warnings, *passed.warnings)

        # 4. Store.
        if options.dry_run:
            advice = await self._write_checks.advice("CREATE", target, user, None, obj, dry_run=True)
            return Answer(201, encode(obj), (*warnings, *advice))
        head, tail = await self._heavy.done(user.name, weight, partial(stored_form, target, obj))
        try:
            records = await self._store.commit([Put(key, head, tail, 0)], (*guards, *mutated.guards, *passed.guards))
        except ConflictError:
            if generated:
                raise _NameTakenError(key.name) from None
            raise status.already_exists(resource.group, resource.plural, key.name) from None
        coming.end()  # it is there, and counted as such
        advice = await self._write_checks.advice("CREATE", target, user, None, obj, dry_run=False)
        return Answer(201, shown(records[0].value, target), (*warnings, *advice))


def _complete(target: Target, obj: JsonObject, owners: list[JsonObject] | None, writer: Writer) -> tuple[str, ...]:
    """Record who owns what of a new object, and check it. Returns warnings. Raises 422."""
    metadata: JsonObject = obj["metadata"]
    if owners is None:
        reset = target.resource.reset.get("", {})
        owners = managed_fields.created(obj, merge_versions(target.resource), writer, reset)
    if owners:
        metadata["managedFields"] = owners
    else:
        metadata.pop("managedFields", None)
    if namespaces.is_namespace(target.resource):
        namespaces.complete_new(obj)
    if target.resource.complete is not None:
        target.resource.complete(obj, None)
    return refuse_invalid(target, obj)


def _too_many(target: Target, name: str, limit: int) -> status.StatusError:
    resource = target.resource
    sentence = f"the hub holds {limit} {resource.plural} and takes no more ({named('objects per kind')})"
    return status.refused(resource.group, resource.plural, name, sentence)


class _NameTakenError(Exception):
    """A generated name that somebody else has got first."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)
