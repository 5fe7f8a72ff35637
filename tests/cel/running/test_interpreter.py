"""The tracing interpreter: values, errors that are absorbed or not, and what it remembers of the parts."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import DEFAULT_COST_LIMIT, Variable, environment, make_program, parse
from muster.cel.checking.types import DYN
from muster.cel.costs.charging import charging_of
from muster.cel.running.interpreter import interpret
from muster.cel.running.planner import plan
from muster.errors import BudgetExceededError, EvaluationError

CLUSTER = {
    "name": "c1",
    "labels": {"env": "prod", "n": "42"},
    "claims": [{"name": "a", "value": "1"}, {"name": "b"}],
    "nothing": None,
}
ENV = environment("muster").extend(variables=[Variable("cluster", DYN)])


def outcome(text: str, env: Any = ENV, **variables: Any) -> Any:
    """The value, or the text of the error."""
    program = make_program(text, env)
    trace = program.trace({"cluster": CLUSTER, **variables}, DEFAULT_COST_LIMIT)
    return str(trace.outcome) if trace.failed else trace.outcome


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1 / 0 > 0 || true", True),
        ("true || 1 / 0 > 0", True),
        ("1 / 0 > 0 && false", False),
        ("false && 1 / 0 > 0", False),
        ("1 / 0 > 0 || false", "division by zero"),
        ("cluster.nope == 1 || cluster.none == 2", "no such key: nope"),
        ("cluster.name && true", "no such overload"),
        ("[1, 0].exists(x, 2 / x == 2)", True),
        ("[0, 1].exists(x, 2 / x == 2)", True),
        ("[0, 1].exists(x, 2 / x == 5)", "division by zero"),
        ("[0, 1].all(x, 2 / x == 5)", False),
        ("[0, 1].all(x, 2 / x == 2)", "division by zero"),
        ("[1, 2, 3].exists_one(x, x > 2)", True),
        ("[3, 1, 2].map(x, x > 1, x * 10)", [30, 20]),
        ("[1, 2, 3].filter(x, x % 2 == 1)", [1, 3]),
        ("{'a': 1, 'b': 2}.map(k, k)", ["a", "b"]),
        ("[5, 6].transformList(i, v, i + v)", [5, 7]),
        ("{'a': 1}.transformMap(k, v, k + string(v))", {"a": "a1"}),
        ("[1, 2].map(x, x / 0)", "division by zero"),
    ],
)
def test_logic_and_macros_absorb_errors_only_where_another_operand_decides(text: str, value: Any) -> None:
    assert outcome(text) == value


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("cluster.labels.env", "prod"),
        ("cluster['labels']['env']", "prod"),
        ("cluster.labels.missing", "no such key: missing"),
        ("cluster.name.first", "no such key: first"),
        ("cluster.nothing.x", "no such key: x"),
        ("cluster.claims[1].name", "b"),
        ("cluster.claims[7]", "index out of bounds: 7"),
        ("cluster.claims[0.0].name", "a"),
        ("cluster.claims['x']", "unsupported index type 'string' in list"),
        ("cluster.claims.x", "unsupported index type 'string' in list"),
        ("has(cluster.labels.env)", True),
        ("has(cluster.labels.nope)", False),
        ("has(cluster.nope.x)", "no such key: nope"),
        ("has(cluster.name.x)", False),
        ("cluster.?labels.?env.orValue('')", "prod"),
        ("cluster.?nope.?env.orValue('none')", "none"),
        ("cluster.labels[?'nope'].hasValue()", False),
        ("[?cluster.?nope, 1]", [1]),
        ("{?'a': cluster.?name, ?'b': cluster.?nope}", {"a": "c1"}),
        ("(cluster.name == 'c1' ? cluster.labels : cluster).env", "prod"),
    ],
)
def test_fields_indexes_and_presence(text: str, value: Any) -> None:
    assert outcome(text) == value


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("cluster.name + 1", "no such overload"),
        ("cluster.nothing + 1", "no such overload: _+_"),
        ("-cluster.labels", "no such overload: -_"),
        ("cluster.nothing < 1", "no such overload: _<_"),
        ("cluster.name < 1", "no such overload"),
        ("size(cluster.nothing)", "no such overload: size"),
        ("cluster.claims.startsWith('a')", "no such overload"),
        ("semver(cluster.claims)", "no such overload: semver(list)"),
        ("cluster.name.exists(x, true)", "got 'types.String', expected iterable type"),
        ("cluster.name in cluster.name", "no such overload"),
    ],
)
def test_dynamic_values_that_do_not_fit_say_so_in_the_words_of_cel_go(text: str, message: str) -> None:
    assert outcome(text) == message


def test_a_bound_value_nobody_reads_is_not_evaluated() -> None:
    assert outcome("cel.bind(x, 1 / 0, true)") is True
    assert outcome("cel.bind(x, 1 / 0, x == 1)") == "division by zero"


def test_a_missing_variable_is_an_evaluation_error() -> None:
    program = make_program("cluster.name == 'x' || true", ENV)
    assert program.trace({}).outcome is True
    missing = make_program("cluster.name", ENV).trace({})
    assert str(missing.outcome) == "no such attribute(s): cluster"


def test_unchecked_names_mean_the_longest_variable_inside_the_container() -> None:
    env = environment("standard").extend(container="a.b")
    planned = plan(parse("x.y", env), env, charging_of(env))
    assert interpret(planned, {"a.b.x.y": 1, "a.x": {"y": 2}, "x.y": 3}).outcome == 1
    assert interpret(planned, {"a.x": {"y": 2}, "x.y": 3}).outcome == 3
    assert interpret(planned, {"a.x": {"y": 2}}).outcome == 2
    assert str(interpret(planned, {}).outcome) == "no such attribute(s): a.b.x.y, a.x.y, x.y"


def test_the_trace_has_the_values_of_every_part_in_order() -> None:
    program = make_program("[1, 2].exists(x, x * 2 == 4)", environment("standard"))
    trace = program.trace({})
    assert trace.outcome is True
    assert [values for values in trace.values.values() if values == [2, 4]] == [[2, 4]]
    assert max(trace.counts.values()) == 2


def test_parts_that_were_not_evaluated_leave_no_trace() -> None:
    program = make_program("true || cluster.nope", ENV)
    remembered = [value for values in program.trace({"cluster": {}}).values.values() for value in values]
    assert not any(isinstance(value, EvaluationError) for value in remembered)


def test_the_cost_limit_ends_an_evaluation_at_once() -> None:
    trace = make_program("[1, 2, 3].all(x, x > 0)", environment("standard")).trace({}, 12)
    assert isinstance(trace.outcome, BudgetExceededError)
    assert str(trace.outcome) == "operation cancelled: actual cost limit exceeded"
    assert trace.cost == 13


def test_nesting_that_the_parser_allows_can_be_evaluated() -> None:
    deep = "[" * 100 + "1" + "]" * 100
    assert make_program(f"size({deep}) == 1", environment("standard")).trace({}).outcome is True
