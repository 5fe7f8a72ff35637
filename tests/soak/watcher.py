"""A watch of all clusters that notes every revision it is shown, and goes on where it was after a break."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING, Final

from tests.builders import GROUP
from tests.soak.home import TROUBLE

if TYPE_CHECKING:
    from tests.hostile.stage import Hub
    from tests.soak.home import Home
    from tests.soak.ledger import Ledger

CLUSTERS: Final = f"/apis/{GROUP}/v1/managedclusters"


class Watcher:
    """Tells the ledger what a watch showed. `relisted` counts how often the server no longer knew where it was."""

    def __init__(self, home: Home, ledger: Ledger) -> None:
        self._home = home
        self._ledger = ledger
        self.relisted = 0

    async def run(self) -> None:
        at = ""
        async with await self._home.client() as hub:
            while True:
                with contextlib.suppress(*TROUBLE):
                    at = await self._follow(hub, at) if at else await self._begin(hub)
                await asyncio.sleep(0.1)

    async def _begin(self, hub: Hub) -> str:
        code, listed = await hub.send("GET", f"{CLUSTERS}?limit=1")
        if code != 200:
            return ""
        at = str(listed["metadata"]["resourceVersion"])
        self._ledger.seen.update(range(int(at) + 1))  # before our time
        return at

    async def _follow(self, hub: Hub, at: str) -> str:
        path = f"{CLUSTERS}?watch=true&allowWatchBookmarks=true&resourceVersion={at}&timeoutSeconds=60"
        with contextlib.suppress(*TROUBLE):
            async for event in hub.events(path):
                if event["type"] == "ERROR":
                    self.relisted += 1
                    return ""
                at = event["object"]["metadata"]["resourceVersion"]
                if event["type"] != "BOOKMARK":
                    self._ledger.seen.add(int(at))
        return at
