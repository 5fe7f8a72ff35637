"""Reads and writes objects beside the browser, as somebody else would."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import yaml

from muster.client import Client, load_connection
from muster.client.client import MERGE

if TYPE_CHECKING:
    from pathlib import Path

    from muster.values.json import Json, JsonObject

PLACEMENTS: Final = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/apps/placements"
PLACEMENT: Final = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement"}
CLUSTERS: Final = "/apis/cluster.open-cluster-management.io/v1/managedclusters"


def send(kubeconfig: Path, method: str, path: str, body: Json = None) -> JsonObject:
    async def sent() -> JsonObject:
        async with Client(await load_connection(None, str(kubeconfig))) as client:
            kind = MERGE if method == "PATCH" else "application/json"
            found: JsonObject = (await client.request(method, path, body=body, content_type=kind)).json()
            return found

    # The browser's own event loop runs in this thread.
    with ThreadPoolExecutor(1) as beside:
        return beside.submit(asyncio.run, sent()).result()


def kubeconfig_of(kubeconfig: Path, account: str, file: Path) -> Path:
    """The kubeconfig of a new service account in apps, who may do nothing yet."""
    accounts = "/api/v1/namespaces/apps/serviceaccounts"
    send(kubeconfig, "POST", accounts, {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": account}})
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token = str(send(kubeconfig, "POST", f"{accounts}/{account}/token", body)["status"]["token"])
    config = yaml.safe_load(kubeconfig.read_text())
    config["users"][0]["user"] = {"token": token}
    file.write_text(yaml.safe_dump(config))
    return file


def label(kubeconfig: Path, cluster: str, **labels: str | None) -> None:
    send(kubeconfig, "PATCH", f"{CLUSTERS}/{cluster}", {"metadata": {"labels": labels}})
