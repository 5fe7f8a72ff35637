"""Compiling has an end too: whatever the text, it is refused or compiled within a fraction of a second."""

from __future__ import annotations

import time

import pytest

from muster.errors import InvalidExpressionError
from muster.jq import compile_query
from muster.jq.resolving.names import MAX_DIAGNOSTICS
from muster.jq.syntax.token_reader import MAX_TOKENS

LARGE = {
    "pipes": "|".join(["."] * (MAX_TOKENS // 2 - 5)),
    "limits": "|".join(["limit(1;.[])"] * (MAX_TOKENS // 11)),
    "branches": "|".join(["if .a then .b else .c end"] * (MAX_TOKENS // 11)),
    "updates": "|".join([".[.]=1"] * (MAX_TOKENS // 8)),
    "functions that call each other twice": "def f0: .;"
    + "".join(f"def f{at}: f{at - 1}|f{at - 1};" for at in range(1, 900))
    + "f899",
    "parameters of parameters": "def f0(g): g;"
    + "".join(f"def f{at}(g): f{at - 1}(f{at - 1}(g));" for at in range(1, 40))
    + "f39(.)",
    "nested definitions": "def f: " * 78 + "f" + ";f" * 78,
    "paths that branch": "|".join(["(.a,.b)"] * 60),
    "a thousand paths": ",".join(f".a{at}.b" for at in range(1500)),
    "a long path": "|".join([".a?"] * 3000),
    "alternatives": ". as " + "?//".join(["[$v]"] * 2500) + "|1",
    "folds": "|".join(["reduce .[] as $x (0;.+$x)"] * 600),
    "nested folds": "reduce . as $x (0;" * 39 + "." + ")" * 39,
    "interpolation in interpolation": '"\\(' * 40 + "1" + ')"' * 40,
    "a sum": "+".join(["(if .a then 1 else empty end)"] * 100),
    "a regular expression": '"' + "a{1000}" * 1000 + '" as $re | test($re)',
}

REFUSED = {
    "words": ",".join(["1"] * 40_000),
    "brackets": "[" * 50_000 + "]" * 50_000,
    "suffixes": "." + "[]" * 40_000,
    "a number": "1" * 99_999,
    "variables": ". as [" + ",".join(f"$v{at}" for at in range(5000)) + "] | 1",
    "parameters": "def f(" + ";".join(f"g{at}" for at in range(5000)) + "): 1; 1",
    "names": "".join(f"def f{at}: .;" for at in range(1600)) + "|".join(["f0"] * 1600),
    "characters": " " * 200_000,
}


@pytest.mark.parametrize("name", LARGE)
def test_a_large_query_is_compiled_in_a_fraction_of_a_second(name: str) -> None:
    started = time.thread_time()
    program = compile_query(LARGE[name])
    assert len(program.reads) <= 256
    assert time.thread_time() - started < 1.5


@pytest.mark.parametrize("name", REFUSED)
def test_a_larger_one_is_refused_as_fast(name: str) -> None:
    started = time.thread_time()
    with pytest.raises(InvalidExpressionError) as caught:
        compile_query(REFUSED[name])
    assert len(str(caught.value)) < 20_000
    assert time.thread_time() - started < 1.5


def test_branching_paths_count_as_the_whole_input() -> None:
    assert compile_query("|".join(["(.a,.b)"] * 60)).reads == {()}
    assert len(compile_query("|".join(["(.a,.b)"] * 5)).reads) == 32


def test_faults_are_told_up_to_a_number() -> None:
    with pytest.raises(InvalidExpressionError) as caught:
        compile_query("|".join(f"x{at}" for at in range(2000)))
    assert len(caught.value.diagnostics) == MAX_DIAGNOSTICS
    with pytest.raises(InvalidExpressionError) as caught:
        compile_query(". " + "a" * 50_000)
    assert len(caught.value.diagnostics[0].message) < 300
