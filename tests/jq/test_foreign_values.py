"""Values that Python has and JSON has not: told where they are and what jq takes, never as a fault of ours."""

from __future__ import annotations

from collections import OrderedDict
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import pytest

from muster.errors import EvaluationError
from muster.jq import compile_query

TAKES = (
    "jq takes what JSON has, as None, bool, int, float, str, list and dict; "
    "json.loads(json.dumps(value, default=str)) makes such values"
)


class Thing:
    """Nobody's value."""


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (Thing(), "value is of type Thing"),
        (b"bytes", "value is of type bytes"),
        ({1, 2}, "value is of type set"),
        ((1, 2), "value is of type tuple"),
        (range(3), "value is of type range"),
        (Decimal("1.5"), "value is of type Decimal"),
        (datetime(2026, 1, 1, tzinfo=UTC), "value is of type datetime"),
        (OrderedDict(b=1, a=2), "value is of type OrderedDict"),
        ({1: 2}, "value has the key 1, which is of type int"),
        ({"a": [1, {"b": {2}}]}, "value.a[1].b is of type set"),
        ({"a": "x", "c": [None, Thing()]}, "value.c[1] is of type Thing"),
    ],
)
@pytest.mark.parametrize("query", ["tojson", "[..] | sort | tojson", "def f: tojson; f, f"])
def test_a_value_that_json_has_not_is_named_with_its_place(value: Any, said: str, query: str) -> None:
    program = compile_query(query)
    with pytest.raises(EvaluationError) as raised:
        program.run(value)
    assert str(raised.value) == f"{said}: {TAKES}"
    with pytest.raises(EvaluationError) as raised:
        list(program.reference_outputs(value))
    assert str(raised.value) == f"{said}: {TAKES}"
    assert str(program.explain(value).error) == f"{said}: {TAKES}"


def test_a_variable_is_named_too() -> None:
    program = compile_query("$wanted | tojson", variables=["wanted"])
    with pytest.raises(EvaluationError) as raised:
        program.run(None, variables={"wanted": {"a": {1}}})
    assert str(raised.value) == f"variables.wanted.a is of type set: {TAKES}"


def test_half_of_a_pair_is_no_character() -> None:
    with pytest.raises(
        EvaluationError, match=r"value\.a has half of a surrogate pair, which is no character: jq takes"
    ):
        compile_query('@base64 "\\(.a)" | @uri "\\(.)", (.a | @uri)').run({"a": "x\ud800"})


@pytest.mark.parametrize("value", [float("nan"), {"a": float("inf")}])
def test_numbers_that_json_lacks_are_numbers_here_as_in_jq(value: Any) -> None:
    (text,) = compile_query("tojson").run(value)
    assert text in ("null", '{"a":1.7976931348623157e+308}')
