"""Paths: which covers which, and what a value holds at one."""

from __future__ import annotations

from typing import Any

import pytest

from muster.values.paths import ARRAY, OBJECT, PRESENT, SIZE, WHOLE, Key, Path, Where, covers, project, shortest

LIST = [{"n": "k", "v": 1}, {"n": "q"}, {"x": 1}, {"n": 5}, 7]


@pytest.mark.parametrize(
    ("path", "other", "expected"),
    [
        (WHOLE, ("a",), True),
        (("a",), ("a",), True),
        (("a",), ("a", "b"), True),
        (("a", "b"), ("a",), False),
        (("a",), ("ab",), False),
        (("a",), ("a", PRESENT), True),
        (("a", 1), ("a", Key("bool", True)), False),
    ],
)
def test_a_path_covers_what_begins_with_it(path: Path, other: Path, expected: bool) -> None:
    assert covers(path, other) is expected


@pytest.mark.parametrize(
    ("paths", "kept"),
    [
        ({("a",), ("a", "b"), ("c",)}, {("a",), ("c",)}),
        ({WHOLE, ("a",)}, {WHOLE}),
        ({("a", PRESENT), ("a", "b")}, {("a", "b")}),
        ({("a", PRESENT), ("a", Where("n", "k"))}, {("a", Where("n", "k"))}),
        ({("a", PRESENT), ("b",)}, {("a", PRESENT), ("b",)}),
        ({("a", OBJECT), ("a", "b")}, {("a", "b")}),
        ({("a", OBJECT), ("a", 0)}, {("a", OBJECT), ("a", 0)}),
        ({("a", ARRAY), ("a", 0, "b")}, {("a", 0, "b")}),
        ({("a", SIZE), ("a", "b")}, {("a", SIZE), ("a", "b")}),
        ({("a", SIZE), ("a",)}, {("a",)}),
        (set(), set()),
    ],
)
def test_paths_that_others_cover_or_learn_on_their_way_are_left_out(paths: set[Path], kept: set[Path]) -> None:
    assert shortest(paths) == kept


@pytest.mark.parametrize(
    ("path", "value", "projection"),
    [
        (("a",), {"a": "text"}, "text"),
        (("a",), {"a": 1}, (int, 1)),
        (("a",), {"a": 0.0}, (float, 0.0)),
        (("a",), {"a": -0.0}, (float, "-0.0")),
        (("a",), {"a": None}, (type(None), None)),
        (("a",), {}, (0,)),
        (("a", "b"), {"a": {}}, (1,)),
        (("a", "b"), {"a": "text"}, (1, (str, "text"))),
        (("a", "b"), {"a": []}, (1, b"[]")),
        (("a", PRESENT), {"a": [1, 2]}, True),
        (("a", PRESENT), {}, (0,)),
        (("a", 1), {"a": ["x", "y"]}, "y"),
        (("a", 5), {"a": ["x", "y"]}, (1,)),
        (("a", 0), {"a": {"0": "x"}}, (1, b'{"0":"x"}')),
        (("a", Key("bool", True)), {"a": ["x"]}, (1, b'["x"]')),
        (("a", Where("n", "k")), {"a": LIST}, b'[{"n":"k","v":1},{"x":1},{"n":5},7]'),
        (("a", Where("n", "k")), {"a": "text"}, (1, (str, "text"))),
        (("a", OBJECT), {"a": {"b": 1}}, True),
        (("a", OBJECT), {"a": [1]}, (1, b"[1]")),
        (("a", ARRAY), {"a": [1]}, True),
        (("a", SIZE), {"a": [1, 2, 3]}, 3),
        (("a", SIZE), {"a": 7}, (1, int)),
        (WHOLE, {"a": 1}, b'{"a":1}'),
    ],
)
def test_a_projection_is_what_can_be_seen_under_a_path(path: Path, value: Any, projection: Any) -> None:
    found = project(value, path)
    assert found == projection
    assert type(found) is type(projection)
    hash(found)


@pytest.mark.parametrize(
    ("path", "nothing", "something", "told"),
    [
        (("a", "b"), {}, {"c": 1}, (1,)),
        (("a", PRESENT), {}, {"c": 1}, True),
        (("a", PRESENT), [], [1], True),
        (("a", Where("n", "k")), [], [{"n": "other"}], b"[]"),
    ],
)
def test_what_is_gone_when_empty_is_as_if_it_were_not_there(
    path: Path, nothing: Any, something: Any, told: Any
) -> None:
    assert project({"a": nothing}, path, {("a",)}) == (0,) == project({}, path, {("a",)})
    assert project({"a": something}, path, {("a",)}) == told
    assert project({"a": nothing}, path) == told


def test_matching_elements_keep_their_order_and_their_duplicates() -> None:
    path = ("m", Where("n", "k"))
    first = project({"m": [{"n": "k", "v": 1}, {"n": "z"}, {"n": "k", "v": 2}]}, path)
    assert first == project({"m": [{"n": "y"}, {"n": "k", "v": 1}, {"n": "k", "v": 2}]}, path)
    assert first != project({"m": [{"n": "k", "v": 2}, {"n": "k", "v": 1}]}, path)
    assert first != project({"m": [{"n": "k", "v": 1}, {"n": "k", "v": 2}, {"n": "k", "v": 2}]}, path)


def test_values_of_any_depth_and_numbers_of_any_size_have_a_key() -> None:
    def nested(innermost: Any) -> Any:
        value = innermost
        for _ in range(5000):
            value = [{"a": value}]
        return value

    assert project({"m": nested(1)}, ("m",)) == project({"m": nested(1)}, ("m",))
    different = [project({"m": nested(each)}, ("m",)) for each in (1, 1.0, "1", True, 10**5000, None)]
    assert len(set(different)) == len(different)
