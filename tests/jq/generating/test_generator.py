"""Generated code: what it looks like, what stays out of it, and what happens when there would be too much of it."""

from __future__ import annotations

import contextlib
import re
import time

import pytest

from muster.errors import EvaluationError, InvalidExpressionError
from muster.jq import Limits, compile_query

_ALLOWED = re.compile(r"^[\x20-\x7e\n]*$")


def source(query: str) -> str:
    code = compile_query(query).code
    assert code is not None
    return code.source


@pytest.mark.parametrize(
    "query",
    [
        '"__import__(\\"os\\")" | .["\\"); import os; ("]?',
        '{"a\\nb": "c\\"d"} | .["a\\nb"]',
        "def __class__: 1; __class__ as $exec | $exec",
        '@sh "rm \\(.x)" | test("\\\\W+")',
    ],
)
def test_nothing_that_the_user_wrote_is_in_the_source(query: str) -> None:
    text = source(query)
    assert _ALLOWED.match(text)
    assert not re.search(r"os|__|exec|import|rm|W|[\"']", text.replace('"cells"', ""))


def test_a_producer_is_written_around_its_consumer() -> None:
    text = source("[.disks[] | select(.size > 10) | .name]")
    assert (text.count("for "), text.count("yield"), text.count("def ")) == (1, 0, 1)


def test_queries_of_one_structure_are_compiled_once_and_each_has_code_of_its_own() -> None:
    programs = [compile_query(f"[.[] | select(. == {number})]") for number in (2, 3)]
    one, other = (program.code.main.__code__ for program in programs if program.code is not None)
    assert one is not other
    assert one.co_linetable is other.co_linetable  # of one compilation
    assert [program.run([2]) for program in programs] == [[[2]], [[]]]


@pytest.mark.parametrize(
    ("query", "made"),
    [
        ("[.[] | select(. > 1)] | length > 1", "[.[] | select(. > 1)] | (. | length) > 1"),
        ("[.[] | select(. > 1)] | length", "[.[] | select(. > 1)] | (. | length)"),
        ("[.[0]] | length == 1", "[.[0]] | (. | length) == 1"),
        ("([.[] | tonumber] | length + 1) // 7", "([.[] | tonumber] | (. | length) + 1) // 7"),
    ],
)
@pytest.mark.parametrize("value", [[], [1, 2, 3], [3, "x"], {"a": 2}, None, 5])
@pytest.mark.parametrize("cells", [0, 1, 2, 1000])
def test_an_array_that_is_only_counted_is_charged_for_and_not_made(
    query: str, made: str, value: object, cells: int
) -> None:
    assert ("append" in source(query), "append" in source(made)) == (False, True)
    assert _outcome(query, value, cells) == _outcome(made, value, cells)


def _outcome(query: str, value: object, cells: int) -> object:
    program = compile_query(query)
    meter = program.meter(Limits(cells=cells))
    try:
        outputs: object = list(program.metered(value, meter))
    except EvaluationError as error:
        outputs = type(error), str(error)
    return outputs, meter.steps_used, meter.cells_used


def test_one_output_needs_no_generator() -> None:
    code = compile_query(".a.b == 1 and (.c | length) > 2").code
    assert code is not None
    assert code.single
    assert "yield" not in code.source


def test_many_outputs_are_generated() -> None:
    code = compile_query(".[] | .a").code
    assert code is not None
    assert not code.single


@pytest.mark.parametrize(
    ("query", "value", "outputs"),
    [
        (" | ".join([".[]"] * 40), 0, None),
        ("[" * 30 + "1" + "]" * 30, None, 1),
        ("(" + ", ".join(["1"] * 3000) + ") | select(. > 1)", None, 0),
        (" and ".join([".a == 1"] * 900), {"a": 1}, 1),
        (" + ".join(["1"] * 100), None, 1),
        (".a" * 300, None, 1),
        ("if . then " * 30 + "1" + " else 2 end" * 30, True, 1),
        ("[.[] | " * 25 + "." + "]" * 25, [], 1),
        ("try (" * 30 + "error" + ") catch ." * 30, 1, 1),
    ],
)
def test_queries_beyond_cpythons_limits_still_run(query: str, value: object, outputs: int | None) -> None:
    program = compile_query(query)
    if outputs is None:
        with pytest.raises(Exception, match="cannot iterate over: number"):
            program.run(value)
    else:
        assert len(program.run(value)) == outputs


@pytest.mark.parametrize(
    "step",
    [
        "def f{n}: f{m} | f{m};",
        "def f{n}: f{m}, f{m};",
        "def f{n}(g): f{m}(g | g);",
        "def f{n}: [f{m}, f{m}];",
        "def f{n}: path(f{m}, f{m});",
    ],
)
def test_compiling_ends_however_functions_multiply(step: str) -> None:
    first = "def f0(g): g;" if "(g)" in step else "def f0: .;"
    definitions = " ".join([first, *(step.format(n=n, m=n - 1) for n in range(1, 60))])
    start = time.process_time()
    program = compile_query(f"{definitions} f59{'(.)' if '(g)' in step else ''}")
    assert program.reads == {()}
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    "part", [".a | ", "[.[] | ", "if . then ", "reduce .[] as $x (0; ", "map(", '"\\(', "(1, 2) as $x | ", "1 + "]
)
def test_compiling_long_queries_ends(part: str) -> None:
    closing = {"[.[] | ": "]", "if . then ": " end", "reduce .[] as $x (0; ": ")", "map(": ")", '"\\(': ')"'}.get(
        part, ""
    )
    for count in (70, 5000):
        start = time.process_time()
        with contextlib.suppress(InvalidExpressionError):
            compile_query(part * count + "." + closing * count)
        assert time.process_time() - start < 5


def test_functions_that_double_do_not_double_the_code_for_ever() -> None:
    definitions = "def f0: .; " + " ".join(f"def f{n}: f{n - 1} + f{n - 1};" for n in range(1, 12))
    assert compile_query(f"{definitions} f11").run(1) == [2048]
