"""What the controllers' process answers on loopback, and how the hub asks it. So far: metrics.

The port and a secret are in a file that only the owner of the hub's directory can read, written anew at every start.
"""

from __future__ import annotations

import asyncio
import contextlib
import hmac
import os
import secrets
from typing import TYPE_CHECKING, Final

import aiohttp
import msgspec
from aiohttp import web

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable
    from pathlib import Path

_PATIENCE: Final = 1.0  # seconds that the hub waits for the controllers
_MOST_BYTES: Final = 16 * 1024 * 1024


class _Address(msgspec.Struct, frozen=True):
    port: int
    secret: str


@contextlib.asynccontextmanager
async def serve_answers(address: Path, metrics: Callable[[], bytes]) -> AsyncIterator[None]:
    """Answer for as long as the block runs."""
    secret = secrets.token_urlsafe(32)

    async def answer(request: web.Request) -> web.Response:
        if not hmac.compare_digest(request.headers.get("Authorization", ""), f"Bearer {secret}"):
            return web.Response(status=401)
        body = await asyncio.to_thread(metrics)
        return web.Response(body=body, content_type="text/plain", charset="utf-8")

    application = web.Application()
    application.router.add_get("/metrics", answer)
    runner = web.AppRunner(application, access_log=None, handle_signals=False)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        _write(address, _Address(int(runner.addresses[0][1]), secret))
        yield
    finally:
        await asyncio.to_thread(address.unlink, missing_ok=True)
        await runner.cleanup()


async def ask_metrics(address: Path) -> bytes:
    """The controllers' metrics; nothing when they do not answer soon."""
    try:
        found = msgspec.json.decode(await asyncio.to_thread(address.read_bytes), type=_Address)
        timeout = aiohttp.ClientTimeout(total=_PATIENCE)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.get(
                f"http://127.0.0.1:{found.port}/metrics", headers={"Authorization": f"Bearer {found.secret}"}
            ) as reply,
        ):
            return await reply.content.read(_MOST_BYTES) if reply.status == 200 else b""
    except (OSError, msgspec.MsgspecError, aiohttp.ClientError, TimeoutError):
        return b""


def _write(path: Path, address: _Address) -> None:
    draft = path.with_name(f"{path.name}.new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.json.encode(address))
    draft.replace(path)
