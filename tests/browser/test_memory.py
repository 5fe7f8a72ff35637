"""A window that watches a busy fleet does not grow: two minutes, ten with `LONG=1`."""

from __future__ import annotations

import os
import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.kube import label

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page

SECONDS: Final = 600 if os.environ.get("LONG") else 120
BUSY: Final = ("dev-eastus-00047", "prod-eu-west-1-00020", "dev-ams-dc2-00038", "prod-eastus-00010")
MEGABYTE: Final = 2**20


@pytest.mark.timeout(SECONDS + 480)
def test_memory_does_not_grow_while_the_fleet_is_busy(
    open_at: Callable[[str], Page], page: Page, kubeconfig: Path
) -> None:
    open_at("/fleet")
    expect(page.get_by_role("grid", name="Clusters")).to_be_visible()
    inside = page.context.new_cdp_session(page)
    inside.send("Performance.enable")
    until = time.monotonic() + SECONDS

    def busy() -> int:
        number = 0
        while time.monotonic() < until:
            label(kubeconfig, BUSY[number % len(BUSY)], wave=str(number))
            number += 1
            time.sleep(0.1)
        return number

    heaps: list[float] = []
    nodes: list[float] = []
    with ThreadPoolExecutor(1) as beside:
        changing = beside.submit(busy)
        while time.monotonic() < until:
            page.wait_for_timeout(5000)
            inside.send("HeapProfiler.collectGarbage")
            found = {each["name"]: each["value"] for each in inside.send("Performance.getMetrics")["metrics"]}
            heaps.append(found["JSHeapUsedSize"])
            nodes.append(found["Nodes"])
        changes = changing.result()
    third = len(heaps) // 3
    early, late = statistics.median(heaps[third : 2 * third]), statistics.median(heaps[-third:])
    heap = f"heap {early / MEGABYTE:.2f} MiB, then {late / MEGABYTE:.2f} MiB"
    print(f"{changes} changes in {SECONDS} s: {heap}; nodes {nodes[third]:.0f}, then {nodes[-1]:.0f}")
    assert changes > SECONDS
    assert late - early < max(0.05 * early, 0.5 * MEGABYTE), heaps
    assert nodes[-1] < nodes[third] * 1.3, nodes
    for name in BUSY:
        label(kubeconfig, name, wave=None)
