"""The lexer: longest match, and text that is no token is reported and skipped."""

from __future__ import annotations

import pytest

from muster.cel.syntax import lexer
from muster.cel.syntax.lexer import Token, Unrecognized, tokenize


def texts(source: str) -> list[str]:
    return [token.text for token in tokenize(source)[0][:-1]]


def test_every_token_knows_its_kind_and_place() -> None:
    tokens, unrecognized = tokenize('a >= 0x1Fu // and so on\n && b"x"')
    assert tokens == [
        Token(lexer.IDENTIFIER, "a", 0),
        Token(lexer.GREATER_EQUALS, ">=", 2),
        Token(lexer.NUM_UINT, "0x1Fu", 5),
        Token(lexer.LOGICAL_AND, "&&", 25),
        Token(lexer.BYTES, 'b"x"', 28),
        Token(lexer.EOF, "<EOF>", 32),
    ]
    assert unrecognized == []


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("1.5e3", ["1.5e3"]),
        ("1.foo", ["1", ".", "foo"]),
        ("1e", ["1", "e"]),
        (".5+1.", [".5", "+", "1", "."]),
        ("0xfg", ["0xf", "g"]),
        ("in inside", ["in", "inside"]),
        ('"""a"b"""', ['"""a"b"""']),
        ("r\"\\d\" R'\\'", ['r"\\d"', "R'\\'"]),
        ('"""abc', ['""']),
        ("a.`b-c/d e`", ["a", ".", "`b-c/d e`"]),
        ("'a b#c'", ["'a b#c'"]),
    ],
)
def test_the_longest_token_wins(source: str, expected: list[str]) -> None:
    assert texts(source) == expected


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("a | b", [Unrecognized("| ", 2, 1)]),
        ("*@a", [Unrecognized("@", 1, 1)]),
        ('"\\z"', [Unrecognized('"\\z', 0, 0), Unrecognized('"', 3, 0)]),
        ('"abc', [Unrecognized('"abc', 0, 0)]),
        ("'\\u12x'", [Unrecognized("'\\u12x", 0, 0), Unrecognized("'", 6, 0)]),
        ("a`b", [Unrecognized("`b", 1, 1)]),
        ("=", [Unrecognized("=", 0, 0)]),
    ],
)
def test_what_is_no_token_is_told_up_to_the_character_that_ended_it(source: str, expected: list[Unrecognized]) -> None:
    assert tokenize(source)[1] == expected


def test_an_empty_text_is_just_its_end() -> None:
    assert tokenize("") == ([Token(lexer.EOF, "<EOF>", 0)], [])
