"""Constraints against bundles."""

from __future__ import annotations

from typing import Any

import pytest

from muster.resolution.catalog.bundles import make_bundle
from muster.resolution.catalog.properties import Property
from muster.resolution.constraints.forms import CelConstraint, InvalidConstraintError
from muster.resolution.constraints.matching import Matcher, narrow
from muster.resolution.constraints.spellings import read_requirement
from tests.resolution.builders import a_catalog, bundle, provides

BUNDLE = make_bundle(
    "sushi.v1",
    "sushi",
    "1.2.3",
    [
        Property("olm.gvk", {"group": "g", "version": "v1", "kind": "K"}),
        Property("olm.label", {"label": "lts"}),
        Property("tier", "gold"),
        Property("n", 3),
        Property("l", ["a", "b"]),
        Property("broken", None, "{"),
        Property("olm.package", {"packageName": "maki", "version": "9.0.0"}),
    ],
)


A_PACKAGE = {"package": {"packageName": "a", "versionRange": ">=0.0.0"}}
AN_API = {"gvk": {"group": "g", "version": "v1", "kind": "K"}}


def check(value: dict[str, Any], *, upstream: bool = False) -> bool:
    requirement = read_requirement(Property("olm.constraint", value))
    assert requirement is not None
    return Matcher(upstream=upstream).check(requirement.constraint)(BUNDLE)


@pytest.mark.parametrize(
    ("value", "met"),
    [
        ({"package": {"packageName": "sushi", "versionRange": ">=1.0.0 <2.0.0"}}, True),
        ({"package": {"packageName": "sushi", "versionRange": "9.x"}}, True),  # name and version are tested apart
        ({"package": {"packageName": "maki", "versionRange": ">=9.0.0"}}, True),
        ({"package": {"packageName": "sushi", "versionRange": "2.x"}}, False),
        ({"gvk": {"group": "g", "version": "v1", "kind": "K"}}, True),
        ({"gvk": {"group": "g", "version": "v2", "kind": "K"}}, False),
        ({"label": {"label": "lts"}}, True),
        ({"propertyEquals": {"name": "n", "value": 3.0}}, True),
        ({"propertyEquals": {"name": "n", "value": "3"}}, False),
        ({"propertyEquals": {"name": "l", "value": ["a", "b"]}}, True),
        ({"propertyEquals": {"name": "broken", "value": None}}, False),
        ({"cel": {"rule": "properties.exists(p, p.type == 'tier' && p.value == 'gold')"}}, True),
        ({"cel": {"rule": "properties.exists(p, p.type == 'n' && p.value + 1 == 4)"}}, False),  # numbers are doubles
        ({"cel": {"rule": "properties.exists(p, p.type == 'n' && p.value + 1.0 == 4.0)"}}, True),
        ({"cel": {"rule": "properties.exists(p, p.type == 'l' && p.value.exists(x, x == 'b'))"}}, True),
        ({"all": {"constraints": []}}, True),
        ({"any": {"constraints": []}}, False),
        ({"not": {"constraints": []}}, True),
        ({"not": {"constraints": [{"label": {"label": "x"}}, {"label": {"label": "lts"}}]}}, False),
    ],
)
def test_constraints_are_met_or_not(value: dict[str, Any], met: bool) -> None:
    assert check(value) is met


@pytest.mark.parametrize(
    ("value", "pointer", "reason"),
    [
        ({"package": {"packageName": "a", "versionRange": "^1.0.0"}}, "/package/versionRange", "Could not parse Range"),
        ({"cel": {"rule": "1"}}, "/cel/rule", "cel expressions must have type Bool"),
        (
            {"all": {"constraints": [{"rule": "true"}, {"rule": "nope("}]}},
            "/all/constraints/1/cel/rule",
            "Syntax error",
        ),
    ],
)
def test_a_bad_range_or_rule_is_refused_where_it_stands(value: dict[str, Any], pointer: str, reason: str) -> None:
    with pytest.raises(InvalidConstraintError, match=reason) as refused:
        check(value)
    assert refused.value.path == pointer


def test_upstream_refuses_to_look_into_values_of_any_type() -> None:
    with pytest.raises(InvalidConstraintError, match="cannot be range of a comprehension"):
        check({"cel": {"rule": "properties.exists(p, p.value.exists(x, x == 'b'))"}}, upstream=True)


def test_an_evaluation_error_is_no_match_and_is_kept() -> None:
    matcher = Matcher()
    assert matcher.check(CelConstraint("properties[99].type == 'x'"))(BUNDLE) is False
    assert matcher.failures == {("properties[99].type == 'x'", BUNDLE): "index out of bounds: 99"}


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        (A_PACKAGE, [0, 1]),
        (AN_API, [2]),
        (
            {"all": {"constraints": [{"package": {"packageName": "a", "versionRange": ">=0.0.0"}}, {"rule": "true"}]}},
            [0, 1],
        ),
        (
            {
                "any": {
                    "constraints": [{"label": {"label": "x"}}, {"gvk": {"group": "g", "version": "v1", "kind": "K"}}]
                }
            },
            [2],
        ),
        ({"any": {"constraints": [{"label": {"label": "x"}}, {"rule": "true"}]}}, None),
        ({"not": {"constraints": []}}, None),
    ],
)
def test_indexes_narrow_the_search(value: dict[str, Any], numbers: list[int] | None) -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0"), bundle("k", "1.0.0", provides("K")))
    requirement = read_requirement(Property("olm.constraint", value))
    assert requirement is not None
    found = narrow(requirement.constraint, catalog)
    assert (None if found is None else list(found)) == numbers
