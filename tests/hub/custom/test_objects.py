"""Objects of custom kinds: pruned, defaulted, judged by their schema, and left alone where they have not changed."""

from __future__ import annotations

from typing import Any

import pytest

from tests.hub.custom.a_kind import APPLY, GROUP, MERGE, Shop, definition, fields, path, schema, toy, version

TEXT: dict[str, Any] = {"type": "string"}
NUMBER: dict[str, Any] = {"type": "integer"}
KEEPS = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"


def test_unknown_fields_are_pruned_where_nothing_says_otherwise(hub: Shop) -> None:
    known = {"type": "object", "properties": {"a": TEXT}}
    spec = fields(
        kept={"type": "object", KEEPS: True, "properties": {"known": known}},
        anything={KEEPS: True},
        pruned=known,
        values={"type": "object", "additionalProperties": known},
        either={"x-kubernetes-int-or-string": True},
    )
    hub.define(definition(schema(spec)))
    sent = {
        "kept": {"x": {"y": 1}, "known": {"a": "1", "b": 2}},
        "anything": [{"z": None}],
        "pruned": {"a": "1", "b": 2},
        "values": {"k": {"a": "1", "b": 2}},
        "either": "5%",
        "no": 1,
    }
    answer = hub.create("a", sent)
    assert answer["spec"] == {
        "kept": {"x": {"y": 1}, "known": {"a": "1"}},
        "anything": [{"z": None}],
        "pruned": {"a": "1"},
        "values": {"k": {"a": "1"}},
        "either": "5%",
    }


