"""What stands beside gojq (tests/differential/jq), as far as it needs no Go: the queries, their rules, the reads."""

from __future__ import annotations

import math
import re
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muster.jq import compile_query
from muster.jq.builtins import all_names
from tests.differential.jq.generator import Case, cases
from tests.differential.jq.outcomes import Outcome, compiled, difference, ours, same, theirs
from tests.differential.jq.projections import indistinguishable, noisy, pruned
from tests.differential.jq.rewriting import computed_numbers, explicit_alternatives
from tests.differential.jq.rules import RULES, Compared, rule_of
from tests.differential.jq.shrinking import shrunk
from tests.differential.peer import Lost

if TYPE_CHECKING:
    from collections.abc import Sequence

DIFFERENCES = Path(__file__).parents[2] / "docs" / "differences.md"


def test_a_seed_makes_the_same_queries_and_another_seed_others() -> None:
    first = list(islice(cases(7), 300))
    assert first == list(islice(cases(7), 300))
    assert first != list(islice(cases(8), 300))


def test_every_builtin_is_written_soon() -> None:
    text = " ".join(case.query for case in islice(cases(1), 6_000))
    words = set(re.findall(r"[A-Za-z_0-9]+", text))
    in_no_order = {"builtins"}  # gojq tells its names in the order of a Go map
    assert {name.rsplit("/", 1)[0] for name in all_names()} - words == in_no_order


def test_our_evaluators_agree_and_reads_hold_on_generated_queries() -> None:
    endings: set[str] = set()
    for case in islice(cases(3), 250):
        program = compiled(case.query)
        if isinstance(program, Outcome):
            endings.add("invalid")
            continue
        got = ours(program, case.input, case.zone)
        plain = ours(program, case.input, case.zone, plain=True)
        endings.add(got.ending)
        assert "budget" in (got.ending, plain.ending) or difference(got, plain) is None, case.query
        for other in indistinguishable(program, case.input):
            assert difference(got, ours(program, other, case.zone)) is None, case.query
    assert {"ended", "run", "invalid"} <= endings


def test_every_rule_is_a_heading_of_the_differences() -> None:
    headings = set(re.findall(r"^### (.+)$", DIFFERENCES.read_text(encoding="utf-8"), re.MULTILINE))
    assert {name for name, _ in RULES} - headings == set()


def test_answers_of_the_peer_keep_types() -> None:
    outputs = [
        {"i": "1"},
        {"f": "1"},
        {"f": "NaN"},
        {"f": "-0"},
        {"b": "/w=="},
        {"o": [["a", [None]]]},
        {"i": "9" * 5000},
    ]
    got = theirs({"class": "ended", "outputs": outputs, "texts": []})
    expected: list[Any] = [1, 1.0, math.nan, -0.0, "\udcff", {"a": [None]}, 10**5000 - 1]
    assert all(map(same, got.outputs, expected))
    assert not same(1, 1.0)
    assert not same(0.0, -0.0)
    assert not same(True, 1)
    assert not theirs(Lost("hung")).known


@pytest.mark.parametrize(
    ("one", "two", "what"),
    [
        (Outcome("ended", (1,), ("1",)), Outcome("ended", (1,), ("1",)), None),
        (Outcome("ended", (1,), ("1",)), Outcome("ended", (1.0,), ("1",)), "value"),
        (Outcome("ended", (1.0,), ("1",)), Outcome("ended", (1.0,), ("1.0",)), "text"),
        (Outcome("run", message="a"), Outcome("run", message="b"), "error text"),
        (Outcome("run", message="a", value=1), Outcome("run", message="a", value=2), "error value"),
        (Outcome("run", message="a"), Outcome("ended"), "error"),
    ],
)
def test_a_difference_says_in_what(one: Outcome, two: Outcome, what: str | None) -> None:
    assert difference(one, two) == what


