"""The standard definitions: what operators and conversions give, and how they fail."""

from __future__ import annotations

import math
from typing import Any

import pytest

from muster.cel.values import Duration, Timestamp, Uint
from tests.cel.libraries.evaluation import error_of, value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("-7 / 2", -3),
        ("-7 % 2", -1),
        ("7 % -2", 1),
        ("7u / 2u", Uint(3)),
        ("1.0 / -0.0", -math.inf),
        ("2.5 * 2.0", 5.0),
        ("duration('1s') - duration('2s')", Duration(-(10**9))),
        ("timestamp(10) - duration('1s')", Timestamp(9 * 10**9)),
        ("duration('1s') + timestamp(1)", Timestamp(2 * 10**9)),
        ("timestamp(3) - timestamp(1)", Duration(2 * 10**9)),
        ("b'a' + b'b'", b"ab"),
        ("1 in [1.5, dyn(1u)]", True),
        ("dyn([1, 2])[1.0]", 2),
        ("dyn(1) < dyn(1.5)", True),
        ("9223372036854775807 < 9223372036854775808.0", False),
        ("string(1e21)", "1e+21"),
        ("string(b'\\xc3\\xa9')", "é"),
        ("size('日本')", 2),
    ],
)
def test_operators_give(text: str, value: Any) -> None:
    result = value_of(text)
    assert (type(result), result) == (type(value), value)


def test_zero_divided_by_zero_is_no_number() -> None:
    assert math.isnan(value_of("0.0 / 0.0"))


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("9223372036854775807 + 1", "integer overflow"),
        ("-9223372036854775807 - 2", "integer overflow"),
        ("5000000000 * 5000000000", "integer overflow"),
        ("-9223372036854775807 * 2", "integer overflow"),
        ("(-9223372036854775807 - 1) / -1", "integer overflow"),
        ("(-9223372036854775807 - 1) % -1", "integer overflow"),
        ("-(-9223372036854775807 - 1)", "integer overflow"),
        ("1u - 2u", "unsigned integer overflow"),
        ("18446744073709551615u + 1u", "unsigned integer overflow"),
        ("1 / 0", "division by zero"),
        ("1u / 0u", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("1u % 0u", "modulus by zero"),
        ("duration('2562047h') + duration('2562047h')", "integer overflow"),
        ("timestamp('9999-12-31T23:59:59Z') + duration('1s')", "timestamp overflow"),
        ("timestamp('9999-01-01T00:00:00Z') - timestamp('0001-01-01T00:00:00Z')", "integer overflow"),
        ("[1][3]", "index out of bounds: 3"),
        ("{'a': 1}['b']", "no such key: b"),
        ("int('x')", "type conversion error from 'string' to 'int'"),
        ("0.0 / 0.0 < 1.0", "NaN values cannot be ordered"),
        ("dyn(1) + dyn('a')", "no such overload"),
        ("'a'.matches(dyn('('))", "error parsing regexp: missing closing ): `(`"),
    ],
)
def test_operators_fail_in_the_words_of_cel_go(text: str, error: str) -> None:
    assert error_of(text) == error


def test_a_pattern_matches_long_and_short_texts_alike() -> None:
    for length in (10, 256, 257, 5000):
        text = "a" * (length - 1) + "b"
        cluster = {"name": text}
        assert value_of("managedCluster.name.matches('^a+b$')", managedCluster=cluster) is True
        assert value_of("managedCluster.name.matches('^a+$')", managedCluster=cluster) is False
