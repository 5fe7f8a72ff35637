"""Regular expressions: RE2's, kept, and never slow."""

from __future__ import annotations

import time

import pytest

from muster.jq.budgets import Meter
from muster.jq.errors import JqError
from muster.jq.values.regexes import Regexes, compile_regex


@pytest.mark.parametrize(
    ("pattern", "text", "answer"),
    [
        ("^dell", "dell inc", True),
        ("^dell", "a dell", False),
        ("inc$", "dell inc", True),
        ("^dell$", "dell\n", False),
        ("ell", "dell", True),
        ("", "anything", True),
        ("a.c", "abc", True),
        ("a|b$", "xb", True),
        ("é+", "caféé", True),
    ],
)
def test_plain_patterns_answer_as_the_engine_does(pattern: str, text: str, answer: bool) -> None:
    regex = compile_regex(Meter(), pattern, "")
    assert regex.test(text) is answer
    assert (regex.compiled.search(text.encode()) is not None) is answer


def test_flags() -> None:
    assert compile_regex(Meter(), "A.B", "im").test("a\nb")
    assert not compile_regex(Meter(), "a.b", "").test("a\nb")


def test_answers_are_kept_and_bounded() -> None:
    regexes = Regexes()
    for number in range(10_000):
        assert regexes.test(Meter(), "^[a-z]+[02468]$", "", f"n{number}") is (number < 10 and number % 2 == 0)


def test_a_pattern_that_ruins_backtracking_engines_is_fast() -> None:
    start = time.process_time()
    assert not compile_regex(Meter(), "^(a+)+$", "").test("a" * 10_000 + "!")
    assert time.process_time() - start < 1


@pytest.mark.parametrize("pattern", ["(", "a{1001}", "(?=a)", "\\1", "*", "[a", "x" * 10_001])
def test_bad_patterns_are_errors_of_the_query(pattern: str) -> None:
    with pytest.raises(JqError, match="regular expression"):
        compile_regex(Meter(), pattern, "")
