"""The console's server: checks every request at the entrance, then sends a page, begins a session, or forwards.

On loopback it is opened by a one-time link and speaks to the API server as the kubeconfig's user. Behind an ingress it
is opened by a bearer token, which stays in the sealed cookie, and speaks as whom that token belongs to.
"""

from __future__ import annotations

import asyncio
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from muster.client import UnreachableError
from muster.console.conversion import objects_of, yaml_of
from muster.console.entrance import Entrance, Refusal, loopback_origins
from muster.console.files import HEADERS, INDEX, load_files
from muster.console.forwarding import MOST_BODY, Forwarding, is_watch, refused
from muster.console.sessions import Links, Session, Sessions
from muster.errors import MusterError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from muster.client import Client
    from muster.console.files import File
    from muster.console.forwarding import Answerer

_WHO: Final = "/apis/authentication.k8s.io/v1/selfsubjectreviews"
_GRACE: Final = 1.0
_SESSION: Final = web.RequestKey("session", Session)
_REASONS: Final = {401: "Unauthorized", 403: "Forbidden", 421: "Misdirected", 502: "Unreachable"}


class ConsoleError(MusterError):
    """The console cannot be served so."""


@dataclass(frozen=True, slots=True)
class ConsoleSettings:
    """Where the console listens, and who gets in."""

    host: str = "127.0.0.1"
    port: int = 0
    public: str = ""  # the URL behind an ingress, whose login is a bearer token; empty on loopback
    idle: float = 8 * 3600.0  # seconds without use after which a session ends
    key: bytes | None = None  # what sessions are sealed with; replicas share it
    context: str = ""  # what the server is called, for people


@dataclass(frozen=True, slots=True)
class Ready:
    """A console that answers."""

    url: str  # where browsers find it
    link: str  # the same with what begins a session, once
    port: int  # where it listens


class _Login(msgspec.Struct, frozen=True):
    """What begins a session: a one-time link's key, or a token."""

    link: str = ""
    token: str = ""


