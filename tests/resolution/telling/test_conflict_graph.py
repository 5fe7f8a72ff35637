"""A conflict as a small graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.resolution import Impossible, Request, Want, resolve
from muster.resolution.telling.conflict_graph import conflict_graph
from muster.resolution.telling.story import conflicting_facts
from tests.resolution.builders import a_catalog, bundle, needs

if TYPE_CHECKING:
    from muster.api.fleet_resolution import Conflict


def graph_of(wants: list[str], *bundles: dict[str, Any]) -> Conflict:
    request = Request(catalogs=(a_catalog(*bundles),), wants=tuple(Want(each, each) for each in wants))
    outcome = resolve(request)
    assert isinstance(outcome, Impossible)
    return conflict_graph(outcome.problem, conflicting_facts(outcome.problem))


def named(conflict: Conflict) -> list[tuple[str, str]]:
    return [(each.kind, each.text) for each in conflict.nodes]


def test_what_nobody_has_is_where_it_ends() -> None:
    found = graph_of(["a"], bundle("a", "1.0.0", needs("none")))

    assert named(found) == [
        ("want", "a"),
        ("operator", "a"),
        ("missing", "an operator of package none in >=0.0.0"),
    ]
    assert [each.parts for each in found.nodes] == [False, False, True]


def test_a_long_way_is_shortened_to_its_ends_with_what_lies_between() -> None:
    chain = [bundle(f"p{number}", "1.0.0", needs(f"p{number + 1}")) for number in range(12)]
    found = graph_of(["p0"], *chain)

    assert named(found)[0] == ("want", "p0")
    assert named(found)[-1] == ("missing", "an operator of package p12 in >=0.0.0")
    assert len(found.nodes) <= 7
    through = [package for edge in found.edges for package in edge.through]
    shown = {text for kind, text in named(found) if kind == "operator"}
    assert {*through} | shown == {f"p{number}" for number in range(12)}


@pytest.mark.parametrize("count", [2, 9, 30])
def test_however_many_take_part_it_has_at_most_seven_nodes(count: int) -> None:
    """Each wants the same operator in a version of its own; a minimal conflict has two of them."""
    wanting = [bundle(f"a{number}", "1.0.0", needs("d", f"={number}.0.0")) for number in range(count)]
    versions = [bundle("d", f"{number}.0.0") for number in range(count)]

    found = graph_of([f"a{number}" for number in range(count)], *wanting, *versions)

    assert len(found.nodes) == 5
    assert [text for _, text in named(found) if text == "d"] == ["d"]
    ids = {each.id for each in found.nodes}
    assert all({edge.begin, edge.to} <= ids for edge in found.edges)


def test_what_does_not_fit_becomes_one_node() -> None:
    """One operator needs one of nine, each of which cannot be had."""
    rule = {"type": "olm.gvk.required", "value": {"group": "g", "version": "v1", "kind": "K"}}
    offered = {"type": "olm.gvk", "value": {"group": "g", "version": "v1", "kind": "K"}}
    providers = [bundle(f"d{number}", "1.0.0", offered, needs("none")) for number in range(9)]

    found = graph_of(["a"], bundle("a", "1.0.0", rule), *providers)

    assert len(found.nodes) <= 7
    ids = {each.id for each in found.nodes}
    assert all({edge.begin, edge.to} <= ids and edge.begin != edge.to for edge in found.edges)
