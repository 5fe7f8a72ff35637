"""The dialect of the Operator Lifecycle Manager: whole failures and its words."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from muster.resolution import (
    Catalog,
    Dialect,
    Impossible,
    Installed,
    Property,
    Refused,
    Request,
    UpgradeStrategy,
    Want,
    index_catalog,
    resolve,
)
from tests.resolution.builders import a_catalog, bundle, chosen, constraint, needs, needs_api, provides, rule

if TYPE_CHECKING:
    from muster.resolution import Outcome

SUB = Want("sub", "a", "stable", catalog="cat", catalog_namespace="default")
TRUE = {"cel": {"rule": "true"}}
GVK_K = Property("olm.gvk", {"group": "g", "version": "v1", "kind": "K"})


def asked(catalog: Catalog, *wants: Want, **request: Any) -> Outcome:
    return resolve(Request((catalog,), wants or (SUB,), dialect=Dialect.OLM_V0, **request))


def text(outcome: Outcome) -> str:
    assert isinstance(outcome, Impossible | Refused)
    return outcome.text if isinstance(outcome, Refused) else outcome.upstream_text


@pytest.mark.parametrize(
    ("want", "reason"),
    [
        (replace(SUB, catalog="nope"), "from catalog nope in namespace default referenced"),
        (replace(SUB, package="x"), "in package x in the catalog referenced"),
        (replace(SUB, channel="x"), "in channel x of package a in the catalog referenced"),
        (replace(SUB, starting="x"), "with name x in channel stable of package a in the catalog referenced"),
    ],
    ids=["catalog", "package", "channel", "name"],
)
def test_four_texts_for_a_want_without_candidates(want: Want, reason: str) -> None:
    outcome = asked(a_catalog(bundle("a")), want)
    assert text(outcome) == (
        f"constraints not satisfiable: no operators found {reason} by subscription sub, subscription sub exists"
    )


@pytest.mark.parametrize(
    ("requirement", "part"),
    [
        (needs("d", ">=2.0.0"), "with package: d and with version in range: >=2.0.0"),
        (needs_api("X"), "providing an API with group: g, version: v1, kind: X"),
        ({"type": "olm.label.required", "value": {"label": "lts"}}, "with label: lts"),
        (constraint(failureMessage="m", cel={"rule": "false"}), 'with constraint: "false" and message: "m"'),
        (
            constraint(all={"constraints": [TRUE, {"any": {}}, {"not": {"constraints": [TRUE]}}]}),
            'with constraint: "true" and message: "" and  and with constraint: "true" and message: ""',
        ),
    ],
)
def test_requirements_in_upstreams_words(requirement: dict[str, Any], part: str) -> None:
    assert f"bundle a.v1.0.0 requires an operator {part}" in text(asked(a_catalog(bundle("a", "1.0.0", requirement))))


def test_uniqueness_and_installed_bundles_in_upstreams_words() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", provides("K")))
    assert text(asked(catalog, installed=(Installed("old.v1", "1.0.0", properties=(GVK_K,)),))) == (
        "constraints not satisfiable: @existing/default//old.v1 and cat/default/stable/a.v1.0.0 provide K (g/v1),"
        " clusterserviceversion old.v1 exists and is not referenced by a subscription, subscription sub exists,"
        " subscription sub requires cat/default/stable/a.v1.0.0"
    )


def test_packages_and_deprecation_in_upstreams_words() -> None:
    catalog = a_catalog(
        bundle("a", "1.0.0", needs("b", "1.0.0"), needs("b", "2.0.0")), bundle("b", "1.0.0"), bundle("b", "2.0.0")
    )
    assert "b.v1.0.0 and cat/default/stable/b.v2.0.0 originate from package b" in text(asked(catalog))
    old = a_catalog(bundle("a", "1.0.0", {"type": "olm.deprecated", "value": {}}))
    assert "bundle cat/default/stable/a.v1.0.0 is deprecated" in text(asked(old))
    assert "package: a is not white listed" in text(asked(a_catalog(bundle("a")), allowed_packages=frozenset()))


@pytest.mark.parametrize(
    ("requirement", "refusal"),
    [
        (rule("x"), 'parse olm.constraint: json: unknown field "action"'),
        (
            constraint(cel={"rule": "1"}),
            "convert olm.constraint to resolver predicate: cel expressions must have type Bool",
        ),
        (needs("d", "~1"), 'Could not parse Range "~1": Could not parse comparator "~" in "~1"'),
    ],
)
def test_one_bad_constraint_that_is_reached_fails_everything(requirement: dict[str, Any], refusal: str) -> None:
    catalog = a_catalog(bundle("a", "1.0.0", requirement), bundle("a", "2.0.0"))
    outcome = asked(catalog)
    assert isinstance(outcome, Refused)
    assert outcome.text == refusal


def test_several_faults_are_one_error() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("d", "z1")), bundle("b", "1.0.0", needs("d", "y1")))
    assert text(asked(catalog, SUB, replace(SUB, name="two", package="b"))) == (
        '[Could not parse Range "z1": Could not parse comparator "z" in "z1",'
        ' Could not parse Range "y1": Could not parse comparator "y" in "y1"]'
    )


def test_a_broken_channel_that_is_reached_fails_everything() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs("b")), bundle("b", "1.0.0"), bundle("b", "2.0.0", replaces=""))
    assert 'were found in channel "stable" of package "b": b.v1.0.0, b.v2.0.0' in text(asked(catalog))
    assert "were found" in text(asked(catalog, replace(SUB, package="b")))


def test_other_whole_failures() -> None:
    catalog = a_catalog(bundle("a"))
    assert text(asked(catalog, namespaces=())) == "at least one namespace must be provided to resolution"
    assert text(asked(replace(catalog, unavailable="down"))) == "error using catalogsource default/cat: down"
    assert text(asked(catalog, installed_error="x")) == "error using catalogsource default/@existing: x"
    twice = (Installed("a.v1.0.0", "1.0.0", "a", (), "sub"),) * 2
    want = replace(SUB, installed="a.v1.0.0")
    assert text(asked(catalog, want, installed=twice)).startswith("multiple name matches for status.installedCSV")
    chain = (Installed("a.v0", phase="Failed"), Installed("a.v1", phase="Failed", replaces="a.v0"))
    forward = UpgradeStrategy.FAIL_FORWARD
    assert "instead of Replacing" in text(asked(catalog, installed=chain, upgrade_strategy=forward))
    slashed = a_catalog(bundle("a", channel="x/y"))
    assert "unable to parse identifier cat/default/x/y/a.v1.0.0" in text(asked(slashed, replace(SUB, channel="")))


def test_constraints_that_upstream_does_not_know_are_ignored() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", {"type": "olm.constraint.cel", "value": {"rule": "false"}}))
    assert chosen(asked(catalog)) == ["a.v1.0.0"]


def test_what_is_installed_may_meet_a_requirement_and_may_be_replaced() -> None:
    catalog = a_catalog(bundle("a", "1.0.0", needs_api("K")), bundle("k", "1.0.0"), bundle("k", "2.0.0"))
    present = (Installed("k.v1.0.0", "1.0.0", "k", (GVK_K,), "two"),)
    two = Want("two", "k", "stable", catalog="cat", catalog_namespace="default", installed="k.v1.0.0")
    assert chosen(asked(catalog, SUB, two, installed=present)) == ["a.v1.0.0", "k.v1.0.0"]


# What the real resolver does, found by running it beside ours.


def test_a_bundle_that_says_twice_what_it_provides_is_never_installed() -> None:
    twice = a_catalog(bundle("a", "1.0.0", provides("K"), provides("K")))
    assert text(asked(twice)) == (
        "constraints not satisfiable: cat/default/stable/a.v1.0.0 and cat/default/stable/a.v1.0.0 provide K (g/v1),"
        " subscription sub exists, subscription sub requires cat/default/stable/a.v1.0.0"
    )
    assert chosen(resolve(Request((twice,), (SUB,)))) == ["a.v1.0.0"]  # in our own dialect it is


def test_a_subscription_without_a_catalog_finds_what_is_installed_as_well() -> None:
    present = Installed("a.v0", "0.1.0", properties=(Property("olm.package", {"packageName": "a"}),))
    want = Want("sub", "a")
    assert chosen(asked(a_catalog(bundle("other")), want, installed=(present,))) == ["a.v0"]
    assert isinstance(asked(a_catalog(bundle("other")), want), Impossible)


def test_a_bundle_that_one_channel_skips_is_a_candidate_if_another_has_it() -> None:
    catalog = a_catalog(
        bundle("a", "1.0.0", channel="x"),
        bundle("a", "1.1.0", needs("absent"), channel="x", skips=["a.v1.0.0"]),
        bundle("a", "1.0.0", channel="y"),
    )
    outcome = asked(catalog, replace(SUB, channel="", package="a"), allowed_packages=frozenset())
    assert "cat/default/x/a.v1.0.0" in text(outcome)
    assert "cat/default/y/a.v1.0.0" in text(outcome)


def test_only_the_first_fault_of_a_bundle_is_told() -> None:
    faults = (needs("d", "1"), constraint(cell={}), constraint(any={"constraints": [rule("1")["value"], {}]}))
    assert text(asked(a_catalog(bundle("a", "1.0.0", *faults)))).startswith("Last element in range is '||'")
    assert (
        text(asked(a_catalog(bundle("a", "1.0.0", *faults[1:])))) == 'parse olm.constraint: json: unknown field "cell"'
    )


def test_in_one_constraint_the_fault_that_stands_first_is_told() -> None:
    first = {"cel": {"rule": "1"}}
    found = text(asked(a_catalog(bundle("a", "1.0.0", constraint(all={"constraints": [first, {}]})))))
    assert found == "convert olm.constraint to resolver predicate: cel expressions must have type Bool"
    found = text(asked(a_catalog(bundle("a", "1.0.0", constraint(all={"constraints": [{}, first]})))))
    assert found == "convert olm.constraint to resolver predicate: constraint is empty"


def test_a_fault_of_what_is_installed_is_told_before_a_catalog_that_cannot_be_used() -> None:
    unusable = replace(a_catalog(bundle("a")), unavailable="gone")
    bad = Installed("b", "1.0.0", properties=(Property("olm.constraint", {}),))
    assert "constraint is empty" in text(asked(unusable, installed=(bad,)))
    assert text(asked(unusable)) == "error using catalogsource default/cat: gone"


def test_a_literal_that_is_cut_off_is_told_as_go_does() -> None:
    cut = a_catalog(bundle("a"))
    entry = replace(
        cut.entries[0],
        bundle=replace(cut.entries[0].bundle, requirements=((0, Property("olm.label.required", None, "nul")),)),
    )
    outcome = asked(index_catalog(cut.key, [entry]))
    assert text(outcome) == "invalid character ' ' in literal null (expecting 'l')"
