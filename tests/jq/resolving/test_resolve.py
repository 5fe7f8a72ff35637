"""Names: what they mean, and what is said when they mean nothing."""

from __future__ import annotations

import pytest

from muster.errors import InvalidExpressionError
from muster.jq import compile_query


def faults(text: str, *variables: str) -> list[str]:
    with pytest.raises(InvalidExpressionError) as caught:
        compile_query(text, variables=variables)
    return [diagnostic.message for diagnostic in caught.value.diagnostics]


def test_every_undefined_name_is_reported_at_once() -> None:
    assert faults("foo + $x | bar(1; 2) | break $l") == [
        "function not defined: foo/0",
        "variable not defined: $x",
        "function not defined: bar/2",
        "label not defined: $l",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", 'missing query (try ".")'),
        ("def f: 1;", 'missing query (try ".")'),
        ('import "m" as m; .', 'cannot load module: "m"'),
        ("input", "input(s)/0 is not allowed"),
        ("inputs", "input(s)/0 is not allowed"),
        ("debug", "function not defined: debug/0"),
        ("$__loc__", "variable not defined: $__loc__"),
        ("_match(1; 2)", "function not defined: _match/2"),
        ("(def f: 1; f) | f", "function not defined: f/0"),
    ],
)
def test_what_the_library_lacks_is_refused(text: str, message: str) -> None:
    assert faults(text) == [message]


def test_a_fault_shows_its_line_and_a_caret() -> None:
    with pytest.raises(InvalidExpressionError) as caught:
        compile_query(".a\n| nope")
    assert str(caught.value) == "ERROR: <input>:2:3: function not defined: nope/0\n | | nope\n | ..^"


@pytest.mark.parametrize(
    ("text", "outputs"),
    [
        ("def f: 1; def f: 2; f", [2]),
        ("def f: 1; def g: f; def f: 2; g", [1]),
        ("def f(f): f; f(3)", [3]),
        ("def f($a): a + $a; f(1)", [2]),
        ("def map(f): 7; [1] | map(.)", [7]),
        ("def map(f): 7; [1] | add(.[])", [1]),
        ("1 as $x | 2 as $x | $x", [2]),
        ("def f(g): def h: g; 5 | h; f(. + 1)", [6]),
        ("def f(g): 1 as $x | g; 2 as $x | f($x)", [2]),
        ("[[1, 2]] | .[] as [$a, $b] | $a + $b", [3]),
        ("env, $ENV", [{}, {}]),
    ],
)
def test_the_innermost_name_wins(text: str, outputs: list[object]) -> None:
    assert compile_query(text).run(None) == outputs


def test_variables_are_bound_by_the_caller() -> None:
    program = compile_query("[$a, $b]", variables=("a", "b"))
    assert program.run(None, variables={"a": 1, "b": [2]}) == [[1, [2]]]


def test_a_variable_needs_a_name() -> None:
    assert faults(".", "0x") == ["invalid variable name: $0x"]
