"""A plan for a fleet in files: the same functions as the server's, over objects that nobody serves."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import msgspec

from muster.cli.inputs.fleets import counted
from muster.cli.inputs.host_objects import host_objects
from muster.cli.terminal.progress import under_way
from muster.controllers.placements.preview import exhausted, settle, world_of
from muster.hub.applied_in_memory import DELETE, changes_in, target_of, written_in_memory
from muster.hub.objects import key_of
from muster.hub.plans import refusal_of, work_of
from muster.questions.plans.hosts import KINDS as HOSTS
from muster.questions.plans.planning import merged, planned_alone
from muster.questions.plans.work import Hosts
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from muster.api.fleet_plan import PlanSpec, PlanStatus
    from muster.hub.applied_in_memory import Change
    from muster.hub.storage import Key


def planned_in_files(spec: PlanSpec, fleet: list[str]) -> PlanStatus:
    """The status of a Plan, computed from files."""
    now = datetime.now(UTC)
    changes, unknown = changes_in(spec)
    objects = [document.object for document in counted(fleet)]
    hosts = None
    if any(each.target.resource.kind in HOSTS for each in changes):
        found = host_objects(fleet)
        hosts = Hosts((*found.agents, *found.classifications), trusting=False)
    # A host in files may be in no namespace, and count for all of them: nothing is there to be merged with.
    loose = [each for each in changes if each.target.resource.namespaced and not each.target.namespace]
    firm = [each for each in changes if each not in loose]
    present = _by_key((*objects, *(hosts.present if hosts is not None else ())), firm)
    namespaces = {each.target.namespace for each in firm} - {""}
    sets = [each for each in objects if each["kind"] == "ManagedClusterSet"]
    with under_way(f"trying it with {len(objects):,} objects", len(objects)):
        outcome = asyncio.run(written_in_memory(firm, present, spec, now, namespaces=namespaces, sets=sets))
        work = work_of(spec, changes, unknown, present, outcome, hosts)
        work = msgspec.structs.replace(
            work,
            applied=(*work.applied, *(_as_applied(each, spec) for each in loose if each.deed != DELETE)),
            deleted=(*work.deleted, *(each.object for each in loose if each.deed == DELETE)),
            alone=True,
        )
        world = world_of(objects, now)
        if not world.decisions:
            settle(world, now)
        status = exhausted(planned_alone(work, world, now))
    return merged(status, refused=tuple(map(refusal_of, outcome.refused)))


def _as_applied(change: Change, spec: PlanSpec) -> JsonObject:
    return {name: value for name, value in change.object.items() if spec.with_status or name != "status"}


def _by_key(objects: Iterable[JsonObject], changes: Sequence[Change]) -> dict[Key, JsonObject]:
    touched = {key_of(each.target) for each in changes}
    known = ((target_of(obj), obj) for obj in objects)
    return {key: obj for target, obj in known if target is not None and (key := key_of(target)) in touched}
