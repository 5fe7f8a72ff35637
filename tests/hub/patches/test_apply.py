"""Server-side apply on plain objects: ownership, conflicts, removal, lists, and laws."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from muster.hub.patches.apply import ApplyConflictError, InvalidConfigurationError, applied
from muster.hub.patches.comparison import applied_fields
from muster.hub.patches.managed_fields import Versions, Writer, decoded, encoded, tracked
from muster.hub.patches.structure import object_type

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "size": {"type": "integer"},
                "name": {"type": "string"},
                "on": {"type": "boolean"},
                "options": {"type": "object", "additionalProperties": {"type": "string"}},
                "whole": {"type": "object", "x-kubernetes-map-type": "atomic", "additionalProperties": True},
                "plain": {"type": "array", "items": {"type": "string"}},
                "tags": {"type": "array", "x-kubernetes-list-type": "set", "items": {"type": "string"}},
                "ports": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {
                        "type": "object",
                        "properties": {
                            "port": {"type": "integer"},
                            "protocol": {"type": "string", "default": "TCP"},
                            "name": {"type": "string"},
                        },
                    },
                },
            },
        }
    },
}
VERSIONS = Versions({"v1": object_type(SCHEMA)}, lambda obj, _: obj)


def apply(
    live: dict[str, Any], spec: dict[str, Any] | None, manager: str = "m1", *, force: bool = False, **metadata: Any
) -> dict[str, Any]:
    config: dict[str, Any] = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x", **metadata}}
    if spec is not None:
        config["spec"] = spec
    obj, owners = applied(live, config, VERSIONS, Writer(manager, "v1", "now"), force=force, ignored={})
    metadata = {key: value for key, value in obj["metadata"].items() if key != "managedFields"}
    return obj | {"metadata": metadata | ({"managedFields": owners} if owners else {})}


def owners_of(obj: dict[str, Any]) -> dict[str, Any]:
    return {entry["manager"]: entry["fieldsV1"] for entry in obj["metadata"].get("managedFields", ())}


def test_a_manager_owns_the_leaves_it_applies() -> None:
    obj = apply({}, {"size": 1, "options": {"a": "x"}, "whole": {"b": {"c": 1}}, "plain": ["p"], "tags": ["t"]})
    assert obj["spec"] == {"size": 1, "options": {"a": "x"}, "whole": {"b": {"c": 1}}, "plain": ["p"], "tags": ["t"]}
    assert owners_of(obj) == {
        "m1": {
            "f:spec": {
                "f:size": {},
                "f:options": {"f:a": {}},
                "f:whole": {},
                "f:plain": {},
                "f:tags": {'v:"t"': {}},
            }
        }
    }


def test_items_of_a_map_list_are_found_by_their_keys_defaults_included() -> None:
    obj = apply({}, {"ports": [{"port": 80, "name": "web"}]})
    obj = apply(obj, {"ports": [{"port": 80, "protocol": "UDP"}]}, "m2")
    assert obj["spec"]["ports"] == [{"port": 80, "name": "web"}, {"port": 80, "protocol": "UDP"}]
    assert owners_of(obj) == {
        "m1": {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:name": {}, "f:port": {}}}}},
        "m2": {"f:spec": {"f:ports": {'k:{"port":80,"protocol":"UDP"}': {".": {}, "f:port": {}, "f:protocol": {}}}}},
    }


def test_a_different_value_for_a_field_of_another_is_a_conflict_unless_forced() -> None:
    obj = apply({}, {"size": 1, "name": "a"})
    with pytest.raises(ApplyConflictError) as caught:
        apply(obj, {"size": 2, "name": "b"}, "m2")
    assert str(caught.value) == 'Apply failed with 2 conflicts: conflicts with "m1":\n- .spec.name\n- .spec.size'
    with pytest.raises(ApplyConflictError, match=r'Apply failed with 1 conflict: conflict with "m1": .spec.size'):
        apply(obj, {"size": 2}, "m2")
    forced = apply(obj, {"size": 2}, "m2", force=True)
    assert forced["spec"] == {"size": 2, "name": "a"}
    assert owners_of(forced) == {"m1": {"f:spec": {"f:name": {}}}, "m2": {"f:spec": {"f:size": {}}}}


def test_the_same_value_is_shared_and_stays_until_its_last_owner_lets_go() -> None:
    obj = apply(apply({}, {"size": 1, "name": "a"}), {"size": 1}, "m2")
    assert owners_of(obj) == {"m1": {"f:spec": {"f:name": {}, "f:size": {}}}, "m2": {"f:spec": {"f:size": {}}}}
    obj = apply(obj, {"name": "a"})
    assert obj["spec"] == {"size": 1, "name": "a"}
    obj = apply(obj, {"on": True}, "m2")
    assert obj["spec"] == {"on": True, "name": "a"}


def test_letting_go_of_everything_in_a_structure_removes_it() -> None:
    obj = apply({}, {"size": 1, "options": {"a": "x"}}, labels={"l": "1"})
    obj = apply(obj, {"size": 1})
    assert obj["spec"] == {"size": 1}
    assert obj["metadata"]["name"] == "x"
    assert "labels" not in obj["metadata"]


def test_items_of_others_stay_when_a_manager_drops_its_own() -> None:
    obj = apply(apply({}, {"tags": ["a", "b"]}), {"tags": ["c"]}, "m2")
    assert obj["spec"]["tags"] == ["a", "b", "c"]
    assert apply(obj, {"tags": ["b"]})["spec"]["tags"] == ["b", "c"]


@pytest.mark.parametrize(
    ("live", "config", "result"),
    [
        ("abc", "x", "abcx"),
        ("abc", "cxa", "bcxa"),
        ("abcd", "xbyd", "axbcyd"),
        ("abc", "cab", "cab"),
    ],
)
def test_shared_items_follow_the_configuration_and_the_others_their_neighbours(
    live: str, config: str, result: str
) -> None:
    obj = apply(apply({}, {"tags": list(live)}, "m1"), {"tags": list(config)}, "m2")
    assert obj["spec"]["tags"] == list(result)


def test_fields_set_by_an_update_are_contested_with_the_version_they_were_set_in() -> None:
    live: dict[str, Any] = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"size": 1}}
    managers = tracked({"metadata": {}}, live, {}, VERSIONS, Writer("kubectl", "v1", "then"))
    live["metadata"]["managedFields"] = encoded(managers)
    with pytest.raises(ApplyConflictError, match=r'conflict with "kubectl" using v1: .spec.size'):
        apply(live, {"size": 2})


def test_fields_of_an_object_without_owners_belong_to_before_first_apply() -> None:
    live: dict[str, Any] = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": {"size": 1}}
    with pytest.raises(ApplyConflictError, match=r'conflict with "before-first-apply" using v1: .spec.size'):
        apply(live, {"size": 2})
    assert list(owners_of(apply(live, {"name": "a"}))) == ["m1", "before-first-apply"]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"bogus": 1}, ".spec.bogus: field not declared in schema"),
        ({"size": "x"}, ".spec.size: expected numeric (int or float), got string"),
        (
            {"on": 1, "name": 2},
            "errors:\n  .spec.name: expected string, got &value.valueUnstructured{Value:2}\n"
            "  .spec.on: expected boolean, got &{1}",
        ),
        ({"tags": ["a", "a"]}, '.spec.tags: duplicate entries for key [="a"]'),
        ({"plain": {"a": 1}}, ".spec.plain: expected list, got &{map[a:1]}"),
        (
            {"ports": [None]},
            ".spec.ports: element 0: associative list with keys may not have a null element",
        ),
    ],
)
def test_a_configuration_that_does_not_fit_the_schema_is_refused(spec: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidConfigurationError) as caught:
        apply({}, spec)
    assert str(caught.value) == message


names = st.sampled_from(["a", "b", "c"])
specs = st.fixed_dictionaries(
    {},
    optional={
        "size": st.integers(0, 2),
        "name": names,
        "options": st.dictionaries(names, names, max_size=2),
        "whole": st.dictionaries(names, names, max_size=2),
        "plain": st.lists(names, max_size=2),
        # An empty list of items claims nothing, so that applying it is not stable, here as on a real server.
        "tags": st.lists(names, min_size=1, max_size=3, unique=True),
        "ports": st.lists(
            st.fixed_dictionaries({"port": st.integers(1, 2)}, optional={"name": names}),
            min_size=1,
            max_size=2,
            unique_by=lambda port: port["port"],
        ),
    },
)


@given(first=specs, second=specs, third=specs)
def test_applying_twice_is_applying_once(first: Any, second: Any, third: Any) -> None:
    obj = apply(apply({}, first), second, "m2", force=True)
    once = apply(obj, third, force=True)
    assert apply(once, third, force=True) == once


@given(first=specs, second=specs)
def test_managers_with_disjoint_fields_never_conflict_and_both_get_their_way(first: Any, second: Any) -> None:
    second = {key: value for key, value in second.items() if key not in first}
    obj = apply(apply({}, first), second, "m2")
    for spec in (first, second):
        for key, value in spec.items():
            if value not in ([], {}):
                assert obj["spec"][key] == value


@given(first=specs, second=specs)
def test_what_a_lone_applier_wants_is_what_is_there(first: Any, second: Any) -> None:
    obj = apply(apply({}, first), second)
    wanted = {"apiVersion": "v1", "kind": "X", "metadata": {"name": "x"}, "spec": second}
    assert applied_fields(obj, VERSIONS.types["v1"]) == applied_fields(wanted, VERSIONS.types["v1"])


@given(first=specs, second=specs)
def test_managed_fields_come_out_of_their_encoding_as_they_went_in(first: Any, second: Any) -> None:
    obj = apply(apply({}, first), second, "m2", force=True)
    entries = obj["metadata"].get("managedFields", [])
    managers = decoded(entries)
    assert managers is not None
    assert encoded(managers) == entries


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"tags": [{}]}, "associative list without keys has an element that's a map type"),
        ({"tags": [[]]}, "not supported: associative list with lists as elements"),
        ({"tags": [None]}, "associative list without keys has an element that's an explicit null"),
        ({"ports": ["x"]}, "associative list with keys may not have non-map elements"),
    ],
)
def test_items_without_an_identity_are_refused(spec: dict[str, Any], message: str) -> None:
    (name,) = spec
    with pytest.raises(InvalidConfigurationError) as caught:
        apply({}, spec)
    assert str(caught.value) == f".spec.{name}: element 0: {message}"


def test_wrong_types_are_shown_as_go_shows_them() -> None:
    cases: dict[str, dict[str, Any]] = {
        "expected numeric (int or float), got map[string]interface {}": {"size": {"a": 1}},
        "expected numeric (int or float), got []interface {}": {"size": [1]},
        "expected numeric (int or float), got bool": {"size": True},
        'expected string, got &value.valueUnstructured{Value:map[string]interface {}{"a":[]interface {}{true}}}': {
            "name": {"a": [True]}
        },
        "expected map, got &{[1 <nil>]}": {"options": [1, None]},
    }
    for message, spec in cases.items():
        (name,) = spec
        with pytest.raises(InvalidConfigurationError) as caught:
            apply({}, spec)
        assert str(caught.value) == f".spec.{name}: {message}"


def test_a_key_that_an_item_leaves_out_is_no_part_of_its_identity() -> None:
    obj = apply({}, {"ports": [{"protocol": "UDP", "name": "x"}]})
    assert owners_of(obj) == {
        "m1": {"f:spec": {"f:ports": {'k:{"protocol":"UDP"}': {".": {}, "f:name": {}, "f:protocol": {}}}}}
    }
