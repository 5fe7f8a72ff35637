"""The endpoint of the plugin generator: `POST /api/v1/getparams.execute` with a bearer token, and `GET /healthz`.

Answers from copies that reflectors keep, so that a poll costs the API server nothing. Before everything has been read
once, nothing is answered: an empty list would be a lie.
"""

from __future__ import annotations

import asyncio
import hmac
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

import msgspec
from aiohttp import web

from muster.argocd.copies import Copy
from muster.argocd.questions import PLACEMENT_LABEL, RefusedError, asked_in, by_expression, by_placement
from muster.client.heads import Place
from muster.client.reflector import Reflector
from muster.errors import MusterError
from muster.selection import select

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.argocd.questions import Asked
    from muster.argocd.refreshing import Refreshing
    from muster.client import Client
    from muster.values.json import JsonObject

PATH: Final = "/api/v1/getparams.execute"
_OCM: Final = "cluster.open-cluster-management.io"
_MOST_BYTES: Final = 1024 * 1024
_AT_ONCE: Final = 2  # expressions that are evaluated
_PATIENCE: Final = 25.0  # seconds; Argo CD waits for 30 unless told otherwise


@dataclass(slots=True)
class PluginService:
    """`token` gives the secret that requests must carry: a file may be another from one request to the next."""

    client: Client
    token: Callable[[], str]
    refreshing: Refreshing | None = None
    clusters: Copy = field(default_factory=Copy)
    placements: Copy = field(default_factory=Copy)
    decisions: Copy = field(default_factory=Copy)
    ready: bool = False
    _evaluating: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def run(self) -> None:
        """Keep the copies true, for ever."""
        if self.refreshing is not None:
            self.decisions = Copy(self.refreshing.changed)
        discovery = await self.client.discover()
        kinds = {"managedclusters": self.clusters, "placements": self.placements, "placementdecisions": self.decisions}
        reflectors = [Reflector(self.client, discovery.named(f"{kind}.{_OCM}"), copy) for kind, copy in kinds.items()]
        async with asyncio.TaskGroup() as tasks:
            for each in reflectors:
                tasks.create_task(each.run())
            if self.refreshing is not None:
                tasks.create_task(self.refreshing.run())
            for each in reflectors:
                await each.synced.wait()
            self.ready = True

    def application(self) -> web.Application:
        application = web.Application(client_max_size=_MOST_BYTES)
        application.router.add_post(PATH, self._execute)
        application.router.add_get("/healthz", self._health)
        return application

    async def _health(self, _: web.Request) -> web.Response:
        return web.Response(text="ok\n") if self.ready else web.Response(status=503, text="still reading\n")

    async def _execute(self, request: web.Request) -> web.Response:
        scheme, _, given = request.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or not hmac.compare_digest(given.strip().encode(), self.token().encode()):
            return _refusal(401, "a bearer token is needed, the one that --token-file has")
        try:
            answer = await self.answer(await request.read())
        except RefusedError as refused:
            return _refusal(refused.code, str(refused))
        except TimeoutError:
            return _refusal(503, f"the answer took longer than {_PATIENCE:.0f} s")
        return web.json_response(body=msgspec.json.encode({"output": {"parameters": answer}}))

    async def answer(self, body: bytes) -> list[JsonObject]:
        """The parameters of every cluster that is asked for. Raises RefusedError."""
        asked = asked_in(body)
        if not self.ready:
            raise RefusedError(503, "not everything has been read yet")
        if asked.placement:
            place = Place(asked.namespace, asked.placement)
            pages = [each for at, each in sorted(self.decisions.objects.items()) if _is_page_of(at, each, place)]
            return by_placement(asked, self.placements.objects.get(place), pages, self._cluster)
        async with asyncio.timeout(_PATIENCE), self._evaluating:
            return await asyncio.to_thread(_selected, asked, dict(self.clusters.objects))

    def _cluster(self, name: str) -> bytes | None:
        return self.clusters.objects.get(Place("", name))


class _Labelled(msgspec.Struct, frozen=True):
    labels: dict[str, str] = {}


class _Page(msgspec.Struct, frozen=True):
    metadata: _Labelled = _Labelled()


_PAGES: Final = msgspec.json.Decoder(_Page)


def _is_page_of(at: Place, encoded: bytes, placement: Place) -> bool:
    if at.namespace != placement.namespace:
        return False
    return _PAGES.decode(encoded).metadata.labels.get(PLACEMENT_LABEL) == placement.name


def _selected(asked: Asked, clusters: dict[Place, bytes]) -> list[JsonObject]:
    fleet = [msgspec.json.decode(each) for each in clusters.values()]
    try:
        found = select(fleet, asked.expression or None, labels=asked.labels or None, kind="ManagedCluster")
    except MusterError as error:
        raise RefusedError(400, str(error)) from error
    by_name = {at.name: encoded for at, encoded in clusters.items()}
    return by_expression(asked, found.names, found.failed, by_name)


def _refusal(code: int, message: str) -> web.Response:
    return web.json_response({"message": message, "error": message}, status=code)
