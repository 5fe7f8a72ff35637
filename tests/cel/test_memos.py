"""Quick ways beside the general ones: what is remembered by text, and JSON read by types."""

from __future__ import annotations

import json
import math
import weakref
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from muster.cel import INT, STRING, Overload, environment, make_program
from muster.cel.costs.charging import charging_of
from muster.cel.costs.runtime import ONE
from muster.cel.generating.memos import MEMO_SIZE, MEMO_TEXT, QUICK_TEXT, REST, memo_of
from muster.cel.libraries import json_text
from muster.cel.libraries.json_text import BrokenJsonError, InvalidJsonError, decode_json
from muster.errors import BudgetExceededError, EvaluationError

ENV = environment("muster")
EXPRESSIONS = (
    r'managedCluster.t.matches("^1\\.(30|31)\\.\\d+$")',
    r'managedCluster.t.matches("(a|b)+c")',
    'semver(managedCluster.t, true).isGreaterThan(semver("v1.30.0", true))',
    'semver(managedCluster.t).isLessThan(semver("1.30.0-rc.1"))',
    'semver(managedCluster.t).isLessThan(semver("1.30.0+b"))',
    'semver(managedCluster.t, true).compareTo(semver("1.30.0"))',
    r'[1, 2].all(i, managedCluster.t.matches("^[a-z]+[.]?$"))',
    'semver(managedCluster.t).compareTo(semver("1.30.0")) > 0 || true',
    "semver(managedCluster.t, true).major()",
    'quantity(managedCluster.t).isGreaterThan(quantity("1Gi"))',
    'quantity(managedCluster.t).compareTo(quantity("64"))',
    "cidr(managedCluster.t).containsCIDR(cidr('a'))",
    'semver(managedCluster.t).isLessThan(semver("x"))',
    '[1, 2].all(i, semver(managedCluster.t).isGreaterThan(semver("1.0.0")))',
)
_TEXTS = st.one_of(
    st.from_regex(r"\Av?[0-9]{1,3}(\.[0-9]{1,20}){1,3}(-rc\.[0-9])?(\+b)?\Z"),
    st.from_regex(r"\A[0-9]{1,4}(Gi|Mi|m|e3|)\Z"),
    st.text(max_size=12),
    st.text("abc1.", min_size=QUICK_TEXT - 2, max_size=QUICK_TEXT + 2),
    st.text("abc1.", min_size=MEMO_TEXT - 2, max_size=MEMO_TEXT + 2),
)


@pytest.mark.parametrize("text", EXPRESSIONS)
@given(values=st.lists(st.one_of(_TEXTS, st.integers(), st.none()), min_size=1, max_size=4))
def test_values_and_costs_are_those_of_the_interpreter_whether_a_text_is_new_or_known(
    text: str, values: list[Any]
) -> None:
    program = make_program(text, ENV)
    for value in (*values, *values):
        variables = {"managedCluster": {"t": value}}
        found, cost = program.run(variables, 1_000_000)
        trace = program.trace(variables)
        assert (str(found), cost) == (str(trace.outcome), trace.cost)


def test_a_limit_in_the_middle_of_what_is_remembered_as_one_ends_it() -> None:
    program = make_program(EXPRESSIONS[2], ENV)
    variables = {"managedCluster": {"t": "v1.31.0"}}
    cost = program.cost(variables)
    for limit in range(cost):
        assert program.run(variables, limit)[1] == limit + 1
        with pytest.raises(EvaluationError):
            program.evaluate(variables, limit)
    assert program.evaluate(variables, cost) is True


def test_more_texts_than_are_remembered_change_nothing() -> None:
    program = make_program(EXPRESSIONS[2], ENV)
    answers = [program.evaluate({"managedCluster": {"t": f"v1.30.{n}"}}) for n in range(2 * MEMO_SIZE + 3)]
    assert answers == [False, *[True] * (2 * MEMO_SIZE + 2)]


def test_a_full_memo_takes_nothing_more_for_a_while_and_then_begins_anew() -> None:
    memo = memo_of(Overload("length", (STRING,), INT, len), ONE, ())
    for number in range(MEMO_SIZE + REST):
        assert memo.learn(f"{number}") == (len(f"{number}"), 1)
    assert (memo.known("0"), memo.known(f"{MEMO_SIZE}")) == ((1, 1), None)
    memo.learn("one more")
    assert memo.known("0") is None
    memo.learn("another")
    assert memo.known("another") == (7, 1)


_FAILING = (
    "semver(managedCluster.t).isGreaterThan(semver('1.0.0'))",  # by its length, see Quick
    "semver(managedCluster.t).major() > 1",
    "quantity(managedCluster.t).isGreaterThan(quantity('1'))",
    "parseJSON(managedCluster.t).a == 1",
    "semver('x').major() > managedCluster.n",  # a constant
    "1 < managedCluster.t",
    "managedCluster.t.t",
)


class _Variables(dict[str, Any]):
    """Variables that can be watched for going away."""


