"""A console over an API server that is only a recorder: what it is asked, and what it is told to answer."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Self

import aiohttp
from aiohttp import web
from yarl import URL

from muster.client import Client, Connection
from muster.console.entrance import SECRET_HEADER
from muster.console.server import ConsoleSettings, Ready, run_console

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping

    from muster.console.forwarding import Answerer

TOKEN: Final = "the-token-of-the-kubeconfig"
CLUSTERS: Final = "/apis/cluster.open-cluster-management.io/v1/managedclusters"
QUESTION: Final = "/apis/fleet.muster.dev/v1alpha1/fleetevaluations"
PUBLIC: Final = "https://fleet.example.com"


@dataclass
class ApiServer:
    """Records requests; `answer` makes the next answers."""

    requests: list[web.Request] = field(default_factory=list)
    answer: Callable[[web.Request], Awaitable[web.StreamResponse]] | None = None
    url: str = ""

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.requests.append(request)
        if self.answer is not None:
            return await self.answer(request)
        return web.json_response({"path": request.path}, headers={"Set-Cookie": "server=1", "Audit-Id": "x"})


class Browser:
    """Sends requests to the console; after `enter`, with both secrets and our origin."""

    def __init__(self, session: aiohttp.ClientSession, ready: Ready, host: str) -> None:
        self._session = session
        self.ready = ready
        self.host = host
        self.origin = PUBLIC if host == "fleet.example.com" else f"http://{host}"
        self.cookie = ""
        self.secret = ""

    async def enter(self, **given: str) -> int:
        body = given or {"link": self.ready.link.rpartition("=")[2]}
        status, headers, _ = await self.send("POST", "/session", json=body, secrets=False)
        if status == 200:
            self.cookie = headers["Set-Cookie"].partition(";")[0]
        return status

    async def send(
        self,
        method: str,
        path: str,
        *,
        json: object = None,
        data: bytes | None = None,
        headers: Mapping[str, str | None] | None = None,
        secrets: bool = True,
    ) -> tuple[int, Mapping[str, str], str]:
        sent: dict[str, str | None] = {"Host": self.host, "Origin": self.origin}
        if secrets:
            sent |= {"Cookie": self.cookie, SECRET_HEADER: self.secret}
        sent |= dict(headers or {})
        kept = {name: text for name, text in sent.items() if text is not None}
        url = URL(f"http://{self.address}{path}", encoded=True)
        async with self._session.request(
            method, url, json=json, data=data, headers=kept, allow_redirects=False
        ) as answer:
            text = await answer.text()
            if path == "/session" and method == "POST" and answer.status == 200:
                self.secret = (await answer.json())["secret"]
            return answer.status, answer.headers, text

    async def code(self, method: str, path: str, **given: Mapping[str, str | None] | bool) -> int:
        return (await self.send(method, path, **given))[0]  # type: ignore[arg-type]

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.ready.port}"

    def stream(self, path: str) -> contextlib.AbstractAsyncContextManager[aiohttp.ClientResponse]:
        headers = {"Host": self.host, "Cookie": self.cookie, SECRET_HEADER: self.secret}
        return self._session.get(f"http://{self.address}{path}", headers=headers)

    def other(self) -> Self:
        """Another browser, which has nothing."""
        return type(self)(self._session, self.ready, self.host)


@contextlib.asynccontextmanager
async def api_server() -> AsyncIterator[ApiServer]:
    recorder = ApiServer()
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", recorder.handle)
    runner = web.AppRunner(application, shutdown_timeout=0.1)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        recorder.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        yield recorder
    finally:
        await runner.cleanup()


@contextlib.asynccontextmanager
async def console(
    server: ApiServer, settings: ConsoleSettings | None = None, answerer: Answerer | None = None
) -> AsyncIterator[Browser]:
    chosen = settings or ConsoleSettings()
    headers = {} if chosen.public else {"Authorization": f"Bearer {TOKEN}"}
    ready: asyncio.Future[Ready] = asyncio.get_running_loop().create_future()
    async with Client(Connection(server.url, headers=headers)) as client, plain_session() as session:
        serving = asyncio.create_task(run_console(chosen, client, ready.set_result, answerer))
        try:
            found = await asyncio.wait_for(ready, 10)
            browser = Browser(session, found, "fleet.example.com" if chosen.public else found.url.partition("//")[2])
            yield browser
        finally:
            serving.cancel()
            await asyncio.gather(serving, return_exceptions=True)


def plain_session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(cookie_jar=aiohttp.DummyCookieJar())


def run(
    story: Callable[[ApiServer, Browser], Coroutine[None, None, None]], settings: ConsoleSettings | None = None
) -> None:
    """A story with a browser that is in, unless it is the ingress, where each says who he is."""

    async def told() -> None:
        async with api_server() as server, console(server, settings) as browser:
            if settings is None or not settings.public:
                assert await browser.enter() == 200
                server.requests.clear()
            await story(server, browser)

    asyncio.run(told())
