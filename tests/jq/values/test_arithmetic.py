"""Arithmetic of values."""

from __future__ import annotations

from typing import Any

import pytest

from muster.jq.budgets import Meter
from muster.jq.values.arithmetic import add, divide, modulo, multiply, subtract


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
