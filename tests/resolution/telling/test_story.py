"""Failures told as stories."""

from __future__ import annotations

from dataclasses import replace

import msgspec

from muster.reasons import Code, Reason, Subject, sentence
from muster.resolution import Impossible, Installed, Property, Request, Want, resolve, suggested_fixes, tell
from tests.resolution.builders import (
    DIAMOND,
    a_catalog,
    bundle,
    constraint,
    impossible,
    provides,
)


def test_a_diamond_is_told_in_five_facts_with_versions_merged() -> None:
    assert tell(impossible("a", "b:stable", catalog=DIAMOND).problem).text == (
        "  Because you want a (which can be 1.0.0 to 1.1.0)\n"
        "  and you want b:stable (which can be 1.0.0)\n"
        "  and every version of a needs an operator of package d in <2.0.0, which is d 1.0.0 to 1.5.0\n"
        "  and b 1.0.0 needs an operator of package d in >=2.0.0, which is d 2.0.0\n"
        "  and only one version of d can be installed\n"
        "  there is no set of operators that meets all of this."
    )


def test_what_is_installed_can_be_in_the_way() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", provides("K")))
    old = Installed("old.v1", "1.0.0", "old", ())
    blocking = replace(old, properties=(Property("olm.gvk", {"group": "g", "version": "v1", "kind": "K"}),))
    outcome = resolve(Request((catalog,), (Want("a", "a"),), (blocking,)))
    assert isinstance(outcome, Impossible)
    story = tell(outcome.problem)
    assert [each.sentence for each in story.facts] == [
        "you want a (which can be 1.0.0)",
        "old.v1 is installed and nothing you want replaces it",
        "only one operator can provide K (g/v1)",
    ]
    fixes = suggested_fixes(outcome.problem)
    assert [fix.text for fix in fixes] == ["uninstall old.v1", "drop a"]


def test_a_constraint_whose_rule_is_false_tells_its_message_in_both_spellings_of_it() -> None:
    false = "properties.exists(p, p.type == 'certified' && p.value == true)"
    for key in ("message", "failureMessage"):
        catalog = a_catalog(
            bundle("a", "1.0.0", constraint(cel={"rule": false}, **{key: "only certified databases"})),
            bundle("d", "1.0.0", {"type": "certified", "value": False}),
        )
        outcome = impossible("a", catalog=catalog)
        assert "only certified databases" in tell(outcome.problem).text
        assert f'with constraint: "{false}" and message: "only certified databases"' in outcome.upstream_text


def test_facts_and_fixes_are_values_that_programs_can_decide_by() -> None:
    problem = impossible("a", "b:stable", catalog=DIAMOND).problem
    story = tell(problem)
    assert [(each.reason.code, each.reason.subject.package) for each in story.facts] == [
        ("WantPossible", "a"),
        ("WantPossible", "b"),
        ("VersionsNeed", "a"),
        ("VersionsNeed", "b"),
        ("OneVersionOnly", "d"),
    ]
    assert story.facts[2].reason == Reason(
        Code.VERSIONS_NEED,
        Subject(package="a"),
        {"versions": ("1.0.0 to 1.1.0",), "every": True},
        parts=(
            Reason(Code.PACKAGE_ASKED, Subject(package="d"), {"range": "<2.0.0"}),
            Reason(Code.OFFERED, Subject(package="d"), {"versions": ("1.0.0 to 1.5.0",)}),
        ),
    )
    assert [fix.reason for fix in suggested_fixes(problem)] == [
        Reason(Code.USE_CHANNEL, Subject(package="b", channel="old")),
        Reason(Code.DROP_WANTS, parameters={"wants": ("a",)}),
        Reason(Code.DROP_WANTS, parameters={"wants": ("b:stable",)}),
    ]


def test_what_a_story_says_travels_as_json_and_is_worded_the_same() -> None:
    for fact in tell(impossible("a", "b:stable", catalog=DIAMOND).problem).facts:
        again = msgspec.json.decode(msgspec.json.encode(fact.reason), type=Reason)
        assert (again, sentence(again)) == (fact.reason, fact.sentence)
