"""Patterns of users: RE2, limited, matched as Go matches."""

from __future__ import annotations

import time

import pytest

from muster.values.quoting import go_quote
from muster.values.regexes import MAX_PATTERN, InvalidRegexError, compile_regex


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "missing closing ): `(`"),
        (")", "unexpected ): `)`"),
        ("[a", "missing closing ]: `[a`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("*a", "missing argument to repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("\\", "trailing backslash at end of expression: ``"),
        ("\\8", "invalid escape sequence: `\\8`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("(?P<n", "invalid named capture: `(?P<n`"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("a\\C", "invalid escape sequence: `\\C`"),
    ],
)
def test_a_bad_pattern_is_refused_in_the_words_of_go(pattern: str, problem: str) -> None:
    with pytest.raises(InvalidRegexError) as caught:
        compile_regex(pattern)
    assert str(caught.value) == f"error parsing regexp: {problem}"


def test_a_pattern_that_is_too_long_or_too_large_is_refused() -> None:
    for pattern in ("a" * (MAX_PATTERN + 1), "((a{100}){100}){100}"):
        with pytest.raises(InvalidRegexError, match=r"expression too large|invalid repeat count"):
            compile_regex(pattern)


def test_a_pattern_is_compiled_once() -> None:
    assert compile_regex("a+") is compile_regex("a+")


def test_backtracking_patterns_take_linear_time() -> None:
    started = time.perf_counter()
    assert not compile_regex("^(a+)+$").found_in("a" * 50_000 + "b")
    assert time.perf_counter() - started < 2


@pytest.mark.parametrize(
    ("pattern", "text", "spans"),
    [
        ("a*", "baac", [(0, 0), (1, 3), (4, 4)]),
        ("", "éx", [(0, 0), (2, 2), (3, 3)]),
        ("x", "abc", []),
        ("é", "aéé", [(1, 3), (3, 5)]),
        ("^a", "aa", [(0, 1)]),
        ("\\b", "ab cd", [(0, 0), (2, 2), (3, 3), (5, 5)]),
    ],
)
def test_all_matches_are_those_go_finds(pattern: str, text: str, spans: list[tuple[int, int]]) -> None:
    assert [found[0] for found in compile_regex(pattern).all(text.encode())] == spans


def test_groups_that_took_no_part_are_marked() -> None:
    assert compile_regex("(a)|(b)").first(b"b") == [(0, 1), (-1, -1), (0, 1)]
    assert compile_regex("(a)|(b)").groups == 2


@pytest.mark.parametrize(
    ("text", "quoted"),
    [("plain", '"plain"'), ('a"b\\', '"a\\"b\\\\"'), ("é\n\x01\x85\U000e0001", '"é\\n\\x01\\u0085\\U000e0001"')],
)
def test_texts_are_quoted_as_go_quotes_them(text: str, quoted: str) -> None:
    assert go_quote(text) == quoted
