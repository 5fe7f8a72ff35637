"""The unparser: what it writes parses to the same tree."""

from __future__ import annotations

import pytest
from hypothesis import given

from muster.cel.checking.checker import compile_expression
from muster.cel.environment import Env, Options
from muster.cel.environments import environment
from muster.cel.syntax.macros import BINDING_MACROS, OPTIONAL_MACROS, STANDARD_MACROS
from muster.cel.syntax.parser import parse
from muster.cel.syntax.tree import Call
from muster.cel.syntax.unparser import unparse
from tests.cel.expressions import expressions
from tests.cel.trees import shape

ENV = Env().extend(
    macros=(*STANDARD_MACROS, *BINDING_MACROS, *OPTIONAL_MACROS),
    options=Options(optional_syntax=True, identifier_escapes=True),
)


@given(expressions)
def test_what_is_written_parses_to_the_same_tree(text: str) -> None:
    tree = parse(text, ENV)
    assert shape(parse(unparse(tree), ENV).expr) == shape(tree.expr)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("a+b*( c )", "a + b * c"),
        ("(a+b)*c", "(a + b) * c"),
        ("a-(b-c)", "a - (b - c)"),
        ("a&&b&&(c&&d)", "a && b && c && d"),
        ("a&&(b&&(c&&d))", "a && (b && (c && d))"),
        ("a||b&&c", "a || b && c"),
        ("-(1)", "-(1)"),
        ("-((1).a)", "-(1.a)"),
        ("-((-1).a)", "-(-1.a)"),
        ("!(!a)", "!(!a)"),
        ("a?b:(c?d:e)", "a ? b : c ? d : e"),
        ("(a?b:c)?d:e", "(a ? b : c) ? d : e"),
        ("x.?a[?0].`b-c`", "x.?a[?0].`b-c`"),
        ("{'a':1,?b:c}", '{"a": 1, ?b: c}'),
        ("m.exists(v,has(v.w)&&v.x>1)", "m.exists(v, has(v.w) && v.x > 1)"),
        ("cel.bind(x,1,x)", "cel.bind(x, 1, x)"),
        ("'tab\\t\"q\" \\u200b'", '"tab\\t\\"q\\" \\u200b"'),
        ("b'\\xffa'", 'b"\\xffa"'),
    ],
)
def test_brackets_and_escapes_stand_only_where_needed(text: str, written: str) -> None:
    assert unparse(parse(text, ENV)) == written


def test_one_node_of_a_checked_tree_can_be_written() -> None:
    checked = compile_expression("[1, 2].exists(x, x > 1) && size('a') == 1", environment("standard"))
    assert isinstance(checked.expr, Call)
    assert [unparse(checked, node) for node in checked.expr.args] == ["[1, 2].exists(x, x > 1)", 'size("a") == 1']


def test_deep_trees_are_written() -> None:
    text = " + ".join(["a"] * 250)
    assert unparse(parse(text, ENV)) == text
