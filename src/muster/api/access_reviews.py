"""Reviews: questions about who may do what, asked by creating an object that is answered and never stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import parts
from muster.api.builtin import builtin
from muster.api.parts import Identity, Node, Part
from muster.api.reading import Reader
from muster.api.resource import CREATE_ONLY, Resource
from muster.values.causes import Cause, invalid
from muster.values.json import Json, JsonMapping, JsonObject, Schema

if TYPE_CHECKING:
    from collections.abc import Iterator

AUTHORIZATION: Final = "authorization.k8s.io"
AUTHENTICATION: Final = "authentication.k8s.io"


class ResourceAttributes(Part, frozen=True):
    """An action on a resource."""

    verb: str = ""
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


class PathAttributes(Part, frozen=True):
    """An action on a path."""

    verb: str = ""
    path: str = ""


class ReviewSpec(Node, frozen=True):
    """What the reviews of this module ask: each kind has some of these fields."""

    resource_attributes: ResourceAttributes | None = None
    non_resource_attributes: PathAttributes | None = None
    user: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    namespace: str = ""
    token: str = ""
    audiences: tuple[str, ...] = ()


class Review(Node, frozen=True):
    metadata: Identity = Identity()
    spec: ReviewSpec = ReviewSpec()


_READER: Final = Reader(Review)


def read_review(obj: JsonMapping) -> Review:
    return _READER.of(obj)


def _one_action(new: JsonObject, spec: ReviewSpec) -> Iterator[Cause]:
    """Exactly one of a resource and a path must be asked about."""
    if spec.resource_attributes is not None and spec.non_resource_attributes is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        yield invalid("spec.nonResourceAttributes", new["spec"]["nonResourceAttributes"], detail)
    if spec.resource_attributes is None and spec.non_resource_attributes is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        yield invalid("spec.resourceAttributes", None, detail)


def _self_access(new: JsonObject, _: JsonObject | None) -> Iterator[Cause]:
    return _one_action(new, read_review(new).spec)


def _access(new: JsonObject, _: JsonObject | None) -> Iterator[Cause]:
    spec = read_review(new).spec
    yield from _one_action(new, spec)
    if not spec.user and not spec.groups:
        yield invalid("spec.user", spec.user, "at least one of user or group must be specified")


def _local_access(new: JsonObject, old: JsonObject | None) -> Iterator[Cause]:
    yield from _access(new, old)
    review = read_review(new)
    resource = review.spec.resource_attributes
    if resource is not None and resource.namespace != review.metadata.namespace:
        detail = "must match metadata.namespace"
        yield invalid("spec.resourceAttributes.namespace", resource.namespace, detail)
    if review.spec.non_resource_attributes is not None:
        detail = "disallowed on this kind of request"
        yield invalid("spec.nonResourceAttributes", new["spec"]["nonResourceAttributes"], detail)


_STRINGS = parts.array(parts.string())
_EXTRA = {"type": "object", "additionalProperties": _STRINGS}

_RESOURCE_ATTRIBUTES = parts.obj(
    "An action on a resource.",
    properties={
        **{
            name: parts.string()
            for name in ("group", "name", "namespace", "resource", "subresource", "verb", "version")
        },
        "fieldSelector": parts.anything("The fields a list or watch is limited to."),
        "labelSelector": parts.anything("The labels a list or watch is limited to."),
    },
)
_PATH_ATTRIBUTES = parts.obj("An action on a path.", properties={"path": parts.string(), "verb": parts.string()})
_ACTION: Schema = {"resourceAttributes": _RESOURCE_ATTRIBUTES, "nonResourceAttributes": _PATH_ATTRIBUTES}
_USER: Schema = {"user": parts.string(), "uid": parts.string(), "groups": _STRINGS, "extra": _EXTRA}
_USER_INFO = parts.obj(
    "Who somebody is.",
    properties={"username": parts.string(), "uid": parts.string(), "groups": _STRINGS, "extra": _EXTRA},
)

_DECISION = parts.obj(
    "The answer.",
    ("allowed",),
    {
        "allowed": parts.boolean(),
        "denied": parts.boolean(),
        "reason": parts.string(),
        "evaluationError": parts.string(),
    },
)
_RULES_STATUS = parts.obj(
    "What somebody may do.",
    ("incomplete", "nonResourceRules", "resourceRules"),
    {
        "incomplete": parts.boolean(),
        "evaluationError": parts.string(),
        "resourceRules": parts.array(
            parts.obj(
                "An action that is allowed.",
                ("verbs",),
                {"apiGroups": _STRINGS, "resourceNames": _STRINGS, "resources": _STRINGS, "verbs": _STRINGS},
            )
        ),
        "nonResourceRules": parts.array(
            parts.obj("A path that is allowed.", ("verbs",), {"nonResourceURLs": _STRINGS, "verbs": _STRINGS})
        ),
    },
)


def _review(
    kind: str, plural: str, group: str, schema: Schema, *, namespaced: bool = False, rules: Json = None
) -> Resource:
    return builtin(
        kind,
        plural,
        schema,
        (),
        group=group,
        namespaced=namespaced,
        verbs=CREATE_ONLY,
        virtual=True,
        rules=rules,
    )


REVIEWS: Final = (
    _review(
        "SubjectAccessReview",
        "subjectaccessreviews",
        AUTHORIZATION,
        parts.kind("May somebody do this?", parts.obj("Who and what.", properties=_ACTION | _USER), _DECISION),
        rules=_access,
    ),
    _review(
        "SelfSubjectAccessReview",
        "selfsubjectaccessreviews",
        AUTHORIZATION,
        parts.kind("May I do this?", parts.obj("What.", properties=_ACTION), _DECISION),
        rules=_self_access,
    ),
    _review(
        "LocalSubjectAccessReview",
        "localsubjectaccessreviews",
        AUTHORIZATION,
        parts.kind("May somebody do this here?", parts.obj("Who and what.", properties=_ACTION | _USER), _DECISION),
        namespaced=True,
        rules=_local_access,
    ),
    _review(
        "SelfSubjectRulesReview",
        "selfsubjectrulesreviews",
        AUTHORIZATION,
        parts.kind("What may I do here?", parts.obj("Where.", properties={"namespace": parts.string()}), _RULES_STATUS),
    ),
    _review(
        "TokenReview",
        "tokenreviews",
        AUTHENTICATION,
        parts.kind(
            "Whose token is this?",
            parts.obj("The token.", properties={"token": parts.string(), "audiences": _STRINGS}),
            parts.obj(
                "The answer.",
                properties={
                    "authenticated": parts.boolean(),
                    "user": _USER_INFO,
                    "audiences": _STRINGS,
                    "error": parts.string(),
                },
            ),
        ),
    ),
    _review(
        "SelfSubjectReview",
        "selfsubjectreviews",
        AUTHENTICATION,
        parts.kind("Who am I?", status=parts.obj("The answer.", properties={"userInfo": _USER_INFO})),
    ),
)
