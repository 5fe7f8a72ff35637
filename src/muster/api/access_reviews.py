"""Reviews: questions about who may do what, asked by creating an object that is answered and never stored."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.builtin import builtin
from muster.api.resource import CREATE_ONLY, Resource
from muster.values.causes import Cause, invalid
from muster.values.json import Json, JsonObject, Schema

AUTHORIZATION: Final = "authorization.k8s.io"
AUTHENTICATION: Final = "authentication.k8s.io"


def _attributes(new: JsonObject) -> list[Cause]:
    """Exactly one of a resource and a path must be asked about."""
    spec = new.get("spec") or {}
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if resource is not None and path is not None:
        detail = "cannot be specified in combination with resourceAttributes"
        return [invalid("spec.nonResourceAttributes", path, detail)]
    if resource is None and path is None:
        detail = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        return [invalid("spec.resourceAttributes", None, detail)]
    return []


def _self_access(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    return _attributes(new)


def _access(new: JsonObject, _: JsonObject | None) -> list[Cause]:
    spec = new.get("spec") or {}
    causes = _attributes(new)
    if not spec.get("user") and not spec.get("groups"):
        causes.append(invalid("spec.user", spec.get("user", ""), "at least one of user or group must be specified"))
    return causes


def _local_access(new: JsonObject, old: JsonObject | None) -> list[Cause]:
    causes = _access(new, old)
    spec = new.get("spec") or {}
    asked = (spec.get("resourceAttributes") or {}).get("namespace", "")
    namespace = (new.get("metadata") or {}).get("namespace", "")
    if spec.get("resourceAttributes") is not None and asked != namespace:
        causes.append(invalid("spec.resourceAttributes.namespace", asked, "must match metadata.namespace"))
    if spec.get("nonResourceAttributes") is not None:
        detail = "disallowed on this kind of request"
        causes.append(invalid("spec.nonResourceAttributes", spec["nonResourceAttributes"], detail))
    return causes


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