def test_embedded_objects_have_metadata_of_their_own(hub: Shop) -> None:
    template = {"type": "object", EMBEDDED: True, KEEPS: True}
    hub.define(definition(schema(fields(template=template))))
    metadata = {"name": "p", "labels": {"a": "b"}, "foo": 1}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": {"x": 1}}
    answer = hub.create("a", {"template": pod})
    assert answer["spec"]["template"]["metadata"] == {"name": "p", "labels": {"a": "b"}}
    assert hub.warnings == ['299 - "unknown field \\"spec.template.metadata.foo\\""']
    assert hub.message("b", {"template": {"kind": "Pod"}}) == "spec.template.apiVersion: Required value"
    bad = {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": {"a b": "c"}}}
    assert hub.message("c", {"template": bad}).startswith('spec.template.metadata.labels: Invalid value: "a b"')
    hub.create("d", {"template": {"apiVersion": "v1", "kind": "Pod", "metadata": {"labels": 1}}})
    assert hub.code == 400


def test_defaults_fill_what_is_absent_and_not_what_is_null_by_right(hub: Shop) -> None:
    spec = fields(
        mode=TEXT | {"default": "auto"},
        maybe=TEXT | {"nullable": True, "default": "d"},
        part={"type": "object", "default": {}, "properties": {"a": NUMBER | {"default": 1}}},
        items={"type": "array", "items": {"type": "object", "properties": {"p": TEXT | {"default": "TCP"}}}},
    )
    hub.define(definition(schema(spec)))
    assert hub.create("a", {"items": [{}], "maybe": None, "mode": None})["spec"] == {
        "mode": "auto",
        "maybe": None,
        "part": {"a": 1},
        "items": [{"p": "TCP"}],
    }


@pytest.mark.parametrize(
    ("said", "value", "message"),
    [
        (TEXT | {"pattern": "^a+$"}, "b", "spec.x: Invalid value: \"b\": spec.x in body should match '^a+$'"),
        (TEXT | {"maxLength": 1}, "bb", "spec.x: Too long: may not be more than 1 byte"),
        (NUMBER | {"multipleOf": 3}, 4, "spec.x: Invalid value: 4: spec.x in body should be a multiple of 3"),
        (
            {"type": "number", "minimum": 0, "exclusiveMinimum": True},
            0,
            "spec.x: Invalid value: 0: spec.x in body should be greater than 0",
        ),
        (
            {"type": "number", "maximum": 1.5},
            2,
            "spec.x: Invalid value: 2: spec.x in body should be less than or equal to 1.5",
        ),
        (NUMBER | {"enum": [1, 2]}, 3, 'spec.x: Unsupported value: 3: supported values: "1", "2"'),
        (
            {"type": "object", "maxProperties": 1, "additionalProperties": TEXT},
            {"a": "1", "b": "2"},
            "spec.x: Too many: 2: must have at most 1 item",
        ),
        (
            {"x-kubernetes-int-or-string": True},
            True,
            'spec.x: Invalid value: "boolean": spec.x in body must be of type integer,string: "boolean"',
        ),
        (
            NUMBER | {"allOf": [{"minimum": 2}, {"maximum": 3}]},
            1,
            "[spec.x: Invalid value: 1: spec.x in body should be greater than or equal to 2, "
            '<nil>: Invalid value: "": "spec.x" must validate all the schemas (allOf)]',
        ),
        (
            TEXT | {"oneOf": [{"pattern": "^a"}, {"pattern": "^b"}]},
            "c",
            '[<nil>: Invalid value: "": "spec.x" must validate one and only one schema (oneOf). Found none valid, '
            "spec.x: Invalid value: \"c\": spec.x in body should match '^a']",
        ),
    ],
)
def test_values_are_refused_in_the_words_of_kubernetes(
    hub: Shop, said: dict[str, Any], value: object, message: str
) -> None:
    hub.define(definition(schema(fields(x=said))))
    assert hub.message("a", {"x": value}) == message


@pytest.mark.parametrize(
    ("form", "good", "bad"),
    [
        ("date-time", "2026-01-02T03:04:05Z", "yesterday"),
        ("date", "2026-01-02", "2026-13-02"),
        ("duration", "3 days", "a while"),
        ("ipv4", "1.2.3.4", "1.2.3"),
        ("ipv6", "::1", "1.2.3.4"),
        ("cidr", "10.0.0.0/8", "10.0.0.0"),
        ("uri", "https://example.com/a", "no uri"),
        ("email", "a@example.com", "a at example"),
        ("uuid", "123e4567-e89b-12d3-a456-426614174000", "123"),
        ("byte", "aGk=", "*"),
        ("hostname", "a.example.com", "-a"),
        ("mac", "01:23:45:67:89:ab", "01:23"),
        ("isbn", "978-0321751041", "978-0321751042"),
        ("creditcard", "4111 1111 1111 1111", "4111 1111 1111 1112"),
        ("hexcolor", "#ff00ff", "#ff00f"),
        ("rgbcolor", "rgb(1,2,3)", "rgb(1,2,300)"),
        ("ssn", "123-45-6789", "1234-5-6789"),
        ("bsonobjectid", "507f1f77bcf86cd799439011", "507f"),
        ("k8s-short-name", "a-b", "A-b"),
        ("k8s-long-name", "a.b-c", "a..b"),
    ],
)
def test_formats_are_checked(hub: Shop, form: str, good: str, bad: str) -> None:
    hub.define(definition(schema(fields(x=TEXT | {"format": form}))))
    hub.create("good", {"x": good})
    assert hub.code == 201
    assert hub.message("bad", {"x": bad}) == (
        f'spec.x: Invalid value: "{bad}": spec.x in body must be of type {form}: "{bad}"'
    )


def test_a_format_nobody_knows_is_warned_of_and_checks_nothing(hub: Shop) -> None:
    hub.define(definition(schema(fields(x=TEXT | {"format": "mystery"}))))
    assert hub.warnings == ['299 - "unrecognized format \\"mystery\\""']
    hub.create("a", {"x": "anything"})
    assert hub.code == 201


def _tightened(hub: Shop, name: str, spec: dict[str, Any], **properties: Any) -> None:
    """An object that a changed definition would refuse."""
    hub.define(definition(schema({KEEPS: True})))
    hub.create(name, spec)
    assert hub.code == 201
    hub.redefine({"spec": {"versions": [version(of=schema(fields(**properties, other=TEXT)))]}})
    assert hub.code == 200


def test_what_was_wrong_before_and_has_not_changed_is_accepted(hub: Shop) -> None:
    _tightened(hub, "a", {"n": 9, "m": 9}, n=NUMBER | {"maximum": 5}, m=NUMBER | {"maximum": 5})
    hub.patch("a", {"spec": {"other": "x"}})
    assert hub.code == 200
    answer = hub.patch("a", {"spec": {"n": 8}})
    assert (hub.code, [cause["field"] for cause in answer["details"]["causes"]]) == (422, ["spec.n"])
    assert hub.patch("a", {"spec": {"n": 5}})["spec"] == {"n": 5, "m": 9, "other": "x"}


def test_items_of_plain_lists_cannot_be_compared_with_old_ones(hub: Shop) -> None:
    _tightened(hub, "a", {"l": ["bad"]}, l={"type": "array", "items": TEXT | {"enum": ["x"]}})
    hub.patch("a", {"spec": {"other": "x"}})
    assert hub.code == 200
    hub.patch("a", {"spec": {"l": ["bad", "x"]}})
    assert hub.code == 422


def test_the_status_is_written_apart(hub: Shop) -> None:
    of = schema(fields(a=TEXT))
    of["properties"]["status"] = {"type": "object", "properties": {"phase": TEXT | {"maxLength": 3}}}
    hub.define(definition(of, subresources={"status": {}}))
    assert "status" not in hub.create("a", {"a": "1"}, status={"phase": "Up"})
    place = f"{path('a')}/status"
    answer = hub.send("PATCH", place, {"status": {"phase": "Up"}, "spec": {"a": "2"}}, MERGE)
    assert (answer["status"], answer["spec"], answer["metadata"]["generation"]) == ({"phase": "Up"}, {"a": "1"}, 1)
    answer = hub.patch("a", {"spec": {"a": "2"}, "status": {"phase": "No"}})
    assert (answer["status"], answer["metadata"]["generation"]) == ({"phase": "Up"}, 2)
    answer = hub.send("PATCH", place, {"status": {"phase": 5}}, MERGE)
    assert answer["details"]["causes"][0]["message"] == (
        'Invalid value: "integer": phase in body must be of type string: "integer"'
    )


def test_lists_with_keys_merge_in_server_side_apply(hub: Shop) -> None:
    ports = {
        "type": "array",
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["port"],
        "items": {"type": "object", "required": ["port"], "properties": {"port": NUMBER, "name": TEXT}},
    }
    hub.define(definition(schema(fields(ports=ports))))
    hub.patch("a", toy("a", {"ports": [{"port": 1, "name": "x"}]}), APPLY, "?fieldManager=one")
    answer = hub.patch("a", toy("a", {"ports": [{"port": 2}]}), APPLY, "?fieldManager=two")
    assert answer["spec"]["ports"] == [{"port": 1, "name": "x"}, {"port": 2}]
    hub.patch("a", toy("a", {"ports": [{"port": 1, "name": "y"}]}), APPLY, "?fieldManager=two")
    assert hub.code == 409


def test_with_conversion_none_only_what_both_versions_know_is_kept(hub: Shop) -> None:
    stored = version("v1beta1", schema(fields(old=TEXT, both=TEXT)))
    served = version("v1", schema(fields(new=TEXT | {"default": "n"}, both=TEXT))) | {"storage": False}
    hub.define(definition(versions=[stored, served]))
    assert hub.create("a", {"new": "x", "both": "b"})["spec"] == {"both": "b"}
    hub.send("POST", path(version="v1beta1"), toy("b", {"old": "o", "both": "b"}, "v1beta1"))
    assert hub.get("b")["spec"] == {"both": "b"}
    assert hub.get("b", "v1beta1")["spec"] == {"both": "b", "old": "o"}
    listed = hub.send("GET", path())
    assert {(item["apiVersion"], str(item["spec"])) for item in listed["items"]} == {(f"{GROUP}/v1", "{'both': 'b'}")}


def test_a_version_in_which_objects_are_stored_cannot_go(hub: Shop) -> None:
    hub.define(definition(versions=[version("v1"), version("v2") | {"storage": False}]))
    answer = hub.redefine({"spec": {"versions": [version("v2")]}})
    assert (hub.code, answer["details"]["causes"][0]["field"]) == (422, "status.storedVersions[0]")
    hub.redefine({"spec": {"versions": [version("v1") | {"storage": False}, version("v2")]}})
    assert hub.definition()["status"]["storedVersions"] == ["v1", "v2"]


def test_an_unknown_field_is_warned_of_also_when_the_object_is_refused(hub: Shop) -> None:
    hub.define(definition(schema(fields(n=NUMBER))))
    hub.create("a", {"n": "x", "q": 1})
    assert (hub.code, hub.warnings) == (422, ['299 - "unknown field \\"spec.q\\""'])
    hub.create("a", {"n": 1})
    hub.patch("a", {"spec": {"n": "x", "q": 1}})
    assert (hub.code, hub.warnings) == (422, ['299 - "unknown field \\"spec.q\\""'])
