"""Syntax errors: found in one go, told in cel-go's words."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.cel.environment import Env, Limits
from muster.cel.syntax.macros import STANDARD_MACROS
from muster.cel.syntax.parser import parse
from muster.errors import InvalidExpressionError

if TYPE_CHECKING:
    from muster.source import Diagnostic

ENV = Env().extend(macros=STANDARD_MACROS)
START = (
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"
)


def messages(text: str, env: Env = ENV) -> list[str]:
    with pytest.raises(InvalidExpressionError) as caught:
        parse(text, env)
    return [line.removeprefix("ERROR: <input>:") for line in str(caught.value).split("\n") if line.startswith("ERROR")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 +", [f"1:4: Syntax error: mismatched input '<EOF>' expecting {START}"]),
        ("+ 1", [f"1:1: Syntax error: extraneous input '+' expecting {START}"]),
        ("a[1", ["1:4: Syntax error: missing ']' at '<EOF>'"]),
        ("1(2)", ["1:2: Syntax error: mismatched input '(' expecting <EOF>"]),
        ("a b", ["1:3: Syntax error: extraneous input 'b' expecting <EOF>"]),
        ("-1 b", ["1:4: Syntax error: extraneous input 'b' expecting <EOF>"]),
        ("[1, 2", ["1:6: Syntax error: mismatched input '<EOF>' expecting {']', ','}"]),
        ("{a}", ["1:3: Syntax error: mismatched input '}' expecting ':'"]),
        ("a.", ["1:3: Syntax error: no viable alternative at input '.'"]),
        ("a.true", ["1:3: Syntax error: mismatched input 'true' expecting IDENTIFIER"]),
        (
            "-",
            [
                "1:2: Syntax error: no viable alternative at input '-'",
                f"1:2: Syntax error: mismatched input '<EOF>' expecting {START}",
            ],
        ),
        (
            "a | b",
            [
                "1:3: Syntax error: token recognition error at: '| '",
                "1:5: Syntax error: extraneous input 'b' expecting <EOF>",
            ],
        ),
        (
            "func{{a}}",
            [
                "1:6: Syntax error: extraneous input '{' expecting {'}', ',', '?', IDENTIFIER, ESC_IDENTIFIER}",
                "1:8: Syntax error: mismatched input '}' expecting ':'",
                "1:9: Syntax error: extraneous input '}' expecting <EOF>",
            ],
        ),
        (
            "?!",
            [
                f"1:1: Syntax error: extraneous input '?' expecting {START}",
                f"1:3: Syntax error: extraneous input '<EOF>' expecting {START}",
            ],
        ),
        (
            "[1, 2].map(for, 1) +",
            [
                "1:12: reserved identifier: for",
                "1:12: argument is not an identifier",
                f"1:21: Syntax error: mismatched input '<EOF>' expecting {START}",
            ],
        ),
    ],
)
def test_a_syntax_error_is_told_as_cel_go_tells_it(text: str, expected: list[str]) -> None:
    assert messages(text) == expected


def test_errors_come_in_the_order_of_the_text_with_a_caret_each() -> None:
    with pytest.raises(InvalidExpressionError) as caught:
        parse("for +\n  @", ENV)
    assert str(caught.value) == (
        "ERROR: <input>:1:1: reserved identifier: for\n"
        " | for +\n"
        " | ^\n"
        "ERROR: <input>:2:3: Syntax error: token recognition error at: '@'\n"
        " |   @\n"
        " | ..^\n"
        f"ERROR: <input>:2:4: Syntax error: mismatched input '<EOF>' expecting {START}\n"
        " |   @\n"
        " | ...^"
    )


_PIECES = (
    *("a", "b", "in", "for", "true", "1", "-2", "3u", "1.5", "'x'", "b'y'", "`e-f`", "x.map(", "has(", "a.B{", ".f("),
    *(
        ".",
        ".?",
        "[?",
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ",",
        ":",
        "?",
        "-",
        "!",
        "+",
        "*",
        "==",
        "&&",
        "||",
        "@",
        "|",
        '"',
    ),
)


@given(st.lists(st.sampled_from(_PIECES), max_size=12).map(" ".join), st.booleans())
def test_whatever_the_text_the_answer_is_a_tree_or_diagnostics(text: str, extended: bool) -> None:
    env = ENV.with_options(optional_syntax=extended, identifier_escapes=extended)
    diagnostics: tuple[Diagnostic, ...] = ()
    try:
        parse(text, env)
    except InvalidExpressionError as error:
        diagnostics = error.diagnostics
    assert all(0 <= (diagnostic.offset or 0) <= len(text) for diagnostic in diagnostics)


def test_recovery_stops_after_so_many_attempts() -> None:
    env = ENV.extend(limits=Limits(recovery_attempts=4))
    assert messages("a ? b ((?))", env)[-1] == "1:12: Syntax error: error recovery attempt limit exceeded: 4"


def test_recovery_skips_only_so_many_tokens() -> None:
    env = ENV.extend(limits=Limits(recovery_lookahead=4))
    assert messages("a a a a a a a", env)[0] == "-1:0: error recovery token lookahead limit exceeded: 4"


def test_only_so_many_errors_are_told() -> None:
    found = messages("@" * 500)
    assert len(found) == 101
    assert found[-2:] == [
        "1:100: Syntax error: token recognition error at: '@'",
        "-1:0: 1 more errors were truncated",
    ]
