"""The order of writes: a cluster that stays is never out of all pages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import given
from hypothesis import strategies as st

from muster.controllers.placements.pages import PageDelete, PageWrite, page_writes

if TYPE_CHECKING:
    from random import Random

CLUSTERS = st.lists(st.sampled_from("abcdefgh"), unique=True, max_size=8)


@st.composite
def pages(draw: st.DrawFn) -> dict[str, tuple[str, ...]]:
    clusters = draw(CLUSTERS)
    names = draw(st.lists(st.sampled_from(["p1", "p2", "p3"]), min_size=1, max_size=3, unique=True))
    split: dict[str, list[str]] = {name: [] for name in names}
    for cluster in clusters:
        split[draw(st.sampled_from(names))].append(cluster)
    return {name: tuple(members) for name, members in split.items()}


def test_nothing_to_do_is_nothing_written() -> None:
    assert page_writes({"p1": ("a", "b")}, {"p1": ("a", "b")}) == []


def test_a_cluster_that_moves_is_added_before_it_is_taken_away() -> None:
    assert page_writes({"p1": ("a", "b"), "p2": ("c",)}, {"p1": ("a",), "p2": ("b", "c")}) == [
        [PageWrite("p2", ("b", "c"))],
        [PageWrite("p1", ("a",))],
    ]


@given(present=pages(), wanted=pages(), order=st.randoms())
def test_clusters_that_stay_are_in_some_page_after_every_write(
    present: dict[str, tuple[str, ...]], wanted: dict[str, tuple[str, ...]], order: Random
) -> None:
    def members(now: dict[str, tuple[str, ...]]) -> set[str]:
        return {cluster for clusters in now.values() for cluster in clusters}

    staying = members(present) & members(wanted)
    now = dict(present)
    for write in [each for writes in page_writes(present, wanted) for each in order.sample(writes, len(writes))]:
        if isinstance(write, PageDelete):
            del now[write.name]
        else:
            assert now.get(write.name) != write.clusters, "a write that changes nothing"
            now[write.name] = write.clusters
        assert staying <= members(now)
    assert now == wanted
