"""What a change would do, and that it is what happens."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from muster.controllers.placements.preview import PlacementChange, preview, settle, world_of
from tests.builders import a_binding, a_cluster, a_placement, a_set

NOW = datetime(2026, 1, 1, tzinfo=UTC)
WORLD = [a_set("global"), a_binding("global"), a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})]


def wanting(cloud: str, name: str = "p1", **spec: Any) -> dict[str, Any]:
    selector = {"labelSelector": {"matchLabels": {"cloud": cloud}}}
    return a_placement(name, predicates=[{"requiredClusterSelector": selector}], **spec)


def a_settled_world(*objects: dict[str, Any]) -> Any:
    world = world_of(objects, NOW)
    settle(world, NOW)
    return world


def test_an_edited_placement_shows_what_it_gains_and_loses() -> None:
    world = a_settled_world(*WORLD, wanting("Amazon"), wanting("Azure", "other"))
    assert preview(world, [wanting("Azure")], NOW, alone=True) == [
        PlacementChange("apps", "p1", gained=("b",), lost=("a",), before=1, after=1)
    ]


def test_a_relabelled_cluster_shows_every_placement_that_it_enters_or_leaves() -> None:
    world = a_settled_world(*WORLD, wanting("Amazon"), wanting("Azure", "other"))
    assert preview(world, [a_cluster("a", {"cloud": "Azure"})], NOW, alone=True) == [
        PlacementChange("apps", "other", gained=("a",), lost=(), before=1, after=2),
        PlacementChange("apps", "p1", gained=(), lost=("a",), before=1, after=0),
    ]


def test_a_mistake_is_shown_and_evicts_nobody() -> None:
    world = a_settled_world(*WORLD, wanting("Amazon"))
    (change,) = preview(world, [wanting("Amazon", numberOfClusters=-1)], NOW, alone=True)
    assert (change.gained, change.lost, change.fault) == ((), (), ":numberOfClusters must not be negative, it is -1")


def test_a_new_placement_is_shown_even_if_it_selects_nothing() -> None:
    world = a_settled_world(*WORLD)
    assert preview(world, [wanting("Nowhere")], NOW, alone=True) == [
        PlacementChange("apps", "p1", gained=(), lost=(), before=0, after=0, is_new=True)
    ]


CLOUDS = st.sampled_from(["Amazon", "Azure", "Google"])
NAMES = st.sampled_from("abcd")
FLEETS = st.dictionaries(NAMES, CLOUDS, min_size=1)
CHANGES = st.lists(
    st.one_of(
        st.tuples(st.just("cluster"), NAMES, CLOUDS),
        st.tuples(st.just("placement"), st.sampled_from(["p1", "p2"]), CLOUDS),
    ),
    max_size=4,
)


@settings(max_examples=60)
@given(fleet=FLEETS, wanted=st.lists(CLOUDS, min_size=2, max_size=2), changes=CHANGES)
def test_the_plan_is_what_happens(
    fleet: dict[str, str], wanted: list[str], changes: list[tuple[str, str, str]]
) -> None:
    start = [
        a_set("global"),
        a_binding("global"),
        *(a_cluster(name, {"cloud": cloud}) for name, cloud in fleet.items()),
        *(wanting(cloud, f"p{number}") for number, cloud in enumerate(wanted, start=1)),
    ]
    applied = [
        a_cluster(name, {"cloud": cloud}) if kind == "cluster" else wanting(cloud, name)
        for kind, name, cloud in changes
    ]
    plan = {
        (change.name): (change.gained, change.lost)
        for change in preview(a_settled_world(*start), applied, NOW, alone=True)
    }
    final = {(obj["kind"], obj["metadata"]["name"]): obj for obj in [*start, *applied]}
    before, after = a_settled_world(*start), a_settled_world(*final.values())
    for key in before.placements:
        old, new = ({name for page in world.decisions.of(key) for name in page.clusters} for world in (before, after))
        assert plan.get(key.name, ((), ())) == (tuple(sorted(new - old)), tuple(sorted(old - new)))
