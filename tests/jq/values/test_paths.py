"""Reading, writing and deleting along paths."""

from __future__ import annotations

from typing import Any

import pytest

from muster.jq.budgets import Meter
from muster.jq.errors import JqError
from muster.jq.values.paths import Owned, delete_paths, get_path, set_path


@pytest.mark.parametrize(
    ("value", "path", "new", "result"),
    [
        (None, ["a", 1], 5, {"a": [None, 5]}),
        ([1, 2, 3], [-1], 9, [1, 2, 9]),
        ([1, 2, 3], [{"start": 1, "end": None}], [], [1]),
        ([1, [2]], [1, 0], 3, [1, [3]]),
        ({"a": 1}, [], 2, 2),
    ],
)
def test_values_are_set(value: Any, path: list[Any], new: Any, result: Any) -> None:
    assert set_path(Meter(), value, path, new) == result


def test_setting_copies_what_it_changes() -> None:
    value = {"a": [1], "b": [2]}
    changed = set_path(Meter(), value, ["a", 0], 9)
    assert (value, changed) == ({"a": [1], "b": [2]}, {"a": [9], "b": [2]})
    assert changed["b"] is value["b"]


def test_a_run_of_updates_copies_once() -> None:
    owned = Owned()
    first = set_path(Meter(), [0] * 10, [0], 1, owned)
    assert set_path(Meter(), first, [1], 1, owned) is first


@pytest.mark.parametrize(
    ("value", "paths", "result"),
    [
        ([0, 1, 2, 3], [[1], [2]], [0, 3]),
        ([0, 1, 2, 3], [[-1], [{"start": 0, "end": 2}]], [2]),
        ({"a": {"b": 1, "c": 2}}, [["a", "b"], ["x", "y"]], {"a": {"c": 2}}),
        ({"a": 1}, [["a"], ["a", "b"]], {}),
        ([1], [[]], None),
        (None, [["a", 0]], None),
    ],
)
def test_all_paths_are_deleted_at_once(value: Any, paths: list[Any], result: Any) -> None:
    assert delete_paths(Meter(), value, paths) == result


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: get_path(Meter(), {"a": 1}, ["a", "b"]), 'getpath(["a","b"]) cannot be applied to: object ({"a":1})'),
        (lambda: get_path(Meter(), 1, 2), "getpath(2) cannot be applied to: number (1)"),
        (
            lambda: set_path(Meter(), [], ["a"], 1),
            'setpath(["a"]; 1) cannot be applied to []: expected an object but got: array ([])',
        ),
        (
            lambda: set_path(Meter(), [], [-1], 1),
            "setpath([-1]; 1) cannot be applied to []: array index should not be negative: -1",
        ),
        (
            lambda: delete_paths(Meter(), {}, [1]),
            "delpaths([1]) cannot be applied to {}: expected an array but got: number (1)",
        ),
    ],
)
def test_wrong_paths_are_told(call: Any, message: str) -> None:
    with pytest.raises(JqError) as caught:
        call()
    assert str(caught.value) == message