@pytest.mark.parametrize("text", _FAILING)
def test_an_error_that_is_remembered_holds_nothing_of_the_evaluation_it_came_from(text: str) -> None:
    program = make_program(text, ENV)
    variables = _Variables(managedCluster={"t": "x"})
    gone = weakref.ref(variables)
    error, _ = program.run(variables, 1_000_000)
    assert (type(error), error.__traceback__, error.__context__) == (EvaluationError, None, None)
    del variables
    assert gone() is None


@pytest.mark.parametrize("text", _FAILING)
def test_an_error_that_is_raised_again_does_not_grow(text: str) -> None:
    program = make_program(text, ENV)
    errors = []
    for _ in range(3):
        with pytest.raises(EvaluationError) as caught:
            program.evaluate({"managedCluster": {"t": "x"}})
        errors.append((str(caught.value), caught.value.kind, len(caught.traceback)))
    assert errors == errors[:1] * 3
    assert errors[0][2] == 2


def test_a_spent_budget_holds_nothing_of_its_evaluation() -> None:
    program = make_program("[1, 2].all(i, managedCluster.n > i)", ENV)
    variables = _Variables(managedCluster={"n": 3})
    gone = weakref.ref(variables)
    error, _ = program.run(variables, 5)
    assert (type(error).__mro__[1], error.__traceback__, error.__context__) == (BudgetExceededError, None, None)
    del variables
    assert gone() is None


_SCORES = st.one_of(
    st.lists(st.fixed_dictionaries({"name": st.sampled_from(["cpu", "gpu"]), "value": st.integers(0, 9)}), max_size=4),
    st.tuples(st.fixed_dictionaries({"name": st.just("cpu"), "value": st.integers(0, 9)})),
    st.sampled_from([None, 3, "text", {"name": "cpu"}]),
    st.lists(st.one_of(st.none(), st.fixed_dictionaries({"name": st.one_of(st.integers(), st.text())})), max_size=3),
)


@pytest.mark.parametrize(
    "text",
    [
        "managedCluster.scores('default').filter(s, s.name == 'cpu').all(e, e.value > 3)",
        "managedCluster.scores('default').filter(s, s.value > 3).size() > 1",
        "managedCluster.scores('default').map(s, s.name == 'cpu', s.value + 1) == [4, 5]",
        "managedCluster.scores('default').exists(s, s.name == 'cpu' && s.value == 5)",
        "managedCluster.scores('default').all(s, s.name != 'cpu' || s.value > 5)",
    ],
)
@given(scores=_SCORES)
def test_loops_over_scores_give_and_cost_what_the_interpreter_says_at_every_limit(text: str, scores: Any) -> None:
    program = make_program(text, ENV)
    variables = {"managedCluster": {"metadata": {"name": "one"}, "@scores": {"default": scores}}}
    trace = program.trace(variables)
    found, cost = program.run(variables, 1_000_000)
    assert (str(found), cost) == (str(trace.outcome), trace.cost)
    for limit in range(0, cost, 7):
        assert program.run(variables, limit)[1] == limit + 1


def test_all_parts_of_an_evaluation_spend_from_one_meter() -> None:
    text = "managedCluster.a == managedCluster.b && managedCluster.b == managedCluster.a"
    variables = {"managedCluster": {"a": [[1]] * 60, "b": [[1]] * 60}}
    units = next(limit for limit in range(100_000) if _fits(text, variables, limit))
    half = "managedCluster.a == managedCluster.b && managedCluster.a != managedCluster.c"
    assert not _fits(text, variables, units - 1)
    assert _fits(half, {"managedCluster": {**variables["managedCluster"], "c": 1}}, units - 1)


def _fits(text: str, variables: dict[str, Any], work_limit: int) -> bool:
    program = make_program(text, ENV, replace(charging_of(ENV), work_limit=work_limit))
    return program.run(variables, 1_000_000)[0] is True


def _read(text: str) -> object:
    try:
        return _exact(decode_json(text))
    except (BrokenJsonError, InvalidJsonError) as error:
        return type(error), str(error)


def _exact(value: Any) -> object:
    """With the class and the sign of every number."""
    match value:
        case float():
            return "double", value, math.copysign(1, value)
        case list():
            return [_exact(each) for each in value]
        case dict():
            return [(key, _exact(each)) for key, each in value.items()]
        case _:
            return type(value), value


_DOCUMENTS = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5)),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.text(max_size=3), inner, max_size=3)),
    max_leaves=12,
).map(json.dumps)
_ALMOST = st.text(r'{}[]:,"\u01-+.eE tfnalsrue' + "\x01é\ud800\ufeff", max_size=14)


@given(st.one_of(_DOCUMENTS, _ALMOST, st.from_regex(r"\A-?[0-9]{1,40}(\.[0-9]{1,30})?([eE][+-]?[0-9]{1,3})?\Z")))
@example("-0")
@example('{"a": -0, "a": [1]}')
@example('"\\ud800"')
@example('"\\ud83d\\ude00"')
@example("[" * 9 + "1" + "]" * 9)
@example("[" * 300 + "]" * 300)
@example("1e400")
@example("NaN")
@example("\ufeff1")
def test_json_read_by_types_is_json_read_carefully(text: str) -> None:
    def refuse(_: str) -> None:
        raise ValueError

    quick = _read(text)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(json_text, "_quick", refuse)
        assert _read(text) == quick
