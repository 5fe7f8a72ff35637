"""What came nearest to a requirement that nothing meets."""

from __future__ import annotations

from muster.resolution import tell
from tests.resolution.builders import (
    a_catalog,
    bundle,
    constraint,
    impossible,
    needs,
    rule,
)


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


def test_a_bundle_that_meets_everything_and_cannot_be_chosen_is_told_as_that() -> None:
    """The story broke here: a skipped bundle meets every part, and none was left to name."""
    asking = constraint(all={"constraints": [{"package": {"packageName": "d", "versionRange": "1.0.0"}}]})
    skipped = bundle("d", "1.0.0")
    catalog = a_catalog(bundle("a", "1.0.0", asking), skipped, bundle("d", "2.0.0", skips=["d.v1.0.0"]))
    (fact,) = [each for each in tell(impossible("a", catalog=catalog).problem).facts if each.fact.kind == "needs"]
    assert [(each.code, each.subject.bundle) for each in fact.beside] == [("NotACandidate", "d.v1.0.0")]
    assert fact.details == (
        "d.v1.0.0: it would do, but cannot be chosen: its channel or catalog cannot be used, or skips it",
    )
