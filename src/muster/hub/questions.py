"""Questions about the fleet, `fleet.muster.dev`: the hub says what the asker may be told, the observer answers.

`reviews` hands over a question that has been authorized and checked. Nothing is written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.agent import GROUP as HOSTS
from muster.api.fleet_classification import ClassificationPreviewSpec
from muster.api.fleet_completion import CompletionSpec
from muster.api.fleet_evaluation import FleetEvaluationSpec
from muster.api.fleet_explanations import PlacementExplanationSpec
from muster.api.fleet_facets import FleetFacetsSpec
from muster.api.fleet_joining import JoinReviewSpec
from muster.api.fleet_outlooks import ClusterExplanationSpec, SetExplanationSpec
from muster.api.fleet_plan import PlanSpec
from muster.api.fleet_resolution import ResolutionPreviewSpec
from muster.api.placement import PLACEMENT
from muster.api.resolution import GROUP as RESOLUTIONS
from muster.controllers.questions.asking import UnansweredError
from muster.controllers.questions.kinds import Refusal
from muster.hub import status
from muster.hub.auth.rbac.bootstrap import FLEET_VIEW
from muster.hub.explanations import ExplainOptions
from muster.hub.join_reviews import JoinReviews
from muster.hub.plan_objects import StoredPlanObjects
from muster.hub.plans import Plans
from muster.hub.question_scopes import Scopes
from muster.hub.redaction import GROUP
from muster.hub.requests import Attributes, ObjectBody, Target, WriteOptions
from muster.hub.write_checks import require
from muster.importing.hosts import OTHER_KINDS, named_host
from muster.placement.explain.report import Window
from muster.questions.asked import CLUSTERS, SECONDS, Question, Scope, seconds_of
from muster.questions.rules import causes_in, namespace_of, preview_namespace
from muster.values.causes import Cause, invalid

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.access.policy import Policy
    from muster.controllers.questions.asking import Controllers
    from muster.hub.explanations import Explanations
    from muster.hub.question_scopes import RevisedAuthorizer
    from muster.hub.requests import User
    from muster.hub.storage.reading import StoredObjects
    from muster.values.json import JsonObject

_LATE: Final = 2.0  # seconds; the observer knows better when to give up
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
    "ClassificationPreview": ClassificationPreviewSpec,
    "ResolutionPreview": ResolutionPreviewSpec,
}
_GROUPS: Final = {  # of what is not found
    "agents": HOSTS,
    "agentclassifications": HOSTS,
    "resolutions": RESOLUTIONS,
    **{each.plural: each.group for each in OTHER_KINDS.values()},
}


class Questions:
    """Answers for users who may create the kind."""

    def __init__(
        self,
        store: StoredObjects,
        authorizer: RevisedAuthorizer,
        controllers: Controllers,
        explanations: Explanations,
        policy: Callable[[], Policy],
        seconds: float = SECONDS,
        plans: Plans | None = None,
    ) -> None:
        """`plans` is given where the store does not have every object whole."""
        self._authorizer = authorizer
        self._controllers = controllers
        self._explanations = explanations
        self._scopes = Scopes(store, authorizer)
        self._joining = JoinReviews(store, authorizer, policy)
        self._plans = plans or Plans(StoredPlanObjects(store), authorizer, self._scopes, seconds)

    async def answer(self, user: User, target: Target, spec: JsonObject) -> tuple[msgspec.Raw, tuple[str, ...]]:
        """The status of the question, and warnings. Raises 403, 404, 422, 429, 503 and 504."""
        kind = target.resource.kind
        try:
            asked = msgspec.convert(spec, _SPECS[kind])
        except msgspec.ValidationError as error:
            raise _invalid(target, [invalid("spec", "", str(error))]) from None
        if causes := causes_in(kind, spec):
            raise _invalid(target, causes)
        places, others = Scope(), dict[str, Scope]()
        match asked:
            case PlacementExplanationSpec():
                return await self._explained(user, asked)
            case JoinReviewSpec():
                return msgspec.Raw(msgspec.json.encode(await self._joining.answer(user, asked))), ()
            case PlanSpec():
                return msgspec.Raw(msgspec.json.encode(await self._plans.answer(user, asked, self._asked))), ()
            case FleetEvaluationSpec():
                scope = await self._evaluation_scope(user, asked)
                if asked.rows.placements:
                    places = await self._scopes.of_explanations(user)
            case ClusterExplanationSpec():
                await require(self._authorizer, user, Attributes("get", GROUP, "v1", CLUSTERS, name=asked.name))
                scope, places = await self._scopes.of_clusters(user), await self._scopes.of_explanations(user)
            case SetExplanationSpec():
                await require(self._authorizer, user, Attributes("get", GROUP, "v1beta2", _SETS, name=asked.name))
                scope, places = await self._scopes.of_clusters(user), await self._scopes.of_explanations(user)
            case ClassificationPreviewSpec():
                scope, places, spec = await self._classification_scopes(user, target, asked, spec)
                others = {plural: await self._reported(user, plural, spec["namespace"]) for plural in OTHER_KINDS}
            case ResolutionPreviewSpec():
                scope, places, spec = await self._resolution_scopes(user, target, asked, spec)
            case _:
                scope = await self._scopes.of_clusters(user)
        question = Question(kind, msgspec.Raw(msgspec.json.encode(spec)), user.name, scope, places, others)
        return await self._asked(question), _warnings(asked, scope)

    async def _evaluation_scope(self, user: User, asked: FleetEvaluationSpec) -> Scope:
        if asked.resource != CLUSTERS:
            return await self._scopes.of_objects(user, asked.resource, asked.namespace)
        namespace = asked.namespace
        if asked.placement is not None:
            namespace = namespace_of(asked.placement)
        return await self._scopes.of_clusters(user, namespace)

    async def _classification_scopes(
        self, user: User, target: Target, asked: ClassificationPreviewSpec, spec: JsonObject
    ) -> tuple[Scope, Scope, JsonObject]:
        """Hosts and classifications that the user may get; the namespace may be that of the classification."""
        namespace = preview_namespace(target.resource.kind, spec)
        if asked.name:
            get = Attributes("get", HOSTS, "v1beta1", "agentclassifications", namespace=namespace, name=asked.name)
            await require(self._authorizer, user, get)
        if asked.host:
            other, name = named_host(asked.host)
            where = (HOSTS, "v1beta1", "agents") if other is None else (other.group, other.version, other.plural)
            await require(self._authorizer, user, Attributes("get", *where, namespace=namespace, name=name))
        hosts = await self._scopes.of_namespaced(user, f"agents.{HOSTS}", namespace)
        classifications = await self._scopes.of_namespaced(user, f"agentclassifications.{HOSTS}", namespace)
        return hosts, classifications, {**spec, "namespace": namespace}

    async def _reported(self, user: User, plural: str, namespace: str) -> Scope:
        """Hosts of other kinds that the user may get. Who would have to be asked about too many places gets none."""
        try:
            return await self._scopes.of_namespaced(user, OTHER_KINDS[plural].resource, namespace)
        except status.StatusError:
            return Scope()

    async def _resolution_scopes(
        self, user: User, target: Target, asked: ResolutionPreviewSpec, spec: JsonObject
    ) -> tuple[Scope, Scope, JsonObject]:
        """ConfigMaps that the user may get, and whether the server's own catalogs are for him."""
        namespace = preview_namespace(target.resource.kind, spec)
        if asked.name:
            get = Attributes("get", RESOLUTIONS, "v1alpha1", "resolutions", namespace=namespace, name=asked.name)
            await require(self._authorizer, user, get)
        maps = await self._scopes.of_namespaced(user, "configmaps", namespace)
        return maps, await self._scopes.of_own_catalogs(user, namespace), {**spec, "namespace": namespace}

    async def _asked(self, question: Question) -> msgspec.Raw:
        try:
            patience = seconds_of(question.kind) + _LATE
            return msgspec.Raw(await self._controllers.question(msgspec.json.encode(question), patience))
        except UnansweredError as error:
            why = f"{self._controllers.whose}, which answer questions, do not answer: {error}"
            raise _unavailable(why, self._controllers.remedy) from None
        except Refusal as refusal:
            raise _refused(question.kind, refusal, self._controllers.remedy) from None

    async def _explained(self, user: User, asked: PlacementExplanationSpec) -> tuple[msgspec.Raw, tuple[str, ...]]:
        """What GET and POST placements/NAME/explain answer, to those who may ask that."""
        options = ExplainOptions(Window(int(asked.continue_ or 0), max(asked.limit, 1)), asked.cluster)
        version = PLACEMENT.storage_version
        warnings: tuple[str, ...] = ()
        if asked.placement is None:
            placement = Target(PLACEMENT, version, asked.namespace, asked.name)
            await require(self._authorizer, user, _explaining("get", asked.namespace, asked.name))
            report = await self._explanations.explain(user, placement, options)
        else:
            namespace = namespace_of(asked.placement)
            metadata = asked.placement["metadata"]
            name = metadata.get("name") if isinstance(metadata.get("name"), str) else "unsaved"
            await require(self._authorizer, user, _explaining("create", namespace, name))
            placement = Target(PLACEMENT, version, namespace, name)
            given = ObjectBody({"apiVersion": placement.api_version, "kind": PLACEMENT.kind, **asked.placement})
            report, warnings = await self._explanations.dry_run(user, placement, given, WriteOptions(), options)
        return msgspec.Raw(msgspec.json.encode(report)), warnings


