"""What there is to evaluate for a placement: its expressions, and the sets that it may choose from."""

from __future__ import annotations

from muster.controllers.placements.world import PlacementWorld
from tests.builders import a_binding, a_placement, a_set
from tests.controllers.placements.worlds import NOW, P1, P2, a_world, chosen, stored
from tests.controllers.seeing import put


def test_time_of_expressions_is_told_once() -> None:
    cel = {"celSelector": {"celExpressions": ["managedCluster.metadata.name == 'a'"]}}
    world = a_world("a", "b", p1={"predicates": [{"requiredClusterSelector": cel}]}, p2={})
    assert chosen(world, P1) == ["a"]
    assert (world.plans.cel_seconds(P1) or 0) > 0
    assert world.plans.cel_seconds(P1) == 0
    assert world.plans.cel_seconds(P2) is None
    assert world.plans.tally.evaluations == 2


def test_a_placement_that_can_choose_from_no_set_hears_when_the_first_one_is_bound() -> None:
    world = PlacementWorld()
    put(world, a_binding())
    put(world, stored(a_placement("p1", clusterSets=["another"]), 1))
    assert condition_reason(world) == "NoManagedClusterSetBindings"
    assert P1 in put(world, a_set())
    assert condition_reason(world) == "NoIntersection"


def condition_reason(world: PlacementWorld) -> str:
    result = world.decide(P1, NOW)
    assert result is not None
    return result.conditions["PlacementSatisfied"].reason
