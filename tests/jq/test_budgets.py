"""Budgets: every runaway ends, soon, with its budget named, and nothing in the language catches that."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import Limits, Meter, compile_query

RUNAWAYS = {
    # from the comparison of bindings
    "def f: f; f": "null",
    "[range(1e12)]": "null",
    "repeat(.)": "null",
    "last(range(1e12))": "null",
    "def f: 1 + f; f": "null",
    "def f: [f]; f": "null",
    'test("^(a+)+$")': json.dumps("a" * 40 + "!"),
    'reduce range(100) as $_ ("x"; . + .)': "null",
    '"x" * 1e10': "null",
    ".[500000000] = 1": "null",
    "reduce range(200000) as $_ (1; [.]) | tojson": "null",
    "def f: f, f; f": "null",
    "until(. < 0; . + 1)": "0",
    # values that are small to hold and endless to walk
    "reduce range(60) as $_ (0; [., .]) | tojson": "null",
    "reduce range(60) as $_ (0; [., .]) | . == .": "null",
    "reduce range(60) as $_ (0; [., .]) | flatten": "null",
    "reduce range(60) as $_ (0; [., .]) | [..] | length": "null",
    "reduce range(60) as $_ (0; [., .]) | [paths] | length": "null",
    "reduce range(60) as $_ (0; [., .]) | walk(.)": "null",
    # integers, texts, arrays and objects that grow
    "reduce range(60) as $_ (2; . * .)": "null",
    "1 | until(false; . + .)": "null",
    '"a" | until(false; . + "b")': "null",
    "[1] | until(false; [.[], .[]])": "null",
    "reduce range(1e9) as $i ({}; .[$i | tostring] = $i)": "null",
    "reduce range(1e7) as $i ([]; . + [$i])": "null",
    "[range(1e6) | {a: ., b: .}]": "null",
    "[[range(10)] | ., ., ., ., ., ., ., ., .] | [combinations]": "null",
    "[limit(10; repeat([range(100000)]))] | transpose | until(false; . + .)": "null",
    '(" " * 1000000) | @uri | @uri | @uri | @uri': "null",
    '"x" * 1000000 | [match(""; "g")] | length': "null",
    "tojson | until(false; tojson)": json.dumps('"\\'),
    'strftime("%1024d" * 5000) | until(false; . + .)': "0",
    # patterns that are costly to compile and to run
    'range(500) | tostring as $i | "abc" * 3000 | test("([a-z]{30}\\\\pL{9}.*){2}" + $i)': "null",
    '[range(500) | tostring as $i | "abc" * 3000 | match("([a-z]{30}\\\\pL{9}.*)*" + $i; "g")]': "null",
    # calls
    "def f: {a: f}; f": "null",
    "def f: path(f); f": "null",
    "def f: .a |= f; f": "null",
    "def f: reduce f as $x (0; .); f": "null",
    "def f(g): f(g | g); f(.)": "1",
    "[recurse(. + 1)]": "0",
    "[recurse([., .])] | length": "1",
    # what tries to catch it
    "try (def f: f; f) catch 1": "null",
    "(def f: [f]; f) // 1": "null",
    "[.[] | (def f: f; f)?]": "[1, 2]",
    "def f: try f catch .; f": "null",
    # nothing comes out
    "range(infinite) | select(false)": "null",
    "isempty(range(1e12) | select(false))": "null",
    "limit(5; range(1e12) | select(false))": "null",
    "foreach range(1e12) as $i (0; . + $i; empty)": "null",
}

_CHILD = """
import json, os, resource, sys, time
from muster.errors import EvaluationError
from muster.jq import compile_query, from_json

def measure(query, text):
    value = from_json(text)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    try:
        for output in compile_query(query).outputs(value):
            pass
        said = "ended"
    except EvaluationError as error:
        said = type(error).__name__
    took = time.process_time() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps([query, said, took, memory / 1024]), flush=True)

for query, text in json.load(sys.stdin):
    child = os.fork()  # each has its own high-water mark
    if child == 0:
        measure(query, text)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.slow
@pytest.mark.e2e
def test_every_runaway_ends_within_a_second_and_100_mb() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _CHILD],
        input=json.dumps(list(RUNAWAYS.items())),
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert (done.returncode, [row[0] for row in rows]) == (0, list(RUNAWAYS))
    assert [row for row in rows if row[2] > 1 or row[3] > 100] == []


@pytest.mark.parametrize(
    ("query", "budget"),
    [
        ("def f: f; f", "steps"),
        ("last(range(100000))", "steps"),
        ("[range(100000)]", "cells"),
        ("def f: 1 + f; f", "depth"),
        ("def f(g): f(g | g); f(.)", "cells"),
        ("[recurse(. // 1)]", "depth"),
        ('"x" * 1000000', "cells"),
        (".[100000] = 1", "cells"),
        ("[limit(50; repeat(1))] | map([., .] + [., ., ., .]) | map(. + .) | add + add | until(false; . + .)", "cells"),
        ("reduce range(60) as $_ (2; . * .)", "integer_bits"),
        ("range(2000)", "outputs"),
    ],
)
def test_the_error_names_the_budget(query: str, budget: str) -> None:
    limits = Limits(steps=20_000, cells=10_000, depth=500, outputs=1000, seconds=None)
    with pytest.raises(BudgetExceededError, match=rf"\(budget: {budget}\)") as caught:
        list(compile_query(query).outputs(None, limits=limits))
    assert caught.value.budget == budget


