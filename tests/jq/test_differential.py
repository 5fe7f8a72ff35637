"""What stands beside gojq (tests/differential/jq), as far as it needs no Go: the queries, their rules, the reads."""

from __future__ import annotations

import math
import re
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from muster.jq import compile_query
from muster.jq.builtins import all_names
from tests.differential.jq.generator import Case, cases
from tests.differential.jq.outcomes import Outcome, compiled, difference, ours, same, theirs
from tests.differential.jq.projections import indistinguishable, noisy, pruned
from tests.differential.jq.rewriting import computed_numbers, contained_alternatives
from tests.differential.jq.rules import RULES
from tests.differential.jq.shrinking import shrunk
from tests.differential.peer import Lost

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


def test_queries_are_rewritten_to_what_a_rule_means() -> None:
    assert computed_numbers("-1[0]") == "-(1 | .)[0]"
    rewritten = compile_query(contained_alternatives(". as [$a] ?// $a | [$a]"))
    assert rewritten.run([1]) == [[1]]
    assert rewritten.run(2) == [[2]]