def test_other_inputs_keep_what_is_read_and_nothing_else() -> None:
    value = {"cpu": {"count": 4, "flags": ["a"]}, "disks": [{"name": "sda"}, {"name": "sdb"}], "x": 1}
    program = compile_query('.cpu.count == 4 and .disks[1].name == "sdb"')
    assert pruned(program.reads, value) == {"cpu": {"count": 4}, "disks": [None, {"name": "sdb"}]}
    others = list(indistinguishable(program, value))
    assert len(others) == 2
    assert noisy(program.reads, value)["x"] == [1, "noise"]
    assert list(indistinguishable(compile_query("keys"), value)) == []


def test_a_difference_is_shrunk_to_what_shows_it() -> None:
    case = Case('[.a, (1 + (2 | sqrt)), "x"] | map(tostring) | join(",")', {"a": 1, "b": 2})
    assert shrunk(case, lambda smaller: "sqrt" in smaller.query) == Case("sqrt", None)


class _Answers:
    """A peer that has one answer, and remembers what it was asked."""

    def __init__(self, answer: dict[str, Any]) -> None:
        self.answer = answer
        self.asked: list[str] = []

    def ask(self, questions: Sequence[Any]) -> list[Any]:
        self.asked += [each["query"] for each in questions]
        return [self.answer] * len(questions)


def ruled(query: str, value: Any, expected: Outcome, other: dict[str, Any]) -> str | None:
    """The rule that takes a difference, where the peer answers every other question with `other`."""
    program = compiled(query)
    got = program if isinstance(program, Outcome) else ours(program, value)
    peer: Any = _Answers(other)
    return rule_of(Compared(Case(query, value), got, expected, peer))


def a_number(value: float) -> dict[str, Any]:
    return {"class": "ended", "outputs": [{"f": repr(value)}], "texts": [repr(value)]}


def test_functions_of_numbers_differ_by_their_last_digits_and_no_more() -> None:
    wrong = Outcome("ended", (-709.0895657128241,), ("-709.0895657128241",))
    rule = "jq functions of numbers are the C library's"
    assert ruled("5e-324 | log", None, wrong, a_number(-744.4400719213813)) == rule
    assert ruled("5e-324 | log", None, wrong, a_number(-744.44)) is None
    assert ruled("5e-324 | log", None, wrong, {"class": "run", "error": "x"}) is None
    assert ruled("1 + 1", None, Outcome("ended", (3,), ("3",)), a_number(2.0)) is None


def test_alternatives_are_what_gojq_gives_for_one_pattern_at_a_time() -> None:
    query, value = "[.[] as [$a] ?// $b | [$a, $b]] | length", [[1], 2]
    theirs_ = Outcome("ended", (3,), ("3",))
    right = {"class": "ended", "outputs": [{"i": "2"}], "texts": ["2"]}
    assert ruled(query, value, theirs_, right) == "jq alternatives of patterns are tried one by one"
    assert ruled(query, value, theirs_, {"class": "ended", "outputs": [{"i": "4"}], "texts": ["4"]}) is None


def test_empty_arrays_are_an_excuse_only_where_one_was_cut_out() -> None:
    text = "invalid path against: array ([])"
    refused = Outcome("run", message=text, value=text)
    nothing: dict[str, Any] = {"class": "time"}
    assert ruled("path(.[1:] | map(.))", [1], refused, nothing) == "jq empty arrays are the same"
    assert ruled("path(.[1:] | map(.))", [1], replace(refused, message="other"), nothing) is None
    assert ruled("path([])", [], refused, nothing) is None


def test_queries_are_rewritten_to_what_a_rule_means() -> None:
    assert computed_numbers("-1[0]") == "-(1 | .)[0]"
    assert computed_numbers(".a[0] | 1") is None
    rewritten = compile_query(explicit_alternatives(".[] as [$a] ?// $b | [$a, $b]"))
    assert rewritten.run([[1], 2, [3]]) == [[1, None], [None, 2], [3, None]]
    assert compile_query(explicit_alternatives("path(. as [$a] ?// $b | .c)")).run({"c": 1}) == [["c"]]
