"""Order and equality of values."""

from __future__ import annotations

import math
from itertools import pairwise
from typing import Any

from muster.jq.budgets import Meter
from muster.jq.values.ordering import compare, equal

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
