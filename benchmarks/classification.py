"""Classifying hosts: a first pass over many agents, one changed agent, a heartbeat, and runaways beside honest queries.

The agents are the demo's; every one of them is different. Times are CPU time, computed as the controllers do it.
CLASSIFY_AGENTS sets how many there are.
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from benchmarks._processes import afresh, resident
from benchmarks._report import RUNS, figures, heading
from muster.classification import Roster, agent_read, read_classification
from muster.classification.classification import CLASSIFICATIONS
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
Encoded = Sequence[tuple[str, bytes]]
FIRST, CHANGED, BEAT = "first pass, s", "one changed agent, ms", "a heartbeat, ms"
RUN_FOR_BEATS = "queries that heartbeats run"
GOALS = {FIRST: 2.0, CHANGED: 1.0, RUN_FOR_BEATS: 0}


def main() -> None:
    size = f"{AGENTS:,} agents x {len(QUERIES)} classifications"
    heading("make bench AREA=classification", f"{size}; CPU time, each run in a process of its own.")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "agents")
        with path.open("wb") as file:
            for index in range(AGENTS):
                agent = an_agent(7, index)
                inventory = bytes(agent_read(agent).status.inventory)
                file.write(agent["metadata"]["name"].encode() + b"\t" + inventory + b"\n")
        figures([afresh(one_run, path) for _ in range(RUNS)], GOALS)


def one_run(path: Path) -> dict[str, float]:
    encoded = []
    with path.open("rb") as file:
        for line in file:
            name, _, inventory = line.rstrip(b"\n").partition(b"\t")
            encoded.append((name.decode(), inventory))
    return _honest(encoded) | _hostile(encoded)


def _roster(*queries: str) -> Roster:
    roster = Roster()
    for number, query in enumerate(queries):
        spec = {"labelKey": f"key-{number:02}", "labelValue": "yes", "query": query}
        roster.put_classification(
            read_classification(CLASSIFICATIONS.demanded({"metadata": {"name": f"c{number:02}"}, "spec": spec}))
        )
    return roster


def _honest(encoded: Encoded) -> dict[str, float]:
    gc.collect()
    before = resident()
    roster = _roster(*QUERIES)
    started = time.process_time()
    for name, inventory in encoded:
        roster.put_agent(name, {}, {}, inventory)
        roster.plan(name)
    found = {FIRST: time.process_time() - started}
    found["memory besides the inventories, MB"] = (resident() - before) / 1e6
    found[CHANGED] = _again(roster, encoded, lambda inventory, index: inventory["cpu"].update(count=1000 + index))
    runs = roster.work.runs
    found[BEAT] = _again(roster, encoded, lambda inventory, index: inventory.update(bmcAddress=f"10.9.8.{index}"))
    return found | {RUN_FOR_BEATS: roster.work.runs - runs}


def _again(roster: Roster, encoded: Encoded, change: Callable[[Any, int], None]) -> float:
    """Milliseconds for an agent that has changed, the median of some two hundred."""
    times = []
    for index in range(0, len(encoded), max(1, len(encoded) // 200)):
        name, inventory = encoded[index]
        agent = msgspec.json.decode(inventory)
        change(agent, index)
        fresh = msgspec.json.encode(agent)
        started = time.process_time()
        roster.put_agent(name, {}, {}, fresh)
        roster.plan(name)
        times.append((time.process_time() - started) * 1e3)
    return statistics.median(times)


def _hostile(encoded: Encoded) -> dict[str, float]:
    """As the controllers do it: a quick look at everybody first, then the slow queries, one at a time."""
    roster = _roster(*QUERIES, *RUNAWAYS)
    for name, inventory in encoded:
        roster.put_agent(name, {}, {}, inventory)
    times = []
    for name, _ in encoded:
        started = time.process_time()
        roster.look(name, quick=True)
        plan = roster.plan_so_far(name)
        assert plan is not None
        times.append(time.process_time() - started)
    started = time.process_time()
    for name, _ in encoded:
        roster.look(name)
    beside = f"beside {len(RUNAWAYS)} runaways"
    return {
        f"{beside}: all honest labels are planned, s": sum(times),
        f"{beside}: the slowest agent, ms": max(times) * 1e3,
        "the runaways, once, s": time.process_time() - started,
    }


if __name__ == "__main__":
    main()
