"""Macros: what they expand to, and how they refuse their arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.cel.costs.compile_budget import CompileBudget
from muster.cel.declarations import Macro
from muster.cel.environment import Env
from muster.cel.syntax.macros import (
    BINDING_MACROS,
    MATH_MACROS,
    OPTIONAL_MACROS,
    STANDARD_MACROS,
    TWO_VARIABLE_MACROS,
)
from muster.cel.syntax.parser import parse
from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Comprehension, Expr, Ident, ListExpr, Literal, Select
from muster.cel.syntax.unparser import unparse
from muster.errors import InvalidExpressionError
from tests.cel.trees import shape

if TYPE_CHECKING:
    from muster.cel.syntax.nodes import Builder

ENV = Env().extend(macros=(*STANDARD_MACROS, *TWO_VARIABLE_MACROS, *BINDING_MACROS, *OPTIONAL_MACROS, *MATH_MACROS))
ACCU = Ident(0, "@result")


def tree(text: str) -> object:
    return shape(parse(text, ENV).expr)


def refusal(text: str) -> str:
    with pytest.raises(InvalidExpressionError) as caught:
        parse(text, ENV)
    return str(caught.value).split("\n")[0]


def test_has_is_a_test_of_presence() -> None:
    assert tree("has(a.b.c)") == shape(Select(0, Select(0, Ident(0, "a"), "b"), "c", test_only=True))


def test_all_folds_with_and() -> None:
    assert tree("m.all(v, v)") == shape(
        Comprehension(
            0,
            Ident(0, "m"),
            "v",
            "",
            "@result",
            Literal(0, True),
            Call(0, "@not_strictly_false", (ACCU,)),
            Call(0, "_&&_", (ACCU, Ident(0, "v"))),
            ACCU,
        )
    )


def test_filter_appends_the_elements_for_which_the_predicate_holds() -> None:
    assert tree("m.filter(v, p)") == shape(
        Comprehension(
            0,
            Ident(0, "m"),
            "v",
            "",
            "@result",
            ListExpr(0, ()),
            Literal(0, True),
            Call(0, "_?_:_", (Ident(0, "p"), Call(0, "_+_", (ACCU, ListExpr(0, (Ident(0, "v"),)))), ACCU)),
            ACCU,
        )
    )


def test_two_variables_reach_the_fold() -> None:
    fold = parse("m.transformMap(k, v, v > 1, v)", ENV).expr
    assert isinstance(fold, Comprehension)
    assert (fold.iter_var, fold.iter_var2) == ("k", "v")
    assert shape(fold.loop_step) == shape(
        Call(
            0,
            "_?_:_",
            (
                Call(0, "_>_", (Ident(0, "v"), Literal(0, 1))),
                Call(0, "cel.@mapInsert", (ACCU, Ident(0, "k"), Ident(0, "v"))),
                ACCU,
            ),
        )
    )


def test_bind_is_a_fold_over_nothing() -> None:
    assert tree("cel.bind(x, 1, x + x)") == shape(
        Comprehension(
            0,
            ListExpr(0, ()),
            "#unused",
            "",
            "x",
            Literal(0, 1),
            Literal(0, False),
            Ident(0, "x"),
            Call(0, "_+_", (Ident(0, "x"), Ident(0, "x"))),
        )
    )


def test_another_receiver_keeps_a_namespaced_macro_an_ordinary_call() -> None:
    assert tree("other.bind(x, 1, x)") == shape(
        Call(0, "bind", (Ident(0, "x"), Literal(0, 1), Ident(0, "x")), Ident(0, "other"))
    )


def test_greatest_takes_any_number_of_arguments() -> None:
    assert tree("math.greatest(1, 2, x)") == shape(
        Call(0, "math.@max", (ListExpr(0, (Literal(0, 1), Literal(0, 2), Ident(0, "x"))),))
    )


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("m.exists_one(v, p)", "p ? @result + 1 : @result"),
        ("m.existsOne(k, v, p)", "p ? @result + 1 : @result"),
        ("m.exists(k, v, p)", "@result || p"),
        ("m.all(k, v, p)", "@result && p"),
        ("m.map(v, p, t)", "p ? @result + [t] : @result"),
        ("m.transformList(k, v, t)", "@result + [t]"),
        ("m.transformList(k, v, p, t)", "p ? @result + [t] : @result"),
        ("m.transformMap(k, v, t)", "cel.@mapInsert(@result, k, t)"),
        ("m.transformMapEntry(k, v, p, t)", "p ? cel.@mapInsert(@result, t) : @result"),
    ],
)
def test_the_step_of_every_fold(text: str, step: str) -> None:
    parsed = parse(text, ENV)
    assert isinstance(parsed.expr, Comprehension)
    assert unparse(parsed, parsed.expr.loop_step) == step


@pytest.mark.parametrize(
    "target",
    ["a.b", "f(x)", "x.f(1)", "[1, 2]", "{'a': [true]}", "p.M{f: 1}", "[1].map(v, v + 1)", "has(a.b)"],
)
def test_an_expression_used_twice_is_copied_whole_with_ids_of_its_own(target: str) -> None:
    parsed = parse(f"({target}).optMap(v, v)", ENV)
    assert isinstance(parsed.expr, Call)
    nodes = list(descendants(parsed.expr))
    assert len({node.id for node in nodes}) == len(nodes)
    plain = shape(parse(target, ENV).expr)
    assert [shape(node) for node in nodes].count(plain) == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("has(a)", "1:5: invalid argument to has() macro"),
        ("m.all(a.b, true)", "1:8: argument must be a simple name"),
        ("m.map(a.b, true)", "1:8: argument is not an identifier"),
        ("m.filter(__result__, true)", "1:10: iteration variable overwrites accumulator variable"),
        ("m.all(i, i, true)", "1:10: duplicate variable name: i"),
        ("m.exists(i, 1, true)", "1:13: argument must be a simple name"),
        ("cel.bind(a.b, 1, 2)", "1:11: cel.bind() variable names must be simple identifiers"),
        ("x.optMap(a.b, 1)", "1:11: optMap() variable name must be a simple identifier"),
        ("x.optFlatMap(1, 1)", "1:14: optFlatMap() variable name must be a simple identifier"),
        ("math.least()", "1:1: math.least() requires at least one argument"),
        ("math.greatest('a')", "1:15: math.greatest() invalid single argument value"),
        ("math.greatest([])", "1:15: math.greatest() invalid single argument value"),
        ("math.least(1, true)", "1:15: math.least() simple literal arguments must be numeric"),
    ],
)
def test_wrong_arguments_are_refused_at_their_place(text: str, message: str) -> None:
    assert refusal(text) == f"ERROR: <input>:{message}"


def test_an_expansion_that_would_double_without_end_is_refused() -> None:
    text = "x.optMap(v, v)" + ".optMap(v, v)" * 60
    budget = CompileBudget()
    with pytest.raises(InvalidExpressionError, match="compiling takes more than the 40000 steps"):
        parse(text, ENV, budget)
    assert budget.spent < 40_010


def test_a_macro_of_ones_own_takes_a_few_lines() -> None:
    def twice(make: Builder, target: Expr | None, args: tuple[Expr, ...]) -> Expr:
        return make.new_call("_+_", args[0], make.copy(args[0]))

    env = Env().extend(macros=[Macro("twice", False, 1, twice)])
    parsed = parse("twice(a.b)", env)
    path = Select(0, Ident(0, "a"), "b")
    assert shape(parsed.expr) == shape(Call(0, "_+_", (path, path)))
    assert len({node.id for node in descendants(parsed.expr)}) == 5
