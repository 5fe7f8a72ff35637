"""Every function and macro of every environment, called on dynamic values of every type: only CEL's errors come out."""

from __future__ import annotations

import math
import os
import random
from typing import Any

import pytest

from muster.cel import Variable, environment, make_program
from muster.cel.checking.types import DYN, STRING
from muster.cel.costs.charging import charging_of
from muster.cel.costs.meter import new_meter
from muster.cel.libraries.kubernetes.formats import named
from muster.cel.libraries.kubernetes.quantity import quantity
from muster.cel.libraries.kubernetes.semver import semver
from muster.cel.libraries.kubernetes.urls import url
from muster.cel.libraries.network import parse_cidr, parse_ip
from muster.cel.running.dispatch import Invocation
from muster.cel.running.interpreter import interpret
from muster.cel.values import OPTIONAL_NONE, Duration, MapValue, Timestamp, TypeValue, Uint, optional
from muster.errors import EvaluationError, InvalidExpressionError

ENVIRONMENTS = ("kubernetes-1.28", "kubernetes-1.37", "ocm", "olm", "muster", "standard")
COMBINATIONS = int(os.environ.get("CEL_COMBINATIONS", "60"))  # of values, per expression
DYNAMIC = [Variable(name, DYN) for name in "abcd"]
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0, 1, -1, 2**63 - 1, -(2**63), Uint(0), Uint(2**64 - 1)),
    *(0.0, 1.5, -1.0, math.nan, math.inf, 1e300, 5e-324),
    *("", "a", "1", "%s%d%f", "1.2.3", "10.0.0.0/8", "(", "[1]", "é\ud800", "Europe/Berlin", "9" * 5000),
    *(b"", b"\xff", b"abc"),
    *([], [1], ["a"], [None], [[1], ["b"]], [1, "a", 1.5], [math.nan], ("t",), [optional(1)], [Timestamp(0)], [{}]),
    *({}, {"a": 1}, {1: "b"}, {"metadata": {"name": "x"}, "@scores": 1}, MapValue([(True, 1), (1, 2)])),
    *(Duration(0), Duration(2**63 - 1), Timestamp(0), Timestamp(253_402_300_799 * 10**9), TypeValue(STRING)),
    *(optional(1), optional([1]), optional({"a": 1}), OPTIONAL_NONE),
    *(quantity("1Gi"), semver("1.2.3"), url("https://a/b?c"), parse_ip("::1"), parse_cidr("10.0.0.0/8")),
    named("dns1123Label").value,
)
OPERATORS = {
    **{f"_{sign}_": f"a {sign} b" for sign in ("+", "-", "*", "/", "%", "==", "!=", "<", "<=", ">", ">=", "&&", "||")},
    "@in": "a in b",
    "!_": "!a",
    "-_": "-a",
    "_?_:_": "a ? b : c",
    "_[_]": "a[b]",
    "_[?_]": "a[?b]",
    "_?._": "a.?x",
}
MACROS = (
    *("a.all(x, x == b)", "a.exists(x, x < b)", "a.exists_one(x, b[x] == x)", "a.map(x, x + b)", "a.filter(x, x in b)"),
    *("a.map(x, x > b, [x])", "a.sortBy(x, x)", "a.sortBy(x, b)", "a.transformList(i, x, x + b)"),
    *("a.transformMap(k, v, v)", "a.transformMapEntry(k, v, {v: k})", "a.transformMapEntry(k, v, b)"),
    *("a.transformMap(k, v, k == b, v)", "a.all(k, v, k == v)", "a.exists(k, v, v == b)", "a.existsOne(k, v, b == k)"),
    *("a.optMap(x, x + b)", "a.optFlatMap(x, b)", "math.greatest(a, b)", "math.least(a)", "math.greatest(a, b, 1)"),
    *("cel.bind(x, a, x + x + b)", "has(a.x)", "has(a.x.y)", "[?a]", "{?'x': a}", "{a: b}", "[a, ?b]", "{a: 1, b: 2}"),
    *("a.?x.?y", "a[?b].orValue(1)", "a.?x[b]", "a.x", "a.x.y[b]", "a[b][a]", "a.or(b)", "a.orValue(b)", "a.x.or(b.y)"),
    *("a in [1, 'x', true]", "b.map(x, a)[0]", "[a, b].sort()", "[a, b].distinct()", "[a, b].min()", "[a].sum()"),
    *("[a, b].flatten(2)", "'%s %d'.format([a, b])", "'%s'.format(a)", "string(a) + string(b)", "type(a) == type(b)"),
    *("dyn(a).x", "[[a], [b]].isSorted()", "sets.contains([a, b], [b])", "json.encode([a, {'x': b}])", "a ? b : a"),
)


