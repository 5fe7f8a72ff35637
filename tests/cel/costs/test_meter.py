"""The meter: what walks over values is counted by visit, in every environment and in both back ends."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any

import pytest

from muster.cel import NAMES, Variable, environment, make_program
from muster.cel.checking.types import DYN
from muster.cel.costs.charging import charging_of
from muster.cel.costs.meter import WORK_LIMIT, new_meter
from muster.cel.generating import functions_of
from muster.cel.generating.support import NAMESPACE
from muster.cel.traversals import equals, go_text, value_text
from muster.errors import BudgetExceededError, EvaluationError

DOUBLED = "[[1]]" + ".map(a,[a,a])" * 30
LIMIT = 100_000  # a tenth of the ordinary one: these tests are about what is counted
WORK = f"operation cancelled: the expression builds or compares more than the {LIMIT} elements it may"


def outcomes(text: str, env_name: str = "muster", **variables: Any) -> tuple[str, str]:
    """What both back ends say; neither may take long."""
    env = environment(env_name).extend(variables=[Variable(name, DYN) for name in variables])
    charging = charging_of(env)
    program = make_program(text, env, replace(charging, work_limit=LIMIT))
    started = time.thread_time()
    generated, _ = program.run(variables, 1_000_000)
    trace = program.trace(variables)
    assert time.thread_time() - started < 5
    return _said(generated), _said(trace.outcome)


def _said(outcome: Any) -> str:
    return str(outcome) if isinstance(outcome, EvaluationError) else value_text(outcome)


def graph(levels: int) -> list[Any]:
    """A list that reaches its innermost element 2^levels times."""
    value: list[Any] = [1]
    for _ in range(levels):
        value = [value, value]
    return value


@pytest.mark.parametrize(
    "text",
    [
        f"optional.of({DOUBLED}) == optional.of({DOUBLED})",
        f"json.encode({DOUBLED}) == ''",
        *("g == g", "g != g", "g in [g]", "'%s'.format([g]) == ''", "'%s%s'.format(g) == ''", "sets.contains(g, g)"),
        *("[g, g].distinct() == []", "g.flatten(60) == []", "g.isSorted()", "g.includes([1])", "[g].indexOf(g) == 0"),
        *(
            "[g].lastIndexOf(g) == 0",
            "{'a': g} == {'a': g}",
            "semver_compare(g, '1.2.3') == 0",
            "sets.intersects(g, g)",
        ),
        *("optional.of(g) == optional.of(g)", "json.encode({'a': g}) == ''", "sets.equivalent([g], [g])"),
    ],
)
def test_a_list_that_holds_itself_many_times_over_is_charged_by_visit(text: str) -> None:
    assert outcomes(text, g=graph(60)) == (WORK, WORK)


@pytest.mark.parametrize(
    "text",
    [
        f"[?dyn({DOUBLED})] == []",
        f'{{?"a": dyn({DOUBLED})}} == {{}}',
        *("optional.unwrap([g]) == []", "[g].join() == ''", "{}[g] == 1", "g.x == 1", "g[g] == 1", "{g: 1} == {}"),
    ],
)
def test_an_error_text_shows_the_beginning_of_a_value_that_has_no_end(text: str) -> None:
    generated, interpreted = outcomes(text, g=graph(60))
    assert generated == interpreted
    assert len(generated) < 4200


@pytest.mark.parametrize("env_name", NAMES)
def test_every_environment_has_a_work_limit(env_name: str) -> None:
    assert charging_of(environment(env_name)).work_limit == WORK_LIMIT
    said = [outcomes(text, env_name, g=graph(60), h=graph(60)) for text in ("g == h", "g != h", "g in [h]")]
    assert said == [(WORK, WORK)] * 3


def test_olm_cannot_double_a_list_into_all_memory() -> None:
    text = "[[1, 2, 3]]" + ".map(a, a + a)" * 40 + "[0].size() > 0"
    assert outcomes(text, "olm") == (WORK, WORK)


@pytest.mark.parametrize(
    "text",
    [
        "['0123456789']" + ".map(a, a + a)" * 40 + "[0].size()",
        "['a']" + ".map(a, a.replace('a', 'aaaaaaaa'))" * 20 + "[0].size()",
        "['a']" + ".map(a, [a, a, a, a].join(a))" * 20 + "[0].size()",
        "['a']" + ".map(a, '%s%s%s%s'.format([a, a, a, a]))" * 20 + "[0].size()",
        "[b'abc']" + ".map(a, a + a)" * 40 + "[0].size()",
        "lists.range(9000).map(i, 'aaaaaaaaaaaaaaaaaaaaaaaaaaa'.replace('', 'bbbbbbbbbbbbbbbbbbbbbbbbb')).size()",
        "lists.range(700).map(i, g).distinct().size()",
        "lists.range(500).exists(i, 'a'.matches('((a{1,30}){1,30})' + string(i)))",
        "lists.range(3000).exists(i, 'a'.matches('(\\\\pL{1,20}){1,20}'))",
        "lists.range(5000).exists(i, timestamp(0).getHours('x' + string(i)) == 1)",
        "t.findAll('(a|b)*c|a').size()",
    ],
)
def test_what_grows_is_charged_before_it_grows(text: str) -> None:
    for said in outcomes(text, g=graph(12), t="ab" * 100_000):
        assert said == WORK or "cost limit" in said or "unknown time zone" in said or "too large" in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("int(d)", "type conversion error from 'string' to 'int'"),
        ("uint(d)", "type conversion error from 'string' to 'uint'"),
        ("duration(d + 'h')", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        ("double(d)", "type conversion error from 'string' to 'double'"),
        ("timestamp(d)", "type conversion error from 'string' to 'google.protobuf.Timestamp'"),
        ("semver(d + '.0.0')", None),
        ("quantity(d).isGreaterThan(quantity('1'))", None),
        ("isQuantity(d)", None),
        ("ip(d)", None),
        ("('%.' + d + 'f').format([1.5])", None),
        ("string(timestamp('9999-12-31T23:59:59Z') + duration('1s'))", "timestamp overflow"),
    ],
)
def test_thousands_of_digits_are_an_error_of_the_language(text: str, said: str | None) -> None:
    for digits in ("9" * 4301, "0" * 5000 + "1", "9" * 100_000):
        generated, interpreted = outcomes(text, d=digits)
        assert generated == interpreted
        if said is not None and digits[0] == "9":
            assert generated == said


@pytest.mark.parametrize("depth", [250, 900, 10_000])
def test_json_that_nests_deeply_is_refused_wherever_it_is_called_from(depth: int) -> None:
    said = outcomes("parseJSON(d)", d="[" * depth + "]" * depth)
    assert said == ("failed to parse json: exceeded max depth",) * 2


def test_values_nested_far_beyond_pythons_stack_are_walked() -> None:
    deep: list[Any] = []
    for _ in range(10_000):
        deep = [deep]
    assert equals(new_meter(), deep, deep)
    assert len(go_text(deep)) < 4000
    assert value_text(deep).startswith("[[[[")
    assert outcomes("g == g", g=deep) == ("true", "true")
    assert outcomes("json.encode(g).size() > 0", g=deep) in {("true", "true"), (WORK, WORK)}


def test_what_a_trace_remembers_of_a_list_costs_no_copies() -> None:
    big = list(range(200_000))
    program = make_program(
        "[" + ", ".join(["g"] * 100) + "].size()", environment("muster").extend(variables=[Variable("g", DYN)])
    )
    trace = program.trace({"g": big})
    assert all(
        value is big for values in trace.values.values() for value in values if type(value) is list and len(value) > 100
    )


def test_the_meter_ends_an_evaluation_whatever_would_absorb_an_error() -> None:
    program = make_program("(g == g) || true", environment("muster").extend(variables=[Variable("g", DYN)]))
    with pytest.raises(BudgetExceededError):
        program.evaluate({"g": graph(60)})


def test_generated_code_has_no_builtins() -> None:
    assert NAMESPACE["__builtins__"] == {}
    program = make_program("[1, 2].map(x, x + 1).size() > 1 && 'a'.matches('b')", environment("muster"))
    assert program.run.__globals__["__builtins__"] == {}
    texts, _ = functions_of(program.plan, program.tree.types)
    for text in texts:
        names = compile(text, "<cel>", "exec").co_consts[0].co_names
        assert not {"__import__", "eval", "exec", "open", "getattr", "globals", "__class__.__base__"} & set(names)
