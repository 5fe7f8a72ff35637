"""The webhooks: AdmissionReviews and ConversionReviews in, answers out, by the same functions as the hub's admission.

`/admission/permissions` is what must not be passed by (failurePolicy Fail), `/admission/advice` what may
(Ignore): checks of what is written, warnings about the fields and the fleet. `/admission/defaults` fills in, `/convert`
converts. Nothing here writes anything. Whatever cannot be answered is an HTTP error, so that the failurePolicy decides.
"""

from __future__ import annotations

import asyncio
import logging
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from muster.admission.kinds import KINDS, KindChecks
from muster.admission.review import mutated, validated, write_of
from muster.api import RESOURCES
from muster.client.errors import UnreachableError
from muster.errors import ApiError, InvalidObjectError
from muster.hub.advice import FleetAdvice
from muster.hub.heavy_work import HEAVY
from muster.hub.requests import AdmissionRequest, Target, User
from muster.hub.status import StatusError
from muster.kubernetes.serving.conversion import converted
from muster.kubernetes.serving.reviews import TooManyReviewsError
from muster.kubernetes.serving.world import KubernetesWorld
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping
    from datetime import datetime

    from muster.admission import Finding, Write
    from muster.admission.kinds import CheckRunner
    from muster.client import Client
    from muster.controllers.questions.asking import Controllers
    from muster.hub.heavy_work import HeavyWork
    from muster.kubernetes.serving.authorizer import ReviewingAuthorizer
    from muster.kubernetes.serving.metrics import ServingMetrics
    from muster.kubernetes.serving.reviews import AccessReviews

    Answer = Callable[[JsonObject], Awaitable[JsonObject]]

_LOGGER = logging.getLogger(__name__)
PERMISSIONS, ADVICE, DEFAULTS, CONVERSION = (
    "/admission/permissions",
    "/admission/advice",
    "/admission/defaults",
    "/convert",
)
MOST_BYTES: Final = 8 * 1024 * 1024  # two states of the largest object that a server takes, and the review around them
_MOST_AT_ONCE: Final = 200
_USUAL_SECONDS: Final = 10.0
_MARGIN: Final = 0.25  # seconds before the API server gives up, so that our words reach it
_FORBIDDEN: Final = 403


