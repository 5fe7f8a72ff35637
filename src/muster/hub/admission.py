"""The hub's side of admission: asks `muster.admission` about every write, and remembers what it looked at.

An admission plugin of the hub. The write commits only if nothing that a check has read, permissions included, has
changed since; otherwise admission is asked again.
"""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING

from muster.admission import Asker, Settings, Write, mutate, validate
from muster.admission.kinds import kinds
from muster.admission.owners import change_owners
from muster.api.metadata import name_of
from muster.hub import status
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.heavy_work import HEAVY, HeavyWork
from muster.hub.objects import decode
from muster.hub.requests import Admitted, User
from muster.hub.storage import Key, Unchanged, Unmatched
from muster.hub.stored_labels import LabelSearch
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.admission import Finding, Refusal
    from muster.hub.requests import AdmissionRequest, Authorizer, Target
    from muster.hub.storage import Guard
    from muster.hub.storage.reading import StoredObjects

_NOTHING = Admitted()
_TURN = 10_000  # objects looked at before others have their turn


class ObjectChecks:
    """Asks the checks of the kind that is written."""

    def __init__(
        self,
        store: StoredObjects,
        authorizer: Authorizer,
        settings: Settings | None = None,
        *,
        permissions: Callable[[], tuple[Unchanged, ...]] = tuple,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        heavy_work: HeavyWork | None = None,
    ) -> None:
        """`permissions` names what decisions of the authorizer rest on; `heavy_work` takes what compiles."""
        self._heavy = heavy_work or HeavyWork()
        self._store = store
        self._authorizer = authorizer
        self._permissions = permissions
        self._clock = clock
        self._checks = kinds(settings or Settings())

    async def mutate(self, request: AdmissionRequest) -> Admitted:
        if request.target.resource.key not in self._checks or _changes_only_status(request):
            return _NOTHING
        changing = partial(mutate, self._write(request), self._checks)
        finding = await self._heavy.done(request.user.name, request.weight, changing)
        if finding.refusal is not None:
            raise _status_error(request.target, request.new, finding.refusal, finding.warnings, "mutators")
        return Admitted(finding.object, finding.warnings)

    async def validate(self, request: AdmissionRequest) -> Admitted:
        unchecked = request.target.resource.key not in self._checks or _changes_only_status(request)
        if unchecked and not change_owners(request.old, request.new):
            return _NOTHING
        world = _Recorded(self._store, self._authorizer, self._permissions)

        async def aside(work: Callable[[], Finding], *, heavy: bool) -> Finding:
            return await self._heavy.done(request.user.name, HEAVY if heavy else request.weight, work)

        finding = await validate(self._write(request), world, self._checks, aside)
        if finding.refusal is not None:
            raise _status_error(
                request.target, request.new or request.old, finding.refusal, finding.warnings, "validators"
            )
        return Admitted(warnings=finding.warnings, read=tuple(world.read))

    def _write(self, request: AdmissionRequest) -> Write:
        target, user = request.target, request.user
        return Write(
            request.operation,
            target.resource.key,
            target.version.name,
            target.namespace,
            target.name or name_of(request.new),
            target.subresource,
            Asker(user.name, user.uid, user.groups, user.extra),
            request.old,
            request.new,
            request.dry_run,
            self._clock(),
        )


def _changes_only_status(request: AdmissionRequest) -> bool:
    """A heartbeat. All that checks look at, the spec and the labels, is as it was when they let it pass."""
    old, new = request.old, request.new
    if not request.target.subresource or old is None or new is None:
        return False
    same_labels = old["metadata"].get("labels") == new["metadata"].get("labels")
    return same_labels and old.get("spec") == new.get("spec")


class _Recorded:
    """The world as the store has it, with a guard for everything that is read."""

    def __init__(
        self, store: StoredObjects, authorizer: Authorizer, permissions: Callable[[], tuple[Unchanged, ...]]
    ) -> None:
        self._store = store
        self._authorizer = authorizer
        self._permissions = permissions
        self.read: list[Guard] = []

    async def get(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        self.read.append(Unchanged(resource, namespace, name, self._store.revision))
        record = self._store.get(Key(resource, namespace, name))
        return None if record is None else decode(record.value)

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[JsonObject]:
        self.read.append(Unchanged(resource, namespace, None, self._store.revision))
        return [decode(record.value) for record in self._store.scan(resource, namespace)]

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        revision = self._store.revision
        carries = LabelSearch(key, value)
        names: list[str] = []
        records = self._store.scan(resource)
        while some := list(islice(records, _TURN)):
            names += carries.names(some)
            await asyncio.sleep(0)  # others have their turn; the scan goes on with what it began with
        known = frozenset(names)
        self.read.append(
            Unmatched(resource, revision, lambda place, stored: place.name not in known and carries(stored))
        )
        return names

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        if SYSTEM_MASTERS not in asker.groups:  # whose permissions rest on nothing that could change
            self.read.extend(self._permissions())
        user = User(asker.name, asker.uid, asker.groups, asker.extra)
        if len(names) > 1:
            await asyncio.sleep(0)  # thousands are asked for in batches: others have their turn in between
        return await self._authorizer.missing(user, verb, resource, names, namespace)


def _status_error(
    target: Target, obj: JsonObject | None, refusal: Refusal, warnings: tuple[str, ...], part: str
) -> status.StatusError:
    """The refusal as clients know it: what a hook says comes with the words that a server puts before it."""
    if not refusal.causes:
        hook = f"{target.resource.singular}{part}.admission.{target.resource.group}"
        denied = f'admission webhook "{hook}" denied the request: ' if refusal.by_hook else ""
        return status.StatusError(refusal.code, refusal.reason, f"{denied}{refusal.message}", warnings=warnings)
    name = name_of(obj)
    error = status.invalid(target.resource.group, target.resource.kind, name or target.name, refusal.causes)
    error.warnings = warnings
    return error
