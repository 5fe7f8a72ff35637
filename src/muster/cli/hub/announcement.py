"""What `muster hub run` and `serve` print when they are ready: where the hub is and, of a demo, what to try."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from muster.cli.hub import first_steps

if TYPE_CHECKING:
    from muster.values.json import JsonObject


class Announcement:
    """Prints once, and of a demo when its first decisions are there. A restart is the log's business."""

    def __init__(self, demo: bool, port: int) -> None:
        self._demo = demo
        self._said: JsonObject = {}
        self._task: asyncio.Task[None] | None = None
        self.port = port  # that was found free at the first start: it stays

    def server_ready(self, said: JsonObject) -> None:
        self.port = int(said["url"].rpartition(":")[2])
        if self._said:
            return
        self._said = said
        if self._demo:
            sys.stdout.write(f"the API server is at {said['url']}; waiting for the first decisions …\n")
            sys.stdout.flush()
        else:
            self._print("")

    def controllers_ready(self, _: JsonObject) -> None:
        if self._demo and self._task is None:
            self._task = asyncio.ensure_future(self._once_decided())

    async def _once_decided(self) -> None:
        found = await first_steps.decided(Path(self._said["kubeconfig"]))
        if found is None:
            sys.stdout.write("some of the demo's objects are not decided yet; the log above may say why\n")
        self._print(first_steps.text())

    def _print(self, more: str) -> None:
        path = Path(self._said["kubeconfig"]).resolve()
        sys.stdout.write(
            f"muster hub at {self._said['url']}, {self._said['objects']} objects\nexport KUBECONFIG={path}{more}\n"
        )
        sys.stdout.flush()
