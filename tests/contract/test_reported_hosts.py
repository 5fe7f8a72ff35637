"""Hosts that metal3 and NFD report are labelled where they are, on any server that has their kinds."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.errors import ApiError
from tests.contract.test_controllers import MERGE, eventually, running
from tests.importing.test_hosts import CLASSIFICATION, FEATURES, HARDWARE

if TYPE_CHECKING:
    from muster.client import Client
    from tests.contract.conftest import Home

pytestmark = pytest.mark.e2e
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
LABEL = "inventoryclassification.agent-install.openshift.io/size"
KINDS = (("metal3.io", "hardwaredata", "HardwareData"), ("nfd.k8s-sigs.io", "nodefeatures", "NodeFeature"))


def a_definition(group: str, plural: str, kind: str) -> dict[str, Any]:
    """As much of the kind as a server has to know."""
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    version = {"name": "v1alpha1", "served": True, "storage": True, "schema": {"openAPIV3Schema": anything}}
    names = {"plural": plural, "singular": kind.lower(), "kind": kind, "listKind": f"{kind}List"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [version]},
    }


async def define(client: Client) -> None:
    for group, plural, kind in KINDS:
        await client.request("POST", DEFINITIONS, body=a_definition(group, plural, kind))

        async def is_served(path: str = f"/apis/{group}/v1alpha1/{plural}") -> bool:
            try:
                return bool(await client.request("GET", path))
            except ApiError:
                return False

        await eventually(is_served, True)


def moved(obj: dict[str, Any], namespace: str) -> dict[str, Any]:
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


def test_they_carry_the_labels_that_classifications_give_them(home: Home) -> None:
    name = f"{home.prefix}-h"
    ours = f"/apis/agent-install.openshift.io/v1beta1/namespaces/{name}/agentclassifications"
    hardware = f"/apis/metal3.io/v1alpha1/namespaces/{name}/hardwaredata"
    features = f"/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/{name}/nodefeatures"

    async def story() -> None:
        async with home.client() as client:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            await client.request("POST", "/api/v1/namespaces", body=body)
            try:
                await define(client)
                await client.request("POST", hardware, body=moved(HARDWARE, name))
                await client.request("POST", ours, body=moved(CLASSIFICATION, name))
                async with running(home):
                    await _told(client)
            finally:
                for path in (f"/api/v1/namespaces/{name}", *(f"{DEFINITIONS}/{each[1]}.{each[0]}" for each in KINDS)):
                    await client.request("DELETE", path)

    async def _told(client: Client) -> None:
        async def label(path: str) -> str | None:
            found = (await client.request("GET", path)).json()["metadata"].get("labels") or {}
            return str(found[LABEL]) if LABEL in found else None

        async def counts() -> tuple[int, int]:
            status = (await client.request("GET", f"{ours}/large")).json().get("status", {})
            return status.get("matchedCount", -1), status.get("errorCount", -1)

        await eventually(lambda: label(f"{hardware}/host-1"), "large")
        await client.request("POST", features, body=moved(FEATURES, name))
        gpus = {"spec": {"query": '(.cpu.count // 0) >= 32 or any(.gpus[]?; .vendorID == "10de")'}}
        await client.request("PATCH", f"{ours}/large", body=gpus, content_type=MERGE)
        await eventually(lambda: label(f"{features}/worker-7"), "large")
        await eventually(counts, (2, 0))
        assert (await client.request("GET", f"{hardware}/host-1")).json()["spec"] == HARDWARE["spec"]
        less = {"spec": {"hardware": {"cpu": {"count": 8}}}}
        await client.request("PATCH", f"{hardware}/host-1", body=less, content_type=MERGE)
        await eventually(lambda: label(f"{hardware}/host-1"), None)
        await eventually(counts, (1, 0))
        await client.request("DELETE", f"{ours}/large")
        await eventually(lambda: label(f"{features}/worker-7"), None)

    asyncio.run(story())
