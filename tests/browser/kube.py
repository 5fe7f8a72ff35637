"""Reads and writes objects beside the browser, as somebody else would."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from muster.client import Client, load_connection
from muster.client.client import MERGE

if TYPE_CHECKING:
    from pathlib import Path

    from muster.values.json import Json, JsonObject

PLACEMENTS: Final = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/apps/placements"
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


def label(kubeconfig: Path, cluster: str, **labels: str | None) -> None:
    send(kubeconfig, "PATCH", f"{CLUSTERS}/{cluster}", {"metadata": {"labels": labels}})
