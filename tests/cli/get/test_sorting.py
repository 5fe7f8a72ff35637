"""`--sort-by`: paths and orders."""

from __future__ import annotations

import pytest

from muster.cli.get.sorting import field_path, in_order
from muster.errors import InvalidObjectError
from muster.values.json import Json


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (".metadata.name", ("metadata", "name")),
        ("metadata.name", ("metadata", "name")),
        ("{.status.conditions[0].type}", ("status", "conditions", 0, "type")),
        (".metadata.labels['a.b/c']", ("metadata", "labels", "a.b/c")),
    ],
)
def test_a_path_is_read_as_kubectl_users_write_it(text: str, path: tuple[str | int, ...]) -> None:
    assert field_path(text) == path


@pytest.mark.parametrize("text", ["{.a", ".a..b", ".a[x]", "{.items[*].a}", "a b"])
def test_what_is_no_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidObjectError, match="is not the path of a field"):
        field_path(text)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["c-10", "c-9", "c-1"], ["c-1", "c-9", "c-10"]),
        ([10, 9.5, None, -1], [None, -1, 9.5, 10]),
        (["b", 2, None, "a"], [None, 2, "a", "b"]),
        ([True, False], [False, True]),
        (["1.9.0", "1.10.0"], ["1.9.0", "1.10.0"]),
    ],
)
def test_values_are_in_the_order_that_people_expect(values: list[Json], expected: list[Json]) -> None:
    objects = [{"v": value} for value in values]
    assert [each["v"] for each in in_order(objects, ("v",), lambda each: each)] == expected


def test_equal_ones_keep_their_places() -> None:
    objects = [{"v": 1, "n": name} for name in "cab"]
    assert [each["n"] for each in in_order(objects, ("v",), lambda each: each)] == ["c", "a", "b"]
