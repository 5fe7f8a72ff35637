"""Keys, members and ranges."""

from __future__ import annotations

from typing import Any

import pytest

from muster.jq.budgets import Meter
from muster.jq.errors import JqError
from muster.jq.values.indexing import index, range_values


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


def test_ranges_of_all_kinds() -> None:
    found = [
        list(range_values(Meter(), *bounds))
        for bounds in ((0, 3, 1), (0, 2.5, 1), (3, 0.5, -1), (0, 1, 0.5), (1, 5, 0))
    ]
    assert found == [[0, 1, 2], [0, 1, 2], [3, 2, 1], [0, 0.5], []]
