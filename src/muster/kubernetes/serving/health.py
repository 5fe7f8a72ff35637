"""Health and metrics of a replica, on a port of their own: `/livez`, `/readyz`, `/healthz`, `/metrics`.

Ready means that the API server can call us. How the controllers are is told by `/healthz/controllers` and by metrics,
and takes no Pod out of the Service: whoever guards permissions must stay reachable when an object brings the
controllers down, and their supervisor starts them again sooner than a kubelet would.
"""

from __future__ import annotations

import asyncio
import contextlib
import ssl
from typing import TYPE_CHECKING

from aiohttp import web

from muster.hub.rest.metrics import CONTENT_TYPE

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping

    Check = Callable[[], str | None]

_HEADERS = {"Content-Type": CONTENT_TYPE.decode()}


class Health:
    """Checks by name: what is wrong, or None. `ready` are those without which nobody should call us."""

    def __init__(
        self, ready: Mapping[str, Check], others: Mapping[str, Check], metrics: Callable[[], Awaitable[bytes]]
    ) -> None:
        self.is_stopping = False
        self._ready = ready
        self._others = others
        self._metrics = metrics

    def routes(self) -> list[web.RouteDef]:
        return [
            web.get("/livez", self._live),
            web.get("/readyz", self._readiness),
            web.get("/healthz", self._readiness),
            web.get("/healthz/{check}", self._single),
            web.get("/metrics", self._rendered),
        ]

    async def _live(self, _: web.Request) -> web.Response:
        return web.Response(text="ok")

    async def _readiness(self, request: web.Request) -> web.Response:
        stopping = {"shutdown": lambda: "this replica is stopping" if self.is_stopping else None}
        return _told({**self._ready, **stopping}, request, others=self._others)

    async def _single(self, request: web.Request) -> web.Response:
        name = request.match_info["check"]
        found = {**self._ready, **self._others}.get(name)
        return (
            web.Response(status=404, text="there is no such check") if found is None else _told({name: found}, request)
        )

    async def _rendered(self, _: web.Request) -> web.Response:
        return web.Response(body=await self._metrics(), headers=_HEADERS)


def _told(checks: Mapping[str, Check], request: web.Request, others: Mapping[str, Check] | None = None) -> web.Response:
    """As Kubernetes' own servers tell it; those that do not count are marked as such."""
    found = {name: check() for name, check in checks.items()}
    problems = {name: problem for name, problem in found.items() if problem is not None}
    lines = [f"[+]{name} ok" if problem is None else f"[-]{name} failed: {problem}" for name, problem in found.items()]
    for name, check in (others or {}).items():
        problem = check()
        lines.append(f"[+]{name} ok" if problem is None else f"[!]{name}, which does not count here: {problem}")
    if problems:
        return web.Response(status=503, text="\n".join([*lines, ""]))
    return web.Response(text="\n".join([*lines, ""]) if "verbose" in request.query else "ok")


@contextlib.asynccontextmanager
async def listening(
    routes: Iterable[web.RouteDef],
    host: str,
    port: int,
    tls: ssl.SSLContext | None = None,
    most_bytes: int = 64 * 1024,
) -> AsyncIterator[int]:
    """Serve routes while the block runs. The port that was bound."""
    application = web.Application(client_max_size=most_bytes)
    application.router.add_routes(routes)
    runner = web.AppRunner(
        application, access_log=None, handle_signals=False, shutdown_timeout=5.0, keepalive_timeout=90.0
    )
    await runner.setup()
    try:
        site = web.TCPSite(runner, host, port, ssl_context=tls, reuse_address=True)
        await site.start()
        yield int(runner.addresses[0][1])
    finally:
        await asyncio.shield(runner.cleanup())


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context
