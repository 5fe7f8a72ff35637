"""Valid placements that cannot be meant."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from muster.controllers.placements.readers import BINDINGS, SETS
from muster.controllers.placements.timed_selectors import Tally, timed
from muster.fleet import Fleet, score_of
from muster.placement import plan_of, visibility
from muster.placement.lint.placements import (
    RULES,
    Finding,
    Severity,
    lint,
    lint_binding,
    lint_fields,
    lint_set,
    vocabulary,
)
from muster.selectors.cel import cel_compiler
from tests.builders import a_binding, a_cluster, a_placement, a_placement_spec, a_score, a_set, a_taint

LIMIT = 10_000_000
CLUSTERS = (
    a_cluster("a", {"cloud": "Amazon", "region": "eu-west-1"}, {"platform": "AWS"}, [a_taint("gpu", value="h100")]),
    a_cluster("b", {"cloud": "Azure"}),
    a_cluster("c", {"cloud": "Azure"}),
)
P0 = "spec.predicates[0].requiredClusterSelector"
CEL0 = f"{P0}.celSelector.celExpressions[0]"


def a_fleet() -> Fleet:
    fleet = Fleet()
    fleet.put_score("a", "usage", score_of(a_score("a", {"cpu": 1})))
    fleet.advance(datetime(2026, 1, 1, tzinfo=UTC))
    fleet.put_many(msgspec.json.encode(cluster) for cluster in CLUSTERS)
    return fleet


def found(binding: str = "global", **spec: Any) -> list[Finding]:
    fleet = a_fleet()
    plan = plan_of(a_placement(**spec), cel_compiler(fleet.scores))
    seen = visibility("apps", plan.cluster_sets, [a_binding(binding)], [a_set("global"), a_set("gpu", {"gpu": "yes"})])
    return lint(plan, seen, vocabulary(fleet), LIMIT, a_placement_spec(**spec))


def findings(binding: str = "global", **spec: Any) -> list[tuple[str, str]]:
    return [(each.code, str(each)) for each in found(binding, **spec)]


def predicate(**selectors: Any) -> dict[str, Any]:
    return {"requiredClusterSelector": selectors}


def labels(**wanted: str) -> dict[str, Any]:
    return predicate(labelSelector={"matchLabels": wanted})


def cel(*expressions: str) -> dict[str, Any]:
    return predicate(celSelector={"celExpressions": list(expressions)})


def requiring(kind: str, key: str, operator: str, *values: str) -> dict[str, Any]:
    requirement = {"key": key, "operator": operator, **({"values": list(values)} if values else {})}
    return predicate(**{f"{kind}Selector": {"matchExpressions": [requirement]}})


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, []),
        ({"predicates": [labels(cloud="Azure")]}, []),
        (
            {"predicates": [labels(clowd="Amazon")]},
            [
                (
                    "no-such-label",
                    f"{P0}.labelSelector.matchLabels.clowd: no cluster has the label 'clowd' (did you mean cloud?)",
                )
            ],
        ),
        (
            {"predicates": [labels(cloud="azure")]},
            [
                (
                    "never-holds",
                    f"{P0}.labelSelector.matchLabels.cloud: no cluster meets cloud=azure: label cloud is Amazon, Azure"
                    " (did you mean Azure?)",
                )
            ],
        ),
        (
            {"predicates": [requiring("claim", "platfrm", "Exists")]},
            [
                (
                    "no-such-claim",
                    f"{P0}.claimSelector.matchExpressions[0]: no cluster has the claim 'platfrm'"
                    " (did you mean platform?)",
                )
            ],
        ),
        ({"predicates": [requiring("label", "retired", "DoesNotExist"), labels(cloud="Amazon")]}, []),
        ({"predicates": [requiring("label", "owner", "NotIn", "nobody")]}, []),
        (
            {"predicates": [labels(cloud="Azure"), labels(cloud="Azure")]},
            [("duplicate-predicate", "spec.predicates[1]: says the same as predicate 1 (remove one)")],
        ),
        (
            {"predicates": [labels(cloud="Amazon", region="eu-west-1"), requiring("label", "cloud", "Exists")]},
            [
                (
                    "shadowed-predicate",
                    "spec.predicates[0]: selects nothing that predicate 2 does not select anyway (predicates are "
                    "alternatives: remove this one, or remove predicate 2 to ask for more)",
                )
            ],
        ),
        (
            {"predicates": [labels(cloud="Azure"), predicate()]},
            [
                (
                    "matches-everything",
                    "spec.predicates[1]: matches every cluster, so the other predicates mean nothing (remove it, or "
                    "put all conditions into one predicate: predicates are alternatives)",
                )
            ],
        ),
        (
            {"predicates": [cel("managedCluster.metadata.labels['region'] == 'eu-west-1'")]},
            [
                (
                    "missing-key",
                    f"{CEL0}: fails on 2 of 3 clusters, which are not selected then: no such key: region "
                    '(write managedCluster.metadata.?labels[?"region"].orValue(""))',
                )
            ],
        ),
        (
            {"predicates": [cel("managedCluster.spec.taints.exists(t, t.key == 'gpu')")]},
            [
                (
                    "missing-key",
                    f"{CEL0}: fails on 2 of 3 clusters, which are not selected then: no such key: taints "
                    "(write managedCluster.?spec.?taints.orValue([]))",
                )
            ],
        ),
        ({"predicates": [cel('managedCluster.metadata.?labels[?"region"].orValue("") != "x"')]}, []),
        (
            {"predicates": [cel("has(managedCluster.metadata.labels.region) || managedCluster.metadata.name == 'b'")]},
            [],
        ),
        ({"predicates": [cel("!has(managedCluster.metadata.labels.retired)")]}, []),
        (
            {"predicates": [cel("has(managedCluster.metadata.labels.regoin)")]},
            [("no-such-label", f"{CEL0}: no cluster has the label 'regoin' (did you mean region?)")],
        ),
        (
            {"predicates": [cel("managedCluster.scores('usge').size() > 0")]},
            [("no-such-score", f"{CEL0}: no cluster has the score 'usge' (did you mean usage?)")],
        ),
        (
            {"predicates": [cel("managedCluster.status.clusterClaims.exists(c, c.name == 'platfom')")]},
            [("no-such-claim", f"{CEL0}: no cluster has the claim 'platfom' (did you mean platform?)")],
        ),
        (
            {"predicates": [cel("managedCluster.metadta.name == 'a'")]},
            [
                (
                    "no-such-field",
                    f"{CEL0}: clusters have no field 'metadta' in managedCluster (did you mean metadata?)",
                )
            ],
        ),
        (
            {
                "predicates": [
                    cel("managedCluster.metadata.labels.cloud == 'Azur' || managedCluster.metadata.name == 'b'")
                ]
            },
            [
                (
                    "never-holds",
                    f"{CEL0}: 'labels.cloud == \"Azur\"' is true for no cluster "
                    "(labels.cloud is Amazon, Azure; did you mean Azure?)",
                )
            ],
        ),
        (
            {
                "predicates": [
                    cel("managedCluster.metadata.labels.cloud == 'Azure' && managedCluster.metadata.name == 'a'")
                ]
            },
            [
                (
                    "never-holds",
                    f"{CEL0}: 'name == \"a\"' is true for no cluster (name is a, b, c)",
                )
            ],
        ),
        (
            {"predicates": [labels(cloud="Azure", region="eu-west-1")]},
            [
                (
                    "selects-nothing",
                    "spec.predicates: no cluster matches, though each condition holds for some (loosen a condition)",
                )
            ],
        ),
        (
            {"predicates": [labels(cloud="Amazon")]},
            [
                (
                    "all-tainted",
                    "spec.tolerations: all 1 clusters that match carry taints that are not tolerated "
                    "(there is gpu=h100:NoSelect)",
                )
            ],
        ),
        (
            {"predicates": [labels(cloud="Azure")], "numberOfClusters": 5},
            [("too-few-clusters", "spec.numberOfClusters: 5 clusters are wanted, 2 match")],
        ),
        (
            {"tolerations": [{"key": "gpus", "operator": "Exists"}]},
            [
                (
                    "useless-toleration",
                    "spec.tolerations[0]: tolerates 'gpus', and no cluster has such a taint (did you mean gpu?)",
                )
            ],
        ),
        (
            {"tolerations": [{"key": "gpu", "value": "a100"}]},
            [
                (
                    "useless-toleration",
                    "spec.tolerations[0]: tolerates gpu=a100, which no cluster has (there is gpu=h100:NoSelect)",
                )
            ],
        ),
        (
            {"tolerations": [{"key": "gpu", "operator": "Exist"}]},
            [("useless-toleration", "spec.tolerations[0]: operator 'Exist' tolerates nothing (did you mean Exists?)")],
        ),
        (
            {"clusterSets": ["globl"]},
            [
                (
                    "set-not-bound",
                    "spec.clusterSets[0]: cluster set 'globl' is not bound to namespace apps (did you mean global?)",
                )
            ],
        ),
        (
            {"spreadPolicy": {"spreadConstraints": [{"topologyKey": "zone", "topologyKeyType": "Label"}]}},
            [
                (
                    "no-such-label",
                    "spec.spreadPolicy.spreadConstraints[0].topologyKey: no cluster has the label 'zone' "
                    "(there are cloud, region)",
                )
            ],
        ),
        (
            {"numberOfClusters": -1},
            [("misconfigured", "spec: numberOfClusters must not be negative, it is -1")],
        ),
    ],
)
def test_a_placement_that_cannot_be_meant_is_told_what_where_and_how_to_fix_it(
    spec: dict[str, Any], expected: list[tuple[str, str]]
) -> None:
    assert findings(**spec) == expected


@pytest.mark.parametrize(
    ("resource", "score", "message"),
    [
        ("usge", "cpu", "no cluster has the score 'usge' (did you mean usage?)"),
        ("usage", "cpus", "no score 'usage' has the item 'cpus' (did you mean cpu?)"),
    ],
)
def test_scores_that_nobody_reports_are_found(resource: str, score: str, message: str) -> None:
    coordinate = {"type": "AddOn", "addOn": {"resourceName": resource, "scoreName": score}}
    policy = {"configurations": [{"scoreCoordinate": coordinate, "weight": 1}]}
    where = "spec.prioritizerPolicy.configurations[0].scoreCoordinate.addOn"
    assert findings(prioritizerPolicy=policy) == [("no-such-score", f"{where}: {message}")]


@pytest.mark.parametrize(
    ("second", "said"),
    [
        ({"operator": "In", "values": ["Azure"]}, "cloud=Amazon and cloud in (Azure)"),
        ({"operator": "NotIn", "values": ["Amazon"]}, "cloud=Amazon and cloud notin (Amazon)"),
        ({"operator": "DoesNotExist"}, "cloud=Amazon and !cloud"),
    ],
)
def test_contradictory_requirements_are_found_without_a_fleet(second: dict[str, Any], said: str) -> None:
    selector = {"matchLabels": {"cloud": "Amazon"}, "matchExpressions": [{"key": "cloud", **second}]}
    where = f"{P0}.labelSelector.matchExpressions[0]"
    message = f"{where}: {said} exclude each other: nothing can match (remove one of them)"
    assert ("contradiction", message) in findings(predicates=[predicate(labelSelector=selector)])


def test_a_namespace_without_binding_and_an_empty_set_are_found() -> None:
    assert findings(binding="elsewhere") == [
        (
            "no-binding",
            "metadata.namespace: no cluster set is bound to namespace apps "
            "(create a ManagedClusterSetBinding in namespace apps)",
        )
    ]
    assert findings(binding="gpu") == [
        (
            "empty-sets",
            "spec.clusterSets: no cluster is in gpu (label clusters into it; `muster explain set` shows its rule)",
        )
    ]


def test_a_costly_expression_is_shown_with_the_part_that_costs_most() -> None:
    claims = "managedCluster.status.clusterClaims"
    pair = "a.value == b.value && a.name.startsWith(b.value)"
    costly = f"{claims}.all(a, {claims}.all(b, {pair}))"
    # Clusters without claims have no such list, as upstream shows them to CEL: those are other findings.
    finding, *others = found(predicates=[cel(f"managedCluster.metadata.labels.cloud != 'x' && {costly}")])
    assert "missing-key" in {each.code for each in others}
    assert (finding.code, finding.severity) == ("costly-expression", Severity.INFO)
    assert finding.message == "may cost up to 3,490,566, 35% of the limit of 10,000,000"
    assert finding.fix.startswith("most of it is clusterClaims.all(a, clusterClaims.all(b, ")
    assert finding.excerpt[1].index("^") == finding.excerpt[0].index("(a, ")


def test_a_broken_expression_is_shown_where_it_breaks() -> None:
    text = 'managedCluster.metadata.labels["version"].matchess("^1") && clouds'
    first, second = found(predicates=[cel("true", text)])
    where = f"{P0}.celSelector.celExpressions[1]"
    assert first == Finding(
        "invalid-expression", where, "undeclared reference to 'matchess'", "did you mean matches?", text, 50
    )
    assert first.excerpt == (f"| {text}", f"| {'.' * 50}^")
    assert second.message == "undeclared reference to 'clouds'"


def test_an_expression_that_may_cost_too_much_is_an_error() -> None:
    claims = "managedCluster.status.clusterClaims"
    costly = f"{claims}.all(a, {claims}.all(b, {claims}.all(c, a.value == b.value + c.value)))"
    (finding,) = found(predicates=[cel(costly)])
    assert (finding.code, finding.where) == ("too-costly", CEL0)
    assert finding.fix.startswith("most of it is ")


def test_a_misspelt_prioritizer_is_told_its_name() -> None:
    policy = {"configurations": [{"scoreCoordinate": {"type": "BuiltIn", "builtIn": "Stedy"}, "weight": 1}]}
    assert findings(prioritizerPolicy=policy) == [
        ("misconfigured", "spec: incorrect builtin prioritizer: Stedy (did you mean Steady?)")
    ]


def test_selectors_with_a_stopwatch_are_judged_like_any_other() -> None:
    fleet = a_fleet()
    spec: dict[str, Any] = {"predicates": [cel("managedCluster.metadata.labels.clowd == 'Azure'")]}
    plan = plan_of(a_placement(**spec), timed(cel_compiler(fleet.scores), Tally()))
    seen = visibility("apps", (), [a_binding()], [a_set()])
    assert [each.code for each in lint(plan, seen, vocabulary(fleet), LIMIT, a_placement_spec(**spec))] == [
        "no-such-label"
    ]


def test_lint_leaves_nothing_behind_in_the_fleet() -> None:
    fleet = a_fleet()
    plan = plan_of(a_placement(predicates=[labels(cloud="x")]), cel_compiler(fleet.scores))
    lint(plan, visibility("apps", (), [a_binding()], [a_set()]), vocabulary(fleet), LIMIT)
    changed = a_cluster("b", {"cloud": "x"})
    assert fleet.put(msgspec.json.encode(changed)) == frozenset()
    assert len(fleet.encoded(fleet.rows().tolist())) == 3


def test_unknown_fields_and_refused_values_are_found_in_any_kind() -> None:
    placement = a_placement(numberOfCluster=2, labelSelector={}, predicates=[{"requiredSelector": {}}])
    assert [(each.where, each.fix) for each in lint_fields(placement)] == [
        ("spec.labelSelector", "labelSelector belongs into spec.predicates[].requiredClusterSelector"),
        ("spec.numberOfCluster", "did you mean numberOfClusters?"),
        ("spec.predicates[0].requiredSelector", "did you mean requiredClusterSelector?"),
    ]
    cluster = a_cluster("c", taints=[a_taint("gpu", "NoSelct")])
    (refused,) = lint_fields(cluster)
    assert (refused.code, refused.where, refused.fix) == (
        "invalid-value",
        "spec.taints[0].effect",
        "did you mean NoSelect?",
    )
    assert lint_fields({"apiVersion": "example.com/v1", "kind": "Thing", "spec": {"any": 1}}) == []


def test_sets_and_bindings_are_judged_too() -> None:
    known = vocabulary(a_fleet())
    (finding,) = lint_set(SETS.demanded(a_set("s", {"clowd": "Amazon"})), known)
    assert (finding.code, finding.where) == (
        "no-such-label",
        "spec.clusterSelector.labelSelector.matchLabels.clowd",
    )
    assert lint_set(SETS.demanded(a_set("s", {"cloud": "Amazon"})), known) == []
    assert lint_binding(BINDINGS.demanded(a_binding("global")), {"global"}) == []
    (finding,) = lint_binding(BINDINGS.demanded(a_binding("globl")), {"global"})
    assert str(finding) == "spec.clusterSet: there is no ManagedClusterSet 'globl' (did you mean global?)"


def test_every_rule_says_what_it_is_about() -> None:
    assert all(rule.summary.endswith(".") and rule.remedy.endswith(".") for rule in RULES.values())
