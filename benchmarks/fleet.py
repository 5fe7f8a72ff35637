"""The fleet and the scheduler: columns and masks against naive evaluation, cluster by cluster, in the same run.

OCM's scheduler took about 426 ms for one CEL label regex over 10,000 clusters (measured elsewhere, not in this run).
Times are CPU time; tables give the median of three runs and their spread. `MUSTER_MILLION=0` leaves the last part out.
"""

from __future__ import annotations

import gc
import os
import random
import resource
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks._plot import log_plot
from benchmarks._processes import resident
from benchmarks._report import RUNS, header, heading, judged, measured, row
from muster.demo.clusters import a_cluster
from muster.fleet import Fleet
from muster.placement import Cycle, ScheduleResult, decided, plan_of, schedule, visibility
from muster.selectors.cel import cel_compiler
from muster.selectors.paths import key_path

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

PLOT = Path(__file__).resolve().parents[1] / "docs" / "images" / "fleet.svg"
NOW = datetime(2026, 11, 1, tzinfo=UTC)
LABEL_REGEX = r"""managedCluster.metadata.labels["version"].matches('^1\\.(30|31)\\.\\d+$')"""
OTHER_REGEX = r"""managedCluster.metadata.labels["version"].matches('^1\\.(29|3[01])\\..*$')"""
CLAIM_REGEX = (
    'managedCluster.status.clusterClaims.exists(c, c.name == "kubeversion.open-cluster-management.io" && '
    r"""c.value.matches('^1\\.(30|31)\\.\\d+$'))"""
)
GLOBAL_SET = {
    "metadata": {"name": "global"},
    "spec": {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}},
}
BINDING = {"metadata": {"name": "global", "namespace": "apps"}}
_DISTINCT = 20_000
_BEATS = 10_000


def clusters(count: int) -> Iterator[bytes]:
    """Encoded clusters; beyond the first ones they repeat, with names and ids of their own."""
    made = []
    for index in range(min(count, _DISTINCT)):
        facts = a_cluster(1, index)
        made.append((msgspec.json.encode(facts.object), facts.name.encode(), _identity(facts.object)))
    for index in range(count):
        encoded, name, identity = made[index % len(made)]
        if index < len(made):
            yield encoded
        else:
            copy = f"-{index // len(made)}".encode()
            fresh = f"{index:032x}".encode()
            yield encoded.replace(b'"name":"' + name + b'"', b'"name":"' + name + copy + b'"', 1).replace(
                identity, fresh, 1
            )


def _identity(cluster: dict[str, Any]) -> bytes:
    claims = {claim["name"]: str(claim["value"]) for claim in cluster["status"]["clusterClaims"]}
    return claims["id.k8s.io"].encode()


def a_placement(name: str, *expressions: str, **selectors: Any) -> dict[str, Any]:
    selector = {**selectors, **({"celSelector": {"celExpressions": list(expressions)}} if expressions else {})}
    return {
        "metadata": {"name": name, "namespace": "apps"},
        "spec": {"predicates": [{"requiredClusterSelector": selector}], "numberOfClusters": 10},
    }


