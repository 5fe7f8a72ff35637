"""`muster.plan`: what writing objects would change, computed from objects. `muster plan` computes with it as well.

The hub's own code merges, defaults, admits and refuses, in memory; the controllers' own steps find what follows.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from muster.api.fleet_plan import MOST_NAMES, ObjectReference, PlanGuards, PlanSpec, PlanStatus
from muster.controllers.placements.preview import exhausted, settle, world_of
from muster.errors import InvalidObjectError
from muster.hub.applied_in_memory import DELETE, changes_in, target_of, written_in_memory
from muster.hub.objects import key_of
from muster.hub.plans import refusal_of, work_of
from muster.library.overlays import overlaid
from muster.placement.explain.tables import Table, Tabular
from muster.questions.plans.hosts import KINDS as HOST_KINDS
from muster.questions.plans.planning import merged, planned_alone
from muster.questions.plans.work import Hosts
from muster.values.arguments import expected, moment, plain_objects

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from datetime import datetime

    from muster.api.fleet_plan import PlacementPlan, RefusedObject
    from muster.hub.applied_in_memory import Change, Outcome
    from muster.hub.storage import Key
    from muster.selection import Objects
    from muster.values.json import JsonObject


@dataclass(frozen=True, slots=True, repr=False)
class PlannedChange(Tabular):
    """What would change. Prints as a table; notebooks show it as one."""

    status: PlanStatus  # all of it: sets, hosts, diagnostics

    @property
    def placements(self) -> tuple[PlacementPlan, ...]:
        """Those that gain or lose clusters, come, go, or cannot be scheduled."""
        return self.status.placements

    @property
    def refused(self) -> tuple[RefusedObject, ...]:
        """Objects that a server would not take, and why."""
        return self.status.refused

    @property
    def allowed(self) -> bool:
        """Whether no guard objects and nothing would be refused."""
        return self.status.allowed

    def __repr__(self) -> str:
        return f"<Plan: {len(self.placements)} placements change, {len(self.refused)} objects refused>"

    def table(self) -> Table:
        """One line for each placement, with what guards say of it."""
        rows = []
        for each in self.placements:
            word = "new" if each.created else "deleted" if each.deleted else "changed"
            notes = [one.message for one in each.guards if not one.allowed] + ([each.fault] if each.fault else [])
            lost = ", ".join(one.name for one in each.lost.clusters)
            numbers = f"{each.before} → {each.after}"
            gained = ", ".join(each.gained.names)
            rows.append((f"{each.namespace}/{each.name}", word, numbers, gained, lost, "; ".join(notes)))
        rows += [(f"{each.kind} {each.name}", "refused", "", "", "", each.message) for each in self.refused]
        caption = f"{len(self.placements)} placements change" if self.placements else "no placement changes"
        return Table(caption, ("Placement", "", "Clusters", "Gains", "Loses", "Note"), tuple(rows))


def plan(
    fleet: Objects,
    objects: Objects = (),
    *,
    delete: Objects = (),
    fail_if_removes: int | None = None,
    fail_if_empty: bool = False,
    with_status: bool = False,
    now: datetime | None = None,
) -> PlannedChange:
    """Which clusters each placement would gain and lose if objects were applied to a fleet, or deleted from it.

    Guards make `allowed` false: so many clusters lost by one placement, or a placement left without any. Raises
    InvalidObjectError for what is no object.

    >>> import muster
    >>> fleet = [{"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster",
    ...           "metadata": {"name": "a"}}]
    >>> placement = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement",
    ...              "metadata": {"name": "shop"}, "spec": {}}
    >>> muster.plan(fleet, placement).placements[0].name
    'shop'
    """
    at = moment(now, "now")
    present = overlaid(map(_kinded, plain_objects(fleet, "fleet")), "default")
    written = [_placed(each, f"objects[{n}]") for n, each in enumerate(plain_objects(objects, "objects"))]
    gone = [_placed(each, f"delete[{n}]") for n, each in enumerate(plain_objects(delete, "delete"))]
    if not written and not gone:
        raise InvalidObjectError("objects", "say what would be written, or deleted")
    if fail_if_removes is not None:
        expected(fail_if_removes, int, "fail_if_removes", "a number")
    expected(fail_if_empty, bool, "fail_if_empty", "True or False")
    expected(with_status, bool, "with_status", "True or False")
    spec = PlanSpec(
        objects=tuple(written),
        delete=tuple(map(_reference, gone)),
        force_conflicts=True,  # objects in memory rarely say who owns their fields
        with_status=with_status,
        guards=PlanGuards(fail_if_removes, fail_if_empty),
        most_names=MOST_NAMES,
    )
    hosts = None
    if any(each.get("kind") in HOST_KINDS for each in (*written, *gone)):
        hosts = Hosts(tuple(each for each in present if each.get("kind") in HOST_KINDS), trusting=False)
    firm = [each for each in changes_in(spec)[0] if not is_loose(each)]
    namespaces = {each.target.namespace for each in firm} - {""}
    return PlannedChange(planned_over(spec, present, hosts, present_of(present, firm), namespaces, at))


def _kinded(obj: JsonObject) -> JsonObject:
    """An object of the fleet that does not say its kind is a cluster, as everywhere in the library."""
    return obj if "kind" in obj else {"kind": "ManagedCluster", **obj}


def _placed(obj: JsonObject, where: str) -> JsonObject:
    for key in ("apiVersion", "kind"):
        expected(obj.get(key), str, f"{where}.{key}", "a text")
    target = target_of(obj)
    if target is None or not target.resource.namespaced or target.namespace or obj["kind"] in HOST_KINDS:
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": "default"}}


def _reference(obj: JsonObject) -> ObjectReference:
    metadata = obj["metadata"]
    return ObjectReference(obj["apiVersion"], obj["kind"], metadata.get("namespace", ""), metadata["name"])


# ------------------------------------------------------------------------------------------- shared with commands


def planned_over(
    spec: PlanSpec,
    objects: Sequence[JsonObject],
    hosts: Hosts | None,
    present: dict[Key, JsonObject],
    namespaces: Iterable[str],
    now: datetime,
) -> PlanStatus:
    """The status of a Plan over objects. `present` are those of them that would be written."""
    changes, unknown = changes_in(spec)
    # A host in files may be in no namespace, and count for all of them: nothing is there to be merged with.
    loose = [each for each in changes if is_loose(each)]
    firm = [each for each in changes if not is_loose(each)]
    outcome = _written(firm, present, spec, now, namespaces, [each for each in objects if _is_set(each)])
    work = work_of(spec, changes, unknown, present, outcome, hosts)
    work = msgspec.structs.replace(
        work,
        applied=(*work.applied, *(_as_applied(each, spec) for each in loose if each.deed != DELETE)),
        deleted=(*work.deleted, *(each.object for each in loose if each.deed == DELETE)),
        alone=True,  # nobody else decides anything
    )
    world = world_of(objects, now)
    if not world.decisions:
        settle(world, now)
    status = exhausted(planned_alone(work, world, now))
    return merged(status, refused=tuple(map(refusal_of, outcome.refused)))


def is_loose(change: Change) -> bool:
    """Whether it is about an object that should be in a namespace, and is in none."""
    return change.target.resource.namespaced and not change.target.namespace


def present_of(objects: Iterable[JsonObject], changes: Sequence[Change]) -> dict[Key, JsonObject]:
    """Those of the objects that are changed."""
    touched = {key_of(each.target) for each in changes}
    known = ((target_of(obj), obj) for obj in objects)
    return {key: obj for target, obj in known if target is not None and (key := key_of(target)) in touched}


def _written(
    changes: Sequence[Change],
    present: dict[Key, JsonObject],
    spec: PlanSpec,
    now: datetime,
    namespaces: Iterable[str],
    sets: Sequence[JsonObject],
) -> Outcome:
    """To a hub in memory, which speaks in coroutines. A notebook has a loop of its own, which is left alone."""
    work = written_in_memory(changes, present, spec, now, namespaces=namespaces, sets=sets)
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    with ThreadPoolExecutor(max_workers=1) as apart:
        return apart.submit(asyncio.run, work).result()


def _is_set(obj: JsonObject) -> bool:
    return obj.get("kind") == "ManagedClusterSet"


def _as_applied(change: Change, spec: PlanSpec) -> JsonObject:
    return {name: value for name, value in change.object.items() if spec.with_status or name != "status"}
