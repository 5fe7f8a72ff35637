"""Forwards requests of pages to the API server, as their user, and hands the answers back as they come.

The browser's cookies and headers stay here, the server's cookies and redirects too. Watches stream. Questions of
`fleet.muster.dev` go through `Answerer` first where there is one: a server that does not know them has none.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Protocol

import aiohttp
import msgspec
from aiohttp import web

from muster.client import UnreachableError
from muster.console.forwarded import forwarded
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from muster.client import Client
    from muster.console.sessions import Session

_SENT: Final = ("Accept", "Accept-Encoding", "Content-Type")
_HANDED_BACK: Final = ("Content-Type", "Content-Encoding", "Retry-After")
MOST_BODY: Final = 3 * 2**20
_PATIENCE: Final = 60.0


class Answerer(Protocol):
    """Answers questions about the fleet in place of a server that cannot. None: ask the server."""

    async def answer(self, plural: str, body: bytes, session: Session) -> web.Response | None: ...


@dataclass(frozen=True, slots=True)
class Forwarding:
    """The way to one API server."""

    client: Client
    answerer: Answerer | None = None

    async def forward(self, request: web.Request, session: Session, seconds: float) -> web.StreamResponse:
        """The server's answer. A watch ends after `seconds`, when the session ends."""
        path = request.rel_url.raw_path
        found = forwarded(request.method, path)
        if found is None:
            return refused(404, "NotFound", f"the console does not forward {request.method} {path[:200]}")
        body = await request.read() if request.can_read_body else None
        if found.question and self.answerer is not None:
            answer = await self.answerer.answer(found.question, body or b"", session)
            if answer is not None:
                return answer
        watches = is_watch(request)
        headers = {name: request.headers[name] for name in _SENT if name in request.headers}
        headers.setdefault("Accept-Encoding", "identity")
        if watches:
            headers["Accept-Encoding"] = "identity"  # an event is sent when it happens, not when a block is full
        if session.bearer:
            headers["Authorization"] = f"Bearer {session.bearer}"
        try:
            async with self.client.exchange(
                request.method,
                path,
                query=request.rel_url.raw_query_string,
                body=body,
                headers=headers,
                seconds=None if watches else _PATIENCE,
            ) as response:
                return await _handed_back(request, response, seconds if watches else _PATIENCE)
        except InvalidObjectError as error:
            return refused(404, "NotFound", str(error))
        except UnreachableError as error:
            return refused(502, "Unreachable", str(error))


def is_watch(request: web.Request) -> bool:
    return request.method == "GET" and request.query.get("watch", "") in ("1", "true")


async def _handed_back(request: web.Request, response: aiohttp.ClientResponse, seconds: float) -> web.StreamResponse:
    if 300 <= response.status < 400:
        return refused(502, "Redirected", "the server answered with a redirect, which the console does not follow")
    answer = web.StreamResponse(status=response.status)
    for name in _HANDED_BACK:
        if name in response.headers:
            answer.headers[name] = response.headers[name]
    for each in response.headers.getall("Warning", []):
        answer.headers.add("Warning", each)
    if (length := response.headers.get("Content-Length")) is not None:
        answer.headers["Content-Length"] = length
    answer.headers["Cache-Control"] = "no-store"
    await answer.prepare(request)
    try:
        async with asyncio.timeout(seconds):
            async for chunk in response.content.iter_any():
                await answer.write(chunk)
    except (TimeoutError, OSError, aiohttp.ClientError):
        # Half an answer must not look like a whole one: the connection ends without the end of the message.
        if request.transport is not None:
            request.transport.close()
    return answer


def refused(code: int, reason: str, message: str) -> web.Response:
    """In the manner of the API server, so that pages read one kind of refusal."""
    status = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": message}
    return web.Response(
        status=code,
        body=msgspec.json.encode({**status, "code": code}),
        content_type="application/json",
        headers={"Cache-Control": "no-store"},
    )
