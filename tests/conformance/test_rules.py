"""Every rule wants a whole outcome: what it wants passes, and one field that deviates fails.

Cases are made up here; where the recorded ones are at hand, the first of every rule is tried too.
"""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from muster.selectors.membership import DEFAULT_KEY
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set
from tests.conformance import (
    jq_classification,
    ocm_admission,
    ocm_checks,
    ocm_debugger,
    ocm_reevaluation,
    ocm_scenarios,
)
from tests.conformance.cel import others, recorded, specification
from tests.conformance.cel.evaluation import Ours
from tests.conformance.jq_differences import JQ
from tests.conformance.jq_gojq import GOJQ, Outcome
from tests.conformance.olm import parts, rows
from tests.conformance.results import CASES
from tests.conformance.suites import Rule, one

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.conformance.suites import Suite


def ruled(suite: Suite[Any, Any], case: Any, rule: str) -> Any:
    """Our outcome, after the case was seen to fall under the rule and the outcome to be what the rule wants."""
    kind = suite.classify(case)
    assert kind == Rule(rule)
    with suite.running() as run:
        ours = run(case)
    assert suite.judge(case, kind, ours).differences == ()
    return ours


def fails(suite: Suite[Any, Any], case: Any, ours: Any) -> bool:
    return not one(suite, case, lambda _: ours).ok


def other(value: Any) -> Any:
    """Something else of the same kind, if there is one."""
    match value:
        case bool():
            return not value
        case int() | float():
            return value + 1
        case str():
            return f"{value}x"
        case list():
            return [*value, "more"]
        case dict():
            return {**value, "more": "more"}
        case _:
            return "something"


# --- Placements -------------------------------------------------------------------------------------------------------

CLUSTERS = [a_cluster("c1", {"zone": "a"}), a_cluster("c2", {"zone": "a"}), a_cluster("c3", {"zone": "b"})]
BROKEN = a_set("bad", clusterSelector={"selectorType": "Nope"})


def a_scenario(record: dict[str, Any] | None = None, **changes: Any) -> ocm_checks.Check:
    """A scenario with the record of another one: what upstream does, which knows nothing of a rule."""
    scenario: dict[str, Any] = {
        "id": "made up",
        "origin": "authored",
        "now": "2026-01-01T00:00:00Z",
        "clusters": CLUSTERS,
        "clusterSets": [a_set()],
        "clusterSetBindings": [a_binding()],
        "addOnPlacementScores": [],
        "placementDecisions": [],
        "placement": a_placement(),
        "expect": record or {},
        **changes,
    }
    return ocm_checks.Check(scenario)


def done(**changes: Any) -> dict[str, Any]:
    """What a scenario without any rule comes to, as upstream would record it."""
    found = ocm_scenarios.run(a_scenario(**changes))
    proposed = ("decisionOrder", "scores", "groups")
    return {
        name: value
        for name, value in found.items()
        if name in ocm_scenarios.EXPECTED and name not in proposed and value is not None
    }


def misconfigured(message: str, **changes: Any) -> dict[str, Any]:
    found = done(**changes)
    found["conditions"]["PlacementMisconfigured"] = {"status": "True", "reason": "Misconfigured", "message": message}
    return found


def celled(text: str) -> dict[str, Any]:
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}
    return a_placement(predicates=[selector])


def tainted(effect: str) -> list[dict[str, Any]]:
    taint = {"key": "k", "value": "", "effect": effect, "timeAdded": "2025-01-01T00:00:00Z"}
    return [a_cluster("c1", taints=[taint]), *CLUSTERS[1:]]


