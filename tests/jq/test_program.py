"""Programs: outputs, errors, explanations, and what a query cannot reach."""

from __future__ import annotations

import doctest
import threading
from typing import TYPE_CHECKING, Any

import pytest

import muster.jq
from muster.errors import BudgetExceededError, EvaluationError
from muster.jq import HaltError, Host, JqError, Limits, compile_query, program

if TYPE_CHECKING:
    from types import ModuleType


def test_the_surface_is_what_it_says() -> None:
    assert {name for name in dir(muster.jq) if not name.startswith("_")} == set(muster.jq.__all__)
    assert all(hasattr(muster.jq, name) for name in muster.jq.__all__)


@pytest.mark.parametrize("module", [muster.jq, program])
def test_examples_in_docstrings_are_true(module: ModuleType) -> None:
    results = doctest.testmod(module)
    assert (results.attempted > 0, results.failed) == (True, 0)


def test_outputs_come_one_by_one() -> None:
    outputs = compile_query("1, 2, error").outputs(None)
    assert [next(outputs), next(outputs)] == [1, 2]
    with pytest.raises(JqError, match="error: null"):
        next(outputs)


def test_an_error_carries_the_value_it_was_raised_with() -> None:
    with pytest.raises(JqError) as caught:
        compile_query("error({code: 7})").run(None)
    assert (caught.value.value, str(caught.value)) == ({"code": 7}, 'error: {"code":7}')


@pytest.mark.parametrize(
    ("query", "value", "code"), [("halt", None, 0), ('"x" | halt_error', "x", 5), ("1 | halt_error(3)", 1, 3)]
)
def test_halt_is_an_error_that_try_does_not_catch(query: str, value: Any, code: int) -> None:
    with pytest.raises(HaltError) as caught:
        compile_query(f"try ({query}) catch 1").run(None)
    assert (caught.value.value, caught.value.code) == (value, code)


def test_a_missing_variable_is_an_error() -> None:
    with pytest.raises(EvaluationError, match=r"variable defined but not bound: \$a"):
        compile_query("$a", variables=("a",)).run(None)


def test_the_time_and_the_zone_are_the_hosts() -> None:
    from zoneinfo import ZoneInfo

    host = Host(now=lambda: 1500000000.5, zone=ZoneInfo("America/Los_Angeles"))
    program = compile_query('now, (now | localtime[3]), (now | strflocaltime("%H %Z"))')
    assert program.run(None, host=host) == [1500000000.5, 19, "19 PDT"]


def test_inputs_are_never_changed() -> None:
    value = {"a": [1, 2], "b": {"c": [3]}}
    compile_query(".a[0] = 9 | .b.c |= . + [4] | del(.a[1]) | .. |= .").run(value)
    assert value == {"a": [1, 2], "b": {"c": [3]}}


def test_results_do_not_share_what_an_update_changes() -> None:
    assert compile_query("[[1]] | .[0] |= [., .] | .[0][0][0] = 2").run(None) == [[[[2], [1]]]]


def test_a_program_may_be_shared_by_threads() -> None:
    program = compile_query('[.[] | select(test("^a")) | ascii_upcase] | length')
    results: list[Any] = []

    def work() -> None:
        results.extend(program.run(["a", "b", "ab"])[0] for _ in range(200))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [2] * 800


def test_explain_says_what_every_part_gave() -> None:
    explanation = compile_query(".cpu.count > 2 and .gpu").explain({"cpu": {"count": 4}, "gpu": None})
    parts = {(part.text, part.value) for part in explanation.parts if not isinstance(part.value, dict)}
    assert (explanation.outputs, explanation.error) == ((False,), None)
    assert {(".cpu.count", 4), (".cpu.count > 2", True), (".gpu", None)} <= parts


def test_explain_shows_the_query_and_not_the_builtins() -> None:
    query = "[.disks[] | select(.size > 10)] | map(.size) | any(. > 30)"
    explanation = compile_query(query).explain({"disks": [{"size": 5}, {"size": 20}]})
    parts = {(part.text, str(part.value)) for part in explanation.parts}
    assert all(part.text in query for part in explanation.parts)
    assert {(".size > 10", "False"), (".size > 10", "True"), ("map(.size)", "[20]"), (". > 30", "False")} <= parts


def test_explain_keeps_what_came_before_an_error() -> None:
    explanation = compile_query(".a, .b[]").explain({"a": 1})
    assert (explanation.outputs, str(explanation.error)) == ((1,), "cannot iterate over: null")


def test_explain_has_budgets_too() -> None:
    assert isinstance(compile_query("def f: f; f").explain(None, limits=Limits(steps=1000)).error, BudgetExceededError)


def test_a_fault_of_the_engine_is_an_error_of_the_query() -> None:
    def broken() -> float:
        raise AttributeError("odd")

    with pytest.raises(EvaluationError, match=r"^internal error: AttributeError$"):
        compile_query("now").run({"a": 1}, host=Host(now=broken))
