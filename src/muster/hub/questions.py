"""Questions about the fleet, `fleet.muster.dev`: the hub says what the asker may be told, the observer answers.

`reviews` hands over a question that has been authorized and checked. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.fleet_completion import CompletionSpec
from muster.api.fleet_evaluation import FleetEvaluationSpec
from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.fleet_facets import FleetFacetsSpec
from muster.api.fleet_joining import JoinReviewSpec
from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.api.fleet_plan import PlanSpec
from muster.api.placement import PLACEMENT
from muster.controllers.questions.asking import UnansweredError
from muster.controllers.questions.kinds import Refusal
from muster.hub import status
from muster.hub.explanations import ExplainOptions
from muster.hub.join_reviews import JoinReviews
from muster.hub.plans import Plans
from muster.hub.question_scopes import Scopes
from muster.hub.redaction import GROUP
from muster.hub.requests import Attributes, ObjectBody, Target, WriteOptions
from muster.hub.write_checks import require
from muster.placement.explain.report import Window
from muster.questions.asked import CLUSTERS, SECONDS, Question, Scope
from muster.values.causes import Cause, invalid, required

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.controllers.questions.asking import Controllers
    from muster.hub.auth.rbac.policy import Policy
    from muster.hub.explanations import Explanations
    from muster.hub.requests import Authorizer, User
    from muster.hub.storage import Store
    from muster.values.json import JsonObject

_PATIENCE: Final = SECONDS + 2.0  # the observer knows better when to give up
_RETRY_AFTER: Final = 2
_SETS: Final = "managedclustersets"
_SPECS: Final[Mapping[str, type[msgspec.Struct]]] = {
    "FleetEvaluation": FleetEvaluationSpec,
    "FleetFacets": FleetFacetsSpec,
    "Completion": CompletionSpec,
    "PlacementExplanation": PlacementExplanationSpec,
    "ClusterExplanation": ClusterExplanationSpec,
    "SetExplanation": SetExplanationSpec,
    "Plan": PlanSpec,
    "JoinReview": JoinReviewSpec,
}


class Questions:
    """Answers for users who may create the kind."""

    def __init__(
        self,
        store: Store,
        authorizer: Authorizer,
        controllers: Controllers,
        explanations: Explanations,
        policy: Callable[[], Policy],
        seconds: float = SECONDS,
    ) -> None:
        self._authorizer = authorizer
        self._controllers = controllers
        self._explanations = explanations
        self._scopes = Scopes(store, authorizer)
        self._joining = JoinReviews(store, authorizer, policy)
        self._plans = Plans(store, authorizer, self._scopes, seconds)

    async def answer(self, user: User, target: Target, spec: JsonObject) -> tuple[msgspec.Raw, tuple[str, ...]]:
        """The status of the question, and warnings. Raises 403, 404, 422, 429, 503 and 504."""
        kind = target.resource.kind
        try:
            asked = msgspec.convert(spec, _SPECS[kind])
        except msgspec.ValidationError as error:
            raise _invalid(target, [invalid("spec", "", str(error))]) from None
        places = Scope()
        match asked:
            case PlacementExplanationSpec():
                return await self._explained(user, target, asked)
            case JoinReviewSpec():
                return msgspec.Raw(msgspec.json.encode(await self._joining.answer(user, asked))), ()
            case PlanSpec():
                return msgspec.Raw(msgspec.json.encode(await self._plans.answer(user, asked, self._asked))), ()
            case FleetEvaluationSpec():
                scope = await self._evaluation_scope(user, target, asked)
            case ClusterExplanationSpec():
                await require(self._authorizer, user, Attributes("get", GROUP, "v1", CLUSTERS, name=asked.name))
                scope, places = await self._scopes.of_clusters(user), await self._scopes.of_explanations(user)
            case SetExplanationSpec():
                await require(self._authorizer, user, Attributes("get", GROUP, "v1beta2", _SETS, name=asked.name))
                scope, places = await self._scopes.of_clusters(user), await self._scopes.of_explanations(user)
            case _:
                scope = await self._scopes.of_clusters(user)
        question = Question(kind, msgspec.Raw(msgspec.json.encode(spec)), user.name, scope, places)
        return await self._asked(question), ()

    async def _evaluation_scope(self, user: User, target: Target, asked: FleetEvaluationSpec) -> Scope:
        if asked.resource != CLUSTERS:
            return await self._scopes.of_objects(user, asked.resource, asked.namespace)
        namespace = asked.namespace
        if asked.placement is not None:
            namespace = _namespace_of(target, asked.placement)
            if asked.namespace not in ("", namespace):
                raise _invalid(target, [invalid("spec.namespace", asked.namespace, "is not the placement's")])
        return await self._scopes.of_clusters(user, namespace)

    async def _asked(self, question: Question) -> msgspec.Raw:
        try:
            return msgspec.Raw(await self._controllers.question(msgspec.json.encode(question), _PATIENCE))
        except UnansweredError as error:
            raise _unavailable(f"the hub's controllers, which answer questions, do not answer: {error}") from None
        except Refusal as refusal:
            raise _refused(question.kind, refusal) from None

    async def _explained(
        self, user: User, target: Target, asked: PlacementExplanationSpec
    ) -> tuple[msgspec.Raw, tuple[str, ...]]:
        """What GET and POST placements/NAME/explain answer, to those who may ask that."""
        options = ExplainOptions(Window(_offset(target, asked.continue_), max(asked.limit, 1)), asked.cluster)
        version = PLACEMENT.storage_version
        warnings: tuple[str, ...] = ()
        if asked.placement is None:
            placement = Target(PLACEMENT, version, asked.namespace, asked.name)
            await require(self._authorizer, user, _explaining("get", asked.namespace, asked.name))
            report = await self._explanations.explain(user, placement, options)
        else:
            namespace = _namespace_of(target, asked.placement)
            metadata = asked.placement["metadata"]
            name = metadata.get("name") if isinstance(metadata.get("name"), str) else "unsaved"
            await require(self._authorizer, user, _explaining("create", namespace, name))
            placement = Target(PLACEMENT, version, namespace, name)
            given = ObjectBody({"apiVersion": placement.api_version, "kind": PLACEMENT.kind, **asked.placement})
            report, warnings = await self._explanations.dry_run(user, placement, given, WriteOptions(), options)
        return msgspec.Raw(msgspec.json.encode(report)), warnings


def _explaining(verb: str, namespace: str, name: str) -> Attributes:
    return Attributes(verb, GROUP, "v1beta1", "placements", "explain", namespace, name)


def _offset(target: Target, token: str) -> int:
    if not token:
        return 0
    if not (token.isascii() and token.isdigit() and len(token) < 9):
        raise _invalid(target, [invalid("spec.continue", token, "is not from status.metadata.continue")])
    return int(token)


def _namespace_of(target: Target, placement: JsonObject) -> str:
    """Where a placement is that need not be saved."""
    metadata = placement.get("metadata")
    namespace = metadata.get("namespace") if isinstance(metadata, dict) else None
    if not isinstance(namespace, str) or not namespace:
        raise _invalid(target, [required("spec.placement.metadata.namespace", "its sets are those bound there")])
    return namespace


def _invalid(target: Target, causes: list[Cause]) -> status.StatusError:
    return status.invalid(target.resource.group, target.resource.kind, "", causes)


def _refused(kind: str, refusal: Refusal) -> status.StatusError:
    match refusal.code:
        case 404:
            return status.not_found(GROUP, _SETS if kind == "SetExplanation" else CLUSTERS, refusal.message)
        case 409:
            return status.StatusError(409, "Conflict", refusal.message, {})
        case 429:
            return status.StatusError(429, "TooManyRequests", refusal.message, {"retryAfterSeconds": 1})
        case 500:
            return status.internal_error(refusal.message)
        case 504:
            return status.StatusError(504, "Timeout", f"Timeout: {refusal.message}", {})
        case _:
            return _unavailable(refusal.message)


def _unavailable(why: str) -> status.StatusError:
    hint = "`muster hub run` runs and restarts them; beside `muster hub serve` start `muster hub controllers`"
    return status.unavailable(f"{why}. {hint}", _RETRY_AFTER)
