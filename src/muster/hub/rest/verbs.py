"""One function per verb: an HTTP request on a resource becomes a call of the API machinery, its answer a Reply.

`application` has authenticated the user and found the route before. What a verb may do is decided by the machinery.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from muster.api.resource import part_verbs
from muster.hub import status
from muster.hub.objects import is_shown_as_stored
from muster.hub.requests import Target
from muster.hub.rest import query as queries
from muster.hub.rest.answers import NOT_FOUND, list_reply, object_reply
from muster.hub.rest.bodies import JSON, PROTOBUF, body_of, delete_body, patch_of, receive_body, while_there
from muster.hub.rest.negotiation import STREAM_TYPES, NotAcceptableError
from muster.hub.rest.tables import Tables, untyped_bytes
from muster.hub.write_checks import attributes_of

if TYPE_CHECKING:
    from muster.hub.requests import Answer, Attributes, ListAnswer, User, WatchStream
    from muster.hub.rest.answers import Reply
    from muster.hub.rest.bodies import Receive
    from muster.hub.rest.limits import Limits
    from muster.hub.rest.machinery import Machinery
    from muster.hub.rest.negotiation import Form
    from muster.hub.rest.query import Query
    from muster.hub.rest.routes import Route

_VERBS = {
    "GET": ("list", "get"),
    "HEAD": ("list", "get"),
    "POST": ("create", "create"),
    "PUT": ("update", "update"),
    "PATCH": ("patch", "patch"),
    "DELETE": ("deletecollection", "delete"),
}


def verb_of(method: str, route: Route, query: Query) -> str:
    """The API verb of a request; empty for a method that has none."""
    pair = _VERBS.get(method)
    if pair is None:
        return ""
    if pair[0] == "list" and (route.watch or (not route.name and queries.flag(query, "watch"))):
        return "watch"
    return pair[1] if route.name else pair[0]


class Call(msgspec.Struct, frozen=True):
    """One request on a resource, as far as HTTP is concerned."""

    user: User
    route: Route
    verb: str
    query: Query
    form: Form
    content_type: str
    user_agent: str
    receive: Receive

    def target(self, *, named: bool = True) -> Target:
        route = self.route
        name = route.name if named else ""
        return Target(route.resource, route.version, route.namespace, name, route.subresource)

    def attributes(self) -> Attributes:
        """What a role must allow."""
        return attributes_of(self.verb, self.target(named=self.verb != "create" or bool(self.route.subresource)))


class Verbs:
    """The verbs, with what they need."""

    def __init__(self, api: Machinery, tables: Tables, limits: Limits) -> None:
        self._api = api
        self._tables = tables
        self._limits = limits

    async def answer(self, call: Call) -> Reply:
        """Answer everything but a watch."""
        refusal = _refusal(call)
        if refusal is not None:
            return refusal
        match call.verb:
            case "get":
                return await self._get(call)
            case "list":
                return await self._list(call)
            case "create":
                return await self._create(call)
            case "update":
                return await self._update(call)
            case "patch":
                return await self._patch(call)
            case "delete":
                return await self._delete(call)
            case _:
                return await self._delete_collection(call)

    async def watch(self, call: Call) -> WatchStream:
        """The events of a watch, to be sent by whoever knows the connection."""
        route = call.route
        if route.subresource:  # there is nothing to watch below an object, whatever a role says of it
            raise status.not_found(route.resource.group, route.resource.plural, route.name)
        if "watch" not in route.resource.verbs:
            raise status.method_not_allowed("watch", route.resource.group, route.resource.plural)
        if call.form.media_type not in (JSON, PROTOBUF):
            raise NotAcceptableError(STREAM_TYPES)
        options = queries.watch_options(call.query, route)
        return await self._api.watch(call.user, call.target(named=False), options)

    async def _get(self, call: Call) -> Reply:
        target = call.target()
        version = queries.text(call.query, "resourceVersion") if call.query else ""
        return self._object(call, target, await self._api.get(call.user, target, version))

    async def _list(self, call: Call) -> Reply:
        target = call.target()
        answer = await self._api.list(call.user, target, queries.list_options(call.query))
        return self._items(call, target, answer)

    async def _create(self, call: Call) -> Reply:
        raw = await receive_body(call.receive, self._limits)
        # The name comes from the body; one in the path of a create means nothing, as on a real server.
        target = call.target(named=False)
        body = body_of(call.content_type, raw, target.resource)
        options = queries.write_options(call.query, call.user_agent)
        creating = self._api.create(call.user, target, body, options)
        if target.resource.virtual and not target.resource.builtin:
            return self._object(call, target, await while_there(call.receive, creating))
        return self._object(call, target, await creating)

    async def _update(self, call: Call) -> Reply:
        raw = await receive_body(call.receive, self._limits)
        target = call.target()
        body = body_of(call.content_type, raw, target.resource)
        options = queries.write_options(call.query, call.user_agent)
        return self._object(call, target, await self._api.update(call.user, target, body, options))

    async def _patch(self, call: Call) -> Reply:
        target = call.target()
        raw = await receive_body(call.receive, self._limits)
        kind, body = patch_of(call.content_type, raw, target.resource)
        options = queries.write_options(call.query, call.user_agent)
        return self._object(call, target, await self._api.patch(call.user, target, kind, body, options))

    async def _delete(self, call: Call) -> Reply:
        target = call.target()
        body = delete_body(call.content_type, await receive_body(call.receive, self._limits))
        answer = await self._api.delete(call.user, target, queries.delete_options(call.query), body)
        return self._object(call, target, answer)

    async def _delete_collection(self, call: Call) -> Reply:
        target = call.target()
        body = delete_body(call.content_type, await receive_body(call.receive, self._limits))
        selection = queries.list_options(call.query)
        options = queries.delete_options(call.query)
        answer = await self._api.delete_collection(call.user, target, selection, options, body)
        return self._items(call, target, answer)

    def _object(self, call: Call, target: Target, answer: Answer) -> Reply:
        if call.form.plain:
            return object_reply(answer.code, answer.object, call.form, answer.warnings)
        shown = self._tables.object(target, answer.object, call.form, queries.text(call.query, "includeObject"))
        return object_reply(answer.code, shown, call.form, answer.warnings)

    def _items(self, call: Call, target: Target, answer: ListAnswer) -> Reply:
        listing = self._tables.list(target, answer, call.form, queries.text(call.query, "includeObject"))
        length = None
        if call.form.plain and is_shown_as_stored(target):
            length = listing.length(len(answer.items), answer.size - untyped_bytes(target) * len(answer.items))
        return list_reply(listing, answer.size, call.form, answer.warnings, length)


def _refusal(call: Call) -> Reply | None:
    """What HTTP itself has to say against a request: paths, methods and subresources that do not go together."""
    route, resource = call.route, call.route.resource
    # Only lists and watches reach across namespaces; an object lives in one.
    if resource.namespaced and not route.namespace and call.verb != "list":
        return NOT_FOUND
    if route.subresource and route.subresource not in route.version.subresources:
        raise status.not_found(resource.group, resource.plural, route.name)
    allowed = part_verbs(route.subresource) if route.subresource else resource.verbs
    if not call.verb or call.verb not in allowed or call.verb not in resource.verbs:
        if resource.builtin:
            raise status.no_such_method()
        raise status.method_not_allowed(call.verb, resource.group, resource.plural)
    if resource.builtin and (call.verb == "create") == bool(route.name) and call.verb in ("create", "update", "patch"):
        raise status.method_not_allowed(call.verb, resource.group, resource.plural)
    if call.verb in ("update", "patch") and not route.name:
        raise status.bad_request("name must be provided")
    return None
