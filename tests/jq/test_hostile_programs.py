"""What was found by hunting, and a short run of the generator: every query ends, soon, as an error that says why.

CPU time is measured, with wide margins; budgets are those of classification, where queries of strangers run.
"""

from __future__ import annotations

import resource
import time
from typing import Any

import pytest

from muster.classification.outcomes import LIMITS, judge
from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import HaltError, JqError, Limits, compile_query, short_json
from tests.hostile.jq_programs import SMALL_LIMITS, inventory, loops, programs, verdict

GRAPH = "reduce range(60) as $_ ([1]; [., .])"  # sixty arrays, 2^60 visits
BIG = "reduce range(14) as $_ (10; . * .)"  # an integer of 16,385 digits

FINDINGS = [
    # bytes that are no text, on their way through another format
    "9223372036854775807 | @base64d | @urid",
    '9223372036854775807 | @base64d | (@uri, @base64, @html, tojson, explode, ascii_downcase, ltrimstr(.), test("a"))',
    # error texts were encoded without the meter
    f"error({GRAPH})",
    f"try error({GRAPH}) catch .",
    f"(error({GRAPH}))?",
    f"error({GRAPH}) // 1",
    f"{GRAPH} | error",
    f"{GRAPH} | halt_error",
    f"{GRAPH} | halt_error(1)",
    f"error({{a: ({GRAPH})}})",
    f"{GRAPH} | .a",
    f"({GRAPH}) + {{}}",
    f"({GRAPH}) | test(1)",
    f"({GRAPH}) | ltrimstr(1)",
    f"({GRAPH}) | @csv",
    f"({GRAPH}) as {{a: $x}} | $x",
    f"({GRAPH}) as [$x] ?// {{a: $x}} | $x | error",
    f'@json "\\({GRAPH})"',
    f"path({GRAPH})",
    f"[{GRAPH}] | implode",
    f"{GRAPH} | getpath([0, 0, {{}}])",
    f'{GRAPH} | setpath([0, "a"]; .)',
    f"label $out | ({GRAPH}) | error, break $out",
    f"{GRAPH} | strptime(.)",
    # natives that worked without the meter
    '("a" * 100000) as $t | last(range(1e9) | $t | indices("a" * 50000))',
    '("a" * 100000) as $t | last(range(1e9) | $t | rindex("a" * 25000 + "b" + "a" * 25000))',
    '("a" * 300000) as $t | last(range(1e9) | $t | index("b"))',
    "[range(60000)] as $l | last(range(1e9) | $l | indices(-1))",
    "[range(60000)] as $l | last(range(1e9) | $l | indices([0, -1]))",
    "[range(60000)] as $l | last(range(1e9) | $l | add)",
    '[limit(60000; repeat(""))] as $l | last(range(1e9) | $l | add, join(""))',
    "[limit(60000; repeat(97))] as $l | last(range(1e9) | $l | implode)",
    "[limit(60000; repeat([]))] as $l | last(range(1e9) | $l | transpose)",
    f"({BIG}) as $b | last(range(1e9) | $b % 12345678901234567891)",
    f"({BIG}) as $b | last(range(1e9) | $b / 3)",
    f"({BIG}) as $b | last(range(1e9) | $b | tostring)",
    f"({BIG} | tostring) as $t | last(range(1e9) | $t | tonumber)",
    f"({BIG}) as $b | [range(1e9) | $b | length]",
    f"({BIG}) as $b | [range(1e9) | -$b]",
    f"({BIG}) as $b | [range($b; $b + 1e9)]",
    f"({BIG}) as $b | [limit(30000; repeat($b, $b + 1))] | sort",
    f"({BIG}) as $b | [limit(30000; repeat($b, $b + 1))] | tojson",
    f"({BIG}) as $b | last(range(1e9) | try ($b | error) catch 1)",
    '"%c" * 100000 as $f | 0 | strftime($f)',
    'last(range(1e9) | strftime("%c" * 100))',
    "[range(20000)] | group_by(.)",
    '("x" * 90000) as $x | [limit(9000; repeat($x, $x + ""))] | sort | group_by(.)',
    '("x" * 90000) as $x | ("x" * 90000) as $y | last(range(1e9) | $x == $y)',
    '("x" * 90000) as $x | ("x" * 90000) as $y | {($x): 1} | last(range(1e9) as $_ | .[$y])',
    '{("k" * 300000): 1} as $o | [limit(2000; repeat($o))] | tojson',
    "[range(60000)] as $l | [range(60000)] as $m | last(range(1e9) | $l == $m)",
    "[range(9000) | {key: tostring, value: .}] | from_entries as $o | last(range(1e9) | try ($o | error) catch 1)",
    '("[" * 90000) as $t | last(range(1e9) | try ($t | fromjson) catch 1)',
    '"é" * 60000 | [match("(?:(a)|(é))(é)?"; "g")] | length',
    '"x" * 300000 | match("(" * 90 + ".*" + ")" * 90) | length',
    'last(range(1e9) | try test("(\\\\pL{1000})" + tostring) catch 1)',
    'last(range(1e9) | try test("\\\\pL" * 1000 + tostring) catch 1)',
    "last(range(1e9) | jn(100000; 100000), y0, yn(100000; 1))",
    # one turn of a loop with thousands of operations in it
    "last(range(1e9) | " + " | ".join([".+1"] * 2500) + ")",
    "def f: " + " | ".join([".+1"] * 2500) + "; last(range(1e9) | f)",
]


