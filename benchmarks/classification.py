"""Classifying hosts: a first pass over many agents, one changed agent, a heartbeat, and runaways beside honest queries.

The agents are the demo's; every one of them is different. Times are of computing alone, as the controllers do it.
CLASSIFY_AGENTS sets how many there are.
"""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from muster.classification import Roster, agent_read, read_classification
from muster.classification.classification import CLASSIFICATIONS
from muster.demo.hosts import an_agent

AGENTS = int(os.environ.get("CLASSIFY_AGENTS", "10000"))
MIB = 1024**2
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


RUNAWAYS = (
    ".cpu.count as $n | def f: f; f",
    "[range(.cpu.count; 1e12)] | length > 1",
    "last(range(.cpu.count; 1e12)) > 1",
    ".cpu.count | until(. < 0; . + 1) > 1",
    ".cpu.count as $n | def f: 1 + f; f > $n",
    ".cpu.count as $n | def f: [f]; f == $n",
    ".cpu.count as $n | def f: f, f; f",
    "(.cpu.count | tostring) as $s | reduce range(100) as $i ($s; . + .) | length > 1",
    ".cpu.count as $n | [limit(1e9; repeat($n))] | length > 1",
    "[.disks[]?, range(3e4)] | [.[] as $a | .[] as $b | 1] | length > 1",
)
Encoded = Sequence[tuple[str, bytes | None]]


def main() -> None:
    agents = (an_agent(7, index) for index in range(AGENTS))  # not kept: memory is measured
    encoded = [(agent["metadata"]["name"], bytes(agent_read(agent).status.inventory)) for agent in agents]
    print(f"{AGENTS} agents x {len(QUERIES)} classifications")
    _honest(encoded)
    _hostile(encoded)


def _roster(*queries: str) -> Roster:
    roster = Roster()
    for number, query in enumerate(queries):
        spec = {"labelKey": f"key-{number:02}", "labelValue": "yes", "query": query}
        roster.put_classification(
            read_classification(CLASSIFICATIONS.demanded({"metadata": {"name": f"c{number:02}"}, "spec": spec}))
        )
    return roster


def _honest(encoded: Encoded) -> None:
    gc.collect()
    before = _resident()
    roster = _roster(*QUERIES)
    started, spent = time.perf_counter(), time.process_time()
    changed = 0
    for name, inventory in encoded:
        roster.put_agent(name, {}, {}, inventory)
        plan = roster.plan(name)
        changed += plan is not None and not plan.is_empty
    first, spent = time.perf_counter() - started, time.process_time() - spent
    print(f"first pass           {spent:7.3f} s of computing ({first:.3f} s on the clock),", end=" ")
    print(f"{roster.work.runs} runs of queries, {roster.work.hits} answers known, {changed} agents to label")
    size = sum(len(inventory or b"") for _, inventory in encoded)
    print(f"memory               {_resident() - before:7.0f} MB besides the inventories, which are {size / MIB:.0f} MB")

    def beat(change: Any, what: str) -> None:
        before = roster.work.runs
        times = []
        for index in range(0, len(encoded), max(1, len(encoded) // 200)):
            agent = msgspec.json.decode(encoded[index][1] or b"{}")
            change(agent, index)
            fresh = msgspec.json.encode(agent)
            begun = time.perf_counter()
            roster.put_agent(encoded[index][0], {}, {}, fresh)
            roster.plan(encoded[index][0])
            times.append(time.perf_counter() - begun)
        times.sort()
        print(f"{what:20} {times[len(times) // 2] * 1e3:7.3f} ms median, {times[-1] * 1e3:.3f} ms at most,", end=" ")
        print(f"{roster.work.runs - before} runs for {len(times)} agents")

    beat(lambda inventory, index: inventory["cpu"].update(count=1000 + index), "one changed agent")
    beat(lambda inventory, index: inventory.update(bmcAddress=f"10.9.8.{index}"), "heartbeat")


def _hostile(encoded: Encoded) -> None:
    """As the controllers do it: a quick look at everybody first, then the slow queries, one at a time."""
    roster = _roster(*QUERIES, *RUNAWAYS)
    for name, inventory in encoded:
        roster.put_agent(name, {}, {}, inventory)
    begun = time.perf_counter()
    times = []
    for name, _ in encoded:
        started = time.perf_counter()
        roster.look(name, quick=True)
        plan = roster.plan_so_far(name)
        assert plan is not None
        times.append(time.perf_counter() - started)
    quick = time.perf_counter() - begun
    print(f"beside {len(RUNAWAYS)} runaways   {quick:7.3f} s until all honest labels are planned,", end=" ")
    print(f"an agent {sorted(times)[len(times) // 2] * 1e3:.3f} ms median, {max(times) * 1e3:.0f} ms at most")
    begun = time.perf_counter()
    for name, _ in encoded:
        roster.look(name)
    slow = time.perf_counter() - begun
    print(f"the runaways         {slow:7.3f} s, {roster.work.pauses} of them paused")


def _resident() -> float:
    """What the process holds, in MB."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / MIB


if __name__ == "__main__":
    main()
