"""Explanations from a hub are those that would be computed from its objects, as far as the asker may see them."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.client import Client, Connection, QuickClient
from muster.client.explanations import Explainer
from muster.controllers.placements.keys import Key
from muster.errors import ApiError
from muster.placement.explain.explanation import (
    ClusterExplanation,
    PlacementExplanation,
    explain_cluster,
    explain_placement,
)
from muster.questions.asking import commanding
from muster.questions.local import FileFleet, LocalAsker
from muster.reasons import HIDDEN
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.questions.answering import NOW
from tests.hub.rest.asking import Asker, asked_hub, asked_world, wanting

if TYPE_CHECKING:
    from collections.abc import Iterator

    import msgspec

    from muster.client.asking import Answer
    from muster.values.json import JsonMapping


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        yield asker


def ask(
    asker: Asker, name: str, cluster: str = "", user: str = "", placement: dict[str, Any] | None = None
) -> PlacementExplanation | ClusterExplanation:
    headers = {"Authorization": f"Bearer {asker.hub.token}"}
    connection = Connection(asker.hub.url, "default", headers | ({"Impersonate-User": user} if user else {}))

    async def asked() -> PlacementExplanation | ClusterExplanation:
        spec = PlacementExplanationSpec("apps", name, cluster=cluster)
        if placement is not None:
            spec = PlacementExplanationSpec(placement=placement, cluster=cluster)
        async with Client(connection) as whole, QuickClient(connection) as quick:
            found = await Explainer(commanding(whole), print).placement(spec)
            assert await Explainer(commanding(quick), print).placement(spec) == found
            return found

    return asyncio.run(asked())


@pytest.mark.parametrize("name", ["p1", "everything"])
def test_a_placement_is_explained_as_if_it_had_been_computed_here(asker: Asker, name: str) -> None:
    world = asked_world()
    result = world.decide(Key("apps", name), NOW)
    assert result is not None
    assert ask(asker, name) == explain_placement(result)
    for cluster in ("visible-1", "visible-2", "secret-3"):
        assert ask(asker, name, cluster) == explain_cluster(result, cluster, rules=world.rules)


def test_a_placement_that_is_not_saved_is_explained_as_well(asker: Asker) -> None:
    found = ask(asker, "new", placement=wanting("Azure", "new"))
    assert isinstance(found, PlacementExplanation)
    assert found.selected == ("secret-2", "visible-2")


def test_hidden_clusters_are_counted_among_the_selected(asker: Asker) -> None:
    found = ask(asker, "p1", user="dora")
    assert isinstance(found, PlacementExplanation)
    assert found.selected == ("visible-1", HIDDEN)


def test_a_refusal_is_raised_as_it_is(asker: Asker) -> None:
    with pytest.raises(ApiError) as refused:
        ask(asker, "p1", "secret-1", user="dora")
    assert refused.value.code == 403


def test_no_page_is_asked_for_that_names_nobody_who_is_decided() -> None:
    """Pages rank all who fit, of whom there may be thousands; decisions come first."""
    clusters = [a_cluster(f"c{number:04d}") for number in range(2500)]
    few, many = (a_placement(name, numberOfClusters=count) for name, count in (("few", 3), ("many", 1001)))
    asker = Counting(LocalAsker(FileFleet([a_set(), a_binding(), *clusters, few, many], NOW), lambda: NOW))
    for name, count, pages in (("few", 3, 1), ("many", 1001, 2)):
        asker.asked = 0
        found = asyncio.run(Explainer(asker, print).placement(PlacementExplanationSpec("apps", name)))
        assert isinstance(found, PlacementExplanation)
        assert (len(found.selected), len(set(found.selected)), found.fitting) == (count, count, 2500)
        assert asker.asked == pages


class Counting:
    """An asker, and how often it was asked."""

    def __init__(self, asker: LocalAsker) -> None:
        self._asker = asker
        self.asked = 0

    async def ask(self, kind: str, spec: msgspec.Struct | JsonMapping) -> Answer:
        self.asked += 1
        return await self._asker.ask(kind, spec)
