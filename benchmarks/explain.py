"""Explanations and lint over a large fleet: one cluster, the funnel, and a thousand placements.

Goals: one cluster of 100,000 in 50 ms, the funnel in 300 ms, lint of 1,000 placements against 100,000 clusters in 10 s.
`python -m benchmarks.explain [CLUSTERS [PLACEMENTS]]`.
"""

from __future__ import annotations

import statistics
import sys
import time
from functools import partial
from typing import TYPE_CHECKING, Any

from benchmarks._report import RUNS, figures, heading, matrix
from benchmarks.fleet import BINDING, CLAIM_REGEX, GLOBAL_SET, LABEL_REGEX, a_placement, clusters, scheduled, timed
from muster.fleet import Fleet
from muster.placement import plan_of, visibility
from muster.placement.explain.explanation import explain_cluster, explain_placement, funnel
from muster.placement.lint.placements import lint, lint_fields, vocabulary
from muster.placement.schedule.plan import PLACEMENTS
from muster.selectors.cel import CelLimits, cel_compiler

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

_ROUNDS = 7
ONE, FUNNEL, LINT = "one cluster", "funnel by reason", "lint, s"
_CLOUDS = ("Amazon", "Azure", "Google", "BareMetal", "amazon", "Alibaba")
_TIERS = ("gold", "silver", "bronze", "platinum")


def middle(work: Callable[[], Any]) -> tuple[float, Any]:
    """The median of some rounds, in milliseconds of CPU, and the last result."""
    times, results = zip(*(timed(work) for _ in range(_ROUNDS)), strict=True)
    return statistics.median(times), results[-1]


def explanations(fleet: Fleet) -> dict[str, dict[str, float]]:
    size = len(fleet)
    placements = {
        "label regex": a_placement("p", LABEL_REGEX),
        "`clusterClaims.exists`": a_placement("p", CLAIM_REGEX),
        "labels and CEL with `&&`": a_placement(
            "p",
            f"{LABEL_REGEX} && managedCluster.metadata.labels.tier == 'gold'",
            labelSelector={"matchLabels": {"cloud": "Amazon"}},
        ),
        "two predicates, timed toleration": _two_predicates(),
    }
    name = fleet.name(int(fleet.rows()[size // 2]))
    found = {}
    for kind, placement in placements.items():
        result = scheduled(fleet, placement)
        one, _ = middle(partial(explain_cluster, result, name))
        whole, stages = middle(partial(funnel, result))
        near, _ = middle(partial(explain_placement, result))
        assert stages[0].before == size
        found[kind] = {ONE: one, FUNNEL: whole, "with near misses": near}
    return found


def _two_predicates() -> dict[str, Any]:
    placement = a_placement("p", LABEL_REGEX)
    second = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Azure", "tier": "gold"}}}}
    placement["spec"]["predicates"].append(second)
    placement["spec"]["tolerations"] = [{"key": "gpu", "operator": "Exists", "tolerationSeconds": 60}]
    return placement


def linting(fleet: Fleet, count: int) -> dict[str, float]:
    wanted = list(_placements(count))
    limits = CelLimits()
    seen = visibility("apps", (), [BINDING], [GLOBAL_SET])
    started = time.process_time()
    known = vocabulary(fleet)
    gathered = time.process_time()
    compile_cel = cel_compiler(fleet.scores, limits)
    findings = 0
    for placement in wanted:
        findings += len(lint_fields(placement))
        plan = plan_of(placement, compile_cel)
        findings += len(lint(plan, seen, known, limits.estimate, PLACEMENTS.partly(placement).obj.spec))
    done = time.process_time()
    return {LINT: done - started, "of which names and values, s": gathered - started, "findings": findings}


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
    explained, linted = [], []
    heading(
        "make bench AREA=explain",
        f"{size:,} clusters, columns present; milliseconds of CPU, the median of {_ROUNDS} in each run. Behind them "
        f"lint of {placements:,} different placements.",
    )
    for _ in range(RUNS):
        fleet = Fleet()
        fleet.put_many(clusters(size))
        explained.append(explanations(fleet))
        linted.append(linting(fleet, placements))
    matrix(explained, {ONE: 50, FUNNEL: 300}, "placement")
    print()
    figures(linted, {LINT: 10})


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
