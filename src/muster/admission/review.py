"""AdmissionReview, as a Kubernetes API server sends it to webhooks: from the request to the answer. Pure but for the
world that checks ask.

The same checks as in the hub, and the rules of the kinds that a CustomResourceDefinition cannot state.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING

import msgspec

from muster.admission.kinds import KINDS, CheckRunner, KindChecks, at_once, mutate, validate
from muster.admission.write import Asker, Finding, Write, invalid_object
from muster.api import RESOURCES
from muster.api.validation import validate_object
from muster.errors import InvalidObjectError
from muster.values.causes import bounded
from muster.values.json import Json, JsonMapping, JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime

    from muster.admission.write import Refusal, World

API_VERSION, KIND = "admission.k8s.io/v1", "AdmissionReview"


class _GroupResource(msgspec.Struct, frozen=True):
    group: str = ""
    version: str = ""
    resource: str = ""


class _UserInfo(msgspec.Struct, frozen=True):
    username: str = ""
    uid: str = ""
    groups: tuple[str, ...] = ()
    extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)


class _Request(msgspec.Struct, frozen=True, rename="camel"):
    uid: str
    resource: _GroupResource
    operation: str
    sub_resource: str = ""
    namespace: str = ""
    name: str = ""
    user_info: _UserInfo = msgspec.field(default_factory=_UserInfo)
    object: JsonObject | None = None
    old_object: JsonObject | None = None
    dry_run: bool | None = None


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    request: _Request


def write_of(review: JsonMapping, now: datetime) -> tuple[str, Write]:
    """The UID of a review and the write it is about. Raises InvalidObjectError for anything else."""
    try:
        read = msgspec.convert(review, _Review)
    except msgspec.ValidationError as error:
        raise InvalidObjectError("", f"this is not an AdmissionReview: {error}") from None
    if (read.api_version, read.kind) != (API_VERSION, KIND):
        raise InvalidObjectError("", f"expected {API_VERSION}, Kind={KIND}; got {read.api_version}, Kind={read.kind}")
    request = read.request
    about, info = request.resource, request.user_info
    resource = f"{about.resource}.{about.group}" if about.group else about.resource
    asker = Asker(info.username, info.uid, info.groups, info.extra)
    return request.uid, Write(
        request.operation,
        resource,
        about.version,
        request.namespace,
        request.name,
        request.sub_resource,
        asker,
        request.old_object,
        request.object,
        bool(request.dry_run),
        now,
    )


def mutated(review: JsonMapping, now: datetime, checks: Mapping[str, KindChecks] = KINDS) -> JsonObject:
    """The answer of a mutating webhook: a patch where a check changes something."""
    uid, write = write_of(review, now)
    finding = mutate(write, checks)
    answer = _answer(uid, finding)
    if finding.refusal is None and finding.object is not None and write.new is not None:
        patch = msgspec.json.encode(list(_difference(write.new, finding.object)))
        answer["response"] |= {"patchType": "JSONPatch", "patch": base64.b64encode(patch).decode()}
    return answer


async def validated(
    review: JsonMapping,
    world: World,
    now: datetime,
    checks: Mapping[str, KindChecks] = KINDS,
    run_check: CheckRunner = at_once,
) -> JsonObject:
    """The answer of a validating webhook."""
    uid, write = write_of(review, now)
    finding = _rules(write)
    if finding.refusal is None:
        finding = await validate(write, world, checks, run_check)
    return _answer(uid, finding)


def _rules(write: Write) -> Finding:
    """What a CustomResourceDefinition cannot say of a kind."""
    resource = RESOURCES.get(write.resource)
    version = None if resource is None else resource.version(write.version)
    if resource is None or version is None or resource.builtin or write.new is None:
        return Finding()
    causes = validate_object(resource, version, write.new, write.old, write.subresource)
    return invalid_object(causes) if causes else Finding()


def _answer(uid: str, finding: Finding) -> JsonObject:
    response: JsonObject = {"uid": uid, "allowed": finding.refusal is None}
    if finding.warnings:
        response["warnings"] = list(finding.warnings)
    if finding.refusal is not None:
        response["status"] = _status(finding.refusal)
    return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _status(refusal: Refusal) -> JsonObject:
    named, more = bounded(refusal.causes)
    message = refusal.message or ", ".join([*dict.fromkeys(str(cause) for cause in named), *([more] if more else [])])
    status: JsonObject = {"code": refusal.code, "reason": refusal.reason, "message": message}
    if named:
        status["details"] = {"causes": [cause.to_status() for cause in named]}
    return status


def _difference(old: Json, new: Json, path: str = "") -> Iterator[JsonObject]:
    """A JSON patch that makes one value of the other; lists are replaced as a whole."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in old.keys() | new.keys():
            place = f"{path}/{key.replace('~', '~0').replace('/', '~1')}"
            if key not in new:
                yield {"op": "remove", "path": place}
            elif key not in old:
                yield {"op": "add", "path": place, "value": new[key]}
            else:
                yield from _difference(old[key], new[key], place)
    elif old != new:
        yield {"op": "replace", "path": path, "value": new}
