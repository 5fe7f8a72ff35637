"""Resolving small catalogs: what is chosen and which of the outcomes it is."""

from __future__ import annotations

from dataclasses import replace

import pytest

from muster.resolution import (
    Dialect,
    Installed,
    OptionalPolicy,
    Property,
    Refused,
    Request,
    Resolved,
    Undecided,
    Want,
    resolve,
    tell,
)
from tests.resolution.builders import (
    a_catalog,
    bundle,
    chosen,
    constraint,
    impossible,
    needs,
    needs_api,
    provides,
    resolved,
    rule,
    wanting,
)

CERTIFIED = {"type": "certified", "value": True}
STABLE = {"type": "stable", "value": True}
BOTH = 'properties.exists(p, p.type == "certified") && properties.exists(p, p.type == "stable")'


def test_a_want_is_met_by_the_head_of_the_default_channel() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0"), bundle("a", "3.0.0", channel="candidate"))
    assert resolved("a", catalog=catalog) == ["a.v2.0.0"]


def test_a_channel_and_a_range_narrow_a_want() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0"), bundle("a", "3.0.0", channel="candidate"))
    assert resolved("a:candidate", catalog=catalog) == ["a.v3.0.0"]
    assert resolved("a@<2.0.0", catalog=catalog) == ["a.v1.0.0"]


def test_what_is_needed_comes_along_and_nothing_more() -> None:
    catalog = a_catalog(
        bundle("a", "1.0.0", needs("d"), needs_api("K")), bundle("d"), bundle("k", "1.0.0", provides("K")), bundle("x")
    )
    assert resolved("a", catalog=catalog) == ["a.v1.0.0", "d.v1.0.0", "k.v1.0.0"]


def test_a_head_that_cannot_be_falls_back_and_says_so() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", needs("nope")))
    outcome = resolve(wanting("a")(catalog))
    assert chosen(outcome) == ["a.v1.0.0"]
    assert isinstance(outcome, Resolved)
    assert outcome.plan.notes == ("a falls back from a.v2.0.0 to a.v1.0.0",)
    (step,) = outcome.plan.steps
    assert step.passed_over[0].why == "it needs an operator of package nope in >=0.0.0, and there is none"


def test_leaving_the_default_channel_is_said() -> None:
    two_heads = (bundle("a", "1.0.0"), bundle("a", "2.0.0", replaces=""))
    outcome = resolve(wanting("a")(a_catalog(*two_heads, bundle("a", "0.9.0", channel="old"))))
    assert chosen(outcome) == ["a.v0.9.0"]
    assert isinstance(outcome, Resolved)
    assert outcome.plan.notes == ("a comes from channel old, not from its default channel stable, which is broken",)


def test_a_later_choice_is_not_blamed_for_an_earlier_one() -> None:
    """Nothing tells at once that b 2 is wrong: only together with a's d does it lead nowhere."""
    catalog = a_catalog(
        bundle("a", "1.0.0", needs("d")),
        bundle("b", "1.0.0"),
        bundle("b", "2.0.0", needs("e")),
        bundle("d", "1.0.0"),
        bundle("d", "2.0.0"),
        bundle("e", "1.0.0", needs("f"), needs("d", "<2.0.0")),
        bundle("f", "1.0.0", needs("d", ">=2.0.0")),
    )
    assert resolved("a", "b", catalog=catalog) == ["a.v1.0.0", "b.v1.0.0", "d.v2.0.0"]


def test_the_compound_example_of_the_specification_needs_one_bundle_with_both_properties() -> None:
    app = bundle("app", "1.0.0", rule(BOTH, 'require to have "certified" and "stable" properties'))
    both = a_catalog(app, bundle("one", "1.0.0", CERTIFIED), bundle("two", "1.0.0", CERTIFIED, STABLE))
    assert resolved("app", catalog=both) == ["app.v1.0.0", "two.v1.0.0"]
    apart = a_catalog(app, bundle("one", "1.0.0", CERTIFIED), bundle("two", "1.0.0", STABLE))
    story = tell(impossible("app", catalog=apart).problem)
    assert '“require to have "certified" and "stable" properties”' in story.text
    assert 'one.v1.0.0: properties.exists(p, p.type == "stable") is false' in story.text


