"""Which placements and sets changes of objects concern, found without changing anything: of a live world, that decides.

Plans ask, to fork as little of the world as they need. What a change wakes in the fork is among these.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import TYPE_CHECKING, TypeAlias

from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.preview import following, made_again, place_of
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from datetime import datetime

    from muster.controllers.placements.world import PlacementWorld

Found: TypeAlias = Generator[bool, None, set[Key | SetKey]]
"""Pauses wherever it yields."""


def concerned(
    world: PlacementWorld, changes: Iterable[JsonObject], deleted: Iterable[JsonObject], now: datetime
) -> Found:
    """Those that have to be looked at when objects are as they would be, and when others follow from that."""
    found: set[Key | SetKey] = set()
    for obj in changes:
        for each in (obj, *following(obj, now)):
            yield from _by(world, each, found, gone=False)
    gone = list(deleted)
    for obj in gone:
        yield from _by(world, obj, found, gone=True)
    for obj in made_again(gone):
        yield from _by(world, obj, found, gone=False)
    return found


def _by(world: PlacementWorld, obj: JsonObject, found: set[Key | SetKey], *, gone: bool) -> Iterator[bool]:
    place = place_of(obj)
    match obj["kind"]:
        case "Placement":
            found.add(Key(*place))
        case "PlacementDecision":
            labels = obj["metadata"].get("labels")
            found.add(Key(place.namespace, str(labels.get(PLACEMENT_LABEL)) if isinstance(labels, dict) else ""))
        case "ManagedClusterSet":
            found.add(SetKey(place.name))
            for namespace, bindings in world.bindings.items():
                if place.name in bindings:
                    found |= world.plans.choosing(namespace, place.name)
        case "ManagedClusterSetBinding":
            found |= world.plans.choosing(*place)
        case "AddOnPlacementScore":
            found.update(key for key in world.fleet.score_readers(place.name) if isinstance(key, Key | SetKey))
        case "ManagedCluster":
            for key in world.fleet.concerned(place.name, None if gone else obj):
                if isinstance(key, Key | SetKey):
                    found.add(key)
                elif key is None:
                    yield False
    yield False
