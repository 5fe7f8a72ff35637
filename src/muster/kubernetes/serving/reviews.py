"""What a user may do, asked of the API server by SubjectAccessReviews. Webhooks and questions ask here.

A review is one request, so answers are remembered: for a webhook within its request, for questions for a few seconds,
as other servers behind the API server do.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import Node, Part
from muster.api.reading import Reader
from muster.errors import MusterError
from muster.hub.requests import Attributes, Decision
from muster.values.api_paths import collection_path

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from muster.client import Client
    from muster.hub.requests import User
    from muster.values.json import JsonObject

_PATH: Final = collection_path("authorization.k8s.io", "v1", "subjectaccessreviews")
_AT_ONCE: Final = 32  # reviews of one replica that are under way
_MOST_REMEMBERED: Final = 20_000
Question = tuple[str, tuple[str, ...], str, Attributes]


class TooManyReviewsError(MusterError):
    """More names than are asked for one by one. The text says what would help."""


class _ReviewStatus(Part, frozen=True):
    allowed: bool = False
    denied: bool = False
    reason: str = ""
    evaluation_error: str = ""


class _Review(Node, frozen=True):
    status: _ReviewStatus = _ReviewStatus()


_REVIEWS: Final = Reader(_Review)


class AccessReviews:
    """Asks, and remembers for so many seconds."""

    def __init__(
        self, client: Client, seconds: float, clock: Callable[[], float] = time.monotonic, at_once: int = _AT_ONCE
    ) -> None:
        self._client = client
        self._seconds = seconds
        self._clock = clock
        self._slots = asyncio.Semaphore(at_once)
        self._known: dict[Question, tuple[float, Decision]] = {}
        self.asked = 0  # reviews, for metrics

    def for_one_request(self) -> AccessReviews:
        """The same door with a memory of its own, which its owner throws away."""
        own = AccessReviews(self._client, float("inf"), self._clock)
        own._slots = self._slots  # all of a replica's requests share them
        return own

    async def decided(self, user: User, attributes: Attributes) -> Decision:
        """Whether the user may. Raises ApiError and UnreachableError: nobody may guess."""
        extra = msgspec.json.encode(user.extra, order="sorted").decode() if user.extra else ""
        question = (f"{user.name}\0{user.uid}", user.groups, extra, attributes)
        known = self._known.get(question)
        if known is not None and self._clock() - known[0] <= self._seconds:
            return known[1]
        asked_at = self._clock()
        async with self._slots:
            self.asked += 1
            reply = await self._client.request("POST", _PATH, body=_review(user, attributes))
        found = _REVIEWS.partly(reply.json()).obj.status
        decision = Decision(found.allowed and not found.denied, found.reason or found.evaluation_error)
        if len(self._known) >= _MOST_REMEMBERED:
            self._known.clear()
        self._known[question] = asked_at, decision
        return decision

    async def missing(
        self, user: User, verb: str, resource: str, names: Sequence[str], namespace: str = "", *, most: int
    ) -> list[str]:
        """Those of `names` the user may not `verb`, in their order; an empty name stands for every name.

        `resource` is `plural.group` or `plural/subresource.group`. Raises TooManyReviewsError.
        """
        if len(names) > most:
            raise TooManyReviewsError(
                f"whether {user.name} may {verb} {len(names)} {resource} is not asked one by one, only up to {most}: "
                f"a role that lets {user.name} {verb} all {resource} would do"
            )
        wanted = [attributes_of_name(verb, resource, namespace, name) for name in names]
        decisions = await asyncio.gather(*(self.decided(user, each) for each in wanted))
        return [name for name, decision in zip(names, decisions, strict=True) if not decision.allowed]


def attributes_of_name(verb: str, resource: str, namespace: str, name: str) -> Attributes:
    """`resource` is `plural.group` or `plural/subresource.group`."""
    path, _, group = resource.partition(".")
    plural, _, subresource = path.partition("/")
    return Attributes(verb, group, "", plural, subresource, namespace, name)


def _review(user: User, attributes: Attributes) -> JsonObject:
    spec: JsonObject = {"user": user.name, "uid": user.uid, "groups": list(user.groups)}
    if user.extra:
        spec["extra"] = {key: list(values) for key, values in user.extra.items()}
    if attributes.path:
        spec["nonResourceAttributes"] = {"path": attributes.path, "verb": attributes.verb}
    else:
        spec["resourceAttributes"] = {
            "verb": attributes.verb,
            "group": attributes.group,
            "version": attributes.version or "*",
            "resource": attributes.resource,
            "subresource": attributes.subresource,
            "namespace": attributes.namespace,
            "name": attributes.name,
        }
    return {"apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview", "spec": spec}
