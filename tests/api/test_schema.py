"""About api/schema: pruning, defaulting, validation and transitions of structural schemas."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api import RESOURCES
from muster.api.schema import compile_schema
from muster.hub.objects import same
from muster.hub.patches.merge import merge_patched
from muster.values.causes import Cause

CONDITIONS = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "properties": {"type": {"type": "string"}, "since": {"type": "string", "format": "date-time"}},
    },
}
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "required": ["profile", "tenancy"],
            "properties": {
                "profile": {
                    "type": "string",
                    "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "profile is immutable"}],
                },
                "tenancy": {"type": "string", "enum": ["Exclusive", "Shared"]},
                "count": {"type": "integer", "format": "int32", "default": 60, "minimum": 0, "maximum": 100},
                "purposes": {"type": "array", "items": {"type": "string"}, "minItems": 1, "maxItems": 2},
                "name": {"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[a-z]*$"},
                "when": {"type": "string", "format": "date-time", "nullable": True},
                "share": {"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}, {"type": "string"}]},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
                "set": {"type": "array", "items": {"type": "string"}, "x-kubernetes-list-type": "set"},
                "conditions": CONDITIONS,
                "free": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                "on": {"type": "boolean"},
                "nested": {
                    "type": "object",
                    "default": {},
                    "properties": {"mode": {"type": "string", "default": "Additive"}},
                },
            },
        },
    },
}
COMPILED = compile_schema(SCHEMA)


def an_object(**spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "K",
        "metadata": {"name": "a"},
        "spec": {"profile": "p", "tenancy": "Shared"} | spec,
    }


def texts(**spec: Any) -> list[str]:
    return [str(cause) for cause in COMPILED.validate(an_object(**spec))]


def test_unknown_fields_are_removed_and_named_in_order() -> None:
    obj = an_object(bogus=1, conditions=[{"type": "a"}, {"type": "b", "x": {}}], free={"kept": 1})
    obj |= {"extra": 2}
    obj["metadata"]["odd"] = 1
    assert COMPILED.prune(obj) == ["extra", "metadata.odd", "spec.bogus", "spec.conditions[1].x"]
    assert obj == an_object(conditions=[{"type": "a"}, {"type": "b"}], free={"kept": 1})


def test_defaults_fill_what_is_missing_or_null_and_reach_into_defaults() -> None:
    obj = an_object(count=None)
    assert COMPILED.default(obj)["spec"] == {
        "profile": "p",
        "tenancy": "Shared",
        "count": 60,
        "nested": {"mode": "Additive"},
    }


def test_defaults_are_not_shared_between_objects() -> None:
    first, second = COMPILED.default(an_object()), COMPILED.default(an_object())
    first["spec"]["nested"]["mode"] = "Exact"
    assert second["spec"]["nested"] == {"mode": "Additive"}


def test_null_is_dropped_where_it_is_no_value_and_kept_where_it_is_one() -> None:
    obj = an_object(purposes=None, when=None, labels={"a": None, "b": "c"})
    COMPILED.prepare(obj)
    assert obj["spec"]["when"] is None
    assert "purposes" not in obj["spec"]
    assert obj["spec"]["labels"] == {"b": "c"}
    assert COMPILED.validate(obj) == []


def test_a_wrong_type_is_told_with_the_type_that_came() -> None:
    (cause,) = COMPILED.validate(an_object(on="yes"))
    assert cause == Cause(
        "FieldValueTypeInvalid", "spec.on", 'Invalid value: "string": spec.on in body must be of type boolean: "string"'
    )


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"tenancy": "Nope"}, ['spec.tenancy: Unsupported value: "Nope": supported values: "Exclusive", "Shared"']),
        ({"purposes": []}, ["spec.purposes: Invalid value: 0: spec.purposes in body should have at least 1 items"]),
        ({"purposes": ["a", "b", "c"]}, ["spec.purposes: Too many: 3: must have at most 2 items"]),
        ({"name": ""}, ['spec.name: Invalid value: "": spec.name in body should be at least 1 chars long']),
        ({"name": "abcdef"}, ["spec.name: Too long: may not be more than 5 bytes"]),
        ({"name": "a\n"}, ["spec.name: Invalid value: \"a\\n\": spec.name in body should match '^[a-z]*$'"]),
        ({"count": 101}, ["spec.count: Invalid value: 101: spec.count in body should be less than or equal to 100"]),
        ({"count": -1}, ["spec.count: Invalid value: -1: spec.count in body should be greater than or equal to 0"]),
        ({"count": "x"}, ['spec.count: Invalid value: "string": spec.count in body must be of type integer: "string"']),
        ({"count": 1.5}, [
            'spec.count: Invalid value: "float64": spec.count in body must be of type int32: "float64"',
            '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in spec.count',
        ]),
        ({"count": 2.0}, []),
        ({"count": 101.0}, ["spec.count: Invalid value: 101: spec.count in body should be less than or equal to 100"]),
        (
            {"when": "yesterday"},
            ['spec.when: Invalid value: "yesterday": spec.when in body must be of type date-time: "yesterday"'],
        ),
        ({"when": "2026-02-30T00:00:00Z"}, [
            'spec.when: Invalid value: "2026-02-30T00:00:00Z": '
            'spec.when in body must be of type date-time: "2026-02-30T00:00:00Z"'
        ]),
        ({"share": 3}, []),
        ({"share": "30%"}, []),
        ({"share": True}, [
            '<nil>: Invalid value: "": "spec.share" must validate at least one schema (anyOf)',
            'spec.share: Invalid value: "boolean": spec.share in body must be of type integer: "boolean"',
        ]),
        ({"labels": {"a": 1}}, [
            'spec.labels.a: Invalid value: "integer": spec.labels.a in body must be of type string: "integer"'
        ]),
        ({"set": ["a", "b", "a", "a"]}, ['spec.set[2]: Duplicate value: "a"']),
        ({"conditions": [{"type": "a"}, {"type": "a"}]}, ['spec.conditions[1]: Duplicate value: {"type":"a"}']),
        ({"conditions": [None]}, [
            'spec.conditions[0]: Invalid value: "null": spec.conditions[0] in body must be of type object: "null"'
        ]),
    ],
)  # fmt: skip
def test_each_mistake_has_the_text_of_the_real_server(spec: dict[str, Any], expected: list[str]) -> None:
    assert texts(**spec) == expected


def test_causes_come_in_the_order_of_field_names_and_missing_fields_last() -> None:
    obj = {"apiVersion": "v1", "kind": "K", "spec": {"purposes": [], "on": 1, "count": "x"}}
    assert [cause.field for cause in COMPILED.validate(obj)] == [
        "spec.count",
        "spec.on",
        "spec.purposes",
        "spec.profile",
        "spec.tenancy",
    ]


def test_beyond_64_bits_a_number_is_no_integer() -> None:
    compiled = compile_schema({"type": "object", "properties": {"n": {"type": "integer", "format": "int64"}}})
    assert [str(cause) for cause in compiled.validate({"n": 10**30})] == [
        'n: Invalid value: "float64": n in body must be of type int64: "float64"',
        '<nil>: Invalid value: "": Checked value must be of type integer with format int64 in n',
    ]


def test_a_list_is_not_a_time() -> None:
    assert texts(when=[]) == ['spec.when: Invalid value: "array": spec.when in body must be of type string: "array"']


def test_an_integer_must_fit_its_format() -> None:
    compiled = compile_schema({"type": "object", "properties": {"n": {"type": "integer", "format": "int32"}}})
    assert [str(cause) for cause in compiled.validate({"n": 2**31})] == [
        '<nil>: Invalid value: "": Checked value must be of type integer with format int32 in n'
    ]


def test_an_update_tolerates_what_was_wrong_before() -> None:
    old = an_object(name="UPPER", set=["a", "a"])
    assert COMPILED.validate(an_object(name="UPPER", set=["a", "a"], count=1), old) == []
    assert len(COMPILED.validate(an_object(name="OTHER"), old)) == 1


def test_an_immutable_field_may_not_change_but_may_appear() -> None:
    old = an_object()
    assert COMPILED.transition(an_object(profile="p"), old) == []
    assert [str(cause) for cause in COMPILED.transition(an_object(profile="q"), old)] == [
        'spec.profile: Invalid value: "q": profile is immutable'
    ]
    assert COMPILED.transition(an_object(), {"spec": {}}) == []


def test_a_rule_without_a_function_does_not_compile() -> None:
    compiled = compile_schema({"type": "object", "x-kubernetes-validations": [{"rule": "1 == 2", "message": "no"}]})
    with pytest.raises(KeyError):
        compiled.transition({}, {})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 5) | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
fields = st.sampled_from(["conditions", "count", "free", "labels", "name", "nested", "purposes", "set", "share", "zzz"])


@settings(deadline=None)
@given(st.dictionaries(fields, json_values, max_size=6))
def test_preparing_twice_changes_nothing_more(spec: dict[str, Any]) -> None:
    obj = an_object(**spec)
    COMPILED.prepare(obj)
    again = deepcopy(obj)
    assert COMPILED.prepare(again) == []
    assert again == obj


@settings(deadline=None)
@given(st.dictionaries(fields, json_values, max_size=6), st.dictionaries(fields | st.just("profile"), json_values))
def test_what_a_patch_shares_with_the_stored_object_needs_no_second_look(
    spec: dict[str, Any], patch: dict[str, Any]
) -> None:
    stored = an_object(**spec)
    COMPILED.prepare(stored)
    before = deepcopy(stored)
    new = merge_patched(stored, {"spec": patch})
    whole = deepcopy(new)
    assert COMPILED.prepare(new, stored) == COMPILED.prepare(whole)
    assert same(new, whole)
    assert same(stored, before)
    assert COMPILED.validate(new, stored) == COMPILED.validate(whole, before)


def test_a_patch_from_a_number_to_a_truth_value_is_seen() -> None:
    stored = an_object(count=1)
    new = merge_patched(stored, {"spec": {"count": True}})
    assert new == stored  # for Python
    (cause,) = COMPILED.validate(new, stored)
    assert cause.field == "spec.count"


@settings(deadline=None)
@given(json_values)
def test_any_json_is_judged_without_failing(spec: Any) -> None:
    obj = {"kind": "K", "spec": spec, "status": spec}
    for resource in RESOURCES.values():
        for version in resource.versions:
            copy = deepcopy(obj)
            version.compiled.prepare(copy)
            version.compiled.validate(copy)
