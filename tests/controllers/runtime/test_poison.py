"""Objects whose evaluation kills or hangs the controllers' process: each is set aside, everything else goes on."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.processes import MERGE, PATIENCE, HubClient, HubProcess, hub_process
from tests.controllers.running import APPS, CLUSTERS, GROUP, SETS, available

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]
HOSTS = "/apis/agent-install.openshift.io/v1beta1/namespaces/apps"
QUARANTINE = "/api/v1/namespaces/kube-system/configmaps/muster-quarantine"
CLUSTER_NAMES = ["c1", "c2", "c3"]
OPTIONS = ("--controllers-patience", "3", "--controllers-memory", "500")


def cel(*expressions: str) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": {"celSelector": {"celExpressions": list(expressions)}}}]


def fleet_placement(name: str, expression: str = "true", **spec: Any) -> dict[str, Any]:
    return a_placement(name, predicates=cel(expression), **spec)


async def until(question: Callable[[], Awaitable[Any]], hub: HubProcess, seconds: float = PATIENCE) -> Any:
    deadline = time.monotonic() + seconds
    while not (answer := await question()):
        assert time.monotonic() < deadline, hub.log[-5000:]
        await asyncio.sleep(0.1)
    return answer


async def condition(client: HubClient, path: str, kind: str = "Quarantined") -> dict[str, Any] | None:
    conditions = ((await client.send("GET", path)).get("status") or {}).get("conditions") or []
    return next((each for each in conditions if each["type"] == kind), None)


async def decided(client: HubClient, placement: str) -> list[str]:
    label = f"cluster.open-cluster-management.io%2Fplacement%3D{placement}"
    pages = (await client.send("GET", f"{APPS}/placementdecisions?labelSelector={label}"))["items"]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", []))


async def build(client: HubClient) -> None:
    namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await client.send("POST", "/api/v1/namespaces", namespace)
    await client.send("POST", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("global"))
    for name in CLUSTER_NAMES:
        cluster = a_cluster(name, {"colour": "red"})
        await client.send("POST", CLUSTERS, cluster)
        await client.send("PATCH", f"{CLUSTERS}/{name}/status", {"status": available(cluster)}, MERGE)
    agent = {
        "apiVersion": "agent-install.openshift.io/v1beta1",
        "kind": "Agent",
        "metadata": {"name": "host", "namespace": "apps"},
        "spec": {"approved": True, "role": "worker", "clusterDeploymentName": {"name": "x", "namespace": "apps"}},
    }
    await client.send("POST", f"{HOSTS}/agents", agent)


def classification(name: str, query: str) -> dict[str, Any]:
    return {
        "apiVersion": "agent-install.openshift.io/v1beta1",
        "kind": "AgentClassification",
        "metadata": {"name": name, "namespace": "apps"},
        "spec": {"labelKey": name, "labelValue": "yes", "query": query},
    }


async def bystander_is_decided(client: HubClient, hub: HubProcess, name: str) -> None:
    await client.send("POST", f"{APPS}/placements", fleet_placement(name))
    await until(lambda: _equals(decided(client, name), CLUSTER_NAMES), hub)


async def _equals(found: Awaitable[Any], wanted: Any) -> bool:
    return bool(await found == wanted)


async def placement_story(client: HubClient, hub: HubProcess) -> None:
    """A placement that was good and becomes poison: its decisions stay, and a change brings it back."""
    path = f"{APPS}/placements/victim"
    red = "managedCluster.metadata.labels.colour == 'red'"
    await client.send("POST", f"{APPS}/placements", fleet_placement("victim", red))
    await until(lambda: _equals(decided(client, "victim"), CLUSTER_NAMES), hub)
    poison = cel("'poison' != managedCluster.metadata.name")
    await client.send("PATCH", path, {"spec": {"predicates": poison}}, MERGE)
    found = await until(lambda: condition(client, path), hub)
    assert found["status"] == "True"
    assert "Placement apps/victim" in found["message"]
    assert "kube-system/muster-quarantine" in found["message"]
    # One that has the same expression is not evaluated either, without another death.
    pid = hub.child("controllers")
    await client.send("POST", f"{APPS}/placements", a_placement("twin", predicates=poison))
    twin = await until(lambda: condition(client, f"{APPS}/placements/twin"), hub)
    assert twin["reason"] == "DependsOnQuarantined"
    await bystander_is_decided(client, hub, "beside-placement")
    assert hub.child("controllers") == pid
    assert await decided(client, "victim") == CLUSTER_NAMES
    events = (await client.send("GET", "/api/v1/namespaces/apps/events"))["items"]
    assert ("Warning", "victim") in {
        (each["type"], each["involvedObject"]["name"]) for each in events if each["reason"] == "Quarantined"
    }
    await client.send("DELETE", f"{APPS}/placements/twin")
    # A change is a new chance, and the entry goes.
    await client.send("PATCH", path, {"spec": {"predicates": cel("managedCluster.metadata.name == 'c2'")}}, MERGE)
    await until(lambda: _equals(decided(client, "victim"), ["c2"]), hub)
    await until(lambda: _equals(condition(client, path), None), hub)
    await until(lambda: _equals(entries(client), []), hub)


async def entries(client: HubClient) -> list[str]:
    return list(((await client.send("GET", QUARANTINE)).get("data") or {}).values())


async def classification_story(client: HubClient, hub: HubProcess) -> None:
    path = f"{HOSTS}/agentclassifications/bad"
    await client.send("POST", f"{HOSTS}/agentclassifications", classification("bad", '"poison" | true'))
    found = await until(lambda: condition(client, path), hub)
    assert "AgentClassification apps/bad" in found["message"]
    # Others label the same host.
    await client.send("POST", f"{HOSTS}/agentclassifications", classification("good", "true"))
    label = "inventoryclassification.agent-install.openshift.io/good"

    async def is_labelled() -> bool:
        host = await client.send("GET", f"{HOSTS}/agents/host")
        return bool((host["metadata"].get("labels") or {}).get(label) == "yes")

    await until(is_labelled, hub)
    await client.send("PATCH", path, {"spec": {"query": "true"}}, MERGE)
    await until(lambda: _equals(condition(client, path), None), hub)


async def set_story(client: HubClient, hub: HubProcess) -> None:
    """A placement that chooses from a poisonous set keeps its decisions; others do not notice."""
    path = f"{SETS}/odd"
    await client.send("POST", SETS, a_set("odd", {"colour": "red"}))
    await client.send("POST", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings", a_binding("odd"))
    await client.send("POST", f"{APPS}/placements", a_placement("chooser", clusterSets=["odd"]))
    await until(lambda: _equals(decided(client, "chooser"), CLUSTER_NAMES), hub)
    expressions = [{"key": "poison", "operator": "DoesNotExist"}]
    selector = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": expressions}}
    await client.send("PATCH", path, {"spec": {"clusterSelector": selector}}, MERGE)
    found = await until(lambda: condition(client, path), hub)
    assert "ManagedClusterSet odd" in found["message"]
    held = await until(lambda: condition(client, f"{APPS}/placements/chooser"), hub)
    assert held["reason"] == "DependsOnQuarantined"
    await client.send("POST", f"{APPS}/placements", fleet_placement("elsewhere", clusterSets=["global"]))
    await until(lambda: _equals(decided(client, "elsewhere"), CLUSTER_NAMES), hub)
    assert await decided(client, "chooser") == CLUSTER_NAMES
    selector = {"labelSelector": {"matchExpressions": None, "matchLabels": {"colour": "none"}}}
    await client.send("PATCH", path, {"spec": {"clusterSelector": selector}}, MERGE)
    await until(lambda: _equals(decided(client, "chooser"), []), hub)
    await until(lambda: _equals(condition(client, path), None), hub)


STORIES = {"placement": placement_story, "classification": classification_story, "set": set_story}


async def tell(hub: HubProcess, *stories: str) -> None:
    async with hub.client() as client:
        await build(client)
        for story in stories:
            await STORIES[story](client, hub)
        ready = await client.send("GET", "/api/v1/namespaces/apps")
        assert ready["kind"] == "Namespace"


@pytest.mark.parametrize("deed", ["abort", "exhaust"])
def test_what_ends_the_process_or_its_memory_is_set_aside(tmp_path: Path, deed: str) -> None:
    module = "tests.controllers.poisoned"
    with hub_process(tmp_path, *OPTIONS, module=module, MUSTER_POISON=deed) as hub:
        asyncio.run(tell(hub, *STORIES))


@pytest.mark.slow
@pytest.mark.parametrize("deed", ["hang", "sleep", "grow"])
def test_what_hangs_the_process_or_grows_is_set_aside(tmp_path: Path, deed: str) -> None:
    module = "tests.controllers.poisoned"
    with hub_process(tmp_path, *OPTIONS, module=module, MUSTER_POISON=deed) as hub:
        asyncio.run(tell(hub, *STORIES))
