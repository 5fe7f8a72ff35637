"""Order, arithmetic and indexing of values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

import pytest

from muster.jq.budgets import Meter
from muster.jq.errors import JqError
from muster.jq.values.operations import (
    add,
    compare,
    divide,
    equal,
    index,
    modulo,
    multiply,
    range_values,
    subtract,
    to_int,
)

ORDER: list[Any] = [
    None, False, True, math.nan, -math.inf, -1, 0, 1.5, 2, 10**20, math.inf, "", "a", "b", [], [1], [1, 2], [2], {},
    {"a": 1}, {"a": 2}, {"a": 1, "b": 0}, {"b": 0},
]  # fmt: skip


def test_values_have_one_order() -> None:
    for lower, higher in pairwise(ORDER):
        assert (compare(Meter(), lower, higher), compare(Meter(), higher, lower)) == (-1, 1)


def test_equality_is_order_without_difference() -> None:
    for value in ORDER:
        for other in ORDER:
            assert equal(Meter(), value, other) is (compare(Meter(), value, other) == 0)


def test_not_a_number_is_below_itself() -> None:
    assert compare(Meter(), math.nan, math.nan) == -1
    assert compare(Meter(), 1, math.nan) == 1


def test_numbers_are_compared_by_value_and_booleans_are_none() -> None:
    assert equal(Meter(), 1, 1.0)
    assert not equal(Meter(), True, 1)
    assert equal(Meter(), 9007199254740993, 9007199254740992.0)


@pytest.mark.parametrize(
    ("operation", "left", "right", "result"),
    [
        (add, 2**63 - 1, 1, 2**63),
        (add, None, 1, 1),
        (add, [1], None, [1]),
        (subtract, [1, 2, 1.0], [1], [2]),
        (multiply, {"a": {"b": 1}}, {"a": {"c": 2}}, {"a": {"b": 1, "c": 2}}),
        (multiply, "ab", 1.9, "ab"),
        (divide, 6, 3, 2),
        (divide, 7, 2, 3.5),
        (divide, 10**30, 10**29, 10),
        (modulo, -7, 3, -1),
        (modulo, 7, -3, 1),
        (modulo, 5.9, 2.9, 1),
    ],
)
def test_arithmetic(operation: Any, left: Any, right: Any, result: Any) -> None:
    found = operation(Meter(), left, right)
    assert (found, type(found)) == (result, type(result))


@pytest.mark.parametrize(
    ("value", "key", "message"),
    [
        ([1], "a", "expected an object but got: array ([1])"),
        ({}, 0, "expected an array but got: object ({})"),
        ([], True, "expected a number for indexing an array but got: boolean (true)"),
        ("a", None, "expected a number for indexing a string but got: null"),
        ({}, None, "expected a string for object key but got: null"),
        ([], {}, 'expected "start" and "end" for slicing but got: object ({})'),
    ],
)
def test_wrong_keys_are_told(value: Any, key: Any, message: str) -> None:
    with pytest.raises(JqError) as caught:
        index(Meter(), value, key)
    assert str(caught.value) == message


def test_numbers_become_indices() -> None:
    assert [to_int(number) for number in (1.9, -1.9, math.nan, math.inf, 10**30)] == [
        1, -1, -(2**63), 2**63 - 1, 2**63 - 1,
    ]  # fmt: skip


def test_ranges_of_all_kinds() -> None:
    found = [
        list(range_values(Meter(), *bounds))
        for bounds in ((0, 3, 1), (0, 2.5, 1), (3, 0.5, -1), (0, 1, 0.5), (1, 5, 0))
    ]
    assert found == [[0, 1, 2], [0, 1, 2], [3, 2, 1], [0, 0.5], []]