def _explaining(verb: str, namespace: str, name: str) -> Attributes:
    return Attributes(verb, GROUP, "v1beta1", "placements", "explain", namespace, name)


def _warnings(asked: msgspec.Struct, scope: Scope) -> tuple[str, ...]:
    """A word to those whose questions about clusters range over nothing, whatever there is."""
    is_about_clusters = isinstance(asked, FleetFacetsSpec | CompletionSpec | SetExplanationSpec) or (
        isinstance(asked, FleetEvaluationSpec) and asked.resource == CLUSTERS and not scope.bound
    )
    if not is_about_clusters or scope.everything or scope.names:
        return ()
    return (f"you may get no {CLUSTERS}, so that none is looked at; a ClusterRoleBinding to {FLEET_VIEW} allows it",)


def _invalid(target: Target, causes: list[Cause]) -> status.StatusError:
    return status.invalid(target.resource.group, target.resource.kind, "", causes)


def _refused(kind: str, refusal: Refusal, remedy: str) -> status.StatusError:
    match refusal.code:
        case 403:
            return status.StatusError(403, "Forbidden", refusal.message, {})
        case 404:
            plural, _, name = refusal.message.rpartition("/")
            plural = plural or (_SETS if kind == "SetExplanation" else CLUSTERS)
            return status.not_found(_GROUPS.get(plural, GROUP), plural, name)
        case 409:
            return status.StatusError(409, "Conflict", refusal.message, {})
        case 429:
            return status.StatusError(429, "TooManyRequests", refusal.message, {"retryAfterSeconds": 1})
        case 500:
            return status.internal_error(refusal.message)
        case 504:
            return status.StatusError(504, "Timeout", f"Timeout: {refusal.message}", {})
        case _:
            return _unavailable(refusal.message, remedy)


def _unavailable(why: str, remedy: str) -> status.StatusError:
    return status.unavailable(f"{why}. {remedy}", _RETRY_AFTER)
