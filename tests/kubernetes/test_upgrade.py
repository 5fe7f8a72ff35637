"""From an older version's objects to this one's, and away again: whatever users wrote is there, and decided as before.

`older/` has what the first version with manifests installed (commit e8d4c8e): fewer kinds, no policies, no webhooks. It
stays as it is; a release puts its own beside it.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
import yaml

from muster.client import Client, load_connection
from muster.kubernetes.installing.applying import carry_out
from muster.kubernetes.installing.cluster import Cluster
from muster.kubernetes.installing.plan import Options, planned
from muster.kubernetes.manifests import objects
from muster.kubernetes.settings import DEFAULTS, HomeSettings
from tests.kubernetes.calling import CLUSTERS, GROUP, SETS, Caller, a_binding, a_cluster, a_set, bindings
from tests.kubernetes.installing import eventually
from tests.kubernetes.pods import installed, muster

if TYPE_CHECKING:
    from muster.values.json import JsonObject
    from tests.kubernetes.server import Server

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
OLDER: Final = Path(__file__).parent / "older"
PLACEMENTS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placements"
DECISIONS: Final = f"/apis/{GROUP}/v1beta1/namespaces/default/placementdecisions"
SCORES: Final = f"/apis/{GROUP}/v1alpha1/namespaces/default/addonplacementscores"
RESOLUTIONS: Final = "/apis/resolution.muster.dev/v1alpha1/namespaces/default/resolutions"
CLASSIFICATIONS: Final = "/apis/agent-install.openshift.io/v1beta1/namespaces/default/agentclassifications"
WRITTEN: Final = (CLUSTERS, SETS, bindings("default"), PLACEMENTS, SCORES, RESOLUTIONS, CLASSIFICATIONS)


def older() -> list[JsonObject]:
    files = (OLDER / "kinds.yaml", OLDER / "home.yaml")
    found = [each for file in files for each in yaml.safe_load_all(file.read_text()) if each]
    return sorted(found, key=lambda each: each["kind"] != "Namespace")  # the inventory is in the namespace


def install_older(server: Server) -> None:
    """As its own `muster kubernetes install` did."""

    async def work() -> None:
        async with Client(await load_connection(None, str(server.kubeconfig))) as client:
            cluster = Cluster(client, await client.discover())
            settings = HomeSettings(webhooks=False, policies=False)
            plan = await planned(cluster, older(), None, Options())
            assert not plan.blocked, plan.blocked
            await carry_out(cluster, plan, settings, None, Options(), lambda _: None)

    asyncio.run(work())


def write(admin: Caller) -> None:
    """Something of every kind that users write."""

    def posted(path: str, version: str, kind: str, name: str, **rest: Any) -> None:
        admin.ok("POST", path, {"apiVersion": version, "kind": kind, "metadata": {"name": name}, **rest})

    for name in ("default", "prod"):
        admin.ok("POST", SETS, a_set(name))
    admin.ok("POST", SETS, a_set("apac", exclusiveKey="region"))
    admin.ok("POST", bindings("default"), a_binding("prod"))
    for number in range(7):
        labels = {f"{GROUP}/clusterset": "prod", "number": str(number)}
        admin.ok("POST", CLUSTERS, a_cluster(f"c{number}", labels, hubAcceptsClient=True))
    unreachable = {"key": f"{GROUP}/unreachable", "operator": "Exists"}
    spec = {"numberOfClusters": 3, "tolerations": [unreachable]}
    posted(PLACEMENTS, f"{GROUP}/v1beta1", "Placement", "three", spec=spec)
    posted(SCORES, f"{GROUP}/v1alpha1", "AddOnPlacementScore", "cost")
    wants = {"wants": [{"package": "a"}], "catalogs": [{"name": "x"}]}
    posted(RESOLUTIONS, "resolution.muster.dev/v1alpha1", "Resolution", "r", spec=wants)
    query = {"labelKey": "size", "labelValue": "big", "query": ".cpu.count > 8"}
    posted(CLASSIFICATIONS, "agent-install.openshift.io/v1beta1", "AgentClassification", "big", spec=query)


def kept(admin: Caller) -> dict[str, Any]:
    """What users wrote, and that it is still the same object. Built-in sets and taints are the controllers'."""
    found = {}
    for path in WRITTEN:
        for each in admin.ok("GET", path)["items"]:
            spec = {name: value for name, value in each.get("spec", {}).items() if name != "taints"}
            if each["metadata"]["name"] != "global":
                found[each["metadata"]["uid"]] = (path, each["metadata"]["name"], each["metadata"].get("labels"), spec)
    return found


def decided(admin: Caller) -> list[str]:
    pages = admin.ok("GET", DECISIONS)["items"]
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", ()))


def test_nothing_is_lost_by_an_upgrade_nor_by_leaving(server: Server) -> None:
    install_older(server)
    admin = Caller(server.kubeconfig)
    write(admin)
    before = kept(admin)
    assert len(before) == 3 + 1 + 7 + 4
    # A decision of the older version, which the new one has to go on from.
    page = {"metadata": {"name": "three-decision-1", "labels": {f"{GROUP}/placement": "three"}}}
    admin.ok("POST", DECISIONS, {"apiVersion": f"{GROUP}/v1beta1", "kind": "PlacementDecision", **page})
    chosen = [{"clusterName": f"c{number}", "reason": ""} for number in (4, 5, 6)]
    admin.ok("PATCH", f"{DECISIONS}/three-decision-1/status", {"status": {"decisions": chosen}})

    plan = muster(server, "kubernetes", "upgrade", "--dry-run", "--set", "webhooks=true", "--set", "policies=true")
    assert "+ CustomResourceDefinition placementguardrecords.placement.muster.dev" in plan
    assert kept(admin) == before
    muster(server, "kubernetes", "upgrade", "--yes", "--set", "webhooks=true", "--set", "policies=true")
    assert kept(admin) == before
    again = muster(server, "kubernetes", "upgrade", "--yes")
    assert "nothing had to be changed" in again
    with installed(server, pods=2) as home:
        path = f"{PLACEMENTS}/three"
        eventually(lambda: admin.ok("GET", path).get("status", {}).get("numberOfSelectedClusters") == 3, "it decides")
        assert decided(admin) == ["c4", "c5", "c6"], "what was decided and is right stays"
        assert kept(admin) == before
        told = muster(server, "kubernetes", "check")
        for words in ("objects: all there", "Pods: 2 available", "webhooks: 3 answered"):
            assert words in told, told
        for each in home.pods:
            assert not each.says("orbidden"), [line for line in each.log if "orbidden" in line]
            assert not each.says("internal error")
    muster(server, "kubernetes", "uninstall", "--yes")
    assert kept(admin) == before
    assert decided(admin) == ["c4", "c5", "c6"]
    muster(server, "kubernetes", "install", "--yes")
    assert kept(admin) == before
    admin.close()


def test_the_older_objects_are_older() -> None:
    """Else the upgrade would have nothing to do."""
    names = {(each["kind"], each["metadata"]["name"]) for each in older()}
    assert names < {(each["kind"], each["metadata"]["name"]) for each in objects(DEFAULTS)}
