"""The aggregated API: the questions of `fleet.muster.dev`, served by the hub's own REST code behind the API server.

Kinds are those of the registry's group; the only verb is create. The API server has authenticated the asker and says
who he is (`front_proxy`); what he may is asked of it again (`authorizer`); the observer in this replica answers.
"""

from __future__ import annotations

from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Final, NoReturn

from muster.api import RESOURCES
from muster.api.fleet_parts import GROUP
from muster.hub import bodies, options, status
from muster.hub.admission import ObjectChecks
from muster.hub.advice import FleetAdvice
from muster.hub.custom.live import Kinds
from muster.hub.explanations import Explanations
from muster.hub.plan_objects import ServedPlanObjects
from muster.hub.plans import Plans
from muster.hub.question_scopes import Scopes
from muster.hub.questions import Questions
from muster.hub.rest.application import Application
from muster.hub.reviews import Reviews
from muster.hub.write_checks import WriteChecks
from muster.kubernetes.serving.authorizer import MOST_BY_NAME
from muster.kubernetes.serving.front_proxy import ProxyAuthentication

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.client import Client
    from muster.controllers.questions.asking import Controllers
    from muster.hub.heavy_work import HeavyWork
    from muster.hub.requests import (
        Answer,
        Body,
        DeleteOptions,
        ListAnswer,
        ListOptions,
        PatchType,
        Target,
        User,
        WatchOptions,
        WatchStream,
        WriteOptions,
    )
    from muster.kubernetes.serving.authorizer import ReviewingAuthorizer
    from muster.kubernetes.serving.front_proxy import FrontProxy
    from muster.values.json import JsonObject

_MOST_QUESTION: Final = 1024 * 1024  # bytes: a placement
_KINDS: Final = {key: resource for key, resource in RESOURCES.items() if resource.group == GROUP}


class QuestionsApi:
    """The verbs of an API that stores nothing: questions are created, and answered."""

    def __init__(
        self, client: Client, authorizer: ReviewingAuthorizer, controllers: Controllers, heavy_work: HeavyWork
    ) -> None:
        self.kinds = Kinds(_KINDS)
        store = authorizer.store
        checks = ObjectChecks(store, authorizer, heavy_work=heavy_work)
        advice = FleetAdvice(store, authorizer, controllers)
        explanations = Explanations(store, authorizer, (checks, advice), controllers, heavy_work)
        plans = Plans(ServedPlanObjects(client), authorizer, Scopes(store, authorizer), most_permissions=MOST_BY_NAME)
        questions = Questions(store, authorizer, controllers, explanations, lambda: authorizer.policy, plans=plans)
        self._write_checks = WriteChecks(authorizer, ())
        self._heavy = heavy_work
        self._reviews = Reviews(authorizer, None, lambda: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}", questions.answer)

    async def create(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer:
        """The answer to a question."""
        await self._write_checks.authorize_create(user, target, body, names=False)
        checked = options.write_options("CreateOptions", given)
        if body.weight > _MOST_QUESTION:
            raise status.too_large(_MOST_QUESTION)
        reading = partial(bodies.read_whole, target, body, checked.validation)
        obj, warnings = await self._heavy.done(user.name, body.weight, reading)
        return await self._reviews.answer(user, target, obj, checked, warnings)

    # The REST layer refuses what a kind's verbs do not have; these are never reached.

    async def get(self, user: User, target: Target, resource_version: str = "") -> Answer:  # noqa: ARG002
        _refuse("get", target)

    async def list(self, user: User, target: Target, selected: ListOptions) -> ListAnswer:  # noqa: ARG002
        _refuse("list", target)

    async def watch(self, user: User, target: Target, selected: WatchOptions) -> WatchStream:  # noqa: ARG002
        _refuse("watch", target)

    async def update(self, user: User, target: Target, body: Body, given: WriteOptions) -> Answer:  # noqa: ARG002
        _refuse("update", target)

    async def patch(
        self,
        user: User,  # noqa: ARG002
        target: Target,
        kind: PatchType,  # noqa: ARG002
        body: Body,  # noqa: ARG002
        given: WriteOptions,  # noqa: ARG002
    ) -> Answer:
        _refuse("patch", target)

    async def rescale(
        self,
        user: User,  # noqa: ARG002
        target: Target,
        verb: str,
        change: Callable[[JsonObject], JsonObject],  # noqa: ARG002
        given: WriteOptions,  # noqa: ARG002
        body: Body,  # noqa: ARG002
    ) -> Answer:
        _refuse(verb, target)

    async def delete(
        self,
        user: User,  # noqa: ARG002
        target: Target,
        given: DeleteOptions,  # noqa: ARG002
        body: Body | None = None,  # noqa: ARG002
    ) -> Answer:
        _refuse("delete", target)

    async def delete_collection(
        self,
        user: User,  # noqa: ARG002
        target: Target,
        selected: ListOptions,  # noqa: ARG002
        given: DeleteOptions,  # noqa: ARG002
        body: Body | None = None,  # noqa: ARG002
    ) -> ListAnswer:
        _refuse("deletecollection", target)


def questions_application(
    client: Client,
    proxy: FrontProxy,
    authorizer: ReviewingAuthorizer,
    controllers: Controllers,
    heavy_work: HeavyWork,
) -> Application:
    """The ASGI application for connections that show certificates of this proxy."""
    authentication = ProxyAuthentication(proxy, authorizer)
    api = QuestionsApi(client, authorizer, controllers, heavy_work)
    return Application(api, authentication.nobody, authorizer, authentication=authentication)


def _refuse(verb: str, target: Target) -> NoReturn:
    raise status.method_not_allowed(verb, target.resource.group, target.resource.plural)
