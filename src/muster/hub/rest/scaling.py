"""The scale subresource of custom kinds: how many replicas there are and are wanted, as autoscaling/v1 Scale.

`application` hands requests on `…/scale` here for kinds whose definition says where these numbers are. What is written
is the object; the Scale is only a view of it.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

from muster.api.codec import encode
from muster.hub import status
from muster.hub.bodies import copied, read_patch
from muster.hub.custom.objects import nested
from muster.hub.patches.json_patch import JsonPatchError, json_patched
from muster.hub.patches.merge import merge_patched
from muster.hub.requests import Answer, MalformedBodyError, PatchType
from muster.hub.rest import query as queries
from muster.hub.rest.answers import object_reply
from muster.hub.rest.bodies import body_of, patch_of, receive_body
from muster.values.json import Json, JsonObject

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.api.resource import Scale
    from muster.hub.requests import Body
    from muster.hub.rest.answers import Reply
    from muster.hub.rest.limits import Limits
    from muster.hub.rest.machinery import Machinery
    from muster.hub.rest.verbs import Call

NAME: Final = "scale"
_API_VERSION: Final = "autoscaling/v1"
_PATCHES: Final = (PatchType.JSON, PatchType.MERGE, PatchType.STRATEGIC)


class Scaling:
    """Answers requests on scale."""

    def __init__(self, api: Machinery) -> None:
        self._api = api

    async def answer(self, call: Call, limits: Limits) -> Reply:
        target = call.target()
        paths = target.version.scale
        assert paths is not None  # noqa: S101 - routed by it
        resource = target.resource
        if call.verb == "get":
            answer = await self._api.get(call.user, target)
            shown = scale_of(answer.decoded(), paths)
            if shown is None:
                text = f'the spec replicas field "{paths.spec_replicas}" does not exist'
                raise status.internal_error(text)
            return object_reply(200, encode(shown), call.form, answer.warnings)
        if call.verb not in ("update", "patch"):
            raise status.method_not_allowed(call.verb, resource.group, resource.plural)
        raw = await receive_body(call.receive, limits)
        if call.verb == "update":
            body = body_of(call.content_type, raw, resource)
            change: Callable[[JsonObject], Json] = partial(_replaced, body)
        else:
            kind, body = patch_of(call.content_type, raw, resource)
            if kind not in _PATCHES:
                raise status.unsupported_media_type(each.value for each in _PATCHES)
            change = partial(_patched, kind, body)
        options = queries.write_options(call.query, call.user_agent)
        rescaled = partial(_rescaled, change, paths, patching=call.verb == "patch")
        written = await self._api.rescale(call.user, target, call.verb, rescaled, options, body)
        return self._reply(call, written, paths)

    def _reply(self, call: Call, written: Answer, paths: Scale) -> Reply:
        shown = scale_of(written.decoded(), paths) or {}
        return object_reply(written.code, encode(shown), call.form, written.warnings)


def scale_of(obj: JsonObject, paths: Scale) -> JsonObject | None:
    """The Scale of an object; None when it does not say how many replicas are wanted."""
    wanted, said, _ = nested(obj, paths.spec_replicas)
    if not said:
        return None
    return _view(obj, paths, wanted)


def _view(obj: JsonObject, paths: Scale, wanted: Json) -> JsonObject:
    present, there, _ = nested(obj, paths.status_replicas)
    metadata = obj["metadata"]
    names = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
    counted: JsonObject = {"replicas": present if there else 0}
    if paths.selector:
        selector, there, _ = nested(obj, paths.selector)
        if there and selector:
            counted["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": _API_VERSION,
        "metadata": {name: metadata[name] for name in names if name in metadata},
        "spec": {"replicas": wanted} if wanted else {},
        "status": counted,
    }


def _rescaled(change: Callable[[JsonObject], Json], paths: Scale, live: JsonObject, *, patching: bool) -> JsonObject:
    """The object with the number of replicas that a changed Scale wants. Raises 400."""
    wanted, said, _ = nested(live, paths.spec_replicas)
    scale = change(_view(live, paths, wanted if said else None))
    if not isinstance(scale, dict) or scale.get("kind") not in (None, "", "Scale"):
        raise status.bad_request(f"wrong object passed to Scale update: {scale}")
    spec = scale.get("spec")
    replicas = spec.get("replicas") if isinstance(spec, dict) else None
    if replicas is None and patching and not said:
        raise status.bad_request(f'the spec replicas field "{paths.spec_replicas}" cannot be empty')
    replicas = 0 if replicas is None else replicas
    if isinstance(replicas, bool) or not isinstance(replicas, int):
        raise status.bad_request(
            'Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal '
            f"{type(replicas).__name__} into Go struct field ScaleSpec.spec.replicas of type int32"
        )
    obj = copied(live)
    *above, last = paths.spec_replicas.removeprefix(".").split(".")
    place = obj
    for name in above:
        place = place.setdefault(name, {})
    place[last] = replicas
    metadata = scale.get("metadata")
    revision = metadata.get("resourceVersion") if isinstance(metadata, dict) else None
    if revision:
        obj["metadata"]["resourceVersion"] = revision
    return obj


def _replaced(body: Body, _: JsonObject) -> Json:
    try:
        return body.read().value
    except MalformedBodyError as error:
        raise status.bad_request(f"couldn't get version/kind; json parse error: {error.reason}") from None


def _patched(kind: PatchType, body: Body, scale: JsonObject) -> Json:
    patch = read_patch(body).value
    if kind is not PatchType.JSON:
        if not isinstance(patch, dict):
            raise status.bad_request("error decoding patch: a patch of a Scale is an object")
        return merge_patched(scale, patch)
    try:
        return json_patched(scale, patch)
    except JsonPatchError:
        raise status.unprocessable_patch() from None