def scheduled(fleet: Fleet, placement: dict[str, Any], nothing: Any = None) -> ScheduleResult:
    plan = plan_of(placement, cel_compiler(fleet.scores))
    seen = visibility("apps", (), [BINDING], [GLOBAL_SET])
    return schedule(Cycle(plan, fleet, seen, NOW, nothing or decided(fleet, (), {})))


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Milliseconds of CPU time, which other work on the machine moves less than a clock."""
    started = time.process_time()
    result = work()
    return (time.process_time() - started) * 1000, result


def naive(fleet: Fleet, placement: dict[str, Any]) -> int:
    """Every predicate on every cluster, as OCM does it: decode, evaluate, count."""
    plan = plan_of(placement, cel_compiler(fleet.scores))
    return sum(
        any(all(part.match(cluster) for part in parts) for parts in plan.predicates)
        for cluster in (fleet.load(row) for row in fleet.rows().tolist())
    )


def one_schedule(sizes: tuple[int, ...]) -> None:
    heading("make bench AREA=fleet", "One full schedule, milliseconds of CPU: median of three runs (spread).")
    header("clusters", "expression", "columns to build", "columns present", "naive, cluster by cluster")
    lines: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        encoded = list(clusters(size))
        for told, expression, goal in (("label regex", LABEL_REGEX, 10), ("claims.exists", CLAIM_REGEX, 20)):
            found = [_three_ways(encoded, expression) for _ in range(RUNS)]
            first, again, slow = ([run[at] for run in found] for at in range(3))
            small = size <= 10_000
            cells = (judged(first, most=goal if small else None), judged(again, most=2 if small else None))
            row(f"{size:,}", told, *cells, measured(slow))
            if expression is LABEL_REGEX:
                for name, values in (("naive", slow), ("columns to build", first), ("columns present", again)):
                    lines.setdefault(name, []).append((size, sorted(values)[RUNS // 2]))
    title = "One schedule with a regex over a label, milliseconds"
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(log_plot(title, "clusters", "ms", lines), encoding="utf-8")
    print(f"plotted to {PLOT.relative_to(PLOT.parents[2])}")


def _three_ways(encoded: list[bytes], expression: str) -> tuple[float, float, float]:
    fleet = Fleet()
    fleet.put_many(encoded)
    scheduled(fleet, {"metadata": {"name": "warm", "namespace": "apps"}, "spec": {}})
    first, result = timed(lambda: scheduled(fleet, a_placement("p", expression)))
    again, _ = timed(lambda: scheduled(fleet, a_placement("p", expression)))
    slow, count = timed(lambda: naive(fleet, a_placement("p", expression)))
    assert count == int(result.stages[0].passing.sum()), "naive evaluation disagrees"
    return first, again, slow


def many_placements(size: int, placements: int) -> None:
    """With decisions, as on a hub that runs: what each placement holds, and how many others hold a cluster."""
    fleet = Fleet()
    loading, _ = timed(lambda: fleet.put_many(clusters(size)))
    compile_cel = cel_compiler(fleet.scores)
    seen = visibility("apps", (), [BINDING], [GLOBAL_SET])
    nothing = decided(fleet, (), {})
    plans = [plan_of(placement, compile_cel) for placement in mixed(placements)]
    for number, plan in enumerate(plans):
        fleet.subscribe(number, plan.selectors, plan.paths)
    chosen: list[list[str]] = []

    def all_of_them() -> None:
        chosen[:] = [schedule(Cycle(plan, fleet, seen, NOW, nothing)).selected for plan in plans]

    initial, _ = timed(all_of_them)  # later passes find the masks
    held: dict[str, int] = {}
    for names in chosen:
        for name in names:
            held[name] = held.get(name, 0) + 1
    about = (
        f"{size:,} clusters x {placements:,} placements with their decisions, loaded in {loading / 1000:.1f} s of CPU."
    )
    heading("make bench AREA=fleet", about)
    header("milliseconds of CPU, median of three runs (spread)", "measured", "goal")
    row("initial computing, one run", f"{initial:,.0f}", "30,000")
    target = a_cluster(1, 7).object
    beat = {**target, "status": {**target["status"], "conditions": [{"type": "x", "lastTransitionTime": "now"}]}}
    relabelled = {**target, "metadata": {**target["metadata"], "labels": {**target["metadata"]["labels"]}}}
    relabelled["metadata"]["labels"]["wave"] = "w3"
    beats = [msgspec.json.encode(obj) for obj in (beat, target)]
    labels = [msgspec.json.encode(obj) for obj in (relabelled, target)]
    woken = [int(str(number)) for number in fleet.put(labels[0])]
    fleet.put(labels[1])
    before = {number: decided(fleet, chosen[number], _others(held, chosen[number])) for number in woken}
    beating, changing = [], []
    for _ in range(RUNS):
        told = [timed(partial(fleet.put, beats[at % 2])) for at in range(200)]
        assert not any(names for _, names in told)
        beating.append(sum(ms for ms, _ in told) / len(told))
        changes = []
        for at in range(40):
            started = time.process_time()
            for told_of in fleet.put(labels[at % 2]):
                placement = int(str(told_of))
                schedule(Cycle(plans[placement], fleet, seen, NOW, before[placement]))
            changes.append((time.process_time() - started) * 1000)
        changing.append(sorted(changes)[len(changes) // 2])
    row("one heartbeat, nobody is told", judged(beating, most=0.1), "0.1")
    row(f"one label change that touches {len(woken)} placements, schedules included", judged(changing, most=3), "3")


def _others(held: dict[str, int], own: list[str]) -> dict[str, int]:
    """How many other placements hold each cluster."""
    mine = set(own)
    return {name: count - (name in mine) for name, count in held.items() if count > (name in mine)}


def mixed(count: int, first: int = 0) -> Iterator[dict[str, Any]]:
    """Placements as a fleet has them: most look at labels, some at claims, some compute."""
    regions = ("us-east-1", "us-west-2", "eu-west-1", "eastus", "westeurope", "us-central1", "fra-dc1")
    for number in range(first, first + count):
        region, minor = regions[number % len(regions)], 27 + number % 6
        match number % 4:
            case 0:
                yield a_placement(f"p{number}", labelSelector={"matchLabels": {"region": region, "tier": "gold"}})
            case 1:
                claims = [{"key": "platform.open-cluster-management.io", "operator": "In", "values": ["Amazon"]}]
                yield a_placement(f"p{number}", claimSelector={"matchExpressions": claims})
            case 2:
                pattern = rf"'^1\\.{minor}\\.([0-9]|1{number % 2})$'"
                yield a_placement(f"p{number}", f'managedCluster.metadata.labels["version"].matches({pattern})')
            case _:
                wave = "w3" if number % 100 == 3 else "none"  # ten of a thousand look at this wave
                newer = f"isGreaterThan(semver('v1.{minor}.0', true))"
                yield a_placement(
                    f"p{number}",
                    f"semver(managedCluster.status.version.kubernetes, true).{newer}",
                    labelSelector={"matchExpressions": [{"key": "wave", "operator": "NotIn", "values": [wave]}]},
                )


def a_million(size: int) -> None:
    gc.disable()
    fleet = Fleet()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    loading, _ = timed(lambda: fleet.put_many(clusters(size)))
    keys = ("version", "region", "tier")[:RUNS]
    built = [timed(partial(scheduled, fleet, a_placement("p", _any_value(key))))[0] / 1000 for key in keys]
    claim, _ = timed(lambda: scheduled(fleet, a_placement("p", CLAIM_REGEX)))
    nothing = decided(fleet, (), {})
    compiler = cel_compiler(fleet.scores)
    masks, whole = [], []
    for run in range(RUNS):
        edited = plan_of(a_placement("q", LABEL_REGEX.replace("30", f"2{run}")), compiler)
        masks.append(timed(partial(fleet.mask, next(iter(edited.selectors))))[0])
        text = OTHER_REGEX.replace("29", f"1{run}")
        whole.append(timed(partial(scheduled, fleet, a_placement("p", text), nothing))[0])
    peak, at_end = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, resident() // 1024
    whole_object = timed(partial(fleet.column, key_path("status", "capacity", "cpu")))[0] / 1000
    beating = [_beats(fleet, run) for run in range(RUNS)]
    gc.enable()
    heading(
        "make bench AREA=fleet", f"{size:,} clusters, loaded in {loading / 1000:.1f} s of CPU; three runs (spread)."
    )
    header("", "measured", "goal")
    row("edited regex on a present column: mask, ms", judged(masks, most=20), "20")
    row("the same: whole schedule, ms", judged(whole, most=60), "60")
    row("a label's column from stored bytes, and a schedule, s (three labels)", judged(built, most=6), "6 at 1.5 GB")
    row(
        "a claim's column from stored bytes, and a schedule, s (one run)", judged([claim / 1000], most=6), "6 at 1.5 GB"
    )
    row("a column for which whole objects are read, s (one run)", judged([whole_object]), "")
    row("one heartbeat, ever another cluster, ms", judged(beating, most=0.1), "0.1")
    each = (peak - before) * 1024 / size
    row(f"most memory, GB ({each:,.0f} bytes a cluster)", judged([(peak - before) / 1024**2], most=1.5), "1.5")
    row("memory that is held then, GB", judged([(at_end - before) / 1024**2], most=1.5), "1.5")


def _beats(fleet: Fleet, run: int) -> float:
    """Milliseconds for a heartbeat of a cluster that was silent before: those of a large fleet are packed."""
    rows = random.Random(run).sample(range(len(fleet)), _BEATS)
    old, new = b'"lastTransitionTime":"', f'"lastTransitionTime":"{run}'.encode()
    beats = [encoded.replace(old, new) for encoded in fleet.encoded(rows)]
    return timed(lambda: [fleet.put(beat) for beat in beats])[0] / len(beats)


def _any_value(key: str) -> str:
    return f"managedCluster.metadata.labels[?'{key}'].orValue('').matches('^[a-z0-9]')"


def main() -> None:
    print(__doc__)
    print(f"Python {sys.version.split()[0]}")
    one_schedule((1_000, 10_000, 100_000))
    many_placements(100_000, 1_000)
    if million := int(os.environ.get("MUSTER_MILLION", "1000000")):
        a_million(million)


if __name__ == "__main__":
    main()
