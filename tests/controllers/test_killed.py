"""kill -9 of either process at random moments while the fleet changes: nothing decided is lost, the end is the same.

`MUSTER_KILLS` sets the number of kills (100 by `make faults`); a few are part of every test run.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.processes import MERGE, PATIENCE, HubClient, HubProcess, hub_process
from tests.controllers.running import APPS, CLUSTERS, GROUP, available

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200)]
KILLS = int(os.environ.get("MUSTER_KILLS", "6"))
NAMES = [f"c{number:03d}" for number in range(130)]
PINNED = NAMES[-20:]  # these are never changed, and selected all the time
COLOURS = ("red", "blue")


async def _build(client: HubClient) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await client.send("POST", "/api/v1/namespaces", namespace)
    await client.send("POST", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
    for name in NAMES:
        colour = "pinned" if name in PINNED else "red"
        cluster = a_cluster(name, {"colour": colour})
        await client.send("POST", CLUSTERS, cluster)
        await client.send("PATCH", f"{CLUSTERS}/{name}/status", {"status": available(cluster)}, MERGE)
    for colour in COLOURS:
        wanted = [f"managedCluster.metadata.labels.colour in ['{colour}', 'pinned']"]
        predicates = [{"requiredClusterSelector": {"celSelector": {"celExpressions": wanted}}}]
        await client.send("POST", f"{APPS}/placements", a_placement(colour, predicates=predicates))


def _decided(pages: list[Any], colour: str) -> list[str]:
    label = "cluster.open-cluster-management.io/placement"
    return sorted(
        decision["clusterName"]
        for page in pages
        if page["metadata"]["labels"][label] == colour
        for decision in page.get("status", {}).get("decisions", [])
    )


async def _settled(client: HubClient, expected: dict[str, list[str]]) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        pages = (await client.send("GET", f"{APPS}/placementdecisions")).get("items", [])
        found = {colour: _decided(pages, colour) for colour in COLOURS}
        if found == expected:
            return
        assert time.monotonic() < deadline, {key: (len(found[key]), len(expected[key])) for key in found}
        await asyncio.sleep(0.1)


async def _disturb(hub: HubProcess, order: random.Random, kills: int) -> None:
    while kills:
        await asyncio.sleep(order.uniform(0.1, 1.5))
        kills -= hub.kill(order.choice(("serve", "controllers")))


async def _paint(client: HubClient, order: random.Random, colours: dict[str, str], stop: asyncio.Event) -> None:
    free = [name for name in NAMES if name not in PINNED]
    while not stop.is_set():
        for name in order.sample(free, 5):
            colours[name] = order.choice(COLOURS)
            patch = {"metadata": {"labels": {"colour": colours[name]}}}
            await client.send("PATCH", f"{CLUSTERS}/{name}", patch, MERGE)
        await asyncio.sleep(0.02)


async def _look(client: HubClient, stop: asyncio.Event, missing: list[set[str]]) -> None:
    """Clusters that are always selected must be in a decision whenever anybody looks."""
    while not stop.is_set():
        pages = (await client.send("GET", f"{APPS}/placementdecisions")).get("items", [])
        missing.extend(set(PINNED) - set(_decided(pages, colour)) for colour in COLOURS)
        await asyncio.sleep(0.05)


async def _story(hub: HubProcess, seed: int) -> None:
    order = random.Random(seed)
    async with hub.client() as client:
        await _build(client)
        colours = dict.fromkeys(NAMES, "red") | dict.fromkeys(PINNED, "pinned")
        await _settled(client, {"red": NAMES, "blue": PINNED})
        stop, missing = asyncio.Event(), list[set[str]]()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_paint(client, order, colours, stop))
            tasks.create_task(_look(client, stop, missing))
            await _disturb(hub, order, KILLS)
            stop.set()
        # What the labels say now is what an undisturbed run would have decided.
        await _settled(
            client, {each: [name for name in NAMES if colours[name] in (each, "pinned")] for each in COLOURS}
        )
    assert missing
    assert not any(missing)


def test_no_decision_is_lost_when_processes_are_killed(tmp_path: Path) -> None:
    with hub_process(tmp_path) as hub:
        asyncio.run(_story(hub, seed=7))
        assert hub.process.poll() is None
