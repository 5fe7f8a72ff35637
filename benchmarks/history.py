"""What keeping a history costs beside decisions: changes that wake nobody, changes that move nothing, and moves.

`MUSTER_HISTORY_CLUSTERS` are the sizes of the fleet (10,10000,100000), with 100 placements each.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks._report import RUNS, heading, matrix
from benchmarks.fleet import clusters
from muster.api.parts import ObjectMeta
from muster.api.placement_decision import PlacementDecision
from muster.client import Client, Connection
from muster.client.heads import Place
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL, DecisionPage
from muster.controllers.placements.drafts import draft_of
from muster.controllers.placements.history import HistoryKeeper
from muster.controllers.placements.kept_pages import GROUP_INDEX, GROUP_NAME
from muster.controllers.placements.keys import Key
from muster.controllers.placements.moves import MoveReport
from muster.controllers.placements.preview import put, settle
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.runtime.events import EventRecorder
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.mirror import Stored

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from muster.controllers.placements.history import Draft
    from muster.placement import Page, ScheduleResult

SIZES = [int(size) for size in os.environ.get("MUSTER_HISTORY_CLUSTERS", "10,10000,100000").split(",")]
PLACEMENTS = 100
NOW = datetime(2026, 11, 1, tzinfo=UTC)
_TIMES = 300
Object = dict[str, Any]


def a_world(encoded: list[bytes]) -> PlacementWorld:
    """Placements that select most of the fleet, each with an expression of its own."""
    world = PlacementWorld()
    world.advance(NOW)
    selector = {"selectorType": "LabelSelector", "labelSelector": {}}
    put(world, {"kind": "ManagedClusterSet", "metadata": {"name": "global"}, "spec": {"clusterSelector": selector}})
    put(world, {"kind": "ManagedClusterSetBinding", "metadata": {"name": "global", "namespace": "apps"}})
    world.fleet.put_many(encoded)
    for number in range(PLACEMENTS):
        text = rf"""managedCluster.metadata.labels["version"].matches('^1\\.(28|29|3[0-2])\\.\\d*$|{number}')"""
        required = {"celSelector": {"celExpressions": [text]}}
        put(
            world,
            {
                "kind": "Placement",
                "metadata": {"name": f"p{number}", "namespace": "apps", "uid": "u", "generation": 1},
                "spec": {"predicates": [{"requiredClusterSelector": required}]},
            },
        )
    settle(world, NOW)
    return world


def changed(encoded: bytes, **labels: str) -> bytes:
    obj: Object = msgspec.json.decode(encoded)
    obj["metadata"]["labels"] |= labels
    obj["metadata"]["resourceVersion"] = "2"
    return msgspec.json.encode(obj)


def beaten(encoded: bytes) -> bytes:
    obj: Object = msgspec.json.decode(encoded)
    obj["metadata"]["resourceVersion"] = "2"
    obj["status"]["conditions"] = [{"type": "Beat", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}]
    return msgspec.json.encode(obj)


def write(world: PlacementWorld, key: Key, pages: Iterable[Page]) -> None:
    """Decisions as the controller writes them: their labels say which pages may stay as they are."""
    written = []
    for page in pages:
        labels = {PLACEMENT_LABEL: key.name, GROUP_NAME: page.group_name, GROUP_INDEX: str(page.group_index)}
        obj = PlacementDecision(ObjectMeta(page.name, key.namespace, labels=labels))
        written.append(DecisionPage(Stored(obj, b"", Place(key.namespace, page.name)), key, page.clusters))
    world.decisions.replace(key, written)


def microseconds(work: Callable[[int], object], times: int) -> float:
    """Of CPU time, the median."""
    spent = []
    for number in range(times):
        started = time.process_time()
        work(number)
        spent.append(time.process_time() - started)
    return statistics.median(spent) * 1e6


async def measure(encoded: list[bytes]) -> dict[str, float]:
    """One run, in a world of its own."""
    world = a_world(encoded)
    times = min(_TIMES, len(encoded))
    beats = [beaten(each) for each in encoded[:times]]
    moves = [changed(each, version="1.99.0" if number % 2 else "1.30.1") for number, each in enumerate(encoded[:times])]
    back = encoded[:times]
    names = [msgspec.json.decode(each)["metadata"]["name"] for each in back]

    def rows() -> list[float]:
        heartbeat = microseconds(lambda number: world.put_cluster(names[number], beats[number]), times)
        waking = microseconds(lambda number: world.put_cluster(names[number], moves[number]), times)
        microseconds(lambda number: world.put_cluster(names[number], back[number]), times)
        return [heartbeat, waking]

    rows()
    without = rows()
    async with Client(Connection("http://127.0.0.1:1")) as client:
        events = EventRecorder(client, "bench", lambda: NOW)
        keeper = HistoryKeeper(world, client, events, lambda: NOW, ControllerMetrics(), lambda: False)
        keeper.start()
        with_history = rows()
        key = Key("apps", "p1")
        result = world.decide(key, NOW)
        assert result is not None
        selected = result.selected
        write(world, key, draft_of(result, world.decisions.known(key)).pages)

        def drafted(decided: ScheduleResult) -> Draft | None:
            pages = draft_of(decided, world.decisions.known(key))
            return keeper.draft(key, world.placements[key], decided, pages)

        keeper.keep(key, drafted(result))
        known = world.decisions.known(key)
        same = draft_of(result, known)
        assert not same.gained
        assert not same.lost
        decide = microseconds(lambda _: world.decide(key, NOW), 20)
        pages = microseconds(lambda _: draft_of(result, known), 20)
        draft = microseconds(lambda _: keeper.draft(key, world.placements[key], result, same), 50)
        row = world.fleet.row(selected[0])
        assert row is not None
        world.put_cluster(selected[0], changed(world.fleet.encoded([row])[0], version="9.9.9"))
        moved = world.decide(key, NOW)
        assert moved is not None
        taken = drafted(moved)
        assert taken is not None
        assert taken.move is not None
        move = taken.move

        def write_up(_: int) -> object:
            report = MoveReport(move)
            return report.entry(*report.causes(""), list(report.flips()))

        entry = microseconds(write_up, 20)
    return {
        "heartbeat": without[0],
        "… with history": with_history[0],
        "a label that wakes every placement": without[1],
        "the same with history": with_history[1],
        "one decision": decide,
        "its pages, if nothing moved": pages,
        "its draft for the history then": draft,
        "causes and reasons of a move, behind decisions": entry,
    }


def main() -> None:
    heading(
        "make bench AREA=history", f"{PLACEMENTS} placements; microseconds of CPU, each run with a fleet of its own."
    )
    runs: list[dict[str, dict[str, float]]] = [{} for _ in range(RUNS)]
    for size in SIZES:
        encoded = list(clusters(size))
        for run in runs:
            run[f"{size:,}"] = asyncio.run(measure(encoded))
    matrix(runs, {}, "clusters")


if __name__ == "__main__":
    main()
