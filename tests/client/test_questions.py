"""One function for each question, against a hub."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, TypeVar

import pytest

from muster.api.fleet_classification import ClassificationPreviewSpec
from muster.api.fleet_completion import CompletionSpec
from muster.api.fleet_evaluation import Field, FleetEvaluationSpec, Rows
from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.fleet_facets import FleetFacetsSpec
from muster.api.fleet_joining import JoinReviewSpec
from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.api.fleet_resolution import ResolutionPreviewSpec
from muster.client import Client, Connection
from muster.client.questions import (
    complete,
    evaluate_fleet,
    explain_cluster,
    explain_placement,
    explain_set,
    fleet_facets,
    preview_classification,
    preview_resolution,
    review_join,
)
from muster.errors import ApiError
from tests.hub.rest.asking import Asker, asked_hub

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

Spec = TypeVar("Spec")
Status = TypeVar("Status")
LABELS = "managedCluster.metadata.labels"


@pytest.fixture(scope="module")
def asker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asker]:
    with asked_hub(tmp_path_factory.mktemp("state")) as asker:
        yield asker


def ask(asker: Asker, function: Callable[[Client, Spec], Awaitable[Status]], spec: Spec, user: str = "") -> Status:
    headers = {"Authorization": f"Bearer {asker.hub.token}"}
    connection = Connection(asker.hub.url, "default", headers | ({"Impersonate-User": user} if user else {}))

    async def asked() -> Status:
        async with Client(connection) as client:
            return await function(client, spec)

    return asyncio.run(asked())


def test_an_evaluation_comes_back_as_it_was_asked(asker: Asker) -> None:
    rows = Rows(show="All", fields=(Field(f"{LABELS}.cloud", "cloud"),), sort_by=f"{LABELS}.cloud", limit=2)

    status = ask(asker, evaluate_fleet, FleetEvaluationSpec(expression=f"{LABELS}.cloud == 'Azure'", rows=rows))

    assert (status.matched, status.unmatched, status.rows_in_all) == (2, 3, 5)
    assert [(each.name, each.fields) for each in status.rows] == [
        ("secret-1", {"cloud": "Amazon"}),
        ("secret-3", {"cloud": "Amazon"}),
    ]


def test_every_other_question_has_its_function(asker: Asker) -> None:
    facets = ask(asker, fleet_facets, FleetFacetsSpec(facets=("label",)))
    completion = ask(asker, complete, CompletionSpec(f"{LABELS}.cl"))
    placement = ask(asker, explain_placement, PlacementExplanationSpec("apps", "p1"))
    cluster = ask(asker, explain_cluster, ClusterExplanationSpec("secret-3"))
    members = ask(asker, explain_set, SetExplanationSpec("global"))
    joining = ask(asker, review_join, JoinReviewSpec(set="global"))

    assert [(each.key, each.clusters) for each in facets.facets] == [("cloud", 5)]
    assert [(each.text, each.count) for each in completion.items] == [("cloud", 5)]
    assert (placement.metadata.name, placement.selected) == ("p1", 2)
    assert [each.selected for each in cluster.placements] == [False, False]
    assert (members.members, members.placements) == (5, ("apps/everything", "apps/p1"))
    assert [each.name for each in joining.sets] == ["global"]


def test_a_refusal_is_an_error_with_the_servers_words(asker: Asker) -> None:
    with pytest.raises(ApiError) as refused:
        ask(asker, fleet_facets, FleetFacetsSpec(), "nobody")

    assert refused.value.code == 403


def test_previews_come_back_as_they_were_asked(asker: Asker) -> None:
    labels = ask(asker, preview_classification, ClassificationPreviewSpec(namespace="apps", query=".cpu ("))
    spec = ResolutionPreviewSpec(namespace="apps", resolution={"spec": {"wants": [{"package": "a", "range": "x"}]}})

    operators = ask(asker, preview_resolution, spec)

    assert (labels.valid, labels.hosts, labels.diagnostics[0].field) == (False, 0, "spec.query")
    assert (operators.outcome, operators.diagnostics[0].field) == ("invalid", "spec.wants[0].range")
