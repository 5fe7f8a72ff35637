"""Laws of schedules: on a fleet that has seen any changes they are those of a fleet that is loaded anew, the clusters
that are picked are those of the simplest rule, and a result stays what it was whatever changes later."""

from __future__ import annotations

import random
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest

from muster.fleet import Fleet, score_of
from muster.placement import Cycle, ScheduleResult, decided, plan_of, schedule, visibility
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

NOW = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = [f"c{number:02}" for number in range(70)]
SETS = [a_set()]
ON_PROD = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"env": "prod"}}}}
BY_CEL = {
    "requiredClusterSelector": {"celSelector": {"celExpressions": ["managedCluster.metadata.labels['env'] != 'x'"]}}
}
TOLERATIONS = [
    [],
    [{"key": "new", "operator": "Exists"}],
    [{"key": "no", "operator": "Exists", "tolerationSeconds": 60}],
]
WEIGHTS = [
    {},
    {"mode": "Exact", "configurations": []},
    {
        "configurations": [
            {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Steady"}, "weight": 3},
            {"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Balance"}, "weight": -1},
        ]
    },
    {
        "configurations": [
            {
                "scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}},
                "weight": 2,
            }
        ]
    },
]
GROUPS = [
    {},
    {"groupStrategy": {"clustersPerDecisionGroup": "40%"}},
    {"groupStrategy": {"clustersPerDecisionGroup": 3}},
]
SPREADS = [{}, {"spreadConstraints": [{"topologyKey": "zone", "maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule"}]}]


def placements(chance: random.Random) -> list[dict[str, Any]]:
    found = []
    for number in range(8):
        spec: dict[str, Any] = {
            "predicates": chance.choice([[], [ON_PROD], [ON_PROD, BY_CEL]]),
            "tolerations": chance.choice(TOLERATIONS),
            "prioritizerPolicy": chance.choice(WEIGHTS),
            "decisionStrategy": chance.choice(GROUPS),
            "spreadPolicy": chance.choice([*SPREADS, {}, {}]),
            "sortBy": chance.choice(["", "Score"]),
        }
        if (limit := chance.choice([None, 0, 1, 3, 20, 200, -1])) is not None:
            spec["numberOfClusters"] = limit  # -1: misconfigured
        found.append(a_placement(f"p{number}", **spec))
    return found


