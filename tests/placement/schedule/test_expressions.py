"""Expressions in predicates: beside labels and claims, within their budgets, compiled once."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import msgspec

from muster.fleet import Fleet
from muster.placement import Condition, Cycle, ScheduleResult, decided, plan_of, schedule, visibility, why_not
from muster.selectors.cel import CEL_LIMITS, CelLimits, cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_set, a_time

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

NOW = a_time("2026-01-01T00:00:00Z")


def scheduled(
    *expressions: str, clusters: Sequence[Mapping[str, Any]], limits: CelLimits | None = None, **selectors: Any
) -> ScheduleResult:
    """One predicate of expressions and whatever other selectors."""
    selector = {"celSelector": {"celExpressions": list(expressions)}, **selectors}
    placement = a_placement(predicates=[{"requiredClusterSelector": selector}])
    fleet = Fleet()
    fleet.advance(NOW)
    fleet.put_many(msgspec.json.encode(cluster) for cluster in clusters)
    plan = plan_of(placement, cel_compiler(fleet.scores, limits))
    seen = visibility(plan.namespace, plan.cluster_sets, [a_binding()], [a_set()])
    return schedule(Cycle(plan, fleet, seen, NOW, decided(fleet, (), {})))


def test_the_labels_the_claims_and_every_expression_of_one_predicate_must_hold() -> None:
    good = {"cloud": "Amazon", "tier": "gold"}
    clusters = [
        a_cluster("all", good, {"region": "eu"}),
        a_cluster("other-label", good | {"cloud": "Azure"}, {"region": "eu"}),
        a_cluster("other-claim", good, {"region": "us"}),
        a_cluster("no-claim", good),
        a_cluster("first-expression", good | {"tier": "silver"}, {"region": "eu"}),
        a_cluster("x-second-expression", good, {"region": "eu"}),
        a_cluster("failing-expression", {"cloud": "Amazon"}, {"region": "eu"}),
    ]
    result = scheduled(
        "managedCluster.metadata.labels.tier == 'gold'",
        "!managedCluster.metadata.name.startsWith('x-')",
        clusters=clusters,
        labelSelector={"matchLabels": {"cloud": "Amazon"}},
        claimSelector={"matchExpressions": [{"key": "region", "operator": "In", "values": ["eu"]}]},
    )
    assert result.selected == ["all"]
    assert "label cloud is 'Azure'" in (why_not(result, "other-label") or "")
    assert "claim region is 'us'" in (why_not(result, "other-claim") or "")
    assert "no such key: tier" in (why_not(result, "failing-expression") or "")


def test_an_expression_over_the_cost_limit_selects_nothing_and_the_status_says_so() -> None:
    claims = {f"claim{number}": "x" for number in range(60)}
    text = "managedCluster.status.clusterClaims.map(c, c.name + c.value).size() > 0"
    limits = replace(CEL_LIMITS.value, expression=100)
    clusters = [a_cluster("many", {}, claims), a_cluster("few", {}, {"a": "b"})]
    result = scheduled(text, clusters=clusters, limits=limits)
    assert (result.fault, result.selected) == (None, ["few"])
    told = result.conditions["PredicatesEvaluated"]
    assert (told.status, told.reason) == ("False", "EvaluationErrors")
    assert told.message.startswith("1 clusters are not selected because an expression failed: reasons: ")
    assert "budget exceeded: it costs too much" in told.message
    assert result.conditions["PlacementMisconfigured"].status == "False"


def test_parse_json_is_a_function_as_well_as_a_method() -> None:
    claims = {"gpus": '{"H100": 8}'}
    clusters = [a_cluster("a", {}, claims), a_cluster("b", {}, {"gpus": "not json"})]
    at = "managedCluster.status.clusterClaims.filter(c, c.name == 'gpus')[0].value"
    assert scheduled(f"parseJSON({at}).H100 > 4", clusters=clusters).selected == ["a"]
    assert scheduled(f"{at}.parseJSON().H100 > 4", clusters=clusters).selected == ["a"]


def test_an_expression_is_compiled_once_however_many_placements_have_it() -> None:
    text = "managedCluster.metadata.labels.cloud == 'compiled once'"
    placement = a_placement(predicates=[{"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}])
    compiler = cel_compiler()
    plans = [plan_of({**placement, "metadata": {"name": name, "namespace": "apps"}}, compiler) for name in "ab"]
    first, second = (plan.predicates[0][-1].programs[0] for plan in plans)  # type: ignore[attr-defined]  # CEL selectors have programs
    assert first is second


def test_a_placement_without_errors_has_no_condition_about_them() -> None:
    result = scheduled("true", clusters=[a_cluster("a")])
    assert "PredicatesEvaluated" not in result.conditions
    assert result.conditions["PlacementSatisfied"] == Condition(
        "True", "AllDecisionsScheduled", "All cluster decisions scheduled"
    )
