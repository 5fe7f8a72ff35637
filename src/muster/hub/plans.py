"""Plan: the hub's part. What would be written is merged here, as if it were, and the observer finds what follows.

Objects are written to a hub in memory (`applied_in_memory`), not tried by dry runs: those need the permission to write,
which whoever reviews a change often lacks, and one object does not see another. What writing takes is told instead.
An object takes part if the asker may get it; any other is refused, whether it is there or not. Nothing is written.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, Protocol
from weakref import WeakValueDictionary

import msgspec

from muster.api.fleet_parts import WARNING, Diagnostic
from muster.api.fleet_plan import NeededPermission, PlanStatus, RefusedObject
from muster.hub import status
from muster.hub.applied_in_memory import RefusedChange, changes_in, written_in_memory
from muster.hub.objects import decode, key_of
from muster.hub.plan_objects import HOSTS
from muster.importing.hosts import OTHER_KINDS, host_of
from muster.questions.asked import SECONDS, Question
from muster.questions.plans.hosts import KINDS as HOST_KINDS
from muster.questions.plans.planning import merged
from muster.questions.plans.token import Input, digest_of, revision_of
from muster.questions.plans.work import Hosts, PlanWork
from muster.values.json_members import object_at
from muster.values.names import subdomain_problems

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence

    from muster.api.fleet_plan import PlanSpec
    from muster.hub.applied_in_memory import Change, Outcome
    from muster.hub.plan_objects import PlanObjects
    from muster.hub.requests import Attributes, Authorizer, User
    from muster.hub.storage import Key
    from muster.questions.asked import Scope
    from muster.values.json import JsonObject

    Ask = Callable[[Question], Awaitable[msgspec.Raw]]

_MOST_BYTES: Final = 8 * 2**20  # of hosts: what the controllers take in one question is twice that
_MOST_PERMISSIONS: Final = 1000


class PlanScopes(Protocol):
    """Who may be told of what."""

    async def of_plans(self, user: User) -> tuple[Scope, bool]:
        """The placements that a plan may tell of, and whether there may be others."""

    async def of_clusters(self, user: User) -> Scope: ...


class Plans:
    """Answers for users who may create the kind. Of one user, one after the other."""

    def __init__(
        self,
        objects: PlanObjects,
        authorizer: Authorizer,
        scopes: PlanScopes,
        seconds: float = SECONDS,
        most_permissions: int = _MOST_PERMISSIONS,
    ) -> None:
        """`most_permissions` are told of; whoever has to ask a server for each asks for fewer."""
        self._objects = objects
        self._authorizer = authorizer
        self._scopes = scopes
        self._seconds = seconds
        self._most_permissions = most_permissions
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    async def answer(self, user: User, spec: PlanSpec, ask: Ask) -> PlanStatus:
        """Raises what `ask` raises, and 504."""
        turn = self._turns.setdefault(user.name, asyncio.Lock())
        try:
            async with asyncio.timeout(self._seconds), turn:
                work, outcome = await self._merged(user, spec)
        except TimeoutError:
            message = f"Timeout: the objects could not be merged within {self._seconds:g} seconds: plan for fewer"
            raise status.StatusError(504, "Timeout", message, {}) from None
        places, restricted = await self._scopes.of_plans(user)
        scope = await self._scopes.of_clusters(user)
        work = msgspec.structs.replace(work, restricted=restricted)
        question = Question("Plan", msgspec.Raw(msgspec.json.encode(work)), user.name, scope, places)
        answer = msgspec.json.decode(await ask(question), type=PlanStatus)
        permissions = await self._permissions(user, outcome.permissions)
        untold = len(outcome.permissions) - len(permissions)
        if untold > 0:
            message = f"of {len(outcome.permissions)} permissions that writing takes {untold} were not looked at"
            answer = msgspec.structs.replace(
                answer, diagnostics=(*answer.diagnostics, Diagnostic("spec", message, WARNING))
            )
        return merged(answer, refused=tuple(map(refusal_of, outcome.refused)), permissions=permissions)

    async def _merged(self, user: User, spec: PlanSpec) -> tuple[PlanWork, Outcome]:
        changes, unknown = changes_in(spec)
        shut = await self._may_not_get(user, changes)
        changes = [each for each in changes if key_of(each.target) not in shut]
        present, closed = await self._objects.present(each.target for each in changes)
        shut |= {key_of(each.target): _closed(each) for each in changes if key_of(each.target) in closed}
        changes = [each for each in changes if key_of(each.target) not in closed]
        namespaces = await self._objects.namespaces({each.target.namespace for each in changes} - {""})
        sets = await self._objects.sets(_labelled(changes, present))
        outcome = await written_in_memory(changes, present, spec, datetime.now(UTC), namespaces=namespaces, sets=sets)
        outcome = replace(outcome, refused=(*shut.values(), *outcome.refused))
        hosts, diagnostics = await self._hosts(user, changes)
        return work_of(spec, changes, unknown, present, outcome, hosts, diagnostics), outcome

    async def _may_not_get(self, user: User, changes: Iterable[Change]) -> dict[Key, RefusedChange]:
        """Objects that the asker may not get, whether they are there or not."""
        by_place: dict[tuple[str, str], list[Change]] = {}
        for each in changes:
            by_place.setdefault((each.target.resource.key, each.target.namespace), []).append(each)
        found: dict[Key, RefusedChange] = {}
        for (resource, namespace), those in by_place.items():
            names = sorted({each.target.name for each in those})
            missing = set(await self._authorizer.missing(user, "get", resource, names, namespace))
            for each in those:
                if each.target.name in missing:
                    found[key_of(each.target)] = _closed(each)
        return found

    async def _hosts(self, user: User, changes: Sequence[Change]) -> tuple[Hosts | None, tuple[Diagnostic, ...]]:
        """The hosts that the changes are about: of namespaces in which the asker may get all of them."""
        namespaces = {each.target.namespace for each in changes if each.target.resource.kind in HOST_KINDS}
        if not namespaces:
            return None, ()
        told: list[Diagnostic] = []
        present: list[JsonObject] = []
        size = 0
        for namespace in sorted(namespaces):
            if any([await self._authorizer.missing(user, "get", each, ("",), namespace) for each in HOSTS]):
                message = f"labels of hosts in {namespace} are left out: you may not get all agents and classifications"
                told.append(Diagnostic("spec", message, WARNING))
                continue
            found = await self._objects.hosts(namespace)
            for each in OTHER_KINDS.values():
                if not await self._authorizer.missing(user, "get", each.resource, ("",), namespace):
                    found += await self._objects.reported(each, namespace)
            size += sum(map(len, found))
            if size > _MOST_BYTES:
                message = f"labels of hosts in {namespace} are left out: there are more hosts than fit into a plan"
                told.append(Diagnostic("spec", message, WARNING))
                continue
            present += [host_of(obj) or obj for obj in map(decode, found)]
        left_out = {each.message for each in told}
        return (Hosts(tuple(present)) if len(left_out) < len(namespaces) else None), tuple(told)

    async def _permissions(self, user: User, asked: Sequence[Attributes]) -> tuple[NeededPermission, ...]:
        """What writing takes, and whether the asker has it."""
        wanted = asked[: self._most_permissions]
        decisions = await asyncio.gather(*(self._authorizer.authorize(user, each) for each in wanted))
        return tuple(_needed(each, allowed=given.allowed) for each, given in zip(wanted, decisions, strict=True))


def _closed(change: Change) -> RefusedChange:
    message = f"you may not get {change.name}, so that a plan may tell you nothing of it"
    return RefusedChange(change, "Forbidden", message)


def _labelled(changes: Iterable[Change], present: Mapping[Key, JsonObject]) -> set[str]:
    """What labels of clusters say, before or after: among it are the sets that they are in."""
    objects = [each.object for each in changes if each.target.resource.kind == "ManagedCluster"]
    objects += present.values() if objects else ()
    values = {str(value) for obj in objects for value in object_at(obj, "metadata", "labels").values()}
    return {value for value in values if not subdomain_problems(value)}


def _needed(asked: Attributes, *, allowed: bool) -> NeededPermission:
    resource = f"{asked.resource}/{asked.subresource}" if asked.subresource else asked.resource
    full = f"{resource}.{asked.group}" if asked.group else resource
    return NeededPermission(asked.verb, full, asked.namespace, asked.name, allowed)


def work_of(
    spec: PlanSpec,
    changes: Sequence[Change],
    unknown: Sequence[tuple[str, str]],
    present: Mapping[Key, JsonObject],
    outcome: Outcome,
    hosts: Hosts | None,
    diagnostics: tuple[Diagnostic, ...] = (),
) -> PlanWork:
    """What there is to find out, from what came of writing in memory."""
    asked = (spec.objects, spec.replace, spec.delete, spec.labels)
    how = (spec.field_manager, spec.force_conflicts, spec.with_status)
    inputs = [Input("what is asked for", digest_of(msgspec.to_builtins(asked), how))]
    touched = {key_of(each.target): each.name for each in changes}
    inputs += [
        Input(name, revision_of(present.get(key), with_status=spec.with_status)) for key, name in touched.items()
    ]
    refused = [[each.change.where, each.code] for each in outcome.refused]
    inputs.append(Input("what would be refused", digest_of(refused)))
    unseen = tuple(Diagnostic(where, f"{kind} is nothing that a plan looks at", WARNING) for where, kind in unknown)
    return PlanWork(
        outcome.applied,
        outcome.deleted,
        tuple(inputs),
        spec.guards,
        spec.most_names,
        spec.token,
        hosts,
        (*unseen, *diagnostics),
    )


def refusal_of(refused: RefusedChange) -> RefusedObject:
    change, target = refused.change, refused.change.target
    return RefusedObject(
        change.where, target.resource.kind, target.namespace, target.name, refused.code, refused.message
    )
