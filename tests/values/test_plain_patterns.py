"""Patterns without a choice: answered as RE2 answers, in time that grows with the text, and no others."""

import time

import pytest
import re2
from hypothesis import assume, given
from hypothesis import strategies as st

from muster.values.plain_patterns import matcher_of
from muster.values.regexes import compile_regex

_ALL = r"a b 1 - \. \d \w . [ab] [^a] [a-c1] [0-9.] [\d-] (a|b) (30|31) (?:ab|c) (a|ab) [ ( ) | \s \b {2} é"
_PIECES = st.sampled_from(_ALL.split())
_PATTERNS = st.lists(st.tuples(_PIECES, st.sampled_from(["", "", "+", "*", "?", "+?"])), max_size=5).map(
    lambda pieces: "".join(piece + times for piece, times in pieces)
)


@given(_PATTERNS, st.booleans(), st.lists(st.text("ab1c30.-\n é", max_size=8), min_size=1, max_size=8))
def test_what_it_finds_is_what_re2_finds(middle: str, ended: bool, texts: list[str]) -> None:
    pattern = f"^{middle}{'$' if ended else ''}"
    quick = matcher_of(pattern)
    assume(quick is not None)
    assert quick is not None
    options = re2.Options()
    options.log_errors = False
    slow = re2.compile(pattern, options)
    for text in texts:
        if text.isascii():
            assert (quick(text) is not None) == (slow.search(text) is not None), (pattern, text)
        assert compile_regex(pattern).found_in(text) == (slow.search(text) is not None), (pattern, text)


@pytest.mark.parametrize(
    "pattern",
    [r"^1\.(30|31)\.\d+$", "^prod-", "^v?[0-9]+$", r"^eu-(west|north)-\d$", r"^\w+-\d*$", "^$", "^", "^[^.]+[.]lab$"],
)
def test_patterns_without_a_choice_are_taken(pattern: str) -> None:
    assert matcher_of(pattern) is not None


_REPEATED = r"a+$ ^(a+)+$ ^a*a*b$ ^a?a$ ^(a|b)+$ ^\w+\d$ ^.*a$ ^a{2} ^a+? ^a*b?a"
_OTHERS = rf"{_REPEATED} ^(a|ab)c$ ^a|b$ (?i)^a ^\s ^\ba ^é ^\pL ^[b-a]$"


@pytest.mark.parametrize("pattern", [*_OTHERS.split(), f"^{'a' * 300}$"])
def test_all_others_stay_with_re2(pattern: str) -> None:
    assert matcher_of(pattern) is None


@pytest.mark.parametrize("pattern", [r"^\d+\.\d+\.\d+x$", r"^[ab]+c*d?\d+$", "^(ab|ac)[ab]*$"])
def test_the_time_grows_with_the_text_and_not_with_its_square(pattern: str) -> None:
    quick = matcher_of(pattern)
    assert quick is not None

    def least(size: int) -> float:
        text, times = "1" * size + "." + "2" * size + "." + "3" * size, []
        for each in (text, "ab" * size, "ab" + "a" * size + "!"):
            for _ in range(5):
                started = time.process_time()
                quick(each)
                times.append(time.process_time() - started)
        return sum(sorted(times)[:5])

    assert least(400_000) < 0.5