class Hub:
    """Objects, a fleet that follows their changes, and decisions that stay where nothing moves them."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance
        self.clusters: dict[str, dict[str, Any]] = {}
        self.scores: dict[str, dict[str, Any]] = {}
        self.fleet = Fleet()
        self.now = NOW
        self.placements = placements(chance)
        self.decisions: dict[str, list[str]] = {}
        self.fleet.advance(NOW)
        for name in NAMES[:50]:
            self.clusters[name] = self.cluster(name)
        self.fleet.put_many(map(msgspec.json.encode, self.clusters.values()))

    def cluster(self, name: str) -> dict[str, Any]:
        chance = self.chance
        labels = {"env": chance.choice(["prod", "prod", "dev"]), "zone": chance.choice("abc")}
        added = (NOW - timedelta(seconds=chance.choice([10, 58, 70]))).strftime("%Y-%m-%dT%H:%M:%SZ")
        taint = chance.choice(
            [None] * 6
            + [a_taint("new", "NoSelectIfNew"), a_taint("x", "PreferNoSelect"), a_taint("no", "NoSelect", added=added)]
        )
        return a_cluster(name, labels, taints=[taint] if taint else [])

    def change(self) -> None:
        chance = self.chance
        name = chance.choice(NAMES)
        match chance.randrange(5):
            case 0 if name in self.clusters and len(self.clusters) > 5:
                del self.clusters[name]
                self.fleet.remove(name)
            case 1:
                self.scores[name] = a_score(name, {"cpu": chance.randrange(-100, 100)}, "usage", None)
                self.fleet.put_score(name, "usage", score_of(self.scores[name]))
            case 2:
                self.now += timedelta(seconds=1)
                self.fleet.advance(self.now)
            case _:
                self.clusters[name] = self.cluster(name)
                self.fleet.put(msgspec.json.encode(self.clusters[name]))

    def anew(self) -> Fleet:
        fleet = Fleet()
        fleet.advance(self.now)
        for name, score in self.scores.items():
            fleet.put_score(name, "usage", score_of(score))
        fleet.put_many(map(msgspec.json.encode, self.clusters.values()))
        return fleet

    def foreign(self, name: str) -> dict[str, int]:
        counts: dict[str, int] = {}
        for owner, clusters in self.decisions.items():
            for cluster in clusters if owner != name else ():
                counts[cluster] = counts.get(cluster, 0) + 1
        return counts

    def scheduled(self, fleet: Fleet, placement: dict[str, Any]) -> ScheduleResult:
        name = placement["metadata"]["name"]
        plan = plan_of(placement, cel_compiler(fleet.scores))
        seen = visibility(plan.namespace, plan.cluster_sets, [a_binding()], SETS)
        known = decided(fleet, self.decisions.get(name, ()), self.foreign(name))
        return schedule(Cycle(plan, fleet, seen, self.now, known))


def told(result: ScheduleResult) -> dict[str, Any]:
    """Everything that a result says, by names."""
    names = result.cycle.fleet.names
    return {
        "fitting": names(result.feasible.tolist()),
        "stages": [sorted(names(stage.passing.nonzero()[0].tolist())) for stage in result.stages],
        "scores": [(each.name, each.weight, each.scores.tolist()) for each in result.scorers],
        "totals": result.totals.tolist(),
        "ranked": names(result.ranked.tolist()),
        "selected": result.selected,
        "count": result.count,
        "groups": list(result.named_groups()),
        "conditions": result.conditions,
        "unscheduled": result.unscheduled,
        "requeue": result.requeue_at,
        "warning": result.warning,
        "fault": str(result.fault),
    }


def in_rows(result: ScheduleResult) -> list[Any]:
    """Everything that a result keeps and that is made when somebody asks for it."""
    scores = [each.scores.tolist() for each in result.scorers]
    return [result.feasible.tolist(), result.totals.tolist(), result.ranked.tolist(), result.rows.tolist(), scores]


def picked_simply(hub: Hub, placement: dict[str, Any], result: ScheduleResult) -> list[str]:
    """By dislike, total and name, from what decisions there are."""
    name, limit = placement["metadata"]["name"], placement["spec"].get("numberOfClusters")
    own, foreign = set(hub.decisions.get(name, ())), hub.foreign(name)
    peak = max(foreign.values(), default=0)
    weights = {each.scorer.name: each.weight for each in result.cycle.plan.scorers}

    def total(cluster: str) -> int:
        count = foreign.get(cluster, 0)
        balance = 100 if not count else 2 * int(100 * (0.5 - count / peak))
        scores = hub.scores.get(cluster, {}).get("status", {}).get("scores", ())
        usage = next((each["value"] for each in scores if each["name"] == "cpu"), 0)
        return (
            weights.get("Steady", 0) * (100 if cluster in own else 0)
            + weights.get("Balance", 0) * balance
            + weights.get("AddOn/usage/cpu", 0) * usage
        )

    def disliked(cluster: str) -> bool:
        return any(taint["effect"] == "PreferNoSelect" for taint in hub.clusters[cluster]["spec"].get("taints", ()))

    fitting = result.cycle.fleet.names(result.feasible.tolist())
    return sorted(fitting, key=lambda each: (disliked(each), -total(each), each))[:limit]


@pytest.mark.parametrize("seed", range(30))
def test_after_any_changes_a_schedule_is_that_of_a_fleet_loaded_anew(seed: int) -> None:
    hub = Hub(random.Random(seed))
    kept: list[tuple[ScheduleResult, list[Any]]] = []
    for _ in range(12):
        for _ in range(hub.chance.randrange(4)):
            hub.change()
        for placement in hub.placements:
            result, lazy = (hub.scheduled(hub.fleet, placement) for _ in range(2))
            assert told(result) == told(hub.scheduled(hub.anew(), placement))
            if not placement["spec"]["spreadPolicy"] and result.fault is None:
                found = hub.fleet.names(result.ranked.tolist())
                assert found == picked_simply(hub, placement, result)
            if result.fault is None and hub.chance.random() < 0.7:
                hub.decisions[placement["metadata"]["name"]] = result.selected
            kept.append((lazy, in_rows(result)))
    for lazy, were in kept:
        assert in_rows(lazy) == were
