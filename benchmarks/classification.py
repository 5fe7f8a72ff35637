"""Classifying hosts: the first pass over many agents, one changed agent, and a heartbeat that changes nothing read.

The agents are the demo's; every one of them is different. Times are of computing alone, as the controllers do it.
"""

from __future__ import annotations

import os
import time
from typing import Any

import msgspec

from muster.classification import Roster, inventory_of, read_classification
from muster.demo.hosts import an_agent

AGENTS = int(os.environ.get("CLASSIFY_AGENTS", "10000"))
GIB = 1024**3
QUERIES = (
    ".cpu.count == 2 and .memory.physicalBytes >= 4294967296 and .memory.physicalBytes < 8589934592",
    "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 5",
    ".cpu.count >= 8 and .cpu.count < 32",
    ".cpu.count >= 32",
    f".memory.physicalBytes >= {512 * GIB}",
    f".memory.physicalBytes < {16 * GIB}",
    '.cpu.architecture == "x86_64"',
    '.cpu.flags | index("avx512f") != null',
    '[.cpu.flags[]? | select(. == "avx512f")] | length > 0',
    ".systemVendor.virtual",
    '.systemVendor.manufacturer == "HPE"',
    '.systemVendor.productName | test("^PowerEdge")',
    '.boot.currentBootMode == "uefi"',
    'any(.disks[]; .driveType == "SSD")',
    'all(.disks[]; .driveType == "SSD")',
    "([.disks[].sizeBytes] | add) > 4000000000000",
    "[.interfaces[] | select(.speedMbps >= 10000)] | length >= 2",
    '[.interfaces[] | select(.name == "ens0f0") | .hasCarrier] | any',
    "(.disks | length) == (.interfaces | length)",
    '.hostname | startswith("host-00")',
)


def main() -> None:
    agents = [an_agent(7, index) for index in range(AGENTS)]
    encoded = [(agent["metadata"]["name"], inventory_of(agent)) for agent in agents]
    roster = Roster()
    for number, query in enumerate(QUERIES):
        spec = {"labelKey": f"key-{number:02}", "labelValue": "yes", "query": query}
        roster.put_classification(read_classification({"metadata": {"name": f"c{number:02}"}, "spec": spec}))
    started, spent = time.perf_counter(), time.process_time()
    changed = 0
    for name, inventory in encoded:
        roster.put_agent(name, {}, {}, inventory)
        plan = roster.plan(name)
        changed += plan is not None and not plan.is_empty
    first, spent = time.perf_counter() - started, time.process_time() - spent
    runs = roster.runs
    print(f"{AGENTS} agents x {len(QUERIES)} classifications")
    print(f"first pass           {spent:7.3f} s of computing ({first:.3f} s on the clock),", end=" ")
    print(f"{runs} runs of queries, {changed} agents to label")

    def beat(change: Any, what: str) -> None:
        before = roster.runs
        times = []
        for index in range(0, AGENTS, max(1, AGENTS // 200)):
            agent = msgspec.json.decode(encoded[index][1] or b"{}")
            change(agent, index)
            fresh = msgspec.json.encode(agent)
            begun = time.perf_counter()
            roster.put_agent(encoded[index][0], {}, {}, fresh)
            roster.plan(encoded[index][0])
            times.append(time.perf_counter() - begun)
        times.sort()
        print(f"{what:20} {times[len(times) // 2] * 1e3:7.3f} ms median, {times[-1] * 1e3:.3f} ms at most,", end=" ")
        print(f"{roster.runs - before} runs for {len(times)} agents")

    beat(lambda inventory, index: inventory["cpu"].update(count=1000 + index), "one changed agent")
    beat(lambda inventory, index: inventory.update(bmcAddress=f"10.9.8.{index}"), "heartbeat")


if __name__ == "__main__":
    main()
