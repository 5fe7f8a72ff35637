"""Validators: literals that could only fail later are refused at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.cel.checking.checker import compile_expression
from muster.cel.checking.validators import (
    duration_literals,
    homogeneous_literals,
    nesting_limit,
    regex_literals,
    timestamp_literals,
)
from muster.cel.environments import environment
from muster.errors import InvalidExpressionError

if TYPE_CHECKING:
    from muster.cel.environment import Env

LITERALS = environment("standard").extend(
    validators=(duration_literals, timestamp_literals, regex_literals, homogeneous_literals)
)


def refusals(text: str, env: Env = LITERALS) -> list[str]:
    with pytest.raises(InvalidExpressionError) as caught:
        compile_expression(text, env)
    return [line.removeprefix("ERROR: <input>:") for line in str(caught.value).split("\n") if line.startswith("ERROR")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("duration('1d')", ["1:10: invalid duration argument"]),
        ("timestamp('2020-13-01T00:00:00Z')", ["1:11: invalid timestamp argument"]),
        ("'a'.matches('(')", ["1:13: invalid matches argument"]),
        ("[1, 'a', true]", ["1:5: expected type 'int' but found 'string'"]),
        (
            "{1: 'a', 'b': 2}",
            ["1:10: expected type 'int' but found 'string'", "1:15: expected type 'string' but found 'int'"],
        ),
        ("'%z'.format([1])", ['1:12: could not parse formatting clause: unrecognized formatting clause "z"']),
        (
            "'%d'.format(['a'])",
            [
                "1:14: error during formatting: decimal clause can only be used on ints, uints, and doubles, "
                "was given string"
            ],
        ),
        ("'%s'.format([1, 2])", ["1:12: too many arguments supplied to string.format (expected 1, got 2)"]),
        ("'%s %s'.format([1])", ["1:15: index 1 out of range"]),
    ],
)
def test_a_literal_that_cannot_work_is_refused(text: str, expected: list[str]) -> None:
    assert refusals(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "duration('1h30m')",
        "timestamp('2020-01-01T00:00:00Z')",
        "'a'.matches('a+')",
        "[1, 2]",
        "'%s %d'.format(['a', 1])",
        "'%s'.format([[1, {'a': true}]])",
    ],
)
def test_a_good_literal_passes(text: str) -> None:
    compile_expression(text, LITERALS)


def test_comprehensions_may_be_nested_only_so_deep() -> None:
    env = environment("standard").extend(validators=[nesting_limit(1)])
    compile_expression("cel.bind(a, [1], a.map(x, x))", env)
    assert refusals("[[1]].map(x, x.map(y, y))", env) == ["1:19: comprehension exceeds nesting limit"]
