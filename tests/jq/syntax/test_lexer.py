"""Tokens: the words of the language and where they end."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.jq.syntax.lexer import Lexer


def kinds(text: str) -> list[tuple[str, str]]:
    lexer = Lexer(text)
    tokens = []
    while (token := lexer.next()).kind != "eof":
        tokens.append((token.kind, token.text))
    return tokens


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        (".foo.bar", [("field", ".foo"), ("field", ".bar")]),
        (". foo", [(".", "."), ("name", "foo")]),
        (".. .a", [("..", ".."), ("field", ".a")]),
        (".5 1.5e-3", [("number", ".5"), ("number", "1.5e-3")]),
        ("1.2.3", [("invalid", "1.2."), ("number", "3")]),
        ("a::b $a::b", [("name", "a::b"), ("variable", "$a::b")]),
        ("?// // //= ?", [("?//", "?//"), ("//", "//"), ("//=", "//="), ("?", "?")]),
        ("if and end", [("if", "if"), ("and", "and"), ("end", "end")]),
        ("@base64 @", [("format", "@base64"), ("character", "@")]),
        ("1 # 2\n3", [("number", "1"), ("number", "3")]),
        ("☆", [("character", "☆")]),
        ("!=!", [("!=", "!="), ("!", "!")]),
    ],
)
def test_words(text: str, tokens: list[tuple[str, str]]) -> None:
    assert kinds(text) == tokens


def test_a_string_with_a_query_in_it_comes_in_pieces() -> None:
    lexer = Lexer('"a\\(1)b"')
    found = [lexer.next() for _ in range(4)]
    assert [token.kind for token in found] == ["string-start", "string", "string-query", "number"]
    lexer.next()
    lexer.in_string = True
    assert [(token.kind, token.value) for token in (lexer.next(), lexer.next())] == [
        ("string", "b"),
        ("string-end", ""),
    ]


OPERATORS = (
    "?//", "//=", "|=", "+=", "-=", "*=", "/=", "%=", "==", "!=", ">=", "<=", "//", "=", ">", "<", "|", "?", "+", "-",
    "*", "/", "%",
)  # fmt: skip
"""The longer ones first, as gojq looks for them."""


@given(st.text(alphabet="?/|+-*%=!<>", max_size=12))
def test_the_first_operator_that_fits_is_the_token(text: str) -> None:
    expected = []
    rest = text
    while rest:
        token = next((each for each in OPERATORS if rest.startswith(each)), rest[0])
        expected.append((token, token))
        rest = rest[len(token) :]
    assert kinds(text) == expected
