"""Explanations and lint over a large fleet: one cluster, the funnel, and a thousand placements.

Goals: one cluster of 100,000 in 50 ms, the funnel in 300 ms, lint of 1,000 placements against 100,000 clusters in 10 s.
"""

from __future__ import annotations

import statistics
import sys
import time
from typing import TYPE_CHECKING, Any

from benchmarks.fleet import BINDING, CLAIM_REGEX, GLOBAL_SET, LABEL_REGEX, a_placement, clusters, scheduled
from muster.fleet import Fleet
from muster.placement import plan_of, visibility
from muster.placement.explain.explanation import explain_cluster, explain_placement, funnel
from muster.placement.lint.placements import lint, lint_fields, vocabulary
from muster.placement.schedule.plan import PLACEMENTS
from muster.selectors.cel import CelLimits, cel_compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROUNDS = 7
_CLOUDS = ("Amazon", "Azure", "Google", "BareMetal", "amazon", "Alibaba")
_TIERS = ("gold", "silver", "bronze", "platinum")


def middle(work: Callable[[], Any], rounds: int = _ROUNDS) -> tuple[float, float, Any]:
    """The median and the longest of some rounds, in milliseconds, and the last result."""
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        result = work()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times), max(times), result


def explanations(fleet: Fleet) -> None:
    size = len(fleet)
    print(f"\n{size} clusters, columns present; milliseconds: median (longest) of {_ROUNDS}, goal")
    placements = {
        "label regex": a_placement("p", LABEL_REGEX),
        "claims.exists": a_placement("p", CLAIM_REGEX),
        "labels and CEL": a_placement(
            "p",
            f"{LABEL_REGEX} && managedCluster.metadata.labels.tier == 'gold'",
            labelSelector={"matchLabels": {"cloud": "Amazon"}},
        ),
        "two predicates": _two_predicates(),
    }
    print(f"{'placement':>16} {'one cluster':>20} {'funnel':>20} {'with near misses':>20}")
    name = fleet.name(int(fleet.rows()[size // 2]))
    for kind, placement in placements.items():
        result = scheduled(fleet, placement)
        one, longest_one, _ = middle(lambda: explain_cluster(result, name))  # noqa: B023 - used at once
        all_, longest_all, stages = middle(lambda: funnel(result))  # noqa: B023
        near, longest_near, _ = middle(lambda: explain_placement(result))  # noqa: B023
        assert stages[0].before == size
        cells = ((one, longest_one), (all_, longest_all), (near, longest_near))
        print(
            f"{kind:>16} " + " ".join(f"{f'{median:.1f} ({longest:.1f})':>20}" for median, longest in cells), flush=True
        )
    print(f"{'goal':>16} {'50':>20} {'300':>20}")


def _two_predicates() -> dict[str, Any]:
    placement = a_placement("p", LABEL_REGEX)
    second = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Azure", "tier": "gold"}}}}
    placement["spec"]["predicates"].append(second)
    placement["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 60}]
    return placement


def linting(fleet: Fleet, count: int) -> None:
    wanted = list(_placements(count))
    limits = CelLimits()
    seen = visibility("apps", (), [BINDING], [GLOBAL_SET])
    started = time.perf_counter()
    known = vocabulary(fleet)
    gathered = time.perf_counter()
    compile_cel = cel_compiler(fleet.scores, limits)
    findings = 0
    for placement in wanted:
        findings += len(lint_fields(placement))
        plan = plan_of(placement, compile_cel)
        findings += len(lint(plan, seen, known, limits.estimate, PLACEMENTS.partly(placement).obj.spec))
    done = time.perf_counter()
    print(
        f"\nlint of {count} placements against {len(fleet)} clusters: {done - started:.1f} s, of which "
        f"{gathered - started:.1f} s for names and values; {findings} findings; goal 10 s",
        flush=True,
    )


def _placements(count: int) -> Iterator[dict[str, Any]]:
    """All different: labels, claims and expressions over names and values of which some are mistaken."""
    for index in range(count):
        cloud, tier = _CLOUDS[index % len(_CLOUDS)], _TIERS[index % len(_TIERS)]
        expression = (
            rf"managedCluster.metadata.labels['version'].matches('^1\\.{20 + index % 15}\\.') && "
            rf"managedCluster.metadata.labels.cloud == '{cloud}' || managedCluster.metadata.name == 'none-{index}'",
            f'managedCluster.status.clusterClaims.exists(c, c.name == "nodecount.example.com" && c.value == "{index}")',
            f"managedCluster.metadata.labels.tier == '{tier}' && managedCluster.metadata.labels['team'] != 't{index}'",
            f'managedCluster.metadata.labels["accelerator"] == "h{index}"',
        )[index % 4]
        placement = a_placement(f"p{index}", expression, labelSelector={"matchLabels": {"cloud": cloud}})
        yield {
            "apiVersion": "cluster.open-cluster-management.io/v1beta1",
            "kind": "Placement",
            **placement,
        }


def main(size: int = 100_000, placements: int = 1000) -> None:
    fleet = Fleet()
    fleet.put_many(clusters(size))
    explanations(fleet)
    linting(fleet, placements)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
