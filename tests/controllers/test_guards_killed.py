"""kill -9 of either process while labels change under a guard: no more goes than it allows without an approval.

`MUSTER_KILLS` sets the number of kills (100 by `make faults`); a few are part of every test run.
"""

from __future__ import annotations

import asyncio
import json
import os
import random
import time
from typing import TYPE_CHECKING, Any

import aiohttp
import pytest
import yaml

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.processes import MERGE, PATIENCE, HubClient, HubProcess, hub_process
from tests.controllers.running import APPS, CLUSTERS, GROUP, available

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(1200)]
KILLS = int(os.environ.get("MUSTER_KILLS", "6"))
NAMES = [f"c{number:02d}" for number in range(40)]
MOST = 5
PAGES = f"{APPS}/placementdecisions"
RECORD = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementguardrecords/p1"
PROD = [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}]


async def _build(client: HubClient) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await client.send("POST", "/api/v1/namespaces", namespace)
    await client.send("POST", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
    for name in NAMES:
        cluster = a_cluster(name, {"env": "prod"})
        await client.send("POST", CLUSTERS, cluster)
        await client.send("PATCH", f"{CLUSTERS}/{name}/status", {"status": available(cluster)}, MERGE)
    placement = a_placement(predicates=PROD)
    guard = {"placement.muster.dev/max-removals": str(MOST), "placement.muster.dev/removal-window": "1d"}
    placement["metadata"]["annotations"] = guard
    await client.send("POST", f"{APPS}/placements", placement)


async def _decided(client: HubClient) -> set[str]:
    pages = (await client.send("GET", PAGES)).get("items", [])
    return {each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", [])}


async def _until(client: HubClient, wanted: set[str], *, exactly: bool) -> None:
    deadline = time.monotonic() + PATIENCE
    while True:
        found = await _decided(client)
        if found == wanted if exactly else found >= wanted:
            return
        assert time.monotonic() < deadline, (sorted(wanted - found), sorted(found - wanted))
        await asyncio.sleep(0.1)


async def _paint(client: HubClient, order: random.Random, wanted: set[str], stop: asyncio.Event) -> None:
    while not stop.is_set():
        name = order.choice(NAMES)
        env = order.choice(("prod", "test"))
        (wanted.add if env == "prod" else wanted.discard)(name)
        await client.send("PATCH", f"{CLUSTERS}/{name}", {"metadata": {"labels": {"env": env}}}, MERGE)
        await asyncio.sleep(0.02)


async def _disturb(hub: HubProcess, client: HubClient, order: random.Random, kills: int) -> None:
    while kills:
        await client.send("GET", PAGES)  # on a busy machine a server is else killed before it has ever answered
        await asyncio.sleep(order.uniform(0.1, 1.5))
        kills -= hub.kill(order.choice(("serve", "controllers", "controllers")))


async def _removals(hub: HubProcess, since: str) -> list[str]:
    """Every cluster that has left the one page since a version, by all that the server has kept of it."""
    config = yaml.safe_load(hub.kubeconfig.read_text())
    url, token = config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"]
    gone: list[str] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=False)) as session:
        query = f"?watch=true&resourceVersion={since}&timeoutSeconds=3"
        async with session.get(url + PAGES + query, headers={"Authorization": f"Bearer {token}"}) as reply:
            text = await reply.text()
    before = set(NAMES)
    for line in text.splitlines():
        event = json.loads(line)
        assert event["type"] in ("ADDED", "MODIFIED"), event
        now = {each["clusterName"] for each in event["object"].get("status", {}).get("decisions", [])}
        gone += sorted(before - now)
        before = now
    return gone


async def _held(client: HubClient) -> dict[str, Any]:
    found: dict[str, Any] = (await client.send("GET", RECORD)).get("held") or {}
    return found


async def _story(hub: HubProcess, seed: int) -> None:
    order = random.Random(seed)
    wanted = set(NAMES)
    async with hub.client() as client:
        await _build(client)
        await _until(client, wanted, exactly=True)
        await asyncio.sleep(1)
        since = (await client.send("GET", PAGES))["metadata"]["resourceVersion"]
        stop = asyncio.Event()
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(_paint(client, order, wanted, stop))
            await _disturb(hub, client, order, KILLS)
            stop.set()
        # Additions are not held, and what went is what the guard allows.
        await _until(client, wanted, exactly=False)
        gone = await _removals(hub, since)
        assert len(gone) <= MOST, gone
        # What waits is approved while processes are killed: exactly that goes.
        held: dict[str, Any] = {}
        deadline = time.monotonic() + PATIENCE
        while set(held.get("clusters", [])) != (await _decided(client)) - wanted:
            assert time.monotonic() < deadline, held
            await asyncio.sleep(0.1)
            held = await _held(client)
        if held:
            approval = {"metadata": {"annotations": {"placement.muster.dev/approve-removals": held["digest"]}}}
            await client.send("PATCH", f"{APPS}/placements/p1", approval, MERGE)
            hub.kill("controllers")
        await _until(client, wanted, exactly=True)
        more = (await _removals(hub, since))[len(gone) :]
        assert sorted(more) == sorted(held.get("clusters", []))


def test_no_more_goes_than_the_guard_allows_when_processes_are_killed(tmp_path: Path) -> None:
    with hub_process(tmp_path) as hub:
        asyncio.run(_story(hub, seed=11))
        assert hub.process.poll() is None
