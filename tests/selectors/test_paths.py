"""Projections: what the fleet compares instead of whole objects."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.fleet.extraction import extractor
from muster.selectors.paths import claim_path, describe, key_path, label_path, project
from muster.values.paths import PRESENT, Where

KEYS = st.sampled_from(["a", "b", "name", "kubernetes.io/x"])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.floats(allow_nan=False, allow_infinity=False) | st.text("ab"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=12,
)
PATHS = st.lists(KEYS, max_size=3).map(tuple) | st.lists(KEYS, min_size=1, max_size=2).map(
    lambda keys: (*keys, Where("name", "a"))
)


def test_missing_values_are_told_apart_by_how_far_the_path_led() -> None:
    path = label_path("env")
    shapes = [{}, {"metadata": {}}, {"metadata": {"labels": {"tier": "gold"}}}, {"metadata": 1}]
    assert len({project(shape, path) for shape in shapes}) == len(shapes)


@pytest.mark.parametrize("empty", [{}, None])
def test_labels_with_nothing_in_them_are_no_labels(empty: object) -> None:
    for path in (label_path("env"), ("metadata", "labels"), ("metadata", "labels", PRESENT)):
        assert project({"metadata": {"labels": empty}}, path) == project({"metadata": {}}, path)


def test_values_of_different_types_are_never_equal() -> None:
    values = [1, True, 1.0, "1", None, [1], {"1": 1}]
    assert len({project({"a": value}, ("a",)) for value in values}) == len(values)


def test_a_keyed_element_ignores_elements_with_another_name() -> None:
    path = claim_path("region")

    def claims(*pairs: tuple[str, str]) -> dict[str, object]:
        return {"status": {"clusterClaims": [{"name": name, "value": value} for name, value in pairs]}}

    assert project(claims(("id", "1"), ("region", "eu")), path) == project(claims(("region", "eu"), ("id", "2")), path)
    assert project(claims(("region", "eu")), path) != project(claims(("region", "us")), path)


def test_paths_read_as_people_write_them() -> None:
    assert describe(label_path("kubernetes.io/os")) == 'metadata.labels["kubernetes.io/os"]'
    assert describe(claim_path("region")) == "status.clusterClaims[name=region]"
    assert describe(key_path()) == "the whole object"


@given(obj=st.dictionaries(KEYS, JSON, max_size=4), path=PATHS)
def test_extraction_from_bytes_equals_projection_of_the_object(obj: dict[str, object], path: tuple[str, ...]) -> None:
    encoded = msgspec.json.encode(obj)
    expected = project(msgspec.json.decode(encoded), path)
    assert extractor(path)([encoded]) == [expected]
    assert extractor(path)([encoded, b'{"a":{"a":"x"}}', encoded])[::2] == [expected, expected]
