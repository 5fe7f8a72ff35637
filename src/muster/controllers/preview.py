"""What applying objects would change, before anything is written: the controller's own steps on a copy of the world.

The same events go in, the same placements are woken and scheduled, and what they decide is put where the next one sees
it. Pure: no I/O, and the world that comes in is used up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.controllers.placement_world import PLACEMENT_LABEL, Key, PlacementWorld

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from datetime import datetime

    from muster.placement import ScheduleResult

_ROUNDS: Final = 5
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


def world_of(objects: Iterable[Mapping[str, Any]], now: datetime) -> PlacementWorld:
    """The world with these objects in it; objects of other kinds are passed over."""
    world = PlacementWorld()
    world.advance(now)
    by_kind: dict[str, list[dict[str, Any]]] = {kind: [] for kind in KINDS}
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


def put(world: PlacementWorld, obj: dict[str, Any]) -> frozenset[Any]:
    """Feed one object to the world, as its watch would; who is woken."""
    match obj["kind"]:
        case "AddOnPlacementScore":
            return world.put_score(obj)
        case "ManagedCluster":
            return world.put_cluster(msgspec.json.encode(obj))
        case "ManagedClusterSet":
            return world.put_set(obj)
        case "ManagedClusterSetBinding":
            return world.put_binding(obj)
        case "Placement":
            return world.put_placement(obj)
        case "PlacementDecision":
            return world.put_decision(obj)
        case _:
            return frozenset()


def settle(world: PlacementWorld, now: datetime) -> None:
    """Decide for every placement, as controllers would have done: for objects that come without decisions."""
    _work_off(world, dict.fromkeys(sorted(world.placements)), now)


def preview(world: PlacementWorld, changes: Iterable[Mapping[str, Any]], now: datetime) -> list[PlacementChange]:
    """The placements whose decisions would change, or that would be misconfigured, by name."""
    known = set(world.placements)
    before = {key: _decided(world, key) for key in known}
    woken: dict[Key, None] = {}
    for change in changes:
        for key in put(world, _merged(world, dict(change))):
            if isinstance(key, Key):
                woken[key] = None
    faults = _work_off(world, woken, now)
    found = []
    for key in sorted({*before, *world.placements}):
        old, new = set(before.get(key, ())), set(_decided(world, key))
        if old != new or key in faults or key not in known:
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
                )
            )
    return found


def _work_off(world: PlacementWorld, woken: dict[Key, None], now: datetime) -> dict[Key, str]:
    """Schedule the woken placements until nothing changes; what is wrong with those that cannot be."""
    faults: dict[Key, str] = {}
    for _ in range(_ROUNDS):
        again: dict[Key, None] = {}
        for key in woken:
            result = world.decide(key, now)
            if result is None:
                continue
            if result.fault is not None:
                faults[key] = str(result.fault)
            elif _settle(world, key, result):
                again[key] = None
        if not again:
            break
        woken = again
    return faults


def _merged(world: PlacementWorld, change: dict[str, Any]) -> dict[str, Any]:
    """A change of a cluster as apply would make it: what the file does not speak of stays, status above all."""
    if change["kind"] != "ManagedCluster":
        return change
    row = world.fleet.row(change["metadata"]["name"])
    if row is None:
        return change
    present = world.fleet.load(row)
    return {
        **present,
        **change,
        "metadata": {**present["metadata"], **change["metadata"]},
        "spec": {**present.get("spec", {}), **change.get("spec", {})},
        "status": change.get("status", present.get("status", {})),
    }


def _decided(world: PlacementWorld, key: Key) -> list[str]:
    return [name for page in world.pages(key) for name in page.clusters]


def _settle(world: PlacementWorld, key: Key, result: ScheduleResult) -> bool:
    """Put the decided pages where the controller would; whether that changed anything."""
    wanted = {page.name: page.clusters for page in result.pages()}
    present = {page.obj["metadata"]["name"]: page.clusters for page in world.pages(key)}
    for name in present.keys() - wanted.keys():
        world.remove_decision({"metadata": {"namespace": key.namespace, "name": name}})
    for name, clusters in wanted.items():
        world.put_decision(
            {
                "metadata": {"namespace": key.namespace, "name": name, "labels": {PLACEMENT_LABEL: key.name}},
                "status": {"decisions": [{"clusterName": cluster} for cluster in clusters]},
            }
        )
    return wanted != present
