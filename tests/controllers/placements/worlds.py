"""A world of given clusters and placements, and what tests ask of it."""

from __future__ import annotations

import json
from collections import deque
from datetime import UTC, datetime
from typing import Any

from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.keys import Key
from muster.controllers.placements.world import PlacementWorld
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.seeing import put, put_cluster

NOW = datetime(2026, 1, 1, tzinfo=UTC)
P1, P2 = Key("apps", "p1"), Key("apps", "p2")


def a_world(*clusters: str, **specs: Any) -> PlacementWorld:
    world = PlacementWorld()
    for name in clusters:
        put_cluster(world, json.dumps(a_cluster(name)).encode())
    put(world, a_set())
    put(world, a_binding())
    for name, spec in specs.items():
        put(world, stored(a_placement(name, **spec), 1))
        deque(world.steps(Key("apps", name)), maxlen=0)
    return world


def stored(obj: dict[str, Any], revision: int) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "uid": "u", "resourceVersion": str(revision)}}


def a_page(owner: str, revision: int, *clusters: str) -> dict[str, Any]:
    metadata = {"name": f"{owner}-decision-1", "namespace": "apps", "labels": {PLACEMENT_LABEL: owner}}
    status = {"decisions": [{"clusterName": name} for name in clusters]}
    return stored({"kind": "PlacementDecision", "metadata": metadata, "status": status}, revision)


def chosen(world: PlacementWorld, key: Key) -> list[str]:
    result = world.decide(key, NOW)
    assert result is not None
    return result.selected
