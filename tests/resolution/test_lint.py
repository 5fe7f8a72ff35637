"""Findings in catalogs."""

from __future__ import annotations

import pytest

from muster.resolution.lint import lint_catalogs
from tests.resolution.builders import a_catalog, bundle, constraint, needs, rule


def findings(*bundles: dict[str, object]) -> list[str]:
    return [str(finding).removeprefix("cat/") for finding in lint_catalogs([a_catalog(*bundles)])]


@pytest.mark.parametrize(
    ("requirement", "finding"),
    [
        (constraint(cell={}), "error: a.v1.0.0: unknown field 'cell'; did you mean cel?"),
        (rule("1"), "error: a.v1.0.0: cel expressions must have type Bool"),
        (needs("d", "^1"), "error: a.v1.0.0: Could not parse Range"),
        (constraint(gvk={"kind": "K"}, cel={"rule": "true"}), "error: a.v1.0.0: several kinds in one constraint"),
        (constraint(any={}), "error: a.v1.0.0: any without constraints matches nothing"),
        (constraint(none={"constraints": [{"label": {"label": "x"}}]}), "warning: a.v1.0.0: a top-level not is met by"),
        (rule("true"), "warning: a.v1.0.0: it meets its own requirement"),
        (rule("properties.exists(p, p.type == 'x')"), "warning: a.v1.0.0: nothing here is an operator for which"),
        (needs("d", ">=9.0.0"), "nothing here is an operator of package d in >=9.0.0 (d is there in 1.0.0 to 2.0.0)"),
        (needs("d", "<2.0.0"), "contains pre-releases of 2.0.0"),
        ({"type": "olm.constraint.new", "value": {}}, "warning: a.v1.0.0: properties of type olm.constraint.new mean"),
    ],
)
def test_what_is_wrong_with_a_requirement_is_found(requirement: dict[str, object], finding: str) -> None:
    found = findings(bundle("a", "1.0.0", requirement), bundle("d", "1.0.0"), bundle("d", "2.0.0"))
    assert any(finding in each and each.startswith("a.v1.0.0#/properties/0") for each in found), found


def test_requirements_that_contradict_each_other_are_found() -> None:
    asking = bundle("a", "1.0.0", needs("d", "1.0.0"), needs("d", "2.0.0"))
    assert findings(asking, bundle("d", "1.0.0"), bundle("d", "2.0.0")) == [
        "a.v1.0.0#/properties/0: error: a.v1.0.0: it needs d in 1.0.0 and 2.0.0, which no version is"
    ]


def test_several_heads_are_found() -> None:
    (found,) = findings(bundle("a", "1.0.0"), bundle("a", "2.0.0", replaces=""))
    assert found.startswith("cat: error: channel stable of a has no single order")


def test_a_catalog_in_order_has_no_findings() -> None:
    assert findings(bundle("a", "1.0.0", needs("d")), bundle("d", "1.0.0")) == []
