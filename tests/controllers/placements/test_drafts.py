"""Clusters stay on the pages that they are on: one that comes or goes changes one page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.api.parts import ObjectMeta
from muster.api.placement_decision import PlacementDecision
from muster.client.heads import Place
from muster.controllers.placements.decision_pages import DecisionPage
from muster.controllers.placements.kept_pages import GROUP_INDEX, GROUP_NAME, kept_pages
from muster.controllers.placements.keys import Key
from muster.controllers.runtime.mirror import Stored
from muster.placement.schedule.result import NamedClusters, paged

if TYPE_CHECKING:
    from muster.placement import Page

names = st.lists(st.integers(0, 600).map(lambda number: f"c{number:03d}"), unique=True, max_size=330).map(sorted)


def groups(*members: list[str]) -> list[NamedClusters]:
    return [NamedClusters(index, f"g{index}", tuple(each)) for index, each in enumerate(members)]


def written(pages: tuple[Page, ...]) -> list[DecisionPage]:
    """As the server has them."""
    key = Key("apps", "p1")
    found = []
    for page in pages:
        labels = {GROUP_INDEX: str(page.group_index), GROUP_NAME: page.group_name}
        decision = PlacementDecision(ObjectMeta(page.name, key.namespace, labels=labels))
        found.append(DecisionPage(Stored(decision, b"", Place(key.namespace, page.name)), key, page.clusters))
    return found


def laid_out(wanted: list[NamedClusters], present: tuple[Page, ...]) -> tuple[Page, ...]:
    return kept_pages("p1", wanted, written(present)) or tuple(paged("p1", wanted))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(names, names), min_size=2, max_size=4))
def test_pages_have_exactly_the_clusters_of_their_groups(states: list[tuple[list[str], list[str]]]) -> None:
    present: tuple[Page, ...] = ()
    for first, second in states:
        wanted = groups(first, second)
        found = laid_out(wanted, present)
        assert [page.name for page in found] == [f"p1-decision-{number}" for number in range(1, len(found) + 1)]
        assert all(len(page.clusters) <= 100 for page in found)
        for group in wanted:
            own = [page for page in found if page.group_index == group.index]
            assert own
            assert sorted(name for page in own for name in page.clusters) == list(group.clusters)
            assert all(list(page.clusters) == sorted(page.clusters) for page in own)
        assert [page.group_index for page in found] == sorted(page.group_index for page in found)
        assert laid_out(wanted, found) == found
        present = found


@given(names.filter(lambda found: len(found) > 1), st.data())
def test_one_cluster_that_goes_or_comes_changes_one_page(members: list[str], data: st.DataObject) -> None:
    present = tuple(paged("p1", groups(members)))
    going = data.draw(st.sampled_from(members))
    without = laid_out(groups([name for name in members if name != going]), present)
    assert len(set(present) ^ set(without)) <= 2  # the page before and after
    again = laid_out(groups(members), without)
    assert len(set(without) ^ set(again)) <= 2
    # A new one that comes first in the alphabet moves nobody.
    more = laid_out(groups(["a", *members]), present)
    assert len(set(present) ^ set(more)) <= 2


def test_pages_that_are_mostly_empty_are_laid_out_anew() -> None:
    members = [f"c{number:03d}" for number in range(500)]
    present = tuple(paged("p1", groups(members)))
    left = members[::100]
    assert kept_pages("p1", groups(left), written(present)) is None
    assert [page.clusters for page in laid_out(groups(left), present)] == [tuple(left)]


def test_groups_that_are_not_those_of_the_pages_are_laid_out_anew() -> None:
    present = tuple(paged("p1", groups(["a"], ["b"])))
    assert kept_pages("p1", groups(["a", "b"]), written(present)) is None
    assert kept_pages("p1", groups(["a"], ["b"]), ()) is None
    assert kept_pages("p1", groups(["a"], ["b"]), written(present[1:])) is None
    crowded = [f"c{number:03d}" for number in range(101)]
    assert kept_pages("p1", groups(crowded, ["b"]), written(present)) is None
    assert kept_pages("p1", groups(["a"], crowded), written(present)) is not None
