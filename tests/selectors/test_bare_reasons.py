"""Reasons without values: the text of the selector and words of ours, and nothing of the cluster."""

from __future__ import annotations

from typing import Any

import pytest

from muster.placement import plan_of
from muster.reasons import bare as bared
from muster.reasons import sentence
from muster.selectors.cel import cel_compiler
from muster.selectors.match import Verdict
from muster.selectors.membership import membership
from tests.builders import a_cluster, a_placement, a_set

CLUSTER = a_cluster("c1", {"tier": "SECRET", "a": "SECRET"}, {"region": "SECRET"})
LABELS = "managedCluster.metadata.labels"


def bare(**selector: Any) -> str:
    plan = plan_of(a_placement(predicates=[{"requiredClusterSelector": selector}]), cel_compiler())
    assert plan.fault is None, plan.fault
    ((part,),) = plan.predicates
    return sentence(bared(part.match(CLUSTER).why))


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        (f"{LABELS}[{LABELS}['a']] == 'x'", "failed: no such key"),
        (f"int({LABELS}['a']) == 1", "failed: type conversion error"),
        (f"1 / (size({LABELS}['a']) - 6) == 1", "failed: division by zero"),
        (f"{LABELS}['a'] == 'x'", "is false"),
        (f"dyn({LABELS}['a'])", "is not a boolean"),
        (f"quantity({LABELS}['a']).isGreaterThan(quantity('1'))", "failed: it could not be evaluated"),
    ],
)
def test_an_expression_is_told_by_its_text_and_a_class(expression: str, told: str) -> None:
    assert bare(celSelector={"celExpressions": [expression]}) == f"'{expression}' {told}"


def test_requirements_and_sets_are_told_as_they_were_written() -> None:
    wanted = [{"key": "tier", "operator": "In", "values": ["gold", "silver"]}]
    assert bare(labelSelector={"matchExpressions": wanted}) == "label tier in (gold,silver) does not hold"
    assert bare(claimSelector={"matchLabels": {"region": "eu"}}) == "claim region=eu does not hold"
    rule = membership(a_set("prod", clusterSelector={"selectorType": "ExclusiveClusterSetLabel"}))
    match = rule.match(CLUSTER)
    assert match.verdict is Verdict.NO
    assert sentence(bared(match.why)) == "not labelled cluster.open-cluster-management.io/clusterset=prod"


def test_long_expressions_are_cut() -> None:
    long = " && ".join([f"{LABELS}['a'] == 'x'"] * 20)
    assert len(bare(celSelector={"celExpressions": [long]})) < 300
