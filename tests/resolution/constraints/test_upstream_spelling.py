"""The Operator Lifecycle Manager's reading, in its words."""

from __future__ import annotations

from typing import Any

import pytest

from muster.resolution.catalog.properties import Property
from muster.resolution.constraints.forms import InvalidConstraintError, Requirement, shipped_form
from muster.resolution.constraints.upstream_spelling import parse_upstream, read_upstream


@pytest.mark.parametrize(
    ("value", "shipped"),
    [
        ({"CEL": {"Rule": "true"}, "FAILUREMESSAGE": "m"}, {"failureMessage": "m", "cel": {"rule": "true"}}),
        ({"gvk": {"kind": "K"}, "cel": {"rule": "x"}}, {"gvk": {"group": "", "version": "", "kind": "K"}}),
        ({"not": {}}, {"not": {"constraints": []}}),
        ({"package": {"packageName": "a"}}, {"package": {"packageName": "a", "versionRange": ""}}),
    ],
)
def test_what_upstream_takes(value: Any, shipped: Any) -> None:
    assert shipped_form(Requirement(parse_upstream(Property("olm.constraint", value)))) == shipped


@pytest.mark.parametrize(
    ("value", "shipped"),
    [
        ({"cel": {"rule": "a"}, "CEL": {"rule": "b"}}, {"cel": {"rule": "b"}}),
        ({"cel": {"rule": "a"}, "CEL": {}}, {"cel": {"rule": "a"}}),
        ({"failureMessage": "m", "FailureMessage": None, "cel": {}}, {"failureMessage": "m", "cel": {"rule": ""}}),
        ({"cel": {"rule": "a"}, "CEL": None, "gvk": {}}, {"gvk": {"group": "", "version": "", "kind": ""}}),
        (
            {"all": {"constraints": [{"cel": {"rule": "a"}}]}, "ALL": {"constraints": [{"failureMessage": "m"}]}},
            {"all": {"constraints": [{"failureMessage": "m", "cel": {"rule": "a"}}]}},
        ),
    ],
)
def test_the_later_of_two_keys_that_differ_by_case_is_read_into_what_the_earlier_left(value: Any, shipped: Any) -> None:
    assert shipped_form(Requirement(parse_upstream(Property("olm.constraint", value)))) == shipped


def test_in_the_older_properties_the_last_text_counts_and_the_first_misfit_is_told() -> None:
    twice = {"packageName": "a", "PackageName": "b", "PACKAGENAME": None, "versionRange": "1.x"}
    read = read_upstream(Property("olm.package.required", twice))
    assert read is not None
    assert shipped_form(read) == {"package": {"packageName": "b", "versionRange": "1.x"}}
    with pytest.raises(InvalidConstraintError, match=r"number into Go struct field \.packageName"):
        read_upstream(Property("olm.package.required", {"packageName": 1, "PackageName": "b", "versionRange": "1.x"}))


def test_only_the_first_json_value_is_read() -> None:
    read = parse_upstream(Property("olm.constraint", None, '{"cel":{"rule":"true"}} x'))
    assert shipped_form(Requirement(read)) == {"cel": {"rule": "true"}}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ({"evaluator": {}}, 'parse olm.constraint: json: unknown field "evaluator"'),
        ([], "parse olm.constraint: json: cannot unmarshal array into Go value of type constraints.Constraint"),
        (
            {"cel": 1},
            "parse olm.constraint: json: cannot unmarshal number into Go struct field Constraint.cel"
            " of type constraints.Cel",
        ),
        (
            {"all": {"constraints": {}}},
            "parse olm.constraint: json: cannot unmarshal object into Go struct field"
            " CompoundConstraint.all.constraints of type []constraints.Constraint",
        ),
        (
            {"cel": {"rule": True}},
            "parse olm.constraint: json: cannot unmarshal bool into Go struct field Cel.cel.rule of type string",
        ),
        (
            {"FAILUREMESSAGE": 1},
            "parse olm.constraint: json: cannot unmarshal number into Go struct field Constraint.failureMessage"
            " of type string",
        ),
        (
            {"any": {"constraints": [{"not": {"constraints": [3]}}]}},
            "parse olm.constraint: json: cannot unmarshal number into Go struct field"
            " CompoundConstraint.any.constraints.not.constraints of type constraints.Constraint",
        ),
        ({}, "convert olm.constraint to resolver predicate: constraint is empty"),
        ({"any": {"constraints": [None]}}, "convert olm.constraint to resolver predicate: constraint is empty"),
    ],
)
def test_what_upstream_refuses(value: Any, text: str) -> None:
    with pytest.raises(InvalidConstraintError) as refused:
        parse_upstream(Property("olm.constraint", value))
    assert refused.value.reason == text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "parse olm.constraint: EOF"),
        ('{"a"', "parse olm.constraint: unexpected EOF"),
        ("nope", "parse olm.constraint: invalid character 'o' in literal null (expecting 'u')"),
        ('{"cel": x}', "parse olm.constraint: invalid character 'x' looking for beginning of value"),
        ('{"cel" 1}', "parse olm.constraint: invalid character '1' after object key"),
    ],
)
def test_text_that_is_no_json(text: str, reason: str) -> None:
    with pytest.raises(InvalidConstraintError) as refused:
        parse_upstream(Property("olm.constraint", None, text))
    assert refused.value.reason == reason


def test_the_older_properties() -> None:
    assert read_upstream(Property("olm.constraint.cel", {"rule": "false"})) is None
    with pytest.raises(InvalidConstraintError, match="cannot unmarshal number into Go struct field"):
        read_upstream(Property("olm.label.required", {"label": 1}))
    with pytest.raises(InvalidConstraintError, match="cannot unmarshal array into Go value of type struct"):
        read_upstream(Property("olm.gvk.required", []))
    with pytest.raises(InvalidConstraintError, match="unexpected end of JSON input"):
        read_upstream(Property("olm.gvk.required", None, "{"))