def peak_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


@pytest.mark.parametrize("query", FINDINGS)
def test_a_finding_ends_soon_in_both_evaluators(query: str) -> None:
    host, memory = inventory(), peak_mb()
    program = compile_query(query)
    for run in (program.outputs, program.reference_outputs):
        started, limits = time.thread_time(), Limits(steps=30_000, cells=LIMITS.cells, seconds=None)
        text = ""
        try:
            for _ in run(host, limits=limits):
                pass
        except EvaluationError as error:
            text = str(error)
        assert time.thread_time() - started < 2
        assert len(text) < 600
        assert not text.startswith("internal error")
    outcome = judge(program, host)
    assert len(outcome.text) < 600
    assert peak_mb() - memory < 150


def test_a_short_run_of_generated_programs() -> None:
    host = inventory()
    said = [verdict(text, host, SMALL_LIMITS) for text in programs(seed=16, count=300)]
    assert {"budget", "error", "ended"} <= set(said)


def test_a_few_builtins_in_loops() -> None:
    host = inventory()
    for number, text in enumerate(loops()):
        if number % 997 == 16:
            verdict(text, host, SMALL_LIMITS)


def test_programs_are_the_same_for_the_same_seed() -> None:
    assert list(programs(3, 50)) == list(programs(3, 50)) != list(programs(4, 50))


def test_error_keeps_the_value_and_shortens_the_message() -> None:
    with pytest.raises(JqError) as caught:
        compile_query(f"error({GRAPH})").run(None)
    assert len(str(caught.value)) < 420
    value: Any = caught.value.value
    depth = 0
    while isinstance(value, list):
        value, depth = value[0], depth + 1
    assert (value, depth) == (1, 61)


def test_what_catch_sees_is_whole() -> None:
    assert compile_query('try error("x" * 9000) catch length').run(None) == [9000]
    assert compile_query('try ("a" * 2000 | test("[" + .)) catch length > 2000').run(None) == [True]


def test_a_halt_tells_a_beginning_and_keeps_its_value() -> None:
    with pytest.raises(HaltError) as caught:
        compile_query('("x" * 9000) | halt_error').run(None)
    assert (len(str(caught.value)) < 420, len(caught.value.value)) == (True, 9000)


@pytest.mark.parametrize(
    "catching", ["try ({}) catch 1", "({})?", "({}) // 1", "first(({}), 1)", ". as [$x] ?// $x | {}"]
)
@pytest.mark.parametrize(
    "inside", [f"[{GRAPH}] | tojson", f"try error({GRAPH}) catch tojson", "[range(1e9)]", f"({GRAPH}) == ({GRAPH})"]
)
def test_no_construct_catches_the_budget_of_a_traversal(catching: str, inside: str) -> None:
    program = compile_query(catching.format(inside))
    for run in (program.outputs, program.reference_outputs):
        with pytest.raises(BudgetExceededError):
            list(run(None, limits=LIMITS))


def test_an_answer_that_is_a_graph_is_told_in_a_few_words() -> None:
    outcome = judge(compile_query(GRAPH), None)
    assert outcome.text == "expected true or false, found the array " + "[" * 60 + "…"
    assert short_json({"b": [1, "é"], "a": {}}, 60) == '{"a":{},"b":[1,"é"]}'


DEEP = "reduce range(10000) as $_ (1; [.])"


DEPTHS = [
    *(
        f"{DEEP} | {call}"
        for call in (
            "tojson | length", "flatten", "walk(.)", "[..] | length", "[paths] | length", "contains([[1]])", "error",
            "tostream", "@json",
        )
    ),
    f"({DEEP}) == ({DEEP})",
    f"({DEEP}) - ({DEEP})",
    f"[{DEEP}, {DEEP}] | sort",
    "reduce range(10000) as $_ (1; {a: .}) | . * .",
    "[range(10000) | 0] as $p | null | setpath($p; 1) | tojson | length",
    "[range(10000) | 0] as $p | null | setpath($p; 1) | delpaths([$p])",
    '("[" * 10000 + "]" * 10000) | fromjson',
    '("[" * 900 + "]" * 900) | fromjson | tojson',
    '("[" * 950 + "\\"\\\\u00e9\\"" + "]" * 950) | fromjson | tojson',
    "def f: 1 + f; f",
    "def f: [f]; f",
    "def f: try f catch .; f",
    "def f(g): f(g | g); f(.)",
    "def f: .a |= f; f",
]  # fmt: skip


@pytest.mark.parametrize("query", DEPTHS)
def test_depth_ends_as_an_error_of_the_query(query: str) -> None:
    program = compile_query(query)
    for run in (program.outputs, program.reference_outputs):
        text = ""
        try:
            for _ in run(None, limits=LIMITS):
                pass
        except EvaluationError as error:
            text = str(error)
        assert not text.startswith("internal error")
