"""The hub as an ASGI application: authenticates, routes, answers. `app` builds it, `server` runs it.

Plain ASGI with a path split instead of a router, because this code runs for every request. Order of business:
health and version for anybody; credentials; then discovery, OpenAPI and metrics, or a verb on a resource.
"""

from __future__ import annotations

import base64
import binascii
import contextlib
import logging
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Protocol

import msgspec
from starlette.websockets import WebSocket

from muster.hub import status
from muster.hub.auth.authentication import Authentication, path_attributes, wants_to_act
from muster.hub.rest import query as queries
from muster.hub.rest import scaling
from muster.hub.rest.answers import Reply, answered, audit_id, send_reply, status_reply
from muster.hub.rest.bodies import ClientGoneError
from muster.hub.rest.connections import ANSWER, CLOSED, WRITE
from muster.hub.rest.deadlines import Deadlines
from muster.hub.rest.fixed_paths import FixedPaths
from muster.hub.rest.identity import Identity
from muster.hub.rest.limits import Limits
from muster.hub.rest.metrics import Metrics
from muster.hub.rest.negotiation import form_of, prettier, takes_only_protobuf
from muster.hub.rest.protobuf_kinds import KINDS
from muster.hub.rest.request_record import RequestRecord, audit_entry
from muster.hub.rest.scaling import Scaling
from muster.hub.rest.served import ServedDocuments
from muster.hub.rest.tables import Tables
from muster.hub.rest.verbs import Call, Verbs, verb_of
from muster.hub.rest.watching import PROTOCOLS, Watches
from muster.values.json import Json
from muster.values.limits import named

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, MutableMapping

    from muster.hub.audit import AuditLog
    from muster.hub.requests import Authenticator, Authorizer, User, WatchStream
    from muster.hub.rest.answers import Send
    from muster.hub.rest.bodies import Receive
    from muster.hub.rest.machinery import Machinery
    from muster.hub.rest.subresources import Descriptions, SubresourceDescription
    from muster.hub.rest.watching import Hold, Write

    Scope = MutableMapping[str, Json]
    Headers = dict[bytes, bytes]

_log = logging.getLogger(__name__)
_BEARER_PROTOCOL = "base64url.bearer.authorization.k8s.io."
_LONGEST_AGENT = 1024  # its beginning names the manager of fields; the rest is for the audit log
_TRY_AGAIN_LATER = 1013  # the code of WebSocket for a server that is too busy


class Subresource(Protocol):
    """Answers requests on a subresource that is more than a part of its object, such as serviceaccounts/token."""

    @property
    def described(self) -> SubresourceDescription | None:
        """What discovery and OpenAPI say of it, if anything."""

    async def answer(self, call: Call, limits: Limits) -> Reply: ...


