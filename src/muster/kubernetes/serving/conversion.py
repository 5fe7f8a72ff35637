"""ConversionReview, as a Kubernetes API server sends it for a kind that is served in several versions. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import RESOURCES
from muster.errors import InvalidObjectError
from muster.values.json import JsonMapping, JsonObject

if TYPE_CHECKING:
    from muster.api.resource import Resource, Version

API_VERSION, KIND = "apiextensions.k8s.io/v1", "ConversionReview"
_PATH: Final = "request.objects[{}]"


class _Request(msgspec.Struct, frozen=True):
    uid: str
    desiredAPIVersion: str  # noqa: N815 - the wire's name
    objects: list[JsonObject]


class _Review(msgspec.Struct, frozen=True, rename="camel"):
    api_version: str
    kind: str
    request: _Request


def converted(review: JsonMapping) -> JsonObject:
    """The answer: all objects in the version asked for, or why not. Raises InvalidObjectError for what is no review."""
    try:
        read = msgspec.convert(review, _Review)
    except msgspec.ValidationError as error:
        raise InvalidObjectError("", f"this is not a ConversionReview: {error}") from None
    if (read.api_version, read.kind) != (API_VERSION, KIND):
        raise InvalidObjectError("", f"expected {API_VERSION}, Kind={KIND}; got {read.api_version}, Kind={read.kind}")
    wanted = read.request.desiredAPIVersion
    response: JsonObject = {"uid": read.request.uid, "result": {"status": "Success"}}
    try:
        response["convertedObjects"] = [
            _in_version(each, wanted, number) for number, each in enumerate(read.request.objects)
        ]
    except InvalidObjectError as error:
        response["result"] = {"status": "Failed", "message": str(error)}
    return {"apiVersion": API_VERSION, "kind": KIND, "response": response}


def _in_version(obj: JsonObject, wanted: str, number: int) -> JsonObject:
    group, _, name = wanted.rpartition("/")
    resource, version = _kind(obj, group, name, number)
    try:
        changed = resource.to_version(obj, version)
    except (TypeError, AttributeError, ValueError, KeyError) as error:
        raise InvalidObjectError(_PATH.format(number), f"cannot be read: {error}") from None
    return {**changed, "apiVersion": wanted}


def _kind(obj: JsonObject, group: str, name: str, number: int) -> tuple[Resource, Version]:
    found = obj.get("apiVersion")
    given = found.rpartition("/")[0] if isinstance(found, str) else ""
    for resource in RESOURCES.values():
        if resource.group == group == given and resource.kind == obj.get("kind"):
            version = resource.version(name)
            if version is not None:
                return resource, version
    told = f"{found} {obj.get('kind')}"[:200]
    raise InvalidObjectError(_PATH.format(number), f"there is no way from {told} to {group}/{name}"[:400])
