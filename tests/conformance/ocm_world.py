"""The objects of a recorded scenario, scheduled as by a controller: every round sees the decisions of the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.fleet import Fleet, score_of
from muster.placement import Cycle, ScheduleResult, decided, plan_of, schedule, visibility
from muster.selectors.cel import cel_compiler
from tests.builders import a_time

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

Object = dict[str, Any]
PLACEMENT_LABEL: Final = "cluster.open-cluster-management.io/placement"
_ROUNDS: Final = 6


class World:
    """The objects of a scenario, and the placement's decisions as they stand."""

    def __init__(self, case: Mapping[str, Any]) -> None:
        self.now: datetime = a_time(case.get("now") or "2026-01-01T00:00:00Z")
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.placement: Object = case["placement"]
        self.pages: dict[str, tuple[str, ...]] = {}
        for field in ("clusters", "clusterSets", "clusterSetBindings", "addOnPlacementScores", "placementDecisions"):
            for obj in case.get(field) or ():
                self.apply(obj)
        self.own = [
            decision["clusterName"]
            for obj in self.of_kind("PlacementDecision")
            if self.is_own(obj)
            for decision in (obj.get("status") or {}).get("decisions") or ()
        ]

    def is_own(self, obj: Object) -> bool:
        metadata, own = obj["metadata"], self.placement["metadata"]
        return bool(
            metadata.get("namespace") == own.get("namespace")
            and (metadata.get("labels") or {}).get(PLACEMENT_LABEL) == own["name"]
        )

    def apply(self, obj: Object) -> None:
        if obj["kind"] == "Placement":
            self.placement = obj
        else:
            self.objects[key_of(obj)] = obj

    def delete(self, reference: Mapping[str, str]) -> None:
        key = (reference["kind"], reference.get("namespace", ""), reference["name"])
        self.objects.pop(key, None)
        if reference["kind"] == "PlacementDecision":
            gone = self.pages.get(reference["name"], ())
            self.own = [name for name in self.own if name not in gone]

    def of_kind(self, kind: str) -> list[Object]:
        return [obj for key, obj in self.objects.items() if key[0] == kind]

    def foreign(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for obj in self.of_kind("PlacementDecision"):
            if not self.is_own(obj):
                for decision in (obj.get("status") or {}).get("decisions") or ():
                    counts[decision["clusterName"]] = counts.get(decision["clusterName"], 0) + 1
        return counts

    def schedule_once(self) -> ScheduleResult:
        fleet = Fleet()
        for obj in self.of_kind("AddOnPlacementScore"):
            fleet.put_score(obj["metadata"]["namespace"], obj["metadata"]["name"], score_of(obj))
        fleet.advance(self.now)
        fleet.put_many(msgspec.json.encode(obj) for obj in self.of_kind("ManagedCluster"))
        plan = plan_of(self.placement, cel_compiler(fleet.scores))
        seen = visibility(
            plan.namespace,
            plan.cluster_sets,
            self.of_kind("ManagedClusterSetBinding"),
            self.of_kind("ManagedClusterSet"),
        )
        return schedule(Cycle(plan, fleet, seen, self.now, decided(fleet, self.own, self.foreign())))

    def converge(self) -> tuple[ScheduleResult, ScheduleResult]:
        """The first result, and the one after which nothing changes."""
        first = result = self.schedule_once()
        for _ in range(_ROUNDS):
            if result.fault is not None or self.own == result.selected:
                break
            self.own = result.selected
            self.pages = {page.name: page.clusters for page in result.pages()}
            result = self.schedule_once()
        return first, result


def key_of(obj: Object) -> tuple[str, str, str]:
    return (obj["kind"], obj["metadata"].get("namespace", ""), obj["metadata"]["name"])
