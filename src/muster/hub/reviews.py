"""Reviews: questions asked by creating an object that is answered and never stored, about access, identity, the fleet.

Called by `Api.create` for virtual kinds. The answers come from the authorizer, the authenticator and `questions`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.fleet_parts import GROUP as FLEET
from muster.api.validation import validate_object
from muster.hub import status
from muster.hub.objects import encode, merge_versions
from muster.hub.patches import managed_fields
from muster.hub.patches.managed_fields import Writer
from muster.hub.requests import API_AUDIENCE, Answer, Attributes, User
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

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
                result = await self._access(target, obj, user)
            case "SubjectAccessReview" | "LocalSubjectAccessReview":
                result = await self._access(target, obj, _subject(obj))
            case "SelfSubjectRulesReview":
                result = await self._rules(user, obj)
            case "TokenReview":
                result = await self._token(obj)
            case "SelfSubjectReview":
                metadata = {"creationTimestamp": self._now()}
                result = {"metadata": metadata, "status": {"userInfo": _user_info(user)}}
            case kind:
                raise status.internal_error(f"no answer is known to a {kind}")
        answered = {"kind": target.resource.kind, "apiVersion": target.api_version, **result}
        if "Rules" not in target.resource.kind and "spec" in answered:
            self._own(target, answered, options)
        return Answer(201, encode(answered), warnings)

    async def _question(self, user: User, target: Target, obj: JsonObject, warnings: tuple[str, ...]) -> Answer:
        if self._questions is None:
            raise status.unavailable("questions about the fleet are answered by a running hub only")
        spec = _object(obj.get("spec"))
        answer, more = await self._questions(user, target, spec)
        named = {"kind": target.resource.kind, "apiVersion": target.api_version}
        answered = {**named, "metadata": _object(obj.get("metadata")), "spec": spec, "status": answer}
        return Answer(201, msgspec.json.encode(answered), (*warnings, *more))

    async def _access(self, target: Target, obj: JsonObject, user: User) -> JsonObject:
        spec = _object(obj.get("spec"))
        attributes = _attributes(spec)
        decision = await self._authorizer.authorize(user, attributes)
        answer: JsonObject = {"allowed": decision.allowed}
        if decision.reason:
            answer["reason"] = decision.reason
        metadata = {"namespace": target.namespace} if target.namespace else {}
        return {"metadata": metadata, "spec": spec, "status": answer}

    async def _rules(self, user: User, obj: JsonObject) -> JsonObject:
        namespace = _object(obj.get("spec")).get("namespace")
        if not isinstance(namespace, str) or not namespace:
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
        spec = _object(obj.get("spec"))
        token = spec.get("token")
        found = None
        accepted: list[str] = []
        if isinstance(token, str) and token and self._authenticator is not None:
            # Whoever asks says whom the token must be meant for, or it could be one that was given to somebody else.
            for audience in (spec.get("audiences") or [API_AUDIENCE])[:_MOST_AUDIENCES]:
                user = await self._authenticator.authenticate(token, str(audience))
                if user is not None:
                    found = user
                    accepted.append(audience)
        if found is None:
            answer: JsonObject = {"user": {}, "error": "invalid bearer token"}
        else:
            answer = {"authenticated": True, "user": _user_info(found), "audiences": accepted}
        return {"metadata": {}, "spec": spec, "status": answer}

    def _own(self, target: Target, answered: JsonObject, options: Write) -> None:
        """Reviews carry managedFields like any other object, of what was asked."""
        writer = Writer(options.manager, target.api_version, self._now())
        asked = {key: value for key, value in answered.items() if key != "status"}
        if owners := managed_fields.created(asked, merge_versions(target.resource), writer):
            answered["metadata"] = {**answered["metadata"], "managedFields": owners}


def _object(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _attributes(spec: JsonObject) -> Attributes:
    """What the review asks about."""
    on_path = spec.get("nonResourceAttributes")
    if on_path is not None:
        asked = _object(on_path)
        return Attributes(str(asked.get("verb", "")), path=str(asked.get("path", "")))
    asked = _object(spec.get("resourceAttributes"))
    names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    return Attributes(*(str(asked.get(name) or "") for name in names))


def _subject(obj: JsonObject) -> User:
    """Whom the review asks about."""
    spec = _object(obj.get("spec"))
    groups = tuple(str(group) for group in spec.get("groups") or ())
    extra = {str(key): tuple(map(str, values or ())) for key, values in _object(spec.get("extra")).items()}
    return User(str(spec.get("user") or ""), str(spec.get("uid") or ""), groups, extra)


def _user_info(user: User) -> JsonObject:
    info: JsonObject = {"username": user.name}
    if user.uid:
        info["uid"] = user.uid
    if user.groups:
        info["groups"] = list(user.groups)
    if user.extra:
        info["extra"] = {key: list(values) for key, values in user.extra.items()}
    return info
