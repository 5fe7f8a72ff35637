"""Every spelling of a constraint, and every way to get it wrong."""

from __future__ import annotations

from typing import Any

import pytest

from muster.reasons import sentence
from muster.resolution.catalog.dependencies import from_dependency
from muster.resolution.catalog.properties import Property
from muster.resolution.constraints.forms import InvalidConstraintError, normal_form, shipped_form
from muster.resolution.constraints.spellings import MOST_BYTES, read_any_spelling, read_requirement

RULE = 'properties.exists(p, p.type == "certified")'
PLAIN = {"kind": "cel", "cel": {"rule": RULE}, "message": "m", "action": {"id": "require", "optional": False}}


def read(value: Any, kind: str = "olm.constraint") -> Any:
    requirement = read_any_spelling(Property(kind, value))
    assert requirement is not None
    return requirement


def refusal(value: Any, kind: str = "olm.constraint") -> str:
    with pytest.raises(InvalidConstraintError) as refused:
        read(value, kind)
    return str(refused.value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("olm.constraint", {"evaluator": {"id": "cel"}, "rule": RULE, "message": "m", "action": {"id": "require"}}),
        ("olm.constraint", {"rule": RULE, "message": "m"}),
        ("olm.constraint", {"message": "m", "CEL": {"rule": RULE}, "action": {"id": "require", "optional": False}}),
        ("olm.constraint", {"message": "m", "CEL": {"rule": RULE, "action": "require"}}),
        ("olm.constraint", {"failureMessage": "m", "cel": {"rule": RULE}}),
        ("olm.constraint", {"failureMessage": "m", "message": "m", "cel": {"rule": RULE}, "rule": RULE}),
        ("olm.constraint.cel", {"rule": RULE, "message": "m"}),
        ("olm.constraint.cel", {"rule": RULE, "failureMessage": "m"}),
    ],
)
def test_a_rule_has_one_normal_form_however_it_is_spelled(kind: str, value: Any) -> None:
    requirement = read(value, kind)
    assert normal_form(requirement) == PLAIN
    assert shipped_form(requirement) == {"failureMessage": "m", "cel": {"rule": RULE}}
    assert requirement.warnings == ()


D_1_X = {"package": {"packageName": "d", "versionRange": "1.x"}}
API = {"group": "g", "version": "v", "kind": "K"}
NONE = {"constraints": [{"cel": {"rule": "true"}}]}
EQUALS = {"propertyEquals": {"name": "n", "value": {"b": [1], "a": None}}}


@pytest.mark.parametrize(
    ("kind", "value", "normal"),
    [
        ("olm.constraint", {"package": {"name": "d", "versionRange": "1.x"}}, D_1_X),
        ("olm.package.required", {"packageName": "d", "versionRange": "1.x"}, D_1_X),
        ("olm.package", {"packageName": "d", "version": "1.x"}, D_1_X),
        ("olm.gvk", API, {"gvk": API}),
        ("olm.gvk.required", API, {"gvk": API}),
        ("olm.label", {"label": "lts"}, {"label": {"label": "lts"}}),
        ("olm.label.required", {"label": "lts"}, {"label": {"label": "lts"}}),
        ("olm.constraint", EQUALS, EQUALS),
        ("olm.constraint", {"none": NONE}, {"not": NONE}),
    ],
)
def test_other_kinds_have_one_form_too(kind: str, value: Any, normal: Any) -> None:
    assert shipped_form(read(value, kind)) == normal


@pytest.mark.parametrize(
    ("value", "parts"),
    [
        ({}, ["/properties/0/value", "empty"]),
        (None, ["empty"]),
        ({"message": "m"}, ["empty"]),
        ({"all": {"constraints": [{}]}}, ["/all/constraints/0", "empty"]),
        ([], ["a mapping was expected, this is a list"]),
        ("x", ["a mapping was expected, this is a text"]),
        ({"cell": {}}, ["/cell", "unknown field 'cell'", "did you mean cel?"]),
        ({"cel": {"rule": "true", "ruel": 1}}, ["/cel/ruel", "did you mean rule?"]),
        ({"message": "a", "failureMessage": "b", "cel": {"rule": "true"}}, ["message and failureMessage differ"]),
        ({"rule": "true", "cel": {"rule": "false"}}, ["rule and cel.rule differ"]),
        ({"Cel": {"rule": "true"}, "cel": {"rule": "true"}}, ["/cel: 'Cel' and 'cel' are one key twice, in different"]),
        ({"cel": {"rule": "true", "RULE": "true"}}, ["/cel/RULE: 'rule' and 'RULE' are one key twice"]),
        ({"message": "a", "MESSAGE": "a", "rule": "true"}, ["'message' and 'MESSAGE' are one key twice"]),
        ({"evaluator": {"id": "cel", "ID": "cel"}, "rule": "true"}, ["'id' and 'ID' are one key twice"]),
        ({"evaluator": {"id": "lucky"}, "rule": "x"}, ["lucky", "only cel is supported"]),
        ({"evaluator": {"id": "cel", "package": "bobby"}, "rule": "x"}, ["no more than its id", "package"]),
        ({"evaluator": "cel", "rule": "x"}, ["/evaluator", "a mapping with an id"]),
        ({"evaluator": {"id": "cel"}}, ["needs a rule"]),
        ({"cel": {}}, ["rule is missing"]),
        ({"cel": {"rule": 1}}, ["rule is a text, this is a number"]),
        ({"cel": {"rule": "true", "action": "prohibit"}}, ["prohibit", "require"]),
        ({"cel": {"rule": "true"}, "action": {"id": "explode"}}, ["explode", "require"]),
        ({"cel": {"rule": "true"}, "action": {"id": "require", "optional": "yes"}}, ["optional is true or false"]),
        ({"all": {"constraints": [{"rule": "true", "action": {"id": "require"}}]}}, ["action", "nested"]),
        ({"all": {"constraints": {}}}, ["a list was expected"]),
        ({"all": [1]}, ["a mapping was expected"]),
        ({"package": {"versionRange": "1.x"}}, ["packageName"]),
        ({"package": {"packageName": "a"}}, ["versionRange is missing"]),
        ({"message": 3, "cel": {"rule": "true"}}, ["a message is a text"]),
        ({"propertyEquals": {"name": "a"}}, ["/propertyEquals", "value is missing"]),
        # Pointers are spelled as the constraint is, and escaped as JSON pointers are.
        ({"CEL": {"rule": 1}}, ["/properties/0/value/CEL/rule: rule is a text"]),
        ({"ALL": {"constraints": [{"Package": {}}]}}, ["/properties/0/value/ALL/constraints/0/Package: "]),
        ({"a/b~": 1}, ["/properties/0/value/a~1b~0: unknown field"]),
    ],
)
def test_a_wrong_constraint_is_refused_with_pointer_and_reason(value: Any, parts: list[str]) -> None:
    text = refusal(value)
    assert [part for part in parts if part not in text] == []


