"""Failures told as stories, and fixes that work."""

from __future__ import annotations

from dataclasses import replace

from muster.resolution import Impossible, Installed, Property, Request, Resolved, Want, resolve, suggested_fixes, tell
from muster.resolution.telling.explain import explain_package
from tests.resolution.builders import (
    a_catalog,
    bundle,
    constraint,
    impossible,
    needs,
    needs_api,
    provides,
    rule,
    wanting,
)

DIAMOND = a_catalog(
    bundle("a", "1.0.0", needs("d", "<2.0.0")),
    bundle("a", "1.1.0", needs("d", "<2.0.0")),
    bundle("b", "1.0.0", needs("d", ">=2.0.0")),
    bundle("d", "1.0.0"),
    bundle("d", "1.5.0"),
    bundle("d", "2.0.0"),
    bundle("b", "0.9.0", channel="old"),
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


def test_fixes_are_offered_mildest_first_and_each_works() -> None:
    outcome = impossible("a", "b:stable", catalog=DIAMOND)
    fixes = suggested_fixes(outcome.problem)
    assert [fix.text for fix in fixes] == ["use channel old of b", "drop a", "drop b:stable"]
    assert all(isinstance(resolve(fix.request), Resolved) for fix in fixes)


def test_two_conflicts_need_two_drops() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("x")), bundle("b", "1.0.0", needs("y")), bundle("c", "1.0.0"))
    fixes = suggested_fixes(impossible("a", "b", "c", catalog=catalog).problem)
    assert [fix.text for fix in fixes] == ["drop a and b"]
    assert isinstance(resolve(fixes[0].request), Resolved)


def test_a_range_that_is_too_narrow_is_widened_by_a_version() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("nope")), bundle("a", "2.0.0"))
    outcome = impossible("a@<2.0.0", catalog=catalog)
    assert [fix.text for fix in suggested_fixes(outcome.problem)] == ["allow a 2.0.0"]


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


def test_the_nearest_bundles_show_what_was_not_true_with_actual_values() -> None:
    wanted = rule("properties.exists(p, p.type == 'tier' && p.value == 'gold') && size(properties) > 1", "only gold")
    catalog = a_catalog(
        bundle("a", "1.0.0", wanted),
        bundle("s", "1.0.0", {"type": "tier", "value": "silver"}),
        bundle("t", "1.0.0", {"type": "tier", "value": {"level": 2}}),
    )
    (fact,) = [each for each in tell(impossible("a", catalog=catalog).problem).facts if each.fact.kind == "needs"]
    assert fact.details == (
        "“only gold”",
        's.v1.0.0: properties.exists(p, p.type == "tier" && p.value == "gold") is false; it has tier = "silver"',
        't.v1.0.0: properties.exists(p, p.type == "tier" && p.value == "gold") is false; it has tier = {"level":2}',
    )


def test_a_number_that_is_a_text_elsewhere_is_pointed_out() -> None:
    catalog = a_catalog(
        bundle("a", "1.0.0", constraint(propertyEquals={"name": "v", "value": "4.9"})),
        bundle("b", "1.0.0", {"type": "v", "value": 4.9}),
        bundle("c", "1.0.0", {"type": "v", "value": ["x" * 200]}),
    )
    (fact,) = [each for each in tell(impossible("a", catalog=catalog).problem).facts if each.fact.kind == "needs"]
    assert fact.details == (
        "b.v1.0.0: it has v = 4.9, which is not a text",
        f'c.v1.0.0: it has v = ["{"x" * 118}…',
    )


def test_every_alternative_shows_what_came_nearest() -> None:
    either = {
        "constraints": [{"package": {"packageName": "bb", "versionRange": ">1.0.0"}}, {"label": {"label": "golden"}}]
    }
    catalog = a_catalog(
        bundle("a", "1.0.0", constraint(any=either)),
        bundle("b", "1.0.0", {"type": "olm.label", "value": {"label": "gold"}}),
    )
    (fact,) = [each for each in tell(impossible("a", catalog=catalog).problem).facts if each.fact.kind == "needs"]
    assert fact.details == ("no catalog has a package bb; did you mean b?", "there is the label gold")


def test_a_package_that_nobody_has_is_said_with_a_similar_name() -> None:
    catalog = a_catalog(bundle("prometheus", "1.0.0"), bundle("a", "1.0.0", needs("promethus")))
    text = tell(impossible("a", catalog=catalog).problem).text
    assert "no catalog has a package promethus; did you mean prometheus?" in text


def test_a_version_that_is_not_there_is_said_with_those_that_are() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("d", ">=2.0.0")), bundle("d", "1.0.0"), bundle("d", "1.1.0"))
    assert "d is there in 1.0.0 to 1.1.0" in tell(impossible("a", catalog=catalog).problem).text


def test_explain_says_why_this_version_and_why_not_another() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", needs("d")), bundle("d", "1.0.0", needs_api("X")))
    outcome = resolve(wanting("a")(catalog))
    assert isinstance(outcome, Resolved)
    assert explain_package(outcome, "a").splitlines() == [
        "a: a.v1.0.0 is chosen",
        "  because you want a",
        "  a.v2.0.0 (cat, stable): preferred, but it cannot be:",
        "    a 2.0.0 needs an operator of package d in >=0.0.0, which is d 1.0.0",
        "    d 1.0.0 needs an operator that provides X (g/v1), and there is none",
    ]
    assert explain_package(outcome, "zzz") == "zzz: no catalog has it"
    assert explain_package(outcome, "d").splitlines()[0] == "d: it could meet a requirement, but others were preferred"


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
