"""Rules in CEL: compiled and priced when a definition is written, asked about every object, within a budget."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel import CompileBudget
from muster.hub.custom.rule_checks import evaluate_rules, rule_node
from tests.hub.custom.a_kind import Shop, definition, fields, schema, version

RULES = "x-kubernetes-validations"
SHORT: dict[str, Any] = {"type": "string", "maxLength": 20}
NUMBER: dict[str, Any] = {"type": "integer"}


def rules(*said: dict[str, Any], **properties: Any) -> dict[str, Any]:
    """A schema whose spec has rules."""
    return schema(fields(**properties) | {RULES: list(said)})


def test_a_rule_refuses_with_its_message(hub: Shop) -> None:
    hub.define(
        definition(
            rules(
                {"rule": "self.least <= self.most", "message": "least is above most"},
                {"rule": "self.most < 100", "fieldPath": ".most", "reason": "FieldValueForbidden"},
                {"rule": "self.least != 3", "messageExpression": "'not ' + self.word"},
                least=NUMBER | {"default": 0},
                most=NUMBER | {"default": 10},
                word=SHORT | {"default": "three"},
            )
        )
    )
    assert hub.message("a", {"least": 11}) == "spec: Invalid value: least is above most"
    assert hub.message("a", {"most": 100}) == "spec.most: Forbidden: failed rule: self.most < 100"
    assert hub.message("a", {"least": 3}) == "spec: Invalid value: not three"
    hub.create("a", {})
    assert hub.code == 201


def test_transition_rules_are_asked_about_changes_only(hub: Shop) -> None:
    fixed = SHORT | {RULES: [{"rule": "self == oldSelf", "message": "name is immutable"}]}
    grows = NUMBER | {RULES: [{"rule": "!oldSelf.hasValue() || self >= oldSelf.value()", "optionalOldSelf": True}]}
    hub.define(definition(schema(fields(name=fixed, size=grows))))
    hub.create("a", {"name": "x", "size": 2})
    assert hub.patch("a", {"spec": {"name": "y"}})["details"]["causes"][0]["message"] == (
        'Invalid value: "y": name is immutable'
    )
    hub.patch("a", {"spec": {"size": 1}})
    assert hub.code == 422
    hub.patch("a", {"spec": {"size": 3}})
    assert hub.code == 200
    hub.patch("a", {"spec": {"name": None}})
    hub.patch("a", {"spec": {"name": "z"}})
    assert hub.code == 200


def test_items_of_map_lists_have_their_own_past_whatever_the_order(hub: Shop) -> None:
    item = {
        "type": "object",
        "required": ["k"],
        "properties": {"k": SHORT, "v": NUMBER | {RULES: [{"rule": "self >= oldSelf"}]}},
    }
    ports = {
        "type": "array",
        "maxItems": 10,
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": ["k"],
        "items": item,
        RULES: [{"rule": "self.size() != 2 || self == oldSelf", "message": "two are enough"}],
    }
    hub.define(definition(schema(fields(ports=ports))))
    hub.create("a", {"ports": [{"k": "x", "v": 1}, {"k": "y", "v": 2}]})
    assert hub.code == 201
    hub.patch("a", {"spec": {"ports": [{"k": "y", "v": 2}, {"k": "x", "v": 1}]}})
    assert hub.code == 200
    answer = hub.patch("a", {"spec": {"ports": [{"k": "x", "v": 0}]}})
    assert [cause["field"] for cause in answer["details"]["causes"]] == ["spec.ports[0].v"]


def test_rules_see_times_durations_numbers_and_names_as_they_are_meant(hub: Shop) -> None:
    hub.define(
        definition(
            rules(
                {"rule": "!has(self.at) || self.at > timestamp('2020-01-01T00:00:00Z')"},
                {"rule": "!has(self.day) || self.day.getFullYear() == 2026"},
                {"rule": "!has(self.span) || self.span < duration('1h')"},
                {"rule": "!has(self.raw) || self.raw == b'hi'"},
                {"rule": "!has(self.ratio) || self.ratio < 1.5"},
                {"rule": "!has(self.either) || type(self.either) == string || self.either < 5"},
                {"rule": "!has(self.a__dash__b) || self.a__dash__b == 'x'"},
                {"rule": "!has(self.namespace) || self.__namespace__ == self.namespace"},
                **{
                    "at": {"type": "string", "format": "date-time"},
                    "day": {"type": "string", "format": "date"},
                    "span": {"type": "string", "format": "duration"},
                    "raw": {"type": "string", "format": "byte"},
                    "ratio": {"type": "number"},
                    "either": {"x-kubernetes-int-or-string": True},
                    "a-b": SHORT,
                    "namespace": SHORT,
                },
            )
        )
    )
    good = {
        "at": "2024-01-01T00:00:00Z",
        "day": "2026-02-03",
        "span": "5m",
        "raw": "aGk=",
        "ratio": 1,
        "either": "5%",
        "a-b": "x",
        "namespace": "n",
    }
    answer = hub.create("good", good)
    assert hub.code == 201, answer
    for name, value in {
        "at": "2010-01-01T00:00:00Z",
        "day": "2025-02-03",
        "span": "2h",
        "raw": "aGU=",
        "ratio": 2,
        "either": 6,
        "a-b": "y",
    }.items():
        assert "failed rule" in hub.message("bad", good | {name: value}), name


def test_the_root_of_an_object_is_seen_with_its_name_and_kind(hub: Shop) -> None:
    rule = {"rule": "self.metadata.name.startsWith('t-') && self.kind == 'Toy'"}
    hub.define(definition(schema() | {RULES: [rule]}))
    assert hub.message("x").startswith("<nil>: Invalid value: failed rule")
    hub.create("t-1")
    assert hub.code == 201


def test_an_error_while_a_rule_runs_is_told(hub: Shop) -> None:
    hub.define(definition(rules({"rule": "10 / self.n > 1"}, n=NUMBER)))
    assert hub.message("a", {"n": 0}) == (
        'spec: Invalid value: "object": division by zero evaluating rule: 10 / self.n > 1'
    )
    assert "no such key" in hub.message("b", {})


def test_what_a_rule_finds_in_an_unchanged_part_is_a_warning(hub: Shop) -> None:
    said = fields(n=NUMBER, part={"type": "object", "properties": {"m": NUMBER}}, other=SHORT)
    hub.define(definition(schema(said)))
    hub.create("a", {"part": {"m": 9}})
    said["properties"]["part"][RULES] = [{"rule": "self.m < 5", "message": "m is small"}]
    hub.redefine({"spec": {"versions": [version(of=schema(said))]}})
    hub.patch("a", {"spec": {"other": "x"}})
    assert (hub.code, hub.warnings) == (200, ['299 - "spec.part: Invalid value: m is small"'])
    hub.patch("a", {"spec": {"part": {"m": 8}}})
    assert hub.code == 422


def test_rules_are_not_asked_about_what_has_the_wrong_type(hub: Shop) -> None:
    hub.define(definition(rules({"rule": "self.n > 1"}, n=NUMBER)))
    assert hub.message("a", {"n": "x"}).endswith(
        "some validation rules were not checked because the object was invalid; "
        "correct the existing errors to complete validation]"
    )


def test_rules_that_take_too_long_for_an_object_are_ended(hub: Shop) -> None:
    rule = {"rule": "self.all(x, self.all(y, x != y + 'a'))"}
    items = {"type": "array", "maxItems": 450, "items": SHORT, RULES: [rule]}
    hub.define(definition(schema(fields(items=items))))
    refusal = hub.message("a", {"items": ["x" * 20] * 450})
    assert "actual cost limit exceeded': no further validation rules will be run" in refusal
    hub.create("b", {"items": ["x"]})
    assert hub.code == 201


def test_all_rules_of_an_object_have_one_budget() -> None:
    many = {"type": "array", "items": NUMBER, RULES: [{"rule": "self.all(x, x > 0)"}]}
    node = rule_node(many, CompileBudget(), root=False)
    assert node is not None
    assert evaluate_rules(node, [1, 2, 3], budget=1000).causes == []
    (cause,) = evaluate_rules(node, [1] * 1000, budget=1000).causes
    assert str(cause) == (
        '<nil>: Invalid value: "array": validation failed due to running out of cost budget, '
        "no further validation rules will be run"
    )


@pytest.mark.parametrize(
    ("said", "refusal"),
    [
        (SHORT | {RULES: [{"rule": "self =="}]}, "compilation failed: ERROR: <input>:1:8: Syntax error"),
        (SHORT | {RULES: [{"rule": "self"}]}, "cel expression must evaluate to a bool"),
        (
            SHORT | {RULES: [{"rule": "self != ''", "messageExpression": "1"}]},
            "messageExpression must evaluate to a string",
        ),
        (SHORT | {RULES: [{"rule": " "}]}, "Required value: rule is not specified"),
        (SHORT | {RULES: [{"rule": "self != ''", "message": " "}]}, "must be non-empty if specified"),
        (SHORT | {RULES: [{"rule": "self != ''", "message": "a\nb"}]}, "must not contain line breaks"),
        (SHORT | {RULES: [{"rule": "self != ''", "reason": "Because"}]}, 'Unsupported value: "Because"'),
        (SHORT | {RULES: [{"rule": "self != ''", "fieldPath": ".x"}]}, "must be a valid path"),
        (
            {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}
            | {RULES: [{"rule": "self.all(x, x.all(y, self.all(z, z.all(w, w == y))))"}]},
            "estimated rule cost exceeds budget by factor of more than 100x",
        ),
        (
            {"type": "array", "maxItems": 5, "items": SHORT | {RULES: [{"rule": "self == oldSelf"}]}},
            "oldSelf cannot be used on the uncorrelatable portion of the schema",
        ),
        (
            {"type": "object", "additionalProperties": {"type": "string", RULES: [{"rule": "self.matches('a.*')"}]}},
            "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget",
        ),
    ],
)
def test_rules_that_cannot_be_are_refused_with_the_definition(hub: Shop, said: dict[str, Any], refusal: str) -> None:
    assert refusal in hub.refusal(definition(schema(fields(x=said))))


def test_a_default_must_keep_the_rules(hub: Shop) -> None:
    said = NUMBER | {"default": 5, RULES: [{"rule": "self < 5", "message": "below five"}]}
    assert hub.refusal(definition(schema(fields(x=said)))).endswith(
        "properties[spec].properties[x].default: Invalid value: 5: below five"
    )
