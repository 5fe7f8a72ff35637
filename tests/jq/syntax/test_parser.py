"""Text to tree: shapes, precedence, and where faults are found."""

from __future__ import annotations

import pytest

from muster.errors import InvalidExpressionError
from muster.jq.syntax import tree
from muster.jq.syntax.parser import MAX_LENGTH, parse
from muster.jq.syntax.printer import print_query
from muster.source import Source


def spelled(text: str) -> str:
    """The query with parentheses where its structure has them."""
    return print_query(parse(Source(text)).body)


def fault(text: str) -> tuple[str, int | None]:
    with pytest.raises(InvalidExpressionError) as caught:
        parse(Source(text))
    (diagnostic,) = caught.value.diagnostics
    return diagnostic.message, diagnostic.offset


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("1 + 2 * 3", "1 + (2 * 3)"),
        ("1 - 2 - 3", "(1 - 2) - 3"),
        ("1 // 2 // 3", "1 // (2 // 3)"),
        (".a // .b = 1", ".a // (.b = 1)"),
        (".a or .b and .c == 1", ".a or (.b and (.c == 1))"),
        ("1, 2 | 3", "(1, 2) | 3"),
        ("1 as $x | 2, $x", "1 as $x | (2, $x)"),
        ("1, 2 as $x | $x", "1, (2 as $x | $x)"),
        ("1 + 2 as $x | $x", "(1 + 2) as $x | $x"),
        ("try .a + 1", "(try .a) + 1"),
        ("-.a.b", "-(.a.b)"),
        ("def f: 1; f | f", "def f: 1; (f | f)"),
        ("def f: 1; (def g: 2; g)", "def f: 1; def g: 2; g"),
        ("label $x | 1, break $x", "label $x | (1, break $x)"),
        (".a[1:][0]?", "(.a[1:])[0]?"),
        ("(.a.b)?", "try (.a.b)"),
        ("(.a)??", "try (try .a)"),
        ("(.a)[]?", ".a[]?"),
        ("..|.a", ".. | .a"),
        ('."a"."b"', ".a.b"),
        ('.["a"]', '.["a"]'),
        ('{a, "b", $c, (1): 2 | 3}', "{a, b, $c, (1): (2 | 3)}"),
    ],
)
def test_operators_bind_as_in_gojq(text: str, same: str) -> None:
    assert parse(Source(text)).body == parse(Source(same)).body


def test_a_string_is_read_in_pieces() -> None:
    body = parse(Source('@sh "a\\(.b)\\u00e9"')).body
    assert isinstance(body, tree.Text)
    assert (body.format, body.parts[0], body.parts[2]) == ("@sh", "a", "é")


def test_halves_of_a_pair_are_joined_and_lone_halves_replaced() -> None:
    assert parse(Source('"\\ud83d\\ude00\\ud83d"')).body == tree.Text(("😀\ufffd",))


@pytest.mark.parametrize(
    ("text", "message", "offset"),
    [
        (".a[", "unexpected EOF", 3),
        ("def $f: .; $f", 'unexpected token "$f"', 4),
        ("def f(a::b): .; 1", 'unexpected token "a::b"', 6),
        ("if 0then. else. end", 'invalid token "0t"', 3),
        ('"\\x"', 'invalid escape sequence "\\x" in string literal', 1),
        ('"abc', "unterminated string literal", 4),
        ("1 == 2 == 3", 'unexpected token "=="', 7),
        (".foo & .bar", 'unexpected token "&"', 5),
        ("1..2", 'invalid token "1.."', 0),
        ("{(1)}", 'unexpected token "}"', 4),
        ("1 end", 'unexpected token "end"', 2),
        ("if . then 1 else", "unexpected EOF", 16),
        (". as [] | 1", 'unexpected token "]"', 6),
    ],
)
def test_faults_are_told_at_the_token(text: str, message: str, offset: int) -> None:
    assert fault(text) == (message, offset)


def test_a_comment_ends_with_its_line_unless_that_is_escaped() -> None:
    assert spelled("1 # one \\\n still a comment\n + 2") == "1 + 2"


@pytest.mark.parametrize("text", ["(" * 500 + "1" + ")" * 500, "[" * 20_000, "-" * 5000 + "1", "1" + "+1" * 5000])
def test_deep_nesting_is_refused_not_crashed(text: str) -> None:
    with pytest.raises(InvalidExpressionError):
        parse(Source(text))


def test_long_chains_do_not_nest() -> None:
    chain = " | ".join(["."] * 5000)
    logic = " and ".join(["true"] * 5000)
    assert isinstance(parse(Source(chain)).body, tree.Pipe)
    assert spelled(logic) == logic


def test_a_query_has_a_greatest_length() -> None:
    with pytest.raises(InvalidExpressionError, match="longer than"):
        parse(Source(" " * (MAX_LENGTH + 1)))
