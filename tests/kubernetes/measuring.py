"""What the policies cost and how soon they know: `python -m tests.kubernetes.measuring`. Prints tables.

1. How long after a set was created, or deleted, the policies know it: the API server reads parameters from a cache.
2. What a write costs the API server with 10, 100 and 1,000 sets as parameters, in its CPU time and in time to wait.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.kubernetes.policies import policies
from muster.kubernetes.settings import DEFAULTS
from tests.kubernetes.binaries import built, version_of
from tests.kubernetes.calling import CLUSTERS, SETS, Caller, a_cluster, a_set
from tests.kubernetes.installing import PROBER, called, install, path_of, until_known
from tests.kubernetes.server import running

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tests.kubernetes.server import Server

_SETS: Final = (10, 100, 1000)
_WRITES: Final = 200
_CHANGES: Final = 200


def main() -> None:
    print(f"Kubernetes {version_of()}, {os.cpu_count()} cores\n")
    with tempfile.TemporaryDirectory() as folder, running(built(), Path(folder)) as server:
        install(server)
        with called(server) as admin, called(server, PROBER) as prober:
            _measure_catching_up(admin, prober)
            _measure_writes(server, admin)


def _measure_catching_up(admin: Caller, prober: Caller) -> None:
    created, deleted = [], []
    for number in range(_CHANGES):
        name = f"late-{number}"
        admin.ok("POST", SETS, a_set(name, exclusiveKey="late"))
        created.append(until_known(prober, "late", name))
        admin.ok("DELETE", f"{SETS}/{name}")
        deleted.append(until_known(prober, "late", name, guards=False))
    print(f"| the policies know a set that was | p50 | p99 | max of {_CHANGES} |\n|---|---|---|---|")
    print(_shown("created", created))
    print(_shown("deleted", deleted), flush=True)


def _measure_writes(server: Server, admin: Caller) -> None:
    admin.ok("POST", CLUSTERS, a_cluster("measured", {"team": "a"}))
    path = f"{CLUSTERS}/measured"
    writes: dict[str, Callable[[int], object]] = {
        "a label": lambda n: admin.ok("PATCH", path, {"metadata": {"labels": {"team": f"t{n}"}}}),
        "an annotation": lambda n: admin.ok("PATCH", path, {"metadata": {"annotations": {"n": str(n)}}}),
        "the status": lambda n: admin.ok("PATCH", f"{path}/status", {"status": {"version": {"kubernetes": f"v{n}"}}}),
    }
    print("\n| a write of | sets | CPU of the API server | p50 | p99 | max |\n|---|---|---|---|---|---|")
    made = 0
    for wanted in _SETS:
        for number in range(made, wanted):
            admin.ok("POST", SETS, a_set(f"team-{number}", exclusiveKey=f"key-{number % 20}"))
        made = wanted
        time.sleep(2)  # the cache catches up, and what creating them left to do is done
        for name, write in writes.items():
            print(_written(name, str(wanted), server, write), flush=True)
    for each in policies(DEFAULTS):
        admin.ok("DELETE", path_of(each))
    time.sleep(3)
    for name, write in writes.items():
        print(_written(name, f"{made}, no policies", server, write), flush=True)


def _written(name: str, sets: str, server: Server, write: Callable[[int], object]) -> str:
    for number in range(20):
        write(-number)
    taken, before = [], _cpu(server.process)
    for number in range(_WRITES):
        started = time.perf_counter()
        write(number)
        taken.append(time.perf_counter() - started)
    cpu = (_cpu(server.process) - before) / _WRITES
    return f"| {name} | {sets} | {cpu * 1000:.1f} ms |{_times(taken)} |"


def _shown(name: str, seconds: Sequence[float]) -> str:
    return f"| {name} |{_times(seconds)} |"


def _times(seconds: Sequence[float]) -> str:
    ordered = sorted(seconds)
    chosen = (statistics.median(ordered), ordered[int(len(ordered) * 0.99)], ordered[-1])
    return " |".join(f" {each * 1000:.1f} ms" for each in chosen)


def _cpu(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    main()