@pytest.mark.parametrize(
    ("kind", "value", "second"),
    [
        ("olm.package.required", {"packageName": "a", "PackageName": "b", "versionRange": "1.x"}, "PackageName"),
        ("olm.gvk.required", API | {"Kind": "Other"}, "Kind"),
        ("olm.label.required", {"LABEL": "lts", "label": "lts"}, "label"),
    ],
)
def test_the_older_properties_take_no_key_twice_either(kind: str, value: Any, second: str) -> None:
    assert f"/{second}: " in refusal(value, kind)
    assert "are one key twice, in different case: keep one" in refusal(value, kind)


def test_a_dependency_may_be_spelled_in_any_case_but_not_twice() -> None:
    assert shipped_form(read({"PackageName": "d", "VERSION": "1.x"}, "olm.package")) == D_1_X
    assert "one key twice" in refusal({"packageName": "d", "version": "1.x", "Version": "2.x"}, "olm.package")


def test_the_older_properties_say_what_they_lack() -> None:
    assert "needs a versionRange, not version" in refusal({"packageName": "a", "version": "1"}, "olm.package.required")
    assert "takes a mapping, this is a list" in refusal([], "olm.gvk.required")
    assert "group is a text, this is a number" in refusal({"group": 1}, "olm.gvk.required")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('{"cel":{"rule":"true"}} x', "trailing data after the JSON value: 'x'"),
        ('{"cel"', "not valid JSON"),
        ("x" * (MOST_BYTES + 1), "greater than max constraint size 131072 bytes"),
    ],
)
def test_text_that_is_no_json_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidConstraintError, match=reason):
        read_requirement(Property("olm.constraint", None, text))


@pytest.mark.parametrize(
    ("value", "warning"),
    [
        ({"FAILUREMESSAGE": "m", "cel": {"rule": "true"}}, "write failureMessage, not FAILUREMESSAGE"),
        (
            {"gvk": {"kind": "K"}, "cel": {"rule": "true"}},
            "several kinds in one constraint (gvk, cel)",
        ),
        ({"all": {"constraints": []}}, "all without constraints matches every bundle"),
        ({"any": {}}, "any without constraints matches nothing"),
        ({"evaluator": {"ID": "cel"}, "rule": "true"}, "write id, not ID"),
        ({"propertyEquals": {"name": "a", "VALUE": 1}}, "write value, not VALUE"),
        ({"message": "m" * 70_000, "cel": {"rule": "true"}}, "65536 are documented as the most"),
    ],
)
def test_what_is_odd_is_taken_with_a_warning(value: Any, warning: str) -> None:
    (warned,) = read(value).warnings
    assert warning in sentence(warned.reason)


def test_a_property_may_be_null_and_its_key_in_any_case() -> None:
    assert shipped_form(read({"propertyEquals": {"Name": "a", "VALUE": None}})) == {
        "propertyEquals": {"name": "a", "value": None}
    }


def test_nesting_is_limited() -> None:
    def nested(levels: int) -> dict[str, Any]:
        value: dict[str, Any] = {"cel": {"rule": "true"}}
        for _ in range(levels - 1):
            value = {"all": {"constraints": [value]}}
        return value

    assert read(nested(10)).warnings == ()
    assert "nested more than 10 levels" in sentence(read(nested(32)).warnings[0].reason)
    assert "more than 32 levels deep" in refusal(nested(33))


def test_size_is_that_of_the_compact_json() -> None:
    frame = len('{"failureMessage":"","cel":{"rule":"true"}}')
    message = "m" * (MOST_BYTES - frame)
    assert read({"failureMessage": message, "cel": {"rule": "true"}}).constraint.rule == "true"
    assert "131072" in refusal({"failureMessage": message + "m", "cel": {"rule": "true"}})


def test_other_properties_and_dependencies_are_no_requirements() -> None:
    assert read_requirement(Property("olm.constraint.other", {})) is None
    assert read_requirement(Property("olm.package", {})) is None
    assert from_dependency(Property("unknown", {})) is None
