"""Who has which clusters: what is written, and what is assumed until it is."""

from __future__ import annotations

import json

from tests.builders import a_cluster
from tests.controllers.placements.worlds import P1, P2, a_page, a_world, chosen
from tests.controllers.seeing import put, put_cluster, remove


def test_others_count_what_is_about_to_be_written() -> None:
    world = a_world("a", "b", p1={"numberOfClusters": 1}, p2={"numberOfClusters": 1})
    assert chosen(world, P1) == ["a"]
    assert chosen(world, P2) == ["a"]
    world.decisions.assume(P1, ["a"])
    assert chosen(world, P2) == ["b"]
    world.decisions.settle(P1)  # it was not written
    assert chosen(world, P2) == ["a"]
    world.decisions.assume(P1, ["a"])
    put(world, a_page("p1", 5, "a"))
    world.decisions.settle(P1)
    assert chosen(world, P2) == ["b"]
    remove(world, a_page("p1", 5))
    assert chosen(world, P2) == ["a"]


def test_decisions_for_clusters_that_come_back_are_counted_again() -> None:
    world = a_world("a", "b", p2={"numberOfClusters": 1})
    put(world, a_page("p1", 5, "a"))
    assert chosen(world, P2) == ["b"]
    world.remove_cluster("a")
    put_cluster(world, json.dumps(a_cluster("a")).encode())
    assert chosen(world, P2) == ["b"]
