"""The fleet and the scheduler: columns and masks against naive evaluation, cluster by cluster, in the same run.

OCM's scheduler took about 426 ms for one CEL label regex over 10,000 clusters (measured elsewhere, not in this run).
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from benchmarks._plot import log_plot
from muster.demo.clusters import a_cluster
from muster.fleet import Fleet
from muster.placement import Cycle, ScheduleResult, decided, plan_of, schedule, visibility
from muster.selectors.cel import cel_compiler

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
    started = time.perf_counter()
    result = work()
    return (time.perf_counter() - started) * 1000, result


def naive(fleet: Fleet, placement: dict[str, Any]) -> int:
    """Every predicate on every cluster, as OCM does it: decode, evaluate, count."""
    plan = plan_of(placement, cel_compiler(fleet.scores))
    return sum(
        any(all(part.match(cluster) for part in parts) for parts in plan.predicates)
        for cluster in (fleet.load(row) for row in fleet.rows().tolist())
    )


def one_schedule(sizes: tuple[int, ...]) -> None:
    print("\none full schedule, ms (columns to build / columns present / naive in the same run)")
    print(f"{'clusters':>10} {'label regex':>32} {'claims.exists':>32}")
    lines: dict[str, list[tuple[float, float]]] = {}
    for size in sizes:
        cells = []
        encoded = list(clusters(size))
        for expression in (LABEL_REGEX, CLAIM_REGEX):
            fleet = Fleet()
            fleet.put_many(encoded)
            scheduled(fleet, {"metadata": {"name": "warm", "namespace": "apps"}, "spec": {}})
            first, result = timed(lambda: scheduled(fleet, a_placement("p", expression)))  # noqa: B023 - used at once
            again, _ = timed(lambda: scheduled(fleet, a_placement("p", expression)))  # noqa: B023
            slow, count = timed(lambda: naive(fleet, a_placement("p", expression)))  # noqa: B023
            assert count == int(result.stages[0].passing.sum()), "naive evaluation disagrees"
            cells.append(f"{first:9.1f} / {again:8.2f} / {slow:8.0f}")
            if expression is LABEL_REGEX:
                for name, value in (("naive", slow), ("columns to build", first), ("columns present", again)):
                    lines.setdefault(name, []).append((size, value))
        print(f"{size:>10} " + " ".join(f"{cell:>32}" for cell in cells), flush=True)
    title = "One schedule with a regex over a label, milliseconds"
    PLOT.parent.mkdir(parents=True, exist_ok=True)
    PLOT.write_text(log_plot(title, "clusters", "ms", lines), encoding="utf-8")
    print(f"plotted to {PLOT.relative_to(PLOT.parents[2])}")


def many_placements(size: int, placements: int) -> None:
    fleet = Fleet()
    took, _ = timed(lambda: fleet.put_many(clusters(size)))
    print(
        f"\n{size} clusters x {placements} placements, mixed label, claim and CEL (fleet loaded in {took / 1000:.1f} s)"
    )
    wanted = list(_mixed(placements))
    compile_cel = cel_compiler(fleet.scores)
    seen = visibility("apps", (), [BINDING], [GLOBAL_SET])
    nothing = decided(fleet, (), {})
    plans = [plan_of(placement, compile_cel) for placement in wanted]

    def initial() -> None:
        for number, plan in enumerate(plans):
            fleet.subscribe(number, plan.selectors, plan.paths)
            schedule(Cycle(plan, fleet, seen, NOW, nothing))

    took, _ = timed(initial)
    print(f"  initial computing: {took / 1000:.1f} s")
    target = a_cluster(1, 7).object
    beat = {**target, "status": {**target["status"], "conditions": [{"type": "x", "lastTransitionTime": "now"}]}}
    encoded = [msgspec.json.encode(obj) for obj in (beat, target)]
    beats = [timed(partial(fleet.put, encoded[at % 2])) for at in range(200)]
    assert not any(told for _, told in beats)
    print(f"  one heartbeat: {sorted(ms for ms, _ in beats)[100]:.3f} ms median, nobody is told")
    relabelled = {**target, "metadata": {**target["metadata"], "labels": {**target["metadata"]["labels"]}}}
    relabelled["metadata"]["labels"]["wave"] = "w3"
    encoded = [msgspec.json.encode(obj) for obj in (relabelled, target)]
    changes = []
    for at in range(40):
        started = time.perf_counter()
        told = fleet.put(encoded[at % 2])
        for number in told:
            schedule(Cycle(plans[int(str(number))], fleet, seen, NOW, nothing))
        changes.append(((time.perf_counter() - started) * 1000, len(told)))
    took, woken = sorted(changes)[len(changes) // 2]
    print(f"  one label change that touches {woken} placements: {took:.2f} ms median, schedules included", flush=True)


def _mixed(count: int) -> Iterator[dict[str, Any]]:
    """Placements as a fleet has them: most look at labels, some at claims, some compute."""
    regions = ("us-east-1", "us-west-2", "eu-west-1", "eastus", "westeurope", "us-central1", "fra-dc1")
    for number in range(count):
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
    took, _ = timed(lambda: fleet.put_many(clusters(size)))
    built, _ = timed(lambda: scheduled(fleet, a_placement("p", LABEL_REGEX)))
    nothing = decided(fleet, (), {})
    fresh, _ = timed(lambda: scheduled(fleet, a_placement("p", OTHER_REGEX), nothing))
    selected, _ = timed(
        lambda: fleet.mask(
            next(iter(plan_of(a_placement("q", LABEL_REGEX.replace("30", "28")), cel_compiler(fleet.scores)).selectors))
        )
    )
    claim, _ = timed(lambda: scheduled(fleet, a_placement("p", CLAIM_REGEX), nothing))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    gc.enable()
    print(
        f"\n{size} clusters: loaded in {took / 1000:.1f} s, {(peak - before) / 1024:.0f} MB, "
        f"{(peak - before) * 1024 / size:.0f} bytes a cluster"
    )
    print(f"  first schedule, label column built from stored bytes: {built / 1000:.1f} s")
    print(f"  edited regex on a present column: mask {selected:.1f} ms, whole schedule {fresh:.0f} ms")
    print(f"  first schedule over claims, column built from stored bytes: {claim / 1000:.1f} s", flush=True)


def main() -> None:
    print(__doc__)
    print(f"Python {sys.version.split()[0]}")
    one_schedule((1_000, 10_000, 100_000))
    many_placements(100_000, 1_000)
    a_million(1_000_000)


if __name__ == "__main__":
    main()
