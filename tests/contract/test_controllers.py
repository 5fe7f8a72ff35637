"""What the controllers promise on any server: decisions follow the fleet, and a restart alone changes nothing."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Any

import pytest

from muster.controllers.manager import Manager, run_controllers
from muster.errors import ApiError
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.running import available

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from muster.client import Client
    from tests.contract.conftest import Home

pytestmark = pytest.mark.e2e
MERGE = "application/merge-patch+json"
GROUP = "/apis/cluster.open-cluster-management.io"


@contextlib.asynccontextmanager
async def running(home: Home) -> AsyncIterator[Manager]:
    found: asyncio.Future[Manager] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run_controllers(home.connection, found.set_result))
    try:
        async with asyncio.timeout(30):
            yield await found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def eventually(ask: Callable[[], Any], expected: Any) -> None:
    answer = None
    try:
        async with asyncio.timeout(20):
            while (answer := await ask()) != expected:  # noqa: ASYNC110 - asked, not told
                await asyncio.sleep(0.05)
    except TimeoutError:
        raise AssertionError(f"still {answer!r} instead of {expected!r}") from None


async def _build(client: Client, name: str) -> list[str]:
    """A namespace, a set of three clusters bound to it, and a placement for two of them; the paths to delete."""
    sets, clusters = f"{GROUP}/v1beta2/managedclustersets", f"{GROUP}/v1/managedclusters"
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    await client.request("POST", "/api/v1/namespaces", body=namespace)
    await client.request("POST", sets, body=a_set(name, {"contract": name}))
    bindings = f"{GROUP}/v1beta2/namespaces/{name}/managedclustersetbindings"
    await client.request("POST", bindings, body=a_binding(name, name))
    for letter in "abc":
        cluster = a_cluster(f"{name}-{letter}", {"contract": name})
        await client.request("POST", clusters, body=cluster)
        path = f"{clusters}/{name}-{letter}/status"
        await client.request("PATCH", path, body={"status": available(cluster)}, content_type=MERGE)
    placement = a_placement("p", name, numberOfClusters=2)
    await client.request("POST", f"{GROUP}/v1beta1/namespaces/{name}/placements", body=placement)
    return [f"/api/v1/namespaces/{name}", f"{sets}/{name}", *(f"{clusters}/{name}-{letter}" for letter in "abc")]


def test_decisions_follow_the_fleet_and_survive_a_restart(home: Home) -> None:
    async def story() -> None:
        async with home.client() as client:
            name = f"{home.prefix}-p"
            pages = f"{GROUP}/v1beta1/namespaces/{name}/placementdecisions"

            async def decided() -> list[str]:
                items = (await client.request("GET", pages)).json()["items"]
                return [
                    each["clusterName"].removeprefix(f"{name}-")
                    for page in items
                    for each in page.get("status", {}).get("decisions", [])
                ]

            async def revisions() -> list[str]:
                items = (await client.request("GET", pages)).json()["items"]
                return [page["metadata"]["resourceVersion"] for page in items]

            made = await _build(client, name)
            try:
                async with running(home) as manager:
                    await eventually(decided, ["a", "b"])
                    while not manager.placements.queue.idle:  # noqa: ASYNC110 - until the page is finished, too
                        await asyncio.sleep(0.05)
                before = await revisions()
                async with running(home) as manager:
                    await asyncio.sleep(0.3)
                    assert manager.placements.queue.idle
                    assert await revisions() == before
                    taint = {"spec": {"taints": [{"key": "broken", "effect": "NoSelect"}]}}
                    await client.request("PATCH", made[2], body=taint, content_type=MERGE)
                    await eventually(decided, ["b", "c"])
            finally:
                for path in made:
                    with contextlib.suppress(ApiError):
                        await client.request("DELETE", path)

    asyncio.run(story())
