"""What objects as they would be change, before anything is written: the controllers' own steps on a copy of the world.

The same events go in, the same placements are woken and scheduled in the same order, each once, and what they decide is
put where the next one sees it; then follows what other controllers would do: taints of clusters that do not say that
they are available, built-in sets as they must be. Pure: no I/O, and the world that comes in is used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import ObjectMeta, PartialObject
from muster.api.placement_decision import ClusterDecision, PlacementDecision, PlacementDecisionStatus
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.cluster_sets import BUILT_IN, roll_back
from muster.controllers.clusters import CLUSTERS, wanted_taints
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.keys import Key
from muster.controllers.placements.mirrors import BINDINGS, DECISIONS, PLACEMENTS, SCORES, SETS
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.conditions import timestamp
from muster.controllers.runtime.mirror import Stored
from muster.errors import InvalidObjectError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from muster.controllers.placements.keys import SetKey, Woken
    from muster.placement import ScheduleResult

_OBJECTS: Final = Reader(PartialObject)
KINDS: Final = (
    "AddOnPlacementScore",
    "ManagedCluster",
    "ManagedClusterSet",
    "ManagedClusterSetBinding",
    "Placement",
    "PlacementDecision",
)


@dataclass(frozen=True, slots=True)
class PlacementChange:
    """What happens to the decisions of one placement."""

    namespace: str
    name: str
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    before: int
    after: int
    fault: str = ""  # why it would be misconfigured; its decisions stay then
    is_new: bool = False
    is_gone: bool = False


def world_of(objects: Iterable[JsonMapping], now: datetime) -> PlacementWorld:
    """The world with these objects in it; objects of other kinds are passed over."""
    world = PlacementWorld()
    world.advance(now)
    by_kind: dict[str, list[JsonObject]] = {kind: [] for kind in KINDS}
    for obj in objects:
        if obj.get("kind") in by_kind:
            by_kind[obj["kind"]].append(dict(obj))
    for kind in ("AddOnPlacementScore", "ManagedClusterSet", "ManagedClusterSetBinding", "PlacementDecision"):
        for obj in by_kind[kind]:
            put(world, obj)
    world.fleet.put_many(msgspec.json.encode(obj) for obj in by_kind["ManagedCluster"])
    for obj in by_kind["Placement"]:
        put(world, obj)
    return world


def put(world: PlacementWorld, obj: JsonObject) -> Woken:
    """Feed one object to the world, as its watch would; who is woken."""
    match obj["kind"]:
        case "AddOnPlacementScore":
            told, fault = world.put_score(Stored.of(SCORES, obj))
            if fault is not None:
                raise InvalidObjectError(fault.path, fault.message)
            return told
        case "ManagedCluster":
            return world.put_cluster(_place(obj).name, msgspec.json.encode(obj))
        case "ManagedClusterSet":
            return world.put_set(Stored.of(SETS, obj))
        case "ManagedClusterSetBinding":
            return world.put_binding(Stored.of(BINDINGS, obj))
        case "Placement":
            return world.put_placement(Stored.of(PLACEMENTS, obj))
        case "PlacementDecision":
            return world.put_decision(Stored.of(DECISIONS, obj))
        case _:
            return frozenset()


def remove(world: PlacementWorld, obj: JsonObject) -> Woken:
    """Take one object out of the world, as its watch would; who is woken."""
    place = _place(obj)
    match obj["kind"]:
        case "AddOnPlacementScore":
            return world.remove_score(place)
        case "ManagedCluster":
            return world.remove_cluster(place.name)
        case "ManagedClusterSet":
            return world.remove_set(place.name)
        case "ManagedClusterSetBinding":
            return world.remove_binding(place)
        case "Placement":
            return world.remove_placement(place)
        case "PlacementDecision":
            return world.remove_decision(place)
        case _:
            return frozenset()


def _place(obj: JsonObject) -> Place:
    metadata = _OBJECTS.partly(obj).obj.metadata
    return Place(metadata.namespace, metadata.name)


def settle(world: PlacementWorld, now: datetime) -> None:
    """Decide for every placement, as controllers would have done: for objects that come without decisions."""
    _work_off(world, world.placements, now)


def preview(
    world: PlacementWorld,
    changes: Iterable[JsonMapping],
    now: datetime,
    deleted: Iterable[JsonMapping] = (),
    *,
    alone: bool = False,
) -> list[PlacementChange]:
    """The placements whose decisions would change, or that would be misconfigured, by name.

    `changes` are whole objects as they would be; `deleted` are gone. `alone`: no other controller does anything, for
    worlds from files, where clusters seldom say that they are available.
    """
    known = set(world.placements)
    before = {key: _decided(world, key) for key in known}
    changed, gone_ones = [dict(change) for change in changes], [dict(each) for each in deleted]
    # 1. What is written, and what placements make of it.
    woken = {key for obj in changed for key in put(world, obj)}
    woken |= {key for obj in gone_ones for key in remove(world, obj)}
    faults = _work_off(world, woken, now)
    # 2. What the other controllers make of it, and placements of that.
    if not alone:
        following = [*(each for obj in changed for each in _following(obj, now)), *_made_again(gone_ones)]
        faults |= _work_off(world, {key for obj in following for key in put(world, obj)}, now)
    found = []
    for key in sorted({*before, *world.placements}):
        gone = key not in world.placements
        old, new = set(before.get(key, ())), set[str]() if gone else set(_decided(world, key))
        if old != new or key in faults or key not in known or gone:
            found.append(
                PlacementChange(
                    key.namespace,
                    key.name,
                    gained=tuple(sorted(new - old)),
                    lost=tuple(sorted(old - new)),
                    before=len(old),
                    after=len(new),
                    fault=faults.get(key, ""),
                    is_new=key not in known,
                    is_gone=gone,
                )
            )
    return found


def _work_off(world: PlacementWorld, woken: Iterable[Key | SetKey], now: datetime) -> dict[Key, str]:
    """Schedule the woken placements in their turns; what is wrong with those that cannot be."""
    faults: dict[Key, str] = {}
    for key in sorted(key for key in woken if isinstance(key, Key)):
        result = world.decide(key, now)
        if result is None:
            continue
        if result.fault is not None:
            faults[key] = str(result.fault)
        else:
            _settle(world, key, result)
    return faults


def _following(obj: JsonObject, now: datetime) -> Iterator[JsonObject]:
    """What controllers write when they see this object."""
    match obj["kind"]:
        case "ManagedCluster":
            cluster = CLUSTERS.partly(obj).obj
            taints = wanted_taints(cluster)
            if taints != cluster.spec.taints and not cluster.metadata.is_going:
                timed = [{"timeAdded": timestamp(now), **taint} for taint in msgspec.to_builtins(taints)]
                spec = obj["spec"] if isinstance(obj.get("spec"), dict) else {}
                yield {**obj, "spec": {**spec, "taints": timed}}
        case "ManagedClusterSet" if (name := _place(obj).name) in BUILT_IN:
            if roll_back(Stored.of(SETS, obj)) is not None:
                yield {**obj, "spec": {"clusterSelector": BUILT_IN[name]}}


def _made_again(deleted: Iterable[JsonObject]) -> Iterator[JsonObject]:
    """The built-in sets do not stay away."""
    for obj in deleted:
        if obj["kind"] == "ManagedClusterSet" and (name := _place(obj).name) in BUILT_IN:
            yield {"kind": obj["kind"], "metadata": {"name": name}, "spec": {"clusterSelector": BUILT_IN[name]}}


def _decided(world: PlacementWorld, key: Key) -> list[str]:
    return [name for page in world.decisions.of(key) for name in page.clusters]


def _settle(world: PlacementWorld, key: Key, result: ScheduleResult) -> None:
    """Put the decided pages where the controller would."""
    wanted = {page.name: page.clusters for page in result.pages()}
    present = {page.metadata.name for page in world.decisions.of(key)}
    for name in present - wanted.keys():
        world.remove_decision(Place(key.namespace, name))
    for name, clusters in wanted.items():
        metadata = ObjectMeta(name, key.namespace, labels={PLACEMENT_LABEL: key.name})
        decisions = tuple(ClusterDecision(cluster) for cluster in clusters)
        page = PlacementDecision(metadata, PlacementDecisionStatus(decisions))
        world.put_decision(Stored(page, msgspec.json.encode(page), Place(key.namespace, name)))