@pytest.mark.parametrize(
    "requirement",
    [
        constraint(
            evaluator={"id": "cel"},
            rule='properties.exists(p, p.type == "certified")',
            message="require to have certified property",
            action={"id": "require"},
        ),
        constraint(evaluator={"id": "cel"}, rule=BOTH, message="both", action={"id": "require"}),
        constraint(message="both", CEL={"rule": BOTH}, action={"id": "require", "optional": True}),
        constraint(
            message="4.9",
            propertyEquals={"name": "olm.maxOCPVersion", "value": "4.9"},
            action={"id": "require", "optional": False},
        ),
        {"type": "olm.constraint.cel", "value": {"rule": BOTH, "message": "both"}},
    ],
    ids=["main", "compound", "alternative", "propertyEquals", "simplified"],
)
def test_every_example_of_the_specification_resolves(requirement: dict[str, object]) -> None:
    ocp = {"type": "olm.maxOCPVersion", "value": "4.9"}
    catalog = a_catalog(bundle("app", "1.0.0", requirement), bundle("sushi", "1.0.0", CERTIFIED, STABLE, ocp))
    assert resolved("app", catalog=catalog) == ["app.v1.0.0", "sushi.v1.0.0"]


def test_an_optional_requirement_is_met_if_that_changes_nothing() -> None:
    likes = rule("properties.exists(p, p.type == 'nice')", optional=True)
    catalog = a_catalog(
        bundle("a", "1.0.0", likes), bundle("n", "1.0.0", {"type": "nice", "value": 1}, needs("m")), bundle("m")
    )
    assert resolved("a", catalog=catalog) == ["a.v1.0.0", "m.v1.0.0", "n.v1.0.0"]
    for policy in (OptionalPolicy.ONLY_IF_PRESENT, OptionalPolicy.IGNORE):
        assert resolved("a", catalog=catalog, optional=policy) == ["a.v1.0.0"]


def test_an_optional_requirement_never_changes_a_required_choice() -> None:
    likes = rule("properties.exists(p, p.type == 'nice')", optional=True)
    catalog = a_catalog(
        bundle("a", "1.0.0", likes, needs("m")),
        bundle("n", "1.0.0", {"type": "nice", "value": 1}, needs("m", "<2.0.0")),
        bundle("m", "1.0.0"),
        bundle("m", "2.0.0"),
    )
    outcome = resolve(wanting("a")(catalog))
    assert chosen(outcome) == ["a.v1.0.0", "m.v2.0.0"]
    assert isinstance(outcome, Resolved)
    assert outcome.plan.notes == (
        "a.v1.0.0 would like an operator for which properties.exists(p, p.type == 'nice'):"
        " nothing that provides it fits the rest",
    )


def test_facts_of_the_cluster_meet_requirements() -> None:
    wants_kubernetes = rule("properties.exists(p, p.type == 'kubernetes' && semver_compare(p.value, '1.28.0') >= 0)")
    catalog = a_catalog(bundle("a", "1.0.0", wants_kubernetes))
    assert resolved("a", catalog=catalog, facts=(Property("kubernetes", "1.29"),)) == ["a.v1.0.0"]
    impossible("a", catalog=catalog, facts=(Property("kubernetes", "1.27"),))


def test_updates_go_one_edge_at_a_time() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0"), bundle("a", "3.0.0"))
    want = Want("a", "a", installed="a.v1.0.0")
    outcome = resolve(Request((catalog,), (want,), (Installed("a.v1.0.0", "1.0.0", "a"),)))
    assert isinstance(outcome, Resolved)
    assert [(step.action, step.name, step.replaces) for step in outcome.plan.steps] == [
        ("update", "a.v2.0.0", "a.v1.0.0")
    ]