class Console:
    """The pages and what they may ask. Everything it needs is given."""

    def __init__(
        self, settings: ConsoleSettings, entrance: Entrance, client: Client, answerer: Answerer | None = None
    ) -> None:
        self.links = Links()
        self._settings = settings
        self._entrance = entrance
        self._client = client
        self._forwarding = Forwarding(client, answerer)
        self._files = load_files()

    def application(self) -> web.Application:
        application = web.Application(middlewares=[self._enter], client_max_size=MOST_BODY)
        application.router.add_route("GET", "/healthz", _healthy)
        application.router.add_route("*", "/session", self._session)
        application.router.add_route("POST", "/session/link", self._new_link)
        application.router.add_route("POST", "/yaml", self._convert)
        for prefix in ("/api/{path:.*}", "/apis", "/apis/{path:.*}", "/version"):
            application.router.add_route("*", prefix, self._forward)
        application.router.add_route("GET", "/{path:.*}", self._page)
        application.on_response_prepare.append(self._dress)
        return application

    async def _dress(self, request: web.Request, answer: web.StreamResponse) -> None:
        """What every answer carries: the rules for browsers and, where somebody used his session, that it goes on."""
        answer.headers.update(HEADERS)
        answer.headers.pop("Server", None)
        if self._is_public:
            answer.headers["Strict-Transport-Security"] = "max-age=31536000"
        session = request.get(_SESSION)
        if session is not None and (cookie := self._entrance.sessions.renewed(session)) is not None:
            self._set_cookie(answer, cookie)

    @web.middleware
    async def _enter(
        self, request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
    ) -> web.StreamResponse:
        refusal = None if request.path == "/healthz" else self._entrance.wrong_host(request.headers)
        if refusal is not None:
            return _refused(refusal)
        try:
            return await handler(request)
        except web.HTTPException as error:
            return refused(error.status, error.reason, f"{error.reason}: {request.method} {request.path[:200]}")

    async def _page(self, request: web.Request) -> web.StreamResponse:
        file = self._files.get(request.path)
        if file is None:
            if request.path.startswith(("/static/", "/third_party/")):
                return refused(404, "NotFound", f"there is no file {request.path[:200]}")
            file = self._files[INDEX]
        return _sent(file, request.headers)

    async def _session(self, request: web.Request) -> web.StreamResponse:
        """POST begins one, GET says what it is about, DELETE ends it."""
        if (foreign := self._entrance.wrong_origin(request.method, request.headers)) is not None:
            return _refused(foreign)
        if request.method == "POST":
            return await self._begin(request)
        found = self._entrance.session(request.headers, request.cookies)
        if request.method == "DELETE":
            answer = web.Response(status=204)
            answer.del_cookie(self._entrance.cookie, path="/", secure=self._is_public, httponly=True, samesite="Strict")
            return answer
        if isinstance(found, Refusal):
            return self._unknown(found)
        connection = self._client.connection
        facts = {"server": connection.server, "context": self._settings.context, "namespace": connection.namespace}
        request[_SESSION] = found
        return _facts({**facts, "login": self._login})

    async def _begin(self, request: web.Request) -> web.StreamResponse:
        try:
            given = msgspec.json.decode(await request.read(), type=_Login)
        except msgspec.MsgspecError:
            return refused(400, "BadRequest", "send the link's key or a token")
        if self._is_public:
            if (refusal := await self._token_problem(given.token)) is not None:
                return _refused(refusal)
        elif not self.links.use(given.link):
            return refused(403, "Used", "this link has been used, or the console was started again since")
        begun = self._entrance.sessions.begin(given.token if self._is_public else "")
        if begun is None:
            return refused(400, "BadRequest", "the token is too long for a cookie")
        answer = _facts({"secret": begun.secret})
        self._set_cookie(answer, begun.cookie)
        return answer

    async def _token_problem(self, token: str) -> Refusal | None:
        """Whether the API server knows the token: asked before anything is kept."""
        if not token.isascii() or not token.isprintable() or not token.strip():
            return Refusal(401, "a token is one line of letters and digits")
        body = msgspec.json.encode({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"})
        headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        try:
            async with self._client.exchange("POST", _WHO, body=body, headers=headers) as response:
                known = response.status < 300 or response.status == 404  # a server that cannot say lets others refuse
        except UnreachableError as error:
            return Refusal(502, str(error))
        return None if known else Refusal(401, "the server does not know this token")

    async def _new_link(self, request: web.Request) -> web.StreamResponse:
        """A link for another browser, from one that is in."""
        found = self._admitted(request)
        if isinstance(found, Refusal):
            return self._unknown(found)
        if self._is_public:
            return refused(404, "NotFound", "log in there with a token")
        return _facts({"link": f"{request.headers['Origin']}/#enter={self.links.new()}"})

    async def _convert(self, request: web.Request) -> web.StreamResponse:
        found = self._admitted(request)
        if isinstance(found, Refusal):
            return self._unknown(found)
        body = await request.read()
        fresh = {"Cache-Control": "no-store"}
        if request.content_type == "application/yaml":
            answer = msgspec.json.encode(objects_of(body))
            return web.Response(body=answer, content_type="application/json", headers=fresh)
        try:
            return web.Response(body=yaml_of(body), content_type="application/yaml", headers=fresh)
        except msgspec.MsgspecError as error:
            return refused(400, "BadRequest", str(error))

    async def _forward(self, request: web.Request) -> web.StreamResponse:
        found = self._admitted(request)
        if isinstance(found, Refusal):
            return self._unknown(found)
        return await self._forwarding.forward(request, found, self._entrance.sessions.remaining(found))

    def _admitted(self, request: web.Request) -> Session | Refusal:
        """Who asks. A window that is only left open does not keep its session: watches do not count as use."""
        foreign = self._entrance.wrong_origin(request.method, request.headers)
        found = foreign or self._entrance.session(request.headers, request.cookies)
        if isinstance(found, Session) and not is_watch(request):
            request[_SESSION] = found
        return found

    def _set_cookie(self, answer: web.StreamResponse, cookie: str) -> None:
        answer.set_cookie(
            self._entrance.cookie, cookie, path="/", httponly=True, samesite="Strict", secure=self._is_public
        )

    def _unknown(self, refusal: Refusal) -> web.Response:
        """A refusal, with how to get in."""
        answer = _refused(refusal)
        answer.headers["X-Muster-Login"] = self._login
        return answer

    @property
    def _is_public(self) -> bool:
        return bool(self._settings.public)

    @property
    def _login(self) -> str:
        return "token" if self._is_public else "link"


async def run_console(
    settings: ConsoleSettings,
    client: Client,
    announce: Callable[[Ready], None],
    answerer: Answerer | None = None,
) -> None:
    """Serve until cancelled."""
    try:
        listening = socket.create_server((settings.host, settings.port), family=_family(settings.host))
    except OSError as error:
        where = f"{settings.host}:{settings.port}"
        raise ConsoleError(f"{where} cannot be listened on: {error.strerror}; choose another --port") from None
    port: int = listening.getsockname()[1]
    origins = frozenset({settings.public.lower()}) if settings.public else loopback_origins(port)
    cookie = "__Host-muster" if settings.public else f"muster-{port}"
    entrance = Entrance(origins, cookie, Sessions(settings.idle, settings.key))
    console = Console(settings, entrance, client, answerer)
    runner = web.AppRunner(console.application(), access_log=None, handler_cancellation=True, shutdown_timeout=_GRACE)
    await runner.setup()
    try:
        await web.SockSite(runner, listening).start()
        url = settings.public or f"http://{'[::1]' if settings.host == '::1' else '127.0.0.1'}:{port}"
        announce(Ready(url, url if settings.public else f"{url}/#enter={console.links.new()}", port))
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _sent(file: File, headers: Mapping[str, str]) -> web.Response:
    """A file, or that the browser has it: it asks each time, and is told in a line."""
    facts = {"ETag": file.etag, "Cache-Control": "no-cache", "Vary": "Accept-Encoding"}
    if file.etag in headers.get("If-None-Match", ""):
        return web.Response(status=304, headers=facts)
    facts["Content-Type"] = file.type
    if "gzip" in headers.get("Accept-Encoding", ""):
        return web.Response(body=file.compressed, headers={**facts, "Content-Encoding": "gzip"})
    return web.Response(body=file.plain, headers=facts)


def _refused(refusal: Refusal) -> web.Response:
    return refused(refusal.code, _REASONS.get(refusal.code, ""), refusal.message)


def _facts(facts: Mapping[str, str]) -> web.Response:
    return web.json_response(dict(facts), headers={"Cache-Control": "no-store"})


async def _healthy(_: web.Request) -> web.Response:
    return web.Response(text="ok")