class Application:
    """The ASGI callable."""

    def __init__(
        self,
        api: Machinery,
        authenticator: Authenticator,
        authorizer: Authorizer,
        *,
        authentication: Authentication | None = None,
        audit: AuditLog | None = None,
        subresources: Mapping[tuple[str, str], Subresource] | None = None,
        identity: Identity | None = None,
        limits: Limits | None = None,
        metrics: Metrics | None = None,
        checks: Mapping[str, Callable[[], str | None]] | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.limits = limits or Limits()
        self.metrics = metrics or Metrics()
        self._authentication = authentication or Authentication(authenticator, authorizer)
        self._audit = audit
        self._subresources = subresources or {}
        self._documents = ServedDocuments(api.kinds, _descriptions(self._subresources))
        self._scaling = Scaling(api)
        tables = Tables(clock)
        self._verbs = Verbs(api, tables, self.limits)
        self.watches = Watches(self.limits, self.metrics, tables)
        self._in_flight = 0
        self._deadlines = Deadlines(self.limits.request_seconds)
        self._fixed_paths = FixedPaths(
            self._documents,
            identity or Identity(),
            self.metrics,
            authorizer,
            checks or {},
            lambda: self.watches.stopping,
        )
        self.metrics.gauge(
            "apiserver_current_inflight_requests", "Requests being answered now.", lambda: self._in_flight
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        kind = scope["type"]
        if kind == "http":
            await self._http(scope, receive, send)
        elif kind == "websocket":
            await self._websocket(scope, receive, send)
        elif kind == "lifespan":
            await _lifespan(receive, send)

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = time.perf_counter()
        headers: Headers = dict(scope["headers"])
        record = RequestRecord()
        audit = audit_id()
        extensions = scope.get("extensions", {})
        answer = extensions.pop(ANSWER, None)  # it knows the request, which would know itself and stay behind
        try:
            reply = await self._reply(scope, headers, receive, send, record, audit)
            if reply is None:  # a watch, which has been served
                return
            seconds = time.perf_counter() - started
            release = _nothing
            # Only what was asked for can be refused: a write has happened by now.
            if scope["method"] == "GET" and record.known is not None and reply.holds:
                try:
                    release = await self._authentication.hold(record.known, reply.holds)
                except status.StatusError as error:
                    self.metrics.refused.labels("unread answers").inc()
                    reply = status_reply(error)
            self.metrics.observe(record.counted, reply.code, seconds)
            if self._audit is not None:
                self._record(scope, record, reply, seconds, audit)
            if scope["method"] == "HEAD":
                reply = Reply(reply.code, b"", reply.content_type, reply.headers, reply.cache)
            try:
                if answer is None or not answered(answer, reply, audit):
                    accepts = headers.get(b"accept-encoding", b"")
                    await send_reply(send, reply, accepts, audit, extensions.get(CLOSED, _is_here))
            finally:
                release()
        finally:
            self._leave(record)

    async def _reply(
        self, scope: Scope, headers: Headers, receive: Receive, send: Send, record: RequestRecord, audit: bytes
    ) -> Reply | None:
        """The answer, whatever happens. None for a watch, or when nobody is left to answer."""
        started = time.perf_counter()
        watching = False
        try:
            if self._in_flight >= self.limits.requests_in_flight:
                self.metrics.refused.labels("in flight").inc()
                return status_reply(_too_many(self.limits.requests_in_flight))
            self._in_flight += 1
            try:
                if b"timeout=" in scope["query_string"]:
                    queries.check_timeout(scope["query_string"])
                reply = self._fixed_paths.without_credentials(scope)
                if reply is None:
                    reply = await self._answer(scope, headers, receive, record)
            finally:
                self._in_flight -= 1
            if reply is not None:
                return reply
            assert record.call is not None  # noqa: S101 - only a watch has no reply
            assert record.known is not None  # noqa: S101 - identified before
            self._leave(record)  # from now on it counts as a watch
            with self._authentication.watching(record.known):
                stream = await self._opened(record.call)
                release = await self._held(record.known, stream)
                try:
                    if self._audit is not None:
                        self._record(scope, record, Reply(200, b""), time.perf_counter() - started, audit)
                    watching = True
                    write = scope.get("extensions", {}).get(WRITE) if scope["method"] == "GET" else None
                    hold = partial(self._authentication.hold, record.known)
                    await self._watch(record.call, stream, send, hold, write)
                finally:
                    release()
            self.metrics.observe(record.counted, 200, None)
        except status.StatusError as error:
            if not watching:
                return status_reply(error, protobuf=takes_only_protobuf(headers.get(b"accept", b"")))
            # Too much of what was sent to this user is not read. The client lists again, as after any lost connection.
            self.metrics.refused.labels("unread answers").inc()
            await send({"type": "http.response.body", "body": b""})
        except ClientGoneError:
            return None
        except TimeoutError:
            return status_reply(_took_too_long(self.limits.request_seconds))
        except Exception:
            # A bug of ours. The client learns that it happened and where to find it, not how the hub is built.
            _log.exception("request %s failed: %s %s", audit.decode(), scope["method"], scope["path"])
            if watching:
                raise
            return status_reply(status.internal_error(f"unexpected failure, see the hub's log for {audit.decode()}"))
        return None

    async def _held(self, user: User, stream: WatchStream) -> Callable[[], None]:
        """Room for the events that a watch begins with, given back when they have been sent. Raises 429."""
        try:
            release = await self._authentication.hold(user, stream.holds)
        except status.StatusError:
            self.metrics.refused.labels("unread answers").inc()
            stream.close()
            raise
        stream.begun = release
        return release

    def _leave(self, record: RequestRecord) -> None:
        """The request no longer counts among those its user has under way."""
        if record.known is not None and record.entered is not None:
            self._authentication.leave(record.known, record.entered)
            record.entered = None

    async def _answer(self, scope: Scope, headers: Headers, receive: Receive, record: RequestRecord) -> Reply | None:
        """The answer to anything but a watch, which has none."""
        known = record.known = record.user = await self._authentication.identify(scope)
        record.entered = self._authentication.enter(known, headers)
        call = await self._called(scope, headers, receive, record)
        if call is None:
            return await self._fixed_paths.answer(scope, headers, record.user)
        if call.verb == "watch":
            return None
        with self._deadlines.enforced() as deadline:
            deadline.begins()
            special: Subresource | Scaling | None
            special = self._subresources.get((call.route.resource.key, call.route.subresource))
            if call.route.subresource == scaling.NAME and call.route.name and call.route.version.scale is not None:
                special = self._scaling
            return await (self._verbs.answer(call) if special is None else special.answer(call, self.limits))

    async def _called(self, scope: Scope, headers: Headers, receive: Receive, record: RequestRecord) -> Call | None:
        """The verb and resource that are asked for, by the user the request acts as."""
        assert record.user is not None  # noqa: S101 - identified before
        call = self._call(scope, headers, record.user, receive)
        if call is None:
            record.what = (scope["method"].lower(), "", "", "", "")
        else:
            resource = call.route.resource
            # Metrics are kept for ever, so that nothing a client makes up may be part of their names.
            subresource = call.route.subresource
            if subresource and (resource.key, subresource) not in self._subresources:
                known = (scaling.NAME, *call.route.version.subresources)
                subresource = subresource if subresource in known else "other"
            record.what = (call.verb, resource.group, call.route.version.name, resource.plural, subresource)
            record.custom = resource.custom
        if wants_to_act(headers):
            attributes = path_attributes(scope["method"], scope["path"]) if call is None else call.attributes()
            record.user = await self._authentication.acting_user(record.user, scope, attributes)
            if call is not None:
                call = msgspec.structs.replace(call, user=record.user)
        record.call = call
        return call

    def _record(self, scope: Scope, record: RequestRecord, reply: Reply, seconds: float, audit: bytes) -> None:
        """Have the request written to the audit log, if that wants it."""
        log = self._audit
        if log is not None and log.wants(record.what[0], record.what[3], reply.code, acting=record.acting):
            if record.known is None and reply.code not in (401, 403, 429):
                return  # health and version, asked by nobody in particular
            log.record(audit_entry(scope, record, reply, seconds, audit))

    def _call(self, scope: Scope, headers: Headers, user: User, receive: Receive) -> Call | None:
        route = self._documents.routes.find(scope["path"])
        if route is None:
            return None
        query = queries.parse_query(scope["query_string"])
        user_agent = headers.get(b"user-agent", b"")[:_LONGEST_AGENT].decode("latin-1")
        known = (route.resource.group, route.resource.kind) in KINDS
        accept = headers.get(b"accept", b"").decode("latin-1")
        form = form_of(accept, protobuf=known, tables=not route.resource.virtual)
        return Call(
            user,
            route,
            verb_of(scope["method"], route, query),
            query,
            prettier(form, queries.text(query, "pretty") if query else "", user_agent),
            headers.get(b"content-type", b"").decode("latin-1"),
            user_agent,
            receive,
        )

    # --- Watches ---------------------------------------------------------------------------------------

    async def _opened(self, call: Call) -> WatchStream:
        with self.watches.admitted():
            return await self._verbs.watch(call)

    async def _watch(self, call: Call, stream: WatchStream, send: Send, hold: Hold, write: Write | None) -> None:
        include = queries.text(call.query, "includeObject")
        await self.watches.http(stream, call.target(named=False), call.form, include, call.receive, send, hold, write)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        with contextlib.ExitStack() as held:
            await self._websocket_watch(scope, receive, send, held)

    async def _websocket_watch(self, scope: Scope, receive: Receive, send: Send, held: contextlib.ExitStack) -> None:
        socket = WebSocket(scope, receive, send)
        offered: list[str] = list(scope.get("subprotocols", ()))
        headers: Headers = dict(scope["headers"])
        # Browsers cannot set a header here; they offer the token as a protocol.
        tokens = [each.removeprefix(_BEARER_PROTOCOL) for each in offered if each.startswith(_BEARER_PROTOCOL)]
        scope["method"] = "GET"
        record = RequestRecord()
        started = time.perf_counter()
        audit = audit_id()
        try:
            token = _unpadded(tokens[0]).decode("latin-1") if len(tokens) == 1 else None
            record.known = record.user = await self._authentication.identify(scope, token)
            call = await self._called(scope, headers, receive, record)
            if call is None or call.verb != "watch":
                await socket.close()  # before it is accepted: 403
                return
            held.enter_context(self._authentication.watching(record.known))
            stream = await self._opened(call)
            held.callback(await self._held(record.known, stream))
            if self._audit is not None:
                self._record(scope, record, Reply(200, b""), time.perf_counter() - started, audit)
        except status.StatusError as error:
            reply = status_reply(error)
            if self._audit is not None:
                self._record(scope, record, reply, time.perf_counter() - started, audit)
            head = {
                "type": "websocket.http.response.start",
                "status": reply.code,
                "headers": [(b"content-type", reply.content_type)],
            }
            await send(head)
            await send({"type": "websocket.http.response.body", "body": reply.body})
            return
        protocol = next((name for name in PROTOCOLS if name in offered), "")
        await socket.accept(subprotocol=protocol or None)
        include = queries.text(call.query, "includeObject")
        hold = partial(self._authentication.hold, record.known)
        try:
            await self.watches.websocket(stream, call.target(named=False), call.form, include, socket, protocol, hold)
        except status.StatusError:  # too much of what was sent to this user is not read
            self.metrics.refused.labels("unread answers").inc()
            await socket.close(_TRY_AGAIN_LATER)


def _descriptions(subresources: Mapping[tuple[str, str], Subresource]) -> Descriptions:
    found: Descriptions = {}
    for (resource, _), subresource in subresources.items():
        if subresource.described is not None:
            found.setdefault(resource, []).append(subresource.described)
    return found


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        if message["type"] == "lifespan.startup":
            await send({"type": "lifespan.startup.complete"})
        elif message["type"] == "lifespan.shutdown":
            await send({"type": "lifespan.shutdown.complete"})
            return


def _unpadded(text: str) -> bytes:
    try:
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    except (ValueError, binascii.Error):
        return b""


def _nothing() -> None:
    """What gives back room that was not needed."""


def _is_here() -> bool:
    """For servers that do not tell whether a client is gone."""
    return False


def _too_many(limit: int) -> status.StatusError:
    text = f"Too many requests, please try again later: more than {limit} under way ({named('requests in flight')})"
    return status.StatusError(429, "TooManyRequests", text, {"retryAfterSeconds": 1})


def _took_too_long(seconds: float) -> status.StatusError:
    text = f"Timeout: request did not complete within the allotted timeout of {seconds:g} seconds"
    return status.StatusError(504, "Timeout", text, {})
