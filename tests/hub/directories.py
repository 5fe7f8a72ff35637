"""A hub in this process, on a directory of its own, for tests of what it makes of files and disks."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import ssl
from typing import TYPE_CHECKING, Any

import aiohttp

from muster.app import HubSettings, Running, run_hub

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


class RunningHub:
    """Asks as the administrator, unless another token is given."""

    def __init__(self, running: Running, session: aiohttp.ClientSession, token: str) -> None:
        self.running = running
        self._session = session
        self._token = token

    async def ask(self, method: str, path: str, body: Any = None, token: str | None = None) -> tuple[int, Any]:
        """Code and answer."""
        headers = {"Authorization": f"Bearer {token or self._token}"}
        async with self._session.request(method, path, json=body, headers=headers) as reply:
            text = await reply.text()
            is_json = reply.content_type == "application/json"
            return reply.status, await reply.json() if is_json else text


@contextlib.asynccontextmanager
async def running_hub(directory: Path, port: int = 0) -> AsyncIterator[RunningHub]:
    """Raises what the start raises."""
    announced: asyncio.Future[Running] = asyncio.get_running_loop().create_future()
    task = asyncio.create_task(run_hub(HubSettings(directory, port=port), announced.set_result))
    either: list[asyncio.Future[Any]] = [task, announced]
    threshold = gc.get_threshold()
    try:
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            task.result()
        running = announced.result()
        trust = ssl.create_default_context()
        trust.check_hostname, trust.verify_mode = False, ssl.CERT_NONE
        connector = aiohttp.TCPConnector(ssl=trust)
        token = (directory / "admin-token").read_text().strip()
        async with aiohttp.ClientSession(running.url, connector=connector) as session:
            yield RunningHub(running, session, token)
    finally:
        task.cancel()
        with contextlib.suppress(BaseException):
            await task
        gc.unfreeze()
        gc.set_threshold(*threshold)