class Webhooks:
    """Answers reviews. `routes` are for a web application that limits bodies to MOST_BYTES."""

    def __init__(
        self,
        client: Client,
        reviews: AccessReviews,
        authorizer: ReviewingAuthorizer,
        heavy_work: HeavyWork,
        clock: Callable[[], datetime],
        metrics: ServingMetrics,
        controllers: Controllers,
        checks: Mapping[str, KindChecks] = KINDS,
    ) -> None:
        """`controllers` have the fleet, which some warnings are about."""
        self._client = client
        self._reviews = reviews
        self._heavy = heavy_work
        self._clock = clock
        self._metrics = metrics
        self._advice = FleetAdvice(authorizer.store, authorizer, controllers)
        self._checks = checks
        self._under_way = 0
        # Permissions are policies' or of a webhook of their own; advice is what objects say.
        self._advising = {name: replace(each, inquiring=()) for name, each in checks.items()}
        self._permitting = {name: replace(each, compiling=()) for name, each in checks.items()}

    def routes(self) -> list[web.RouteDef]:
        answers: dict[str, Answer] = {
            PERMISSIONS: self._permitted,
            ADVICE: self._advised,
            DEFAULTS: self._filled_in,
            CONVERSION: self._converted,
        }
        return [web.post(path, self._handler(path, answer)) for path, answer in answers.items()]

    # ------------------------------------------------------------------------------------------------- the answers

    async def _permitted(self, review: JsonObject) -> JsonObject:
        try:
            world = KubernetesWorld(self._client, self._reviews)
            return await validated(review, world, self._clock(), self._permitting, self._aside(review))
        except TooManyReviewsError as error:
            uid, _ = write_of(review, self._clock())
            return _refused(uid, str(error))

    async def _advised(self, review: JsonObject) -> JsonObject:
        uid, write = write_of(review, self._clock())
        try:
            world = KubernetesWorld(self._client, self._reviews)
            answer = await validated(review, world, self._clock(), self._advising, self._aside(review))
        except TooManyReviewsError as error:
            return _refused(uid, str(error))
        if answer["response"]["allowed"] and (more := await self._told_by_the_fleet(write)):
            answer["response"]["warnings"] = [*answer["response"].get("warnings", ()), *more]
        return answer

    async def _filled_in(self, review: JsonObject) -> JsonObject:
        return mutated(review, self._clock(), self._checks)

    async def _converted(self, review: JsonObject) -> JsonObject:
        return converted(review)

    async def _told_by_the_fleet(self, write: Write) -> tuple[str, ...]:
        resource = RESOURCES.get(write.resource)
        version = None if resource is None else resource.version(write.version)
        if resource is None or version is None or write.new is None or write.subresource:
            return ()
        target = Target(resource, version, write.namespace, write.name)
        asker = write.asker
        user = User(asker.name, asker.uid, asker.groups, asker.extra)
        return await self._advice.advise(
            AdmissionRequest(write.operation, target, user, write.old, write.new, write.dry_run)
        )

    def _aside(self, review: JsonObject) -> CheckRunner:
        """Checks that compile run beside the loop, where users take turns."""
        asker = write_of(review, self._clock())[1].asker.name

        async def run(work: Callable[[], Finding], *, heavy: bool) -> Finding:
            return await self._heavy.done(asker, HEAVY if heavy else 0, work)

        return run

    # ---------------------------------------------------------------------------------------------------- the door

    def _handler(self, path: str, answer: Answer) -> Callable[[web.Request], Awaitable[web.Response]]:
        async def handle(request: web.Request) -> web.Response:
            if self._under_way >= _MOST_AT_ONCE:
                return _problem(429, f"{_MOST_AT_ONCE} other reviews are being answered")
            self._under_way += 1
            try:
                with self._metrics.webhook(path) as observed:
                    reply = await self._answered(request, answer)
                    observed(reply.status)
                    return reply
            finally:
                self._under_way -= 1

        return handle

    async def _answered(self, request: web.Request, answer: Answer) -> web.Response:
        try:
            async with asyncio.timeout(_seconds(request.query.get("timeout", ""))):
                review = msgspec.json.decode(await request.read(), type=JsonObject)
                return web.Response(body=msgspec.json.encode(await answer(review)), content_type="application/json")
        except web.HTTPRequestEntityTooLarge:
            return _problem(413, f"a review may have {MOST_BYTES} bytes")
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, InvalidObjectError) as error:
            return _problem(400, str(error))
        except TimeoutError:
            return _problem(504, "the review could not be answered in time")
        except (ApiError, UnreachableError, StatusError) as error:
            # Nobody may guess what a server would have said.
            _LOGGER.warning("%s: %s", request.path, error)
            return _problem(503, f"what the answer depends on cannot be asked: {error}")
        except Exception:
            _LOGGER.exception("%s failed unexpectedly", request.path)
            return _problem(500, "unexpected failure, see the log of muster")


def _seconds(text: str) -> float:
    """What the API server waits, as it says in the query: `10s`."""
    number = text.removesuffix("s")
    stated = float(number) if number.isascii() and number.isdigit() and len(number) < 4 else _USUAL_SECONDS
    return max(min(stated, 30.0) - _MARGIN, _MARGIN)


def _refused(uid: str, message: str) -> JsonObject:
    status = {"code": _FORBIDDEN, "reason": "Forbidden", "message": message}
    response = {"uid": uid, "allowed": False, "status": status}
    return {"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": response}


def _problem(code: int, text: str) -> web.Response:
    return web.Response(status=code, text=text[:2000])
