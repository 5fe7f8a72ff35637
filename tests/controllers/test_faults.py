"""The controllers behind a bad network: the end is that of an undisturbed run, and nothing is lost on the way."""

from __future__ import annotations

import json
import random
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.faulty import Faults, faulty
from tests.controllers.running import APPS, CLUSTERS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
NAMES = [f"c{number:03d}" for number in range(120)]
STAYING = NAMES[-30:]


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        predicates = [
            {
                "requiredClusterSelector": {
                    "labelSelector": {"matchExpressions": [{"key": "out", "operator": "DoesNotExist"}]}
                }
            }
        ]
        driver.create(a_binding("global"), *(a_cluster(name) for name in NAMES))
        driver.create(a_placement("p1", predicates=predicates))
        yield driver


def disturbed(hub: Driver, faults: Faults) -> list[set[str]]:
    """Change labels while the faults strike; what was missing of those that stay, after every event."""
    order = random.Random(3)
    out: set[str] = set()
    missing: list[set[str]] = []
    quiet = replace(faults, refuse=0, lose=0, conflict=0, dawdle=0, cut=0, forget=0)
    with faulty(hub.hub.url, quiet) as url, controllers(replace(hub.hub, url=url)):
        eventually(hub.decided, NAMES)
        page_list = hub.get(f"{APPS}/placementdecisions")
        pages = {each["metadata"]["name"]: _clusters(each) for each in page_list["items"]}
        ended = threading.Event()

        def watch() -> None:
            revision = page_list["metadata"]["resourceVersion"]
            while not ended.is_set():
                path = f"{APPS}/placementdecisions?watch=true&resourceVersion={revision}&timeoutSeconds=1"
                for line in hub.hub.request("GET", path)[2].splitlines():
                    event = json.loads(line)
                    revision = event["object"]["metadata"]["resourceVersion"]
                    if event["type"] == "BOOKMARK":
                        continue
                    gone = event["type"] == "DELETED"
                    pages[event["object"]["metadata"]["name"]] = set() if gone else _clusters(event["object"])
                    missing.append(set(STAYING) - set().union(*pages.values()))

        watcher = threading.Thread(target=watch)
        watcher.start()
        wanted = {name for name in ("refuse", "lose", "conflict", "dawdle", "cut", "forget") if getattr(faults, name)}
        for name in wanted:
            setattr(quiet, name, getattr(faults, name))
        for number in range(3000):
            if number >= 60 and set(quiet.counts) == wanted:
                break  # every fault has struck; a watch that was cut comes again a little later
            name = order.choice(NAMES[:90])
            out ^= {name}
            hub.patch(f"{CLUSTERS}/{name}", {"metadata": {"labels": {"out": "yes" if name in out else None}}})
        quiet.stop()
        try:
            eventually(hub.decided, [name for name in NAMES if name not in out])
            eventually(
                lambda: hub.get(f"{APPS}/placements/p1")["status"]["numberOfSelectedClusters"], len(NAMES) - len(out)
            )
        finally:
            ended.set()
            watcher.join()
        assert set(quiet.counts) == wanted
    return missing


def _clusters(page: dict[str, Any]) -> set[str]:
    return {each["clusterName"] for each in page.get("status", {}).get("decisions", [])}


@pytest.mark.parametrize(
    "faults",
    [
        pytest.param(Faults(refuse=0.3), id="a server that refuses"),
        pytest.param(Faults(lose=0.3), id="answers that are lost"),
        pytest.param(Faults(conflict=0.3, dawdle=0.2), id="conflicts and slow answers"),
        pytest.param(Faults(cut=0.3, forget=0.6), id="watches that are cut and history that is gone"),
    ],
)
def test_faults_delay_decisions_and_lose_none(hub: Driver, faults: Faults) -> None:
    missing = disturbed(hub, faults)
    assert missing
    assert not any(missing)
