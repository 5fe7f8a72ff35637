"""One function for each question about the fleet: a spec in, the status of the answer out.

Commands, consoles and notebooks ask a server with these; a server that does not know the kinds answers 404, as an
ApiError. What the answer may tell is decided there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeVar

import msgspec

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
from muster.api.fleet_parts import GROUP, VERSION
from muster.api.fleet_plan import PLAN, PlanStatus
from muster.errors import ApiError
from muster.placement.explain.report import PlacementReport
from muster.values.api_paths import collection_path

if TYPE_CHECKING:
    from muster.api.fleet_completion import CompletionSpec
    from muster.api.fleet_evaluation import FleetEvaluationSpec
    from muster.api.fleet_explanations import PlacementExplanationSpec
    from muster.api.fleet_facets import FleetFacetsSpec
    from muster.api.fleet_joining import JoinReviewSpec
    from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
    from muster.api.fleet_plan import PlanSpec
    from muster.api.resource import Resource
    from muster.client.client import Client

_NOT_OURS: Final = 502  # of another version, or something in between
Status = TypeVar("Status", bound=msgspec.Struct)


async def evaluate_fleet(client: Client, spec: FleetEvaluationSpec) -> FleetEvaluationStatus:
    """What an expression, a selector, predicates or a placement make of the fleet."""
    return await _asked(client, FLEET_EVALUATION, spec, FleetEvaluationStatus)


async def fleet_facets(client: Client, spec: FleetFacetsSpec) -> FleetFacetsStatus:
    """What clusters have, and how many have it."""
    return await _asked(client, FLEET_FACETS, spec, FleetFacetsStatus)


async def complete(client: Client, spec: CompletionSpec) -> CompletionStatus:
    """What can stand at a place in an expression."""
    return await _asked(client, COMPLETION, spec, CompletionStatus)


async def explain_placement(client: Client, spec: PlacementExplanationSpec) -> PlacementReport:
    """Why a placement selects what it does."""
    return await _asked(client, PLACEMENT_EXPLANATION, spec, PlacementReport)


async def explain_cluster(client: Client, spec: ClusterExplanationSpec) -> ClusterExplanationStatus:
    """Which sets have a cluster, which placements take it, and why the others do not."""
    return await _asked(client, CLUSTER_EXPLANATION, spec, ClusterExplanationStatus)


async def explain_set(client: Client, spec: SetExplanationSpec) -> SetExplanationStatus:
    """Which clusters are in a set, and who may choose from it."""
    return await _asked(client, SET_EXPLANATION, spec, SetExplanationStatus)


async def plan_objects(client: Client, spec: PlanSpec) -> PlanStatus:
    """What writing objects would change."""
    return await _asked(client, PLAN, spec, PlanStatus)


async def review_join(client: Client, spec: JoinReviewSpec) -> JoinReviewStatus:
    """What a user may do with cluster sets, and who may."""
    return await _asked(client, JOIN_REVIEW, spec, JoinReviewStatus)


async def _asked(client: Client, kind: Resource, spec: msgspec.Struct, status: type[Status]) -> Status:
    body = {"apiVersion": f"{GROUP}/{VERSION}", "kind": kind.kind, "spec": msgspec.to_builtins(spec)}
    reply = await client.request("POST", collection_path(GROUP, VERSION, kind.plural), body=body)
    try:
        answer = msgspec.json.decode(reply.body, type=dict[str, msgspec.Raw])
        return msgspec.json.decode(answer["status"], type=status)
    except (msgspec.MsgspecError, KeyError) as error:
        raise ApiError(_NOT_OURS, "", f"the server answers in another way than this client knows: {error}") from None
