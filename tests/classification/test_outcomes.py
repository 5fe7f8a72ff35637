"""What an answer of a query means."""

from __future__ import annotations

import msgspec
import pytest

from muster.classification.outcomes import MATCH, NO_MATCH, Outcome, Verdict, failed, judge
from muster.jq import Limits, compile_query


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("true", MATCH),
        ("false", NO_MATCH),
        (".cpu.count == 2", MATCH),
        ("empty", failed("expected true or false, found no value")),
        ("true, true", failed("expected true or false, found 2 values")),
        ("null", failed("expected true or false, found null")),
        ('"true"', failed('expected true or false, found the string "true"')),
        ("1", failed("expected true or false, found the number 1")),
        ("[true]", failed("expected true or false, found the array [true]")),
        (".cpu", failed('expected true or false, found the object {"count":2}')),
        ('"x" * 100', failed(f'expected true or false, found the string "{"x" * 59}…')),
        (".disks[]", failed("cannot iterate over: null")),
        ('true, error("x")', failed("error: x")),
        ('try error("x") catch false', NO_MATCH),
    ],
)
def test_a_query_answers_true_or_false_and_anything_else_is_a_failure(query: str, expected: Outcome) -> None:
    assert judge(compile_query(query), {"cpu": {"count": 2}}) == expected


def test_a_budget_that_is_exhausted_is_told_apart_from_other_failures() -> None:
    outcome = judge(compile_query("def f: f; f"), {}, Limits(steps=1000))
    assert outcome.verdict is Verdict.FAILED
    assert outcome.exhausted
    assert "budget: steps" in outcome.text


def test_bytes_that_are_no_text_are_told_as_text() -> None:
    outcome = judge(compile_query("9223372036854775807 | @base64d | error"), {})
    assert msgspec.json.encode(outcome.text)
    assert "\ufffd" in outcome.text