def _calls(env_name: str) -> list[str]:
    """One expression for each function and number of arguments."""
    found: dict[str, None] = {}
    for function in environment(env_name).functions.values():
        if function.name in OPERATORS:
            found[OPERATORS[function.name]] = None
            continue
        if "@" in function.name or not function.name[0].isalpha():
            continue
        for overload in function.overloads:
            names = "abcd"[: len(overload.args)]
            text = (
                f"a.{function.name}({', '.join(names[1:])})"
                if overload.member
                else f"{function.name}({', '.join(names)})"
            )
            found[text] = None
    return list(found)


def _inputs(text: str, seed: int) -> list[dict[str, Any]]:
    """All values for one variable, many combinations of several."""
    names = [name for name in "abcd" if any(part == name for part in _words(text))]
    if len(names) <= 1:
        return [dict.fromkeys(names, value) for value in VALUES]
    picked = random.Random(seed)
    return [{name: picked.choice(VALUES) for name in names} for _ in range(COMBINATIONS)]


def _words(text: str) -> list[str]:
    return "".join(char if char.isalnum() or char == "_" else " " for char in text).split()


def _same(left: Any, right: Any) -> bool:
    if isinstance(left, EvaluationError) or isinstance(right, EvaluationError):
        return str(left) == str(right)
    return type(left) is type(right)


def _run_both(text: str, env_name: str) -> None:
    env = environment(env_name).extend(variables=DYNAMIC)
    try:
        program = make_program(text, env)
    except InvalidExpressionError:
        return
    for variables in _inputs(text, seed=1):
        outcome, cost = program.run(variables, 1_000_000)
        trace = interpret(program.plan, variables, None, 1_000_000, program.charging.work_limit)
        assert _same(outcome, trace.outcome), (text, variables, outcome, trace.outcome)
        if not isinstance(outcome, EvaluationError) or "cancelled" not in str(outcome):
            assert cost == trace.cost, (text, variables, outcome)


@pytest.mark.parametrize("env_name", ENVIRONMENTS)
def test_a_function_refuses_what_it_cannot_take_with_an_error_of_the_language(env_name: str) -> None:
    for text in _calls(env_name):
        _run_both(text, env_name)


@pytest.mark.parametrize("env_name", ["muster", "ocm"])
def test_a_macro_refuses_what_it_cannot_take_with_an_error_of_the_language(env_name: str) -> None:
    for text in MACROS:
        _run_both(text, env_name)


@pytest.mark.parametrize("env_name", ENVIRONMENTS)
def test_functions_that_only_macros_call_and_all_prices_take_any_values_too(env_name: str) -> None:
    env = environment(env_name)
    charging = charging_of(env)
    picked = random.Random(7)
    for function in env.functions.values():
        bound = tuple(overload for overload in function.overloads if overload.impl is not None)
        for overload in bound:
            price = charging.price(function, overload.id)
            for _ in range(60):
                args = tuple(picked.choice(VALUES) for _ in overload.args)
                result = Invocation(function.name, "", bound)(new_meter(), args)
                price(new_meter(), args, result)
                price(new_meter(), args, None)


@pytest.mark.parametrize(
    "text",
    [
        "managedCluster.metadata.labels.sortBy(k, k)",
        "managedCluster.metadata.labels.distinct()",
        "managedCluster.metadata.labels.sort()",
        "managedCluster.metadata.labels.sum()",
        "managedCluster.metadata.labels.min()",
        "managedCluster.metadata.labels.flatten()",
        "managedCluster.metadata.labels.reverse()",
        "managedCluster.metadata.labels.slice(0, 1)",
        "managedCluster.metadata.labels.first()",
        "managedCluster.metadata.labels.indexOf('env')",
        "managedCluster.metadata.labels.join(',')",
        "sets.contains(managedCluster.metadata.labels, ['env'])",
        "managedCluster.metadata.name.distinct()",
        "managedCluster.metadata.name.sortBy(k, k)",
    ],
)
def test_a_list_function_on_labels_is_no_such_overload(text: str) -> None:
    program = make_program(text, environment("muster"))
    cluster = {"metadata": {"name": "c1", "labels": {"env": "prod", "zone": "eu"}}}
    outcome, _ = program.run({"managedCluster": cluster}, 1_000_000)
    assert isinstance(outcome, EvaluationError)
    assert "no such overload" in str(outcome) or "expected iterable type" in str(outcome)
    assert str(program.trace({"managedCluster": cluster}).outcome) == str(outcome)