def test_without_an_update_the_installed_bundle_stays_and_that_is_said() -> None:
    catalog = a_catalog(bundle("a", "2.0.0"))
    want = Want("a", "a", "stable", installed="a.v1.0.0")
    outcome = resolve(Request((catalog,), (want,), (Installed("a.v1.0.0", "1.0.0", "a"),)))
    assert isinstance(outcome, Resolved)
    assert outcome.plan.notes == ("a stays at a.v1.0.0: channel stable of a has no direct update of it",)


def test_a_fault_takes_out_only_what_it_concerns() -> None:
    bad = constraint(cell={"rule": "true"})
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", bad))
    outcome = resolve(wanting("a")(catalog))
    assert chosen(outcome) == ["a.v1.0.0"]
    assert isinstance(outcome, Resolved)
    assert [str(fault) for fault in outcome.plan.faults] == [
        "a.v2.0.0/properties/0/value/cell: unknown field 'cell'; did you mean cel?"
    ]
    strict = resolve(replace(wanting("a")(catalog), dialect=Dialect.OLM_V0))
    assert isinstance(strict, Refused)
    assert strict.text == 'parse olm.constraint: json: unknown field "cell"'


def test_a_catalog_that_cannot_be_used_is_reported_and_the_others_serve() -> None:
    good, bad = a_catalog(bundle("a")), replace(a_catalog(bundle("a", "9.0.0"), name="bad"), unavailable="no answer")
    outcome = resolve(wanting("a")(good, bad))
    assert chosen(outcome) == ["a.v1.0.0"]
    assert isinstance(outcome, Resolved)
    assert [str(fault) for fault in outcome.plan.faults] == ["catalog bad: no answer"]


def test_the_catalog_of_the_asking_bundle_comes_before_priority() -> None:
    own = a_catalog(bundle("a", "1.0.0", needs("d")), bundle("d", "1.0.0"), name="own")
    other = a_catalog(bundle("d", "9.0.0"), name="other", priority=100)
    assert chosen(resolve(wanting("a")(own, other))) == ["a.v1.0.0", "d.v1.0.0"]
    assert chosen(resolve(wanting("d")(own, other))) == ["d.v9.0.0"]


def test_time_that_is_up_is_an_outcome_of_its_own() -> None:
    pigeons = [
        bundle(
            f"p{n}",
            "1.0.0",
            constraint(
                any={"constraints": [{"gvk": {"group": "g", "version": "v1", "kind": f"{n}-{h}"}} for h in range(9)]}
            ),
        )
        for n in range(10)
    ]
    holes = [
        bundle(f"x{n}{h}", "1.0.0", provides(f"{n}-{h}"), provides(f"hole{h}")) for n in range(10) for h in range(9)
    ]
    request = wanting(*(f"p{n}" for n in range(10)))(a_catalog(*pigeons, *holes))
    left = iter([True])
    assert resolve(request, lambda: next(left, False)) == Undecided()


def test_deprecated_bundles_are_not_chosen() -> None:
    catalog = a_catalog(bundle("a", "1.0.0"), bundle("a", "2.0.0", {"type": "olm.deprecated", "value": {}}))
    assert resolved("a", catalog=catalog) == ["a.v1.0.0"]


def test_what_is_chosen_already_is_named_when_it_stands_in_the_way() -> None:
    catalog = a_catalog(
        bundle("a", "1.0.0"),
        bundle("b", "1.0.0"),
        bundle("b", "2.0.0", needs("d", "<2.0.0")),
        bundle("d", "1.0.0"),
        bundle("d", "2.0.0"),
    )
    outcome = resolve(Request((catalog,), (Want("1", "d"), Want("2", "b"))))
    assert isinstance(outcome, Resolved)
    assert [each.why for step in outcome.plan.steps for each in step.passed_over] == [
        "it needs an operator of package d in <2.0.0, but d.v2.0.0 of package d is chosen already"
    ]
