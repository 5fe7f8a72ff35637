"""Questions about a large fleet, end to end over HTTPS while labels change.

The server is `muster hub serve`. What answers is the observer, in a process of its own as beside the controllers, over
a fleet that is made there: loading it through the API would take longer than everything else. Goals with 100,000
clusters, warm: FleetEvaluation of an edited expression p50 30 ms and p99 100 ms, facets 50 ms, completion 20 ms, a plan
of one placement 200 ms.

Beside the times stands the CPU time that both processes took for one question, which a loaded machine changes less;
what the changes of labels take alone is measured before each run and taken off. `MUSTER_CLUSTERS` sets the size
(100,000), `MUSTER_QUESTIONS` how many of each are asked in a run (200, and a quarter of it where p99 has no goal).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec
import uvloop

from benchmarks._load import Connection, Server
from benchmarks._processes import cpu_of
from benchmarks._report import RUNS, header, heading, judged, measured, percentile, row
from benchmarks.fleet import clusters
from muster.controllers.placements.preview import put, settle
from muster.controllers.placements.world import PlacementWorld
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS, serve_answers
from muster.questions.observer import Observer

if TYPE_CHECKING:
    from collections.abc import Iterator

CLUSTERS: Final = int(os.environ.get("MUSTER_CLUSTERS", "100000"))
QUESTIONS: Final = int(os.environ.get("MUSTER_QUESTIONS", "200"))
_GROUP: Final = "cluster.open-cluster-management.io"
_ACCEPTED: Final = {"hubAcceptsClient": True}
_FLEET: Final = "/apis/fleet.muster.dev/v1alpha1"
_LABELS: Final = "managedCluster.metadata.labels"
_CHANGES: Final = 20  # labels a second
_QUIET: Final = 5.0  # seconds in which nothing is asked
_SOON: Final = 2.0  # seconds, when everything is warm


async def _ask(connection: Connection, plural: str, kind: str, spec: dict[str, Any]) -> Any:
    body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": kind, "spec": spec}
    code, answer = await connection.request("POST", f"{_FLEET}/{plural}", msgspec.json.encode(body))
    if code != 201:
        raise RuntimeError(f"{kind}: {code} {answer[:300]!r}")
    return msgspec.json.decode(answer)["status"]


@dataclass(frozen=True, slots=True)
class Asked:
    """What is asked again and again; `goals` are those of p50 and p99."""

    name: str
    plural: str
    kind: str
    specs: Iterator[dict[str, Any]]
    goals: tuple[float | None, float | None] = (None, None)

    @property
    def count(self) -> int:
        """How often in each run: by far the most often where the slowest hundredth has a goal."""
        return QUESTIONS if self.goals[1] is not None else max(1, QUESTIONS // 4)

    @property
    def told(self) -> str:
        return ", ".join(f"{name} {goal:g}" for name, goal in zip(("p50", "p99"), self.goals, strict=True) if goal)


async def _measured(connection: Connection, pids: list[int], quiet: float, asked: Asked) -> tuple[float, float, float]:
    """Milliseconds: the median, what 99 of 100 do not exceed, and CPU of all processes for each."""
    await _warmed(connection, asked)
    times = []
    before, began = cpu_of(*pids), time.perf_counter()
    for spec in itertools.islice(asked.specs, asked.count):
        started = time.perf_counter()
        await _ask(connection, asked.plural, asked.kind, spec)
        times.append((time.perf_counter() - started) * 1000)
        await asyncio.sleep(0.02)  # somebody who types
    spent = cpu_of(*pids) - before - quiet * (time.perf_counter() - began)
    return statistics.median(times), percentile(times, 0.99), spent / len(times) * 1000


async def _warmed(connection: Connection, asked: Asked) -> None:
    """Columns are there from then on; on a loaded machine the first question may run out of time."""
    warm = failed = 0
    while warm < 3:
        try:
            await _ask(connection, asked.plural, asked.kind, next(asked.specs))
            warm += 1
        except RuntimeError:
            failed += 1
            if failed == 20:
                raise


def _edited() -> Iterator[dict[str, Any]]:
    for number in itertools.count():
        text = f"{_LABELS}.cloud == 'Amazon' && {_LABELS}.version.startsWith('1.{number % 100}') && {number} >= 0"
        yield {"expression": text, "rows": {"fields": [{"expression": f"{_LABELS}.region"}]}}


def _claims() -> Iterator[dict[str, Any]]:
    claims, name = "managedCluster.status.clusterClaims", "platform.open-cluster-management.io"
    for number in itertools.count():
        yield {"expression": f"{claims}.exists(c, c.name == '{name}' && c.value == 'x{number}')"}


def _table() -> Iterator[dict[str, Any]]:
    for number in itertools.count():
        rows = {"show": "All", "sortBy": f"{_LABELS}.region", "offset": number * 50 % CLUSTERS, "limit": 50}
        yield {"rows": rows | {"fields": [{"expression": f"{_LABELS}.region"}, {"expression": f"{_LABELS}.tier"}]}}


def _placement(expression: str, **spec: Any) -> dict[str, Any]:
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}
    return {
        "apiVersion": f"{_GROUP}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "shop", "namespace": "apps"},
        "spec": {"predicates": [selector], **spec},
    }


def _plans() -> Iterator[dict[str, Any]]:
    """An expression that nobody has asked for yet, of a placement that has a third of the fleet."""
    for number in itertools.count():
        text = f"{_LABELS}.cloud == 'Amazon' && {_LABELS}.version.startsWith('1.{number % 100}') && {number} >= 0"
        yield {"objects": [_placement(text)]}


def _relabelled() -> Iterator[dict[str, Any]]:
    """A cluster that leaves the placement."""
    for cluster in itertools.cycle([msgspec.json.decode(each) for each in clusters(50)]):
        labels = {**cluster["metadata"]["labels"], "cloud": "Elsewhere"}
        metadata = {"name": cluster["metadata"]["name"], "labels": labels}
        yield {
            "objects": [
                {"apiVersion": f"{_GROUP}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": _ACCEPTED}
            ]
        }


ASKED: Final = (
    Asked(
        "FleetEvaluation, edited expression over two labels, with fields",
        "fleetevaluations",
        "FleetEvaluation",
        _edited(),
        (30, 100),
    ),
    Asked("the same over a claim", "fleetevaluations", "FleetEvaluation", _claims(), (30, 100)),
    Asked("a page of a table sorted by a label", "fleetevaluations", "FleetEvaluation", _table()),
    Asked("FleetFacets, everything", "fleetfacets", "FleetFacets", itertools.repeat({}), (50, None)),
    Asked(
        "Completion, label keys",
        "completions",
        "Completion",
        itertools.repeat({"expression": f"{_LABELS}."}),
        (20, None),
    ),
    Asked(
        "Completion, values of a label",
        "completions",
        "Completion",
        itertools.repeat({"expression": f"{_LABELS}.tier == '"}),
        (20, None),
    ),
    Asked(
        "Plan, an edited expression of a placement with a third of the clusters", "plans", "Plan", _plans(), (200, None)
    ),
    Asked("Plan, a cluster of it is relabelled", "plans", "Plan", _relabelled(), (200, None)),
)


async def _run(server: Server, pids: list[int]) -> None:
    connection = await Connection.open(server)
    apps = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "apps"}}
    await connection.request("POST", "/api/v1/namespaces", msgspec.json.encode(apps))
    while True:  # until the observer has read the fleet and its facets
        with contextlib.suppress(RuntimeError):
            started = time.perf_counter()
            found = await _ask(connection, "fleetfacets", "FleetFacets", {})
            if found["clusters"] == CLUSTERS and time.perf_counter() - started < _SOON:
                break
        await asyncio.sleep(0.5)
    heading(
        "make bench AREA=questions",
        f"{CLUSTERS:,} clusters, {_CHANGES} labels a second changing, one asker, over HTTPS; milliseconds by the "
        f"clock, and of CPU of both processes. Three runs against the same warm processes, "
        f"{QUESTIONS} questions each where p99 has a goal and {QUESTIONS // 4} elsewhere.",
    )
    runs: dict[str, list[tuple[float, float, float]]] = {asked.name: [] for asked in ASKED}
    for _ in range(RUNS):
        before = cpu_of(*pids)
        await asyncio.sleep(_QUIET)
        quiet = (cpu_of(*pids) - before) / _QUIET
        for asked in ASKED:
            runs[asked.name].append(await _measured(connection, pids, quiet, asked))
    header("median of three runs (spread)", "p50", "p99", "CPU", "goal")
    for asked in ASKED:
        p50, p99, cpu = ([run[at] for run in runs[asked.name]] for at in range(3))
        cells = judged(p50, most=asked.goals[0]), judged(p99, most=asked.goals[1]), measured(cpu)
        row(asked.name, *cells, asked.told)


async def _observe(directory: Path) -> None:
    """What the controllers' process does for questions, over a fleet of its own whose labels change all the time."""
    world = PlacementWorld()
    world.advance(datetime.now(UTC))
    objects = list(clusters(CLUSTERS))
    world.fleet.put_many(objects)
    everything = {"selectorType": "LabelSelector", "labelSelector": {}}
    for kind, name, spec in (
        ("ManagedClusterSet", {"name": "global"}, {"clusterSelector": everything}),
        ("ManagedClusterSetBinding", {"name": "global", "namespace": "apps"}, {"clusterSet": "global"}),
    ):
        put(world, {"kind": kind, "metadata": name, "spec": spec})
    put(world, _placement(f"{_LABELS}.cloud == 'Amazon'"))
    settle(world, datetime.now(UTC))
    observer = Observer(world, lambda: datetime.now(UTC))
    observer.ready = True
    async with serve_answers(directory / CONTROLLERS_ADDRESS, lambda: b"", None, observer):
        keeping = asyncio.create_task(observer.run())
        for number in itertools.count():
            cluster = msgspec.json.decode(objects[number * 7919 % CLUSTERS])
            cluster["metadata"]["labels"]["tier"] = ("gold", "silver", "bronze")[number % 3]
            world.put_cluster(cluster["metadata"]["name"], msgspec.json.encode(cluster))
            await asyncio.sleep(1 / _CHANGES)
        keeping.cancel()


def main() -> None:
    if sys.argv[1:2] == ["observe"]:
        uvloop.run(_observe(Path(sys.argv[2])))
        return
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        directory = Path(folder)
        serve = [sys.executable, "-m", "muster", "hub", "serve", "--data", folder, "--audit", "off"]
        observe = [sys.executable, "-m", "benchmarks.questions", "observe", folder]
        processes = [
            stack.enter_context(subprocess.Popen(each, stdout=subprocess.DEVNULL)) for each in (serve, observe)
        ]
        for process in processes:
            stack.callback(process.terminate)
        while not (directory / "kubeconfig").exists() or not (directory / CONTROLLERS_ADDRESS).exists():
            time.sleep(0.2)
        server = Server.from_kubeconfig(directory / "kubeconfig")
        uvloop.run(_run(server, [process.pid for process in processes]))


if __name__ == "__main__":
    main()
