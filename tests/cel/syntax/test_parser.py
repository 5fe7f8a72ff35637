"""The parser: trees, places, limits, and agreement with the exact parser behind it."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from hypothesis import given

from muster.cel.costs.compile_budget import CompileBudget
from muster.cel.environment import Env, Limits, Options
from muster.cel.syntax.lexer import tokenize
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.syntax.parser import parse
from muster.cel.syntax.recovery import recover
from muster.cel.syntax.tree import Call, Entry, FieldInit, Ident, ListExpr, Literal, MapExpr, Select, StructExpr
from muster.cel.values import Uint
from muster.errors import InvalidExpressionError
from muster.source import Source
from tests.cel.expressions import expressions
from tests.cel.trees import shape

ENV = Env().extend(macros=STANDARD_MACROS, options=Options(optional_syntax=True, identifier_escapes=True))
PLAIN = Env().extend(macros=STANDARD_MACROS)


def tree(text: str) -> object:
    return shape(parse(text, ENV).expr)


def refusal(text: str, env: Env = PLAIN) -> str:
    with pytest.raises(InvalidExpressionError) as caught:
        parse(text, env)
    return "\n".join(line for line in str(caught.value).split("\n") if not line.startswith(" |"))


def test_operators_bind_as_in_cel() -> None:
    assert tree("a + b * -1 == c || !d") == shape(
        Call(
            0,
            "_||_",
            (
                Call(
                    0,
                    "_==_",
                    (
                        Call(0, "_+_", (Ident(0, "a"), Call(0, "_*_", (Ident(0, "b"), Literal(0, -1))))),
                        Ident(0, "c"),
                    ),
                ),
                Call(0, "!_", (Ident(0, "d"),)),
            ),
        )
    )


def test_members_calls_and_indexes_take_what_stands_before_them() -> None:
    assert tree("a.b.c(1u)[?x].?d.`e-f`") == shape(
        Select(
            0,
            Call(
                0,
                "_?._",
                (
                    Call(
                        0,
                        "_[?_]",
                        (
                            Call(0, "c", (Literal(0, Uint(1)),), Select(0, Ident(0, "a"), "b")),
                            Ident(0, "x"),
                        ),
                    ),
                    Literal(0, "d"),
                ),
            ),
            "e-f",
        )
    )


def test_lists_maps_and_messages_may_end_with_a_comma() -> None:
    assert tree("[1, ?x,]") == shape(ListExpr(0, (Literal(0, 1), Ident(0, "x")), frozenset({1})))
    assert tree("[,]") == shape(ListExpr(0, ()))
    assert tree("{'k': 1, ?'l': x,}") == shape(
        MapExpr(
            0,
            (Entry(0, Literal(0, "k"), Literal(0, 1)), Entry(0, Literal(0, "l"), Ident(0, "x"), optional=True)),
        )
    )
    assert tree(".a.B{f: 1,}") == shape(StructExpr(0, ".a.B", (FieldInit(0, "f", Literal(0, 1)),)))


def test_long_chains_of_logic_are_balanced() -> None:
    a, b, c, d = (Ident(0, name) for name in "abcd")
    assert tree("a && b && c && d") == shape(Call(0, "_&&_", (Call(0, "_&&_", (a, b)), Call(0, "_&&_", (c, d)))))


def test_a_chain_can_be_kept_as_one_call() -> None:
    env = PLAIN.with_options(variadic_logic=True)
    assert shape(parse("a && b && c", env).expr) == shape(
        Call(0, "_&&_", (Ident(0, "a"), Ident(0, "b"), Ident(0, "c")))
    )


def test_signs_cancel_in_pairs_and_a_minus_belongs_to_its_number() -> None:
    assert tree("!!a") == shape(Ident(0, "a"))
    assert tree("--a") == shape(Ident(0, "a"))
    assert tree("---1") == shape(Call(0, "-_", (Literal(0, 1),)))
    assert tree("-9223372036854775808") == shape(Literal(0, -(2**63)))


def test_every_node_points_at_its_place_in_the_text() -> None:
    parsed = parse("  a.b(c) + d[0]", ENV)
    assert sorted(parsed.offsets.values()) == [2, 5, 6, 9, 11, 12, 13]


def test_a_parsed_macro_call_is_kept_as_written() -> None:
    parsed = parse("has(a.b)", ENV)
    assert shape(parsed.macro_calls[parsed.expr.id]) == shape(Call(0, "has", (Select(0, Ident(0, "a"), "b"),)))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("for", "ERROR: <input>:1:1: reserved identifier: for"),
        ("99999999999999999999", "ERROR: <input>:1:1: invalid int literal"),
        ("has(a)", "ERROR: <input>:1:5: invalid argument to has() macro"),
        ("a.?b", "ERROR: <input>:1:2: unsupported syntax '.?'"),
        ("a[?b]", "ERROR: <input>:1:2: unsupported syntax '[?'"),
        ("a.`b`", "ERROR: <input>:1:3: unsupported syntax: '`'"),
        (
            "A{?b: c} == {?d: 1}",
            "ERROR: <input>:1:3: unsupported syntax '?'\nERROR: <input>:1:14: unsupported syntax '?'",
        ),
    ],
)
def test_what_is_no_matter_of_grammar_is_refused_in_its_own_words(text: str, message: str) -> None:
    assert refusal(text) == message


def test_limits_are_cel_gos() -> None:
    parse("(" * 249 + "1" + ")" * 249, PLAIN)
    assert refusal("(" * 250 + "1" + ")" * 250) == "ERROR: <input>:-1:0: expression recursion limit exceeded: 250"
    parse("+".join(["1"] * 251), PLAIN)
    assert refusal("+".join(["1"] * 252)) == "ERROR: <input>:-1:0: max recursion depth exceeded"
    assert refusal("a" + ".b" * 251) == "ERROR: <input>:-1:0: max recursion depth exceeded"
    assert refusal("a" * 100_001) == (
        "ERROR: <input>:-1:0: expression code point size exceeds limit: size: 100001, limit 100000"
    )


def test_limits_of_the_environment_hold() -> None:
    small = PLAIN.extend(limits=Limits(recursion=3, code_points=20))
    assert refusal("1+2+3+4+5", small) == "ERROR: <input>:-1:0: max recursion depth exceeded"
    assert refusal("(((1)))", small) == "ERROR: <input>:-1:0: expression recursion limit exceeded: 3"


@pytest.mark.parametrize(
    "text",
    [
        "(" * 1_000_000,
        "(" * 99_000,
        "+".join(["1"] * 45_000),
        "a" + ".b" * 40_000,
        "-" * 90_000 + "1",
        "@" * 90_000,
        '"\\z' * 30_000,
        "1?" * 40_000,
        "a " * 40_000,
    ],
    ids=["parentheses", "many parentheses", "sum", "path", "signs", "junk", "quotes", "conditions", "words"],
)
def test_hostile_texts_are_answered_fast(text: str) -> None:
    started = time.process_time()
    with suppress(InvalidExpressionError):
        parse(text, PLAIN)
    assert time.process_time() - started < 3


def test_deep_expressions_do_not_need_a_deep_stack() -> None:
    for text in (
        "[" * 249 + "]" * 249,
        "true?1:" * 240 + "1",
        "{1:" * 249 + "1" + "}" * 249,
        "!(" * 120 + "a" + ")" * 120,
    ):
        parse(text, PLAIN)


@given(expressions)
def test_the_exact_parser_builds_the_same_trees(text: str) -> None:
    source = Source(text)
    tokens, unrecognized = tokenize(text)
    assert shape(recover(source, tokens, unrecognized, ENV, CompileBudget()).expr) == shape(parse(source, ENV).expr)
