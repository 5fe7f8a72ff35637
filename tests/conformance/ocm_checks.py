"""Scenarios of the scheduler at each of their checks, and under which rule a check falls: read off the case alone."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from tests.builders import a_time
from tests.conformance import ocm_model as model
from tests.conformance.cel.calls import calls
from tests.conformance.ocm_world import Object, key_of
from tests.conformance.suites import PLAIN, Kind, Rule

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

KEPT: Final = "a misconfigured placement keeps its decisions"
AT_ONCE: Final = "validation does not wait for a cluster"
SPELT: Final = "CEL as the specification writes it"
BOOLEAN: Final = "an expression must be boolean"
EXPIRED: Final = "an expired score is an error in CEL"
BAD_SET: Final = "one bad cluster set is skipped"
LAST: Final = "PreferNoSelect ranks last"
SPREAD: Final = "spreadPolicy is honoured"
SORTED: Final = "sortBy Score is honoured"

_DISABLED: Final = "cluster.open-cluster-management.io/experimental-scheduling-disable"
BAD_SET_ERROR: Final = re.compile(r'failed to get clusters from ClusterSet "([^"]*)": (.*)', re.DOTALL)
_OBJECTS: Final = ("clusters", "clusterSets", "clusterSetBindings", "addOnPlacementScores", "placementDecisions")


# --- A check ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """A scenario after `number` of its steps."""

    scenario: Mapping[str, Any]
    number: int = 0

    @property
    def name(self) -> str:
        return f"{self.scenario['id']} step {self.number}" if self.number else str(self.scenario["id"])

    @property
    def steps(self) -> list[Mapping[str, Any]]:
        return list(self.scenario.get("steps") or ())[: self.number]

    @property
    def expect(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.steps[-1]["expect"] if self.number else self.scenario["expect"]
        return found

    @property
    def now(self) -> str:
        times = [self.scenario.get("now"), *(step.get("now") for step in self.steps)]
        return [time for time in times if time][-1] if any(times) else "2026-01-01T00:00:00Z"

    @property
    def objects(self) -> dict[tuple[str, str, str], Object]:
        """What is there, the placement too, by kind and name."""
        found = {key_of(each): each for field in _OBJECTS for each in self.scenario.get(field) or ()}
        found[key_of(self.scenario["placement"])] = self.scenario["placement"]
        for step in self.steps:
            found |= {key_of(each): each for each in step.get("apply") or ()}
            for gone in step.get("delete") or ():
                found.pop((gone["kind"], gone.get("namespace", ""), gone["name"]), None)
        return found

    def of_kind(self, kind: str) -> list[Object]:
        return [each for key, each in self.objects.items() if key[0] == kind]

    @property
    def placement(self) -> Object:
        return self.of_kind("Placement")[-1]

    @property
    def spec(self) -> Mapping[str, Any]:
        return self.placement.get("spec") or {}

    @property
    def is_left_alone(self) -> bool:
        metadata = self.placement["metadata"]
        return bool(metadata.get("deletionTimestamp")) or (metadata.get("annotations") or {}).get(_DISABLED) == "true"

    def condition(self, kind: str) -> Mapping[str, str]:
        found: Mapping[str, str] = (self.expect.get("conditions") or {}).get(kind) or {}
        return found


def checks(data: Any) -> Iterator[Check]:
    for scenario in data if isinstance(data, list) else data["cases"]:
        steps = scenario.get("steps") if isinstance(scenario, dict) else None
        for number in range(len(steps or ()) + 1):
            yield Check(scenario, number)


# --- Which rule -------------------------------------------------------------------------------------------------------


def classify(check: Check) -> Kind:
    if check.is_left_alone or check.scenario.get("origin") == "proposal":
        return PLAIN  # a proposal's own statement is what is wanted
    texts = model.expressions(check.spec)
    if check.condition("PlacementMisconfigured").get("status") == "True":
        if any(map(is_spelt_as_specified, texts)) and not any(map(model.compile_fault, texts)):
            return Rule(SPELT)
        return Rule(KEPT)
    if any(map(model.is_not_boolean, texts)):
        return Rule(BOOLEAN)
    if waiting_fault(check) is not None:
        return Rule(AT_ONCE)
    if BAD_SET_ERROR.fullmatch(check.expect.get("syncError") or ""):
        return Rule(BAD_SET)
    if expired_readings(check):
        return Rule(EXPIRED)
    if check.spec.get("spreadPolicy"):
        return Rule(SPREAD)
    feasible = (check.expect.get("totalScores") or {}).keys()
    if model.disliked(check.of_kind("ManagedCluster"), check.spec, check.now) & feasible:
        return Rule(LAST)
    return Rule(SORTED) if check.spec.get("sortBy") == "Score" else PLAIN


def is_spelt_as_specified(text: str) -> bool:
    """Whether an expression has a form that the specification shows and upstream does not ship."""
    forms = {("semver", 2), ("parseJSON", 1), ("scores", 2)}
    return any((each.name, len(each.arguments)) in forms and not each.member for each in calls(text))


def waiting_fault(check: Check) -> str | None:
    """The message of a fault that upstream did not come to, because no cluster did."""
    stages = check.expect.get("filterResults") or ()
    passed = [each.get("filteredClusters") or () for each in stages]
    if fault := model.predicate_fault(check.spec):
        is_reached = check.condition("PlacementSatisfied").get("reason") not in (
            "AllManagedClusterSetsEmpty",
            "NoManagedClusterSetBindings",
            "NoIntersection",
        )
        return None if is_reached else fault
    fault = model.toleration_fault(check.spec)
    return fault if fault and not (passed and passed[0]) else None


def expired_readings(check: Check) -> list[Object]:
    """Scores past their time that an expression of the placement reads."""
    read = [each.arguments for text in model.expressions(check.spec) for each in calls(text) if each.name == "scores"]
    literal = {arguments[-1][1:-1] for arguments in read if arguments and arguments[-1][:1] in "'\""}
    any_name = any(not arguments or arguments[-1][:1] not in "'\"" for arguments in read)
    return [
        each
        for each in check.of_kind("AddOnPlacementScore")
        if (until := (each.get("status") or {}).get("validUntil"))
        and a_time(until) < a_time(check.now)
        and (any_name or each["metadata"]["name"] in literal)
    ]
