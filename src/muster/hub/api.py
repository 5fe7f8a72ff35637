"""The verbs of the hub without HTTP: each request is authorized, checked, carried out and answered as a real
kube-apiserver answers it.

The REST layer and whoever else lives in the process call `Api`; the modules beside it do one part each: options and
bodies read what was sent, write_checks ask admission and validation, creation, replacement and deletion write, lists
and watches read, reviews and namespaces are what their names say.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

from muster.api import RESOURCES
from muster.api.codec import decode, encode_split
from muster.api.crds import KEY as DEFINITIONS
from muster.hub import bodies, lists, namespaces, options, status, watches
from muster.hub.creation import Creation
from muster.hub.custom.guarding import DefinitionGuard
from muster.hub.custom.lifecycle import CustomKinds
from muster.hub.custom.live import Kinds
from muster.hub.deletion import Deletion
from muster.hub.expiry import EventExpiry
from muster.hub.heavy_work import HEAVY, HeavyWork
from muster.hub.limits import ObjectLimits
from muster.hub.namespaces import HubCleaner
from muster.hub.objects import key_of, shown
from muster.hub.patching import applied, patched
from muster.hub.renewals import LEASES
from muster.hub.replacement import Proposal, Replacement
from muster.hub.requests import Answer, PatchType
from muster.hub.reviews import Reviews
from muster.hub.selection import selection
from muster.hub.storage import ConflictError, Put
from muster.hub.watches import CustomWatches, EventCache
from muster.hub.write_checks import WriteChecks
from muster.values.causes import invalid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from muster.api.resource import Resource
    from muster.hub.namespaces import NamespaceCleaner
    from muster.hub.options import Write
    from muster.hub.requests import (
        Admission,
        Authenticator,
        Authorizer,
        Body,
        DeleteOptions,
        ListAnswer,
        ListOptions,
        Target,
        User,
        WatchOptions,
        WatchStream,
        WriteOptions,
    )
    from muster.hub.reviews import Questions
    from muster.hub.storage import Store

# How often a patch, or an update that names no revision, is made anew when somebody else writes in between.
_UNLOCKED_ATTEMPTS = 50
# Kinds whose PUT creates what is missing, and kinds that may be replaced without naming a revision.
_CREATED_BY_UPDATE = (
    "clusterrolebindings.rbac.authorization.k8s.io",
    "clusterroles.rbac.authorization.k8s.io",
    "events",
    "events.events.k8s.io",
    LEASES,
    "rolebindings.rbac.authorization.k8s.io",
    "roles.rbac.authorization.k8s.io",
)
_MOST_REVIEW = 64 * 1024  # bytes of a question about access: a user, groups, a token
_MOST_QUESTION = 1024 * 1024  # of one about the fleet: a placement
_LOCKED = (LEASES, DEFINITIONS)


def utc_now() -> datetime:
    return datetime.now(UTC)


class Api:
    """Every request goes through here, whoever sends it. All methods raise StatusError.

    `start` it once the store is open, `close` it before the store. With `names_on_create` a role with resourceNames
    allows to create objects of these names; a real server never does.
    """

    def __init__(
        self,
        store: Store,
        authorizer: Authorizer,
        *,
        admission: Sequence[Admission] = (),
        authenticator: Authenticator | None = None,
        clock: Callable[[], datetime] = utc_now,
        resources: Mapping[str, Resource] = RESOURCES,
        cleaner: NamespaceCleaner | None = None,
        limits: ObjectLimits | None = None,
        names_on_create: bool = True,
        heavy_work: HeavyWork | None = None,
        questions: Questions | None = None,
    ) -> None:
        self.kinds = resources if isinstance(resources, Kinds) else Kinds(resources)
        self._store = store
        self._limits = limits or ObjectLimits()
        self._names_on_create = names_on_create
        self._clock = clock
        self._second = (datetime.min.replace(tzinfo=UTC), "")  # the last one, and its text: every write asks for it
        self._write_checks = WriteChecks(authorizer, (*admission, DefinitionGuard(store, self.kinds, self._limits)))
        self._heavy = heavy_work or HeavyWork()
        self._cleaner = cleaner or HubCleaner(store, self.kinds.values(), self._now)
        self._custom = CustomKinds(store, self.kinds, self._cleaner, self._now)
        self._expiry = EventExpiry(store, self._cleaner, self._limits.events_seconds, clock)
        self._creation = Creation(store, self._write_checks, self._now, self._limits.objects_per_kind, self._heavy)
        self._replacement = Replacement(store, self._write_checks, self._cleaner, self._now, self._heavy)
        self._deletion = Deletion(store, self._write_checks, self._cleaner, self._now)
        self._reviews = Reviews(authorizer, authenticator, self._now, questions)
        self._namespaces = resources[namespaces.NAMESPACES]
        self._events = EventCache()
        self._custom_watches = CustomWatches(self.kinds, self._events)

    def _now(self) -> str:
        moment = self._clock().replace(microsecond=0)
        if moment != self._second[0]:
            self._second = moment, moment.astimezone(UTC).isoformat(timespec="seconds").removesuffix("+00:00") + "Z"
        return self._second[1]

    # --- Life ---------------------------------------------------------------------------------------------

    async def start(self, *, definitions: bool = True) -> None:
        """Serve the kinds that are defined, make sure of the namespaces and definitions every hub has, and go on with
        emptying what was being deleted. Who does not ask for definitions does without those of our own kinds."""
        self._custom.load()
        for name in namespaces.IMMORTAL:
            await self._ensure_namespace(name)
        for name in namespaces.terminating(self._store.scan(namespaces.NAMESPACES)):
            self._cleaner.namespace_deleted(name)
        if definitions:
            await self._custom.start()
        self._expiry.start()

    async def close(self) -> None:
        await self._expiry.close()
        await self._custom.close()
        await self._cleaner.close()
        self._heavy.close()

    async def _ensure_namespace(self, name: str) -> None:
        key = namespaces.namespace_key(name)
        if self._store.get(key) is not None:
            return
        version = self._namespaces.storage_version
        obj = namespaces.new_namespace(name, self._namespaces.api_version(version), self._now())
        head, tail = encode_split(obj)
        try:
            await self._store.commit([Put(key, head, tail, 0)])
        except ConflictError:
            return  # it has come into being meanwhile

    # --- Reading ------------------------------------------------------------------------------------------

    async def get(self, user: User, target: Target, resource_version: str = "") -> Answer:
        """One object, as stored bytes when it is stored in the version asked for."""
        await self._write_checks.authorize(user, "get", target)
        if resource_version:
            wanted = options.revision(resource_version)
            if wanted > self._store.revision:
                raise status.future_revision(wanted, self._store.revision)
        record = self._store.get(key_of(target))
        if record is None:
            raise _not_found(target)
        return Answer(200, shown(record.value, target), _deprecation(target))

    async def list(self, user: User, target: Target, selected: ListOptions) -> ListAnswer:
        """A collection, or a page of it."""
        await self._authorize_collection(user, "list", target, selected)
        return await lists.listed(self._store, target, selected, _deprecation(target), self._limits.list_page)

    async def watch(self, user: User, target: Target, selected: WatchOptions) -> WatchStream:
        """The changes of a collection from a revision on, or from now."""
        await self._authorize_collection(user, "watch", target, selected)
        stream = watches.opened(self._store, self._events, target, selected)
        self._custom_watches.add(target, stream)
        return stream

    async def _authorize_collection(
        self, user: User, verb: str, target: Target, selected: ListOptions | WatchOptions
    ) -> None:
        """A collection narrowed down to one name is authorized as that object."""
        name, too_large = None, None
        try:
            self._limits.check_selectors(selected)
            if "metadata.name" in selected.field_selector:
                name = selection(target, "", selected.field_selector).name
        except status.StatusError as error:
            too_large = error  # the selector is refused after authorization, like everything else
        await self._write_checks.authorize(user, verb, target, name or None)
        if too_large is not None:
            raise too_large

    # --- Writing ------------------------------------------------------------------------------------------

    async def create(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer:
        """A new object, or the answer to a review."""
        await self._write_checks.authorize_create(user, target, body, names=self._names_on_create)
        if target.resource.terminating:
            raise _terminating(target, body.name())
        checked = options.write_options("CreateOptions", given)
        most = _MOST_REVIEW if target.resource.builtin else _MOST_QUESTION
        if target.resource.virtual and body.weight > most:
            raise status.too_large(most)
        weight = _weight(target, body)
        reading = partial(bodies.read_whole, target, body, checked.validation)
        obj, warnings = await self._heavy.done(user.name, weight, reading)
        warnings = _deprecation(target) + warnings
        if target.resource.virtual:
            return await self._reviews.answer(user, target, obj, checked, warnings)
        answer = await self._creation.create(user, target, obj, checked, warnings, weight=weight)
        return await self._settled(user, target, answer, dry_run=checked.dry_run)

    async def update(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer:
        """The whole new state of an object, guarded by its revision."""
        await self._write_checks.authorize(user, "update", target)
        checked = options.write_options("UpdateOptions", given)
        if target.resource.key == LEASES and (answer := await self._replacement.renew(user, target, body, checked)):
            return answer
        weight = _weight(target, body)
        reading = partial(bodies.read_whole, target, body, checked.validation)
        sent, warnings = await self._heavy.done(user.name, weight, reading)
        missing = self._store.get(key_of(target)) is None
        if missing and target.resource.key in _CREATED_BY_UPDATE and not target.subresource:
            await self._write_checks.authorize(user, "create", target)
            return await self._creation.create(user, target, sent, checked, warnings, weight=weight)
        locked = bool(sent["metadata"].get("resourceVersion"))
        if not missing and not locked:
            _refuse_unlocked(target)
        unused = [(sent, warnings)]

        def propose(_: JsonObject) -> Proposal:
            # The body is read again for another attempt: the first one has worked on its object.
            obj, warnings = unused.pop() if unused else reading()
            return Proposal(obj, _deprecation(target) + warnings)

        attempts = 1 if locked else _UNLOCKED_ATTEMPTS
        answer = await self._replacement.replace(user, target, propose, checked, attempts=attempts, weight=weight)
        if answer is None:
            raise _not_found(target)
        return await self._settled(user, target, answer, dry_run=checked.dry_run)

    async def patch(self, user: User, target: Target, kind: PatchType, body: Body, given: WriteOptions) -> Answer:
        """Part of a new state: laid over the stored one, and over a newer one if somebody writes in between."""
        await self._write_checks.authorize(user, "patch", target)
        checked = options.write_options("PatchOptions", given, applying=kind is PatchType.APPLY)
        if kind is PatchType.APPLY:
            return await self._settled(
                user, target, await self._apply(user, target, body, checked), dry_run=checked.dry_run
            )
        reading = partial(patched, target, kind, body, checked)
        change, weight = await self._heavy.done(user.name, body.weight, reading)
        weight = max(weight, _weight(target, body))
        answer = await self._replace_or_404(user, target, change, checked, weight)
        return await self._settled(user, target, answer, dry_run=checked.dry_run)

    async def rescale(
        self,
        user: User,
        target: Target,
        verb: str,
        change: Callable[[JsonObject], JsonObject],
        given: WriteOptions,
        body: Body,
    ) -> Answer:
        """A new number of replicas, through the scale subresource of a custom kind."""
        await self._write_checks.authorize(user, verb, target)
        checked = options.write_options("UpdateOptions" if verb == "update" else "PatchOptions", given)

        def propose(live: JsonObject) -> Proposal:
            return Proposal(change(live), _deprecation(target))

        return await self._replace_or_404(user, target, propose, checked, _weight(target, body))

    async def _apply(self, user: User, target: Target, body: Body, checked: Write) -> Answer:
        reading = partial(bodies.read_configuration, target, body, checked.validation)
        config, warnings = await self._heavy.done(user.name, body.weight, reading)
        warnings = _deprecation(target) + warnings
        weight = _weight(target, body)
        if target.resource.key == DEFINITIONS and self.kinds.is_own(target.name):
            checked = replace(checked, force=True)  # it stays as it is: there is nothing to fight about

        def propose(live: JsonObject) -> Proposal:
            obj, owners = applied(target, live, config, checked, self._now())
            return Proposal(obj, warnings, owners)

        for _ in range(_UNLOCKED_ATTEMPTS):
            answer = await self._replacement.replace(
                user, target, propose, checked, attempts=_UNLOCKED_ATTEMPTS, weight=weight
            )
            if answer is not None:
                return answer
            proposal = await self._heavy.done(user.name, weight, partial(propose, {}))
            try:
                return await self._create_applied(user, target, proposal, checked, weight)
            except status.StatusError as error:
                if error.reason != "AlreadyExists":
                    raise
                # Somebody has created it meanwhile: then this is an apply to what is there.
        raise status.stale(target.resource.group, target.resource.plural, target.name)

    async def _create_applied(
        self, user: User, target: Target, proposal: Proposal, checked: Write, weight: int
    ) -> Answer:
        if target.subresource:
            raise _not_found(target)
        uid = proposal.obj["metadata"].get("uid")
        if uid:
            why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
            raise status.conflict(target.resource.group, target.resource.plural, target.name, why)
        await self._write_checks.authorize(user, "create", target)
        if target.resource.terminating:
            raise _terminating(target, target.name)
        return await self._creation.create(
            user, target, proposal.obj, checked, proposal.warnings, proposal.owners, weight=weight
        )

    async def _replace_or_404(
        self, user: User, target: Target, propose: Callable[[JsonObject], Proposal], checked: Write, weight: int
    ) -> Answer:
        answer = await self._replacement.replace(
            user, target, propose, checked, attempts=_UNLOCKED_ATTEMPTS, weight=weight
        )
        if answer is None:
            raise _not_found(target)
        return answer

    async def delete(self, user: User, target: Target, given: DeleteOptions, body: Body | None = None) -> Answer:
        """Remove an object, or mark it for its finalizers."""
        await self._write_checks.authorize(user, "delete", target)
        checked = await self._delete_options(user, given, body)
        answer = await self._deletion.delete(user, target, checked)
        return await self._settled(user, target, answer, dry_run=bool(checked.dry_run))

    async def delete_collection(
        self, user: User, target: Target, selected: ListOptions, given: DeleteOptions, body: Body | None = None
    ) -> ListAnswer:
        """Remove everything a list would show."""
        await self._authorize_collection(user, "deletecollection", target, selected)
        checked = await self._delete_options(user, given, body)
        answer = await self._deletion.delete_collection(user, target, selected, checked)
        if target.resource.key == DEFINITIONS and not checked.dry_run:
            for item in answer.items:
                await self._custom.settle(decode(item)["metadata"]["name"])
        return answer

    async def _settled(self, user: User, target: Target, answer: Answer, *, dry_run: bool) -> Answer:
        """Whoever is told that a definition was written finds its kind served, and compiled."""
        if target.resource.key == DEFINITIONS and not dry_run:
            name = target.name or answer.decoded()["metadata"]["name"]
            await self._custom.settle(name)
            for version in self.kinds.custom[name].versions if name in self.kinds.custom else ():
                if version.checks is not None:
                    await self._heavy.done(user.name, HEAVY, version.checks.warm)
        return answer

    async def _delete_options(self, user: User, given: DeleteOptions, body: Body | None) -> DeleteOptions:
        weight = 0 if body is None else body.weight
        return await self._heavy.done(user.name, weight, partial(options.delete_options, given, body))


def _not_found(target: Target) -> status.StatusError:
    return status.not_found(target.resource.group, target.resource.plural, target.name)


def _deprecation(target: Target) -> tuple[str, ...]:
    return (target.version.deprecated,) if target.version.deprecated else ()


def _terminating(target: Target, name: str) -> status.StatusError:
    sentence = "create not allowed while custom resource definition is terminating"
    return status.refused(target.resource.group, target.resource.plural, name, sentence)


def _weight(target: Target, body: Body) -> int:
    """What the checks of a body may cost; those of heavy kinds are never made at once."""
    checks = target.version.checks
    heavy = target.resource.heavy or (checks is not None and checks.heavy)
    return max(body.weight, HEAVY) if heavy else body.weight


def _refuse_unlocked(target: Target) -> None:
    """Custom kinds are only replaced by those who say which state they replace."""
    resource = target.resource
    if resource.builtin and resource.key not in _LOCKED:
        return
    cause = invalid("metadata.resourceVersion", 0, "must be specified for an update")
    raise status.invalid(resource.group, resource.plural, target.name, [cause])