BAD_TOLERATION = a_placement(tolerations=[{"operator": "Equal", "value": "v"}])
SCORED: dict[str, Any] = {
    "prioritizerPolicy": {
        "mode": "Exact",
        "configurations": [
            {"scoreCoordinate": {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}, "weight": 1}
        ],
    }
}
SCORES = [a_score("c1", {"cpu": 10}), a_score("c2", {"cpu": 20}), a_score("c3", {"cpu": 30})]
EXPIRED = [a_score("c1", {"cpu": 9}, valid_until="2020-01-01T00:00:00Z"), a_score("c2", {"cpu": 9})]
HAS_SCORE = 'managedCluster.scores("usage").exists(s, s.value > 5)'
SPREAD = {
    "spreadConstraints": [{"topologyKey": "zone", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"}]
}
SCENARIOS: dict[str, Callable[[], ocm_checks.Check]] = {
    ocm_checks.KEPT: lambda: a_scenario(
        misconfigured("TaintToleration:If the key is empty, operator must be Exists."), placement=BAD_TOLERATION
    ),
    ocm_checks.AT_ONCE: lambda: a_scenario(done(clusters=[]), clusters=[], placement=BAD_TOLERATION),
    ocm_checks.SPELT: lambda: a_scenario(
        misconfigured("Predicate:compilation failed: ERROR: <input>:1:10: found no matching overload for 'parseJSON'"),
        placement=celled("parseJSON('{\"x\": 1}').x == 1 && managedCluster.metadata.name != 'c2'"),
    ),
    ocm_checks.BOOLEAN: lambda: a_scenario(done(placement=celled("false")), placement=celled("1")),
    ocm_checks.EXPIRED: lambda: a_scenario(
        done(placement=celled("managedCluster.metadata.name != 'c3'")),
        placement=celled(HAS_SCORE),
        addOnPlacementScores=EXPIRED,
    ),
    ocm_checks.BAD_SET: lambda: a_scenario(
        {
            "selected": [],
            "conditions": {},
            "syncError": 'failed to get clusters from ClusterSet "bad": selectorType is not right: Nope',
        },
        clusterSets=[a_set(), BROKEN],
        clusterSetBindings=[a_binding(), a_binding("bad")],
    ),
    ocm_checks.LAST: lambda: a_scenario(
        done(placement=a_placement(numberOfClusters=2)),
        clusters=tainted("PreferNoSelect"),
        placement=a_placement(numberOfClusters=2),
    ),
    ocm_checks.SPREAD: lambda: a_scenario(
        done(placement=a_placement(numberOfClusters=2)), placement=a_placement(numberOfClusters=2, spreadPolicy=SPREAD)
    ),
    ocm_checks.SORTED: lambda: a_scenario(
        done(placement=a_placement(**SCORED), addOnPlacementScores=SCORES),
        placement=a_placement(**SCORED, sortBy="Score"),
        addOnPlacementScores=SCORES,
    ),
}


@pytest.mark.parametrize("rule", SCENARIOS)
def test_a_placement_rule_fails_by_each_of_its_fields(rule: str) -> None:
    check = SCENARIOS[rule]()
    suite = ocm_scenarios.SCENARIOS
    ours = ruled(suite, check, rule)
    compared = ocm_scenarios.wanted(check, Rule(rule)).keys() & ours.keys()
    assert {"selected", "decisions", "conditions", "totalScores", "filterResults", "selectedByRank"} <= compared
    for field in compared:
        if field == "setsUsable" and ours[field]:
            for part, text in ours[field].items():
                assert fails(suite, check, {**ours, field: {**ours[field], part: other(text)}}), part
        else:
            assert fails(suite, check, {**ours, field: other(ours[field])}), field
    for kind, condition in ours["conditions"].items():
        for part in condition:
            worse = copy.deepcopy(ours)
            worse["conditions"][kind][part] += "x"
            assert fails(suite, check, worse), (kind, part)


def test_rules_of_placements_do_what_they_say() -> None:
    """Against a runner that wants what we happen to do: the outcomes, once in words."""
    wants = {rule: ocm_scenarios.wanted(make(), Rule(rule))["selectedByRank"] for rule, make in SCENARIOS.items()}
    assert wants == {
        ocm_checks.KEPT: [],
        ocm_checks.AT_ONCE: [],
        ocm_checks.SPELT: ["c1", "c3"],
        ocm_checks.BOOLEAN: [],
        ocm_checks.EXPIRED: ["c2"],
        ocm_checks.BAD_SET: ["c1", "c2", "c3"],
        ocm_checks.LAST: ["c2", "c3"],
        ocm_checks.SPREAD: ["c1", "c3"],
        ocm_checks.SORTED: ["c3", "c2", "c1"],
    }


# --- Who is woken -----------------------------------------------------------------------------------------------------


def an_event(event: str, obj: Any, *, old: Any = None, objects: Any = (), enqueued: Any = ()) -> dict[str, Any]:
    case = {
        "id": "made up",
        "event": event,
        "object": obj,
        "objects": list(objects),
        "expect": {"enqueued": list(enqueued)},
    }
    return case if old is None else {**case, "oldObject": old}


WORLD = [a_set(), a_binding(), a_placement(), CLUSTERS[0]]
EVENTS = {
    ocm_reevaluation.UNREAD: an_event(
        "cluster-updated",
        a_cluster("c9", {"zone": "b"}),
        old=a_cluster("c9", {"zone": "a"}),
        objects=WORLD,
        enqueued=["apps/p1"],
    ),
    ocm_reevaluation.KNOWN: an_event("binding-changed", a_binding(), objects=WORLD, enqueued=["apps/p1"]),
    ocm_reevaluation.SCORES: an_event(
        "score-changed", a_score("c1", {"cpu": 9}), objects=[*WORLD[:2], celled(HAS_SCORE), CLUSTERS[0]]
    ),
}


@pytest.mark.parametrize("rule", EVENTS)
def test_who_is_woken_is_exactly_who_the_rule_says(rule: str) -> None:
    suite, case = ocm_reevaluation.IN_THE_WORLD, EVENTS[rule]
    woken = ruled(suite, case, rule)
    assert fails(suite, case, [*woken, "apps/other"])
    assert fails(suite, case, ["apps/other"])
    assert not woken or fails(suite, case, [])


# --- Webhooks ---------------------------------------------------------------------------------------------------------


def a_write(**changes: Any) -> dict[str, Any]:
    cluster = a_cluster("c1", {DEFAULT_KEY: "blue"})
    expect = {
        "allowed": False,
        "stage": "validating",
        "reason": "Forbidden",
        "accessReviews": [f"create {ocm_admission.GROUP}/managedclustersets/join red"],
        "error": f'managedclustersets/join.{ocm_admission.GROUP} "red" is forbidden: user "dev" cannot add/remove a '
        'ManagedCluster to/from ManagedClusterSet "red"',
    }
    old = a_cluster("c1", {DEFAULT_KEY: "red"})
    asked = {"id": "made up", "operation": "UPDATE", "kind": "ManagedCluster", "user": "dev", "allow": []}
    return {**asked, "new": cluster, "old": old, "expect": expect, **changes}


def a_taint(**changes: Any) -> dict[str, Any]:
    return {"key": "k", "value": "v", "effect": "NoSelect", **changes}


BAD_TIME = {
    "allowed": False,
    "stage": "mutating",
    "reason": "BadRequest",
    "accessReviews": None,
    "error": 'It is not allowed to set TimeAdded of Taint "k".',
}
WRITES = {
    ocm_admission.ALL_AT_ONCE: a_write(),
    ocm_admission.TAINT_TIMES: a_write(
        old=a_cluster("c1", {DEFAULT_KEY: "blue"}, taints=[a_taint(timeAdded="2025-01-01T00:00:00Z")]),
        new=a_cluster("c1", {DEFAULT_KEY: "blue"}, taints=[a_taint()]),
        expect=BAD_TIME,
    ),
    ocm_admission.BIND: a_write(
        kind="ManagedClusterSetBinding",
        operation="CREATE",
        new=a_binding(),
        old=None,
        expect={
            "allowed": False,
            "stage": "validating",
            "reason": "Forbidden",
            "accessReviews": [f"create {ocm_admission.GROUP}/managedclustersets/bind global"],
            "error": 'managedclustersets/bind.apps "global" is forbidden: user "dev" is not allowed to bind cluster '
            'set "global"',
        },
    ),
}


@pytest.mark.parametrize("rule", WRITES)
def test_an_answer_of_a_webhook_fails_by_each_of_its_fields(rule: str) -> None:
    suite, case = ocm_admission.ADMISSION, WRITES[rule]
    ours = ruled(suite, case, rule)
    for field, value in ours.items():
        if field == "granting":
            assert not ours["missing"] or fails(suite, case, {**ours, field: []})
        else:
            assert fails(suite, case, {**ours, field: other(value)}), field


@pytest.mark.parametrize(
    ("case", "rule", "answer"),
    [
        (
            {"id": "1", "expectStatus": 500, "errorContains": "lister unavailable", "method": "GET"},
            ocm_debugger.ABSENT,
            {
                "status": 503,
                "retries": True,
                "answer": {
                    "kind": "Status",
                    "code": 503,
                    "reason": "ServiceUnavailable",
                    "message": "the hub's controllers, which explain placements, do not answer: they are not running",
                },
            },
        ),
        (
            {"id": "2", "expectStatus": 401, "errorContains": "user information not found in request context"},
            ocm_debugger.WORDS,
            {
                "status": 401,
                "retries": False,
                "answer": {"kind": "Status", "code": 401, "reason": "Unauthorized", "message": "Unauthorized"},
            },
        ),
    ],
)
def test_an_answer_about_explanations_fails_by_each_of_its_fields(case: Any, rule: str, answer: Any) -> None:
    suite = ocm_debugger.DEBUGGER
    assert suite.classify(case) == Rule(rule)
    assert not fails(suite, case, answer)
    for field in ("status", "retries"):
        assert fails(suite, case, {**answer, field: other(answer[field])}), field
    for field in ("kind", "code", "reason"):
        worse = {**answer["answer"], field: other(answer["answer"][field])}
        assert fails(suite, case, {**answer, "answer": worse}), field
    assert fails(suite, case, {**answer, "answer": {**answer["answer"], "message": "another"}})


# --- CEL --------------------------------------------------------------------------------------------------------------


def a_test(expr: str, **changes: Any) -> dict[str, Any]:
    case = {"section": "s", "name": "n", "file": "f", "expr": expr, "expect": None, "error": None, "proto": False}
    return {**case, **changes}


def a_record(expr: str, expect: Any) -> dict[str, Any]:
    return {"expr": expr, "vars": {}, "decls": {}, "libs": [], "expect": expect, "source": "made up"}


DURATION = {"duration": {"seconds": "3", "nanos": 5_000_000}}
IDENT = [{"name": "x", "ident": {"message": "google.protobuf.Duration"}}]
EXPRESSIONS = [
    (specification.SPECIFICATION, a_test("'abc'.indexOf('c', 9) == -1", error="index out of range: 9"),
     "Searching a text from beyond its end"),
    (specification.SPECIFICATION, a_test("ip('::ffff:1.2.3.4') == ip('1.2.3.4')", expect={"bool": True}),
     "IPv4 addresses written as IPv6"),
    (specification.SPECIFICATION, a_test("[optional.of(1), null][0]", check_only=True, deduced_type="int"),
     "Null among optionals"),
    (specification.SPECIFICATION,
     a_test("x.getMilliseconds()", expect={"int": "5"}, vars={"x": DURATION}, type_env=IDENT),
     "Milliseconds of a duration"),
    (recorded.RECORDED, a_record("{1.5: 'a'}", {"map": [[{"double": "1.5"}, {"string": "a"}]]}),
     "Map keys that are no keys"),
    (recorded.RECORDED, a_record("{'a': 1, \"a\": 2}", {"map": [[{"string": "a"}, {"int": "2"}]]}),
     "Map keys given twice"),
]  # fmt: skip


@pytest.mark.parametrize(("suite", "case", "rule"), EXPRESSIONS, ids=[each[2] for each in EXPRESSIONS])
def test_a_rule_about_expressions_fails_by_value_error_phase_and_type(suite: Any, case: Any, rule: str) -> None:
    found = ruled(suite, case, rule)
    ours: Ours = found[0] if isinstance(found, list) else found

    def wrong(**changes: Any) -> bool:
        worse = replace(ours, **changes)
        return fails(suite, case, [worse] if isinstance(found, list) else worse)

    if ours.error is not None:
        assert wrong(error=None, phase=None)
        assert wrong(error=f"{ours.error}x")
        assert wrong(phase="program")
    else:
        assert wrong(error="no such overload", phase="runtime")
        assert case.get("check_only") or wrong(value="another")
        assert wrong(type="another")


def test_an_expected_error_has_a_phase_and_a_class() -> None:
    case = {**a_record("1 / 0 == 1", None), "error": "division by zero", "error_phase": "runtime"}
    assert not fails(recorded.RECORDED, case, recorded.run(case))
    for worse in (Ours(error="division by zero", phase="compile"), Ours(error="no such key: a", phase="runtime")):
        assert fails(recorded.RECORDED, case, [worse])
    spec = a_test("1 / 0", error="divide by zero")
    assert not fails(specification.SPECIFICATION, spec, specification.run(spec))
    assert fails(specification.SPECIFICATION, spec, Ours(error="no such key: a", phase="runtime"))


def test_a_panic_of_upstream_is_our_ordinary_error_and_no_other() -> None:
    case: dict[str, Any] = {
        "expr": '"x".scores("demo")',
        "evalError": "internal error: interface conversion",
        "outputType": "list(dyn)",
        "cost": 0,
    }
    case |= {"@cluster": {"metadata": {"name": "c1"}, "@scores": {}}}
    suite = others.OCM_EXPRESSIONS
    assert suite.classify(case) == Rule(others.PANICS)
    right = Ours(error="no such overload", phase="runtime", type="list(dyn)", cost=10)
    assert not fails(suite, case, right)
    for worse in ({"error": "no such key"}, {"cost": 0}, {"type": "dyn"}, {"phase": "compile"}, {"value": True}):
        assert fails(suite, case, replace(right, **worse))


# --- jq ---------------------------------------------------------------------------------------------------------------


def a_query(query: str, *outputs: str, inputs: Any = ("null",)) -> dict[str, Any]:
    return {"suite": "s", "line": 1, "query": query, "inputs": list(inputs), "outputs": list(outputs), "error": None,
            "errorStage": None}  # fmt: skip


QUERIES = {
    "jq error texts are gojq's": a_query("try (1|.[]) catch .", '"Cannot iterate over number (1)"'),
    "jq integers are exact": a_query(".", "9007199254740992", inputs=["9007199254740993"]),
    "jq strings can be indexed": a_query('try ("abc"|.[1]) catch .', '"Cannot index string with number (1)"'),
    "jq builtins that gojq lacks": a_query("have_decnum", "false"),
    "jq values have no depth limit but the budget": a_query(
        "try getpath([range(10001) | 0]) catch .", '"Path too deep"'
    ),
    "jq regular expressions are RE2's": a_query('test("(?=b)")', "true", inputs=['"abc"']),
    "jq input is plain JSON": a_query(".", "null", inputs=["NaN"]),
    "jq patterns end with the last one's error": a_query(". as [$a] ?// [$a] | $a", inputs=["{}"]),
    "jq not-a-number is the smallest index": a_query("[1,2] | .[1:nan]", "[2]"),
    "jq folds keep their state when an update is empty": a_query("reduce (1,2) as $x (7; empty)", "null"),
}


@pytest.mark.parametrize("rule", QUERIES)
def test_a_rule_about_queries_fails_by_outputs_and_by_error(rule: str) -> None:
    case = QUERIES[rule]
    ours = ruled(JQ, case, rule)
    assert fails(JQ, case, replace(ours, outputs=[*ours.outputs, "more"]))
    assert fails(JQ, case, Outcome(["another"], None))
    assert fails(JQ, case, Outcome(ours.outputs, None if ours.error else "an error"))
    assert ours.error is None or fails(JQ, case, Outcome([], "another error"))


def test_numbers_that_are_printed_anew_are_those_numbers() -> None:
    case = {"name": "n", "query": "tojson", "inputs": ["1.0"], "outputs": ['"1.0"'], "error": None, "errorStage": None}
    ours = ruled(GOJQ, case, "jq numbers are printed anew")
    assert ours.outputs == ["1"]
    assert fails(GOJQ, case, Outcome(["2"]))
    assert fails(GOJQ, case, Outcome(["1"], "an error"))


# --- Where the recorded cases are at hand -----------------------------------------------------------------------------

AT_HAND = [
    (jq_classification.CLASSIFICATION, "jq/agentclassification.json"),
    (JQ, "jq/jq.json"),
    (rows.OWN_ROWS, "olm/resolver_edge.json"),
    (parts.OWN_CEL, "olm/cel.json"),
    (ocm_admission.ADMISSION, "ocm/admission.json"),
    (ocm_reevaluation.IN_THE_WORLD, "ocm/reevaluation.json"),
    (specification.SPECIFICATION, "cel/conformance/network_ext.json"),
]


def deviations(ours: Any) -> Iterator[Any]:
    """Our outcome with one thing in it changed, as deep as two levels."""
    if isinstance(ours, dict):
        for name, value in ours.items():
            if name not in ("texts", "granting", "text"):
                yield {**ours, name: other(value)}
    elif isinstance(ours, list):
        yield [*ours, "more"]
        yield ours[:-1] if ours else ["more"]
    elif isinstance(ours, Ours):
        yield replace(ours, error=None, phase=None) if ours.error else replace(ours, error="x", phase="runtime")
    elif isinstance(ours, Outcome):
        yield replace(ours, outputs=[*ours.outputs, "more"])


@pytest.mark.skipif(not CASES.is_dir(), reason="the recorded cases are not here")
@pytest.mark.parametrize(("suite", "path"), AT_HAND, ids=[path for _, path in AT_HAND])
def test_the_first_recorded_case_of_every_rule_fails_when_it_deviates(suite: Suite[Any, Any], path: str) -> None:
    if not (CASES / path).is_file():
        pytest.skip(f"{path} is not among the cases")
    tried: set[str] = set()
    with suite.running() as run:
        for case in suite.cases(json.loads((CASES / path).read_text(encoding="utf-8"))):
            kind = suite.classify(case)
            if not isinstance(kind, Rule) or kind.name in tried:
                continue
            tried.add(kind.name)
            ours = run(case)
            assert not fails(suite, case, ours)
            for worse in deviations(ours):
                assert fails(suite, case, worse), (kind.name, suite.name(case), worse)
    assert tried
