"""Reviews: questions asked by creating an object that is answered and never stored, about access, identity, the fleet.

Called by `Api.create` for virtual kinds. The answers come from the authorizer, the authenticator and `questions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.access_reviews import read_review
from muster.api.fleet_parts import GROUP as FLEET
from muster.api.validation import validate_object
from muster.hub import status
from muster.hub.objects import encode, merge_versions
from muster.hub.patches import managed_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.requests import API_AUDIENCE, Answer, Attributes, User
from muster.values.json import JsonObject
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muster.api.access_reviews import ReviewSpec
    from muster.hub.options import Write
    from muster.hub.requests import Authenticator, Authorizer, Target

    Questions = Callable[[User, Target, JsonObject], Awaitable[tuple[msgspec.Raw, tuple[str, ...]]]]


_MOST_AUDIENCES = 32  # looked at in one review


class Reviews:
    """Answers reviews."""

    def __init__(
        self,
        authorizer: Authorizer,
        authenticator: Authenticator | None,
        now: Callable[[], str],
        questions: Questions | None = None,
    ) -> None:
        self._authorizer = authorizer
        self._questions = questions
        self._authenticator = authenticator
        self._now = now

    async def answer(
        self, user: User, target: Target, obj: JsonObject, options: Write, warnings: tuple[str, ...]
    ) -> Answer:
        """The review with its status filled in. Raises 422 if it does not make sense."""
        if causes := validate_object(target.resource, target.version, obj):
            # The real server forgets the kind here, of its own reviews.
            kind = "" if target.resource.builtin else target.resource.kind
            raise status.invalid(target.resource.group, kind, "", causes)
        if target.resource.group == FLEET:
            return await self._question(user, target, obj, warnings)
        match target.resource.kind:
            case "SelfSubjectAccessReview":
                result = await self._decided(target, obj, user)
            case "SubjectAccessReview" | "LocalSubjectAccessReview":
                result = await self._decided(target, obj, _subject(read_review(obj).spec))
            case "SelfSubjectRulesReview":
                result = await self._rules(user, obj)
            case "TokenReview":
                result = await self._token(obj)
            case "SelfSubjectReview":
                metadata = {"creationTimestamp": self._now()}
                result = {"metadata": metadata, "status": {"userInfo": _user_info(user)}}
            case kind:
                raise status.internal_error(f"no answer is known to a {kind}")
        review = {"kind": target.resource.kind, "apiVersion": target.api_version, **result}
        if "Rules" not in target.resource.kind and "spec" in review:
            self._own(target, review, options)
        return Answer(201, encode(review), warnings)

    async def _question(self, user: User, target: Target, obj: JsonObject, warnings: tuple[str, ...]) -> Answer:
        if self._questions is None:
            raise status.unavailable("questions about the fleet are answered by a running hub only")
        spec = object_at(obj, "spec")
        answer, more = await self._questions(user, target, spec)
        named = {"kind": target.resource.kind, "apiVersion": target.api_version}
        answered = {**named, "metadata": object_at(obj, "metadata"), "spec": spec, "status": answer}
        return Answer(201, msgspec.json.encode(answered), (*warnings, *more))

    async def _decided(self, target: Target, obj: JsonObject, user: User) -> JsonObject:
        decision = await self._authorizer.authorize(user, _attributes(read_review(obj).spec))
        answer: JsonObject = {"allowed": decision.allowed}
        if decision.reason:
            answer["reason"] = decision.reason
        metadata = {"namespace": target.namespace} if target.namespace else {}
        return {"metadata": metadata, "spec": object_at(obj, "spec"), "status": answer}

    async def _rules(self, user: User, obj: JsonObject) -> JsonObject:
        namespace = read_review(obj).spec.namespace
        if not namespace:
            raise status.bad_request("no namespace on request")
        rules = await self._authorizer.rules(user, namespace)
        found = {
            "resourceRules": list(rules.resource_rules),
            "nonResourceRules": list(rules.non_resource_rules),
            "incomplete": rules.incomplete,
        }
        if rules.error:
            found["evaluationError"] = rules.error
        return {"metadata": {}, "spec": {}, "status": found}

    async def _token(self, obj: JsonObject) -> JsonObject:
        spec = read_review(obj).spec
        found = None
        accepted: list[str] = []
        if spec.token and self._authenticator is not None:
            # Whoever asks says whom the token must be meant for, or it could be one that was given to somebody else.
            audiences = spec.audiences or (API_AUDIENCE,)
            for audience in audiences[:_MOST_AUDIENCES]:
                user = await self._authenticator.authenticate(spec.token, audience)
                if user is not None:
                    found = user
                    accepted.append(audience)
        if found is None:
            answer: JsonObject = {"user": {}, "error": "invalid bearer token"}
        else:
            answer = {"authenticated": True, "user": _user_info(found), "audiences": accepted}
        return {"metadata": {}, "spec": object_at(obj, "spec"), "status": answer}

    def _own(self, target: Target, review: JsonObject, options: Write) -> None:
        """Reviews carry managedFields like any other object, of what was asked."""
        writer = Writer(options.manager, target.api_version, self._now())
        question = {key: value for key, value in review.items() if key != "status"}
        if owners := managed_fields.created(question, merge_versions(target.resource), writer):
            review["metadata"] = {**review["metadata"], "managedFields": owners}


def _attributes(spec: ReviewSpec) -> Attributes:
    """What the review asks about."""
    if spec.non_resource_attributes is not None:
        return Attributes(spec.non_resource_attributes.verb, path=spec.non_resource_attributes.path)
    action = spec.resource_attributes
    if action is None:
        return Attributes("")
    return Attributes(
        action.verb,
        action.group,
        action.version,
        action.resource,
        action.subresource,
        action.namespace,
        action.name,
    )


def _subject(spec: ReviewSpec) -> User:
    """Whom the review asks about."""
    return User(spec.user, spec.uid, spec.groups, spec.extra)


def _user_info(user: User) -> JsonObject:
    info: JsonObject = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info