@pytest.mark.parametrize("query", ["try (def f: f; f) catch 1", "(def f: f; f)?", "first((def f: f; f), 1) // 2"])
def test_no_construct_catches_a_budget(query: str) -> None:
    with pytest.raises(BudgetExceededError):
        compile_query(query).run(None, limits=Limits(steps=10_000))


def test_the_deadline_is_the_callers_clock() -> None:
    ticks = iter(range(1000))
    limits = Limits(steps=10**9, seconds=5, clock=lambda: next(ticks))
    with pytest.raises(BudgetExceededError, match="longer than 5 s"):
        compile_query("last(range(1e9))").run(None, limits=limits)


def test_a_meter_tells_what_was_used() -> None:
    meter = Meter(Limits(steps=10_000, cells=10_000))
    assert list(compile_query(".[] | {a: .}").metered([1, 2, 3], meter)) == [{"a": 1}, {"a": 2}, {"a": 3}]
    assert (meter.steps_used, meter.cells_used) == (3, 30)


def test_steps_of_many_slices_are_all_counted() -> None:
    meter = Meter(Limits(steps=100_000))
    list(compile_query("last(range(30000))").metered(None, meter))
    assert meter.steps_used == 30_000


def test_a_value_deeper_than_pythons_stack_is_an_error_not_a_crash() -> None:
    value: list[object] = []
    for _ in range(50_000):
        value = [value]
    for query in (
        "tojson",
        ". == [1]",
        "flatten",
        "walk(.)",
        "[..] | length",
        "[paths] | length",
        "sort",
        "contains([[1]])",
    ):
        with contextlib.suppress(EvaluationError):
            compile_query(query).run(value)


def test_recursion_is_legal_far_beyond_pythons_limit() -> None:
    deep = compile_query("def depth: if . == 0 then 0 else 1 + (. - 1 | depth) end; depth")
    assert deep.run(5000, limits=Limits(seconds=30)) == [5000]


def test_tail_calls_take_no_depth() -> None:
    loop = compile_query("def go: if . >= 100000 then . else . + 1 | go end; go")
    assert loop.run(0, limits=Limits(steps=10_000_000, depth=50, seconds=60)) == [100_000]


def test_an_ordinary_query_is_far_from_its_budgets() -> None:
    start = time.process_time()
    program = compile_query("[.disks[] | select(.size > 10)] | length > 1")
    assert program.run({"disks": [{"size": 20}] * 100}, limits=Limits(steps=200, cells=200)) == [True]
    assert time.process_time() - start < 1


def test_every_run_has_all_of_its_budgets() -> None:
    """Though a program's runs take the meter of the one before: nothing that was spent stays spent."""
    program = compile_query("[.[] | . + 1] | length")
    limits = Limits(steps=600, cells=400)
    for _ in range(5):
        assert program.run([0] * 300, limits=limits) == [300]
    with pytest.raises(BudgetExceededError):
        program.run([0] * 700, limits=limits)
    assert program.run([0] * 300, limits=limits) == [300]
    assert program.run([0] * 700) == [700]
    with pytest.raises(BudgetExceededError):
        program.run([0] * 700, limits=limits)


def test_a_run_inside_a_run_has_budgets_of_its_own() -> None:
    program = compile_query("[.[] | . + 1] | length")
    inner: list[object] = []

    def clock() -> float:
        if not inner:
            inner.append(None)
            inner[0] = program.run([0] * 1500, limits=limits)
        return 0.0

    limits = Limits(steps=1600, seconds=1, clock=clock)
    assert program.run([0] * 1500, limits=limits) == [1500]
    assert inner == [[1500]]


def test_every_run_has_all_of_its_steps_without_a_deadline_too() -> None:
    program = compile_query("[.[] | . + 1] | length")
    limits = Limits(steps=1000, seconds=None)
    for _ in range(3):
        assert program.run([0] * 900, limits=limits) == [900]
        with pytest.raises(BudgetExceededError):
            program.run([0] * 1001, limits=limits)


def test_a_run_that_looked_at_the_clock_leaves_no_deadline_behind() -> None:
    now = 0.0

    def clock() -> float:
        nonlocal now
        now += 0.4  # each look at it is that much later
        return now

    program = compile_query("[.[] | . + 1] | length")
    limits = Limits(seconds=0.5, clock=clock)
    for _ in range(4):
        assert program.run(list(range(600)), limits=limits) == [600]


def test_runs_at_the_same_time_have_their_own_meters() -> None:
    program = compile_query("[.[] | . + 1] | length")
    limits = Limits(steps=500, cells=1000)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: program.run(list(range(400)), limits=limits), range(400)))
    assert found == [[400]] * 400
