"""One function for each question about the fleet: a spec in, the status of the answer out.

They ask an `Asker`: `muster.questions.asking` makes one for any server. A Client is asked as a server that knows the
kinds; one that does not answers 404, as an ApiError. What the answer may tell is decided there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import msgspec

from muster.api.fleet_classification import CLASSIFICATION_PREVIEW, ClassificationPreviewStatus
from muster.api.fleet_completion import COMPLETION, CompletionStatus
from muster.api.fleet_evaluation import FLEET_EVALUATION, FleetEvaluationStatus
from muster.api.fleet_explanations import PLACEMENT_EXPLANATION
from muster.api.fleet_facets import FLEET_FACETS, FleetFacetsStatus
from muster.api.fleet_joining import JOIN_REVIEW, JoinReviewStatus
from muster.api.fleet_outlooks import (
    CLUSTER_EXPLANATION,
    SET_EXPLANATION,
    ClusterExplanationStatus,
    SetExplanationStatus,
)
from muster.api.fleet_plan import PLAN, PlanStatus
from muster.api.fleet_resolution import RESOLUTION_PREVIEW, ResolutionPreviewStatus
from muster.client.asking import ServerAsker
from muster.client.client import Client
from muster.placement.explain.report import PlacementReport

if TYPE_CHECKING:
    from muster.api.fleet_classification import ClassificationPreviewSpec
    from muster.api.fleet_completion import CompletionSpec
    from muster.api.fleet_evaluation import FleetEvaluationSpec
    from muster.api.fleet_explanations import PlacementExplanationSpec
    from muster.api.fleet_facets import FleetFacetsSpec
    from muster.api.fleet_joining import JoinReviewSpec
    from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
    from muster.api.fleet_plan import PlanSpec
    from muster.api.fleet_resolution import ResolutionPreviewSpec
    from muster.api.resource import Resource
    from muster.client.asking import Asker

Status = TypeVar("Status", bound=msgspec.Struct)


async def evaluate_fleet(client: Asker | Client, spec: FleetEvaluationSpec) -> FleetEvaluationStatus:
    """What an expression, a selector, predicates or a placement make of the fleet."""
    return await _asked(client, FLEET_EVALUATION, spec, FleetEvaluationStatus)


async def fleet_facets(client: Asker | Client, spec: FleetFacetsSpec) -> FleetFacetsStatus:
    """What clusters have, and how many have it."""
    return await _asked(client, FLEET_FACETS, spec, FleetFacetsStatus)


async def complete(client: Asker | Client, spec: CompletionSpec) -> CompletionStatus:
    """What can stand at a place in an expression."""
    return await _asked(client, COMPLETION, spec, CompletionStatus)


async def explain_placement(client: Asker | Client, spec: PlacementExplanationSpec) -> PlacementReport:
    """Why a placement selects what it does."""
    return await _asked(client, PLACEMENT_EXPLANATION, spec, PlacementReport)


async def explain_cluster(client: Asker | Client, spec: ClusterExplanationSpec) -> ClusterExplanationStatus:
    """Which sets have a cluster, which placements take it, and why the others do not."""
    return await _asked(client, CLUSTER_EXPLANATION, spec, ClusterExplanationStatus)


async def explain_set(client: Asker | Client, spec: SetExplanationSpec) -> SetExplanationStatus:
    """Which clusters are in a set, and who may choose from it."""
    return await _asked(client, SET_EXPLANATION, spec, SetExplanationStatus)


async def plan_objects(client: Asker | Client, spec: PlanSpec) -> PlanStatus:
    """What writing objects would change."""
    return await _asked(client, PLAN, spec, PlanStatus)


async def review_join(client: Asker | Client, spec: JoinReviewSpec) -> JoinReviewStatus:
    """What a user may do with cluster sets, and who may."""
    return await _asked(client, JOIN_REVIEW, spec, JoinReviewStatus)


async def preview_classification(
    client: Asker | Client, spec: ClassificationPreviewSpec
) -> ClassificationPreviewStatus:
    """What a query or a classification makes of hosts, and which labels they would get."""
    return await _asked(client, CLASSIFICATION_PREVIEW, spec, ClassificationPreviewStatus)


async def preview_resolution(client: Asker | Client, spec: ResolutionPreviewSpec) -> ResolutionPreviewStatus:
    """Which operators a resolution would install, or why there is no plan and what would help."""
    return await _asked(client, RESOLUTION_PREVIEW, spec, ResolutionPreviewStatus)


async def _asked(client: Asker | Client, kind: Resource, spec: msgspec.Struct, status: type[Status]) -> Status:
    asker = ServerAsker(client) if isinstance(client, Client) else client
    return (await asker.ask(kind.kind, spec)).read(status)
