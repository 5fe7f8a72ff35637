"""What `muster hub run` and `serve` print when they are ready: the console's link, where the hub is, what to try."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from muster.cli.hub import first_steps

if TYPE_CHECKING:
    from muster.values.json import JsonObject

_PATIENCE: Final = 30.0  # seconds for the console to start


class Announcement:
    """Prints once, and of a demo when its first decisions are there. A restart is the log's business."""

    def __init__(self, demo: bool, port: int, console: bool = False) -> None:
        self._demo = demo
        self._said: JsonObject = {}
        self._tasks: list[asyncio.Task[None]] = []
        self._has_controllers = not demo
        self._link: asyncio.Future[str] | None = None  # of the console, the first thing that is printed
        self._has_console = console
        self.console_port = 0
        self.port = port  # that was found free at the first start: it stays

    def server_ready(self, said: JsonObject) -> None:
        self.port = int(said["url"].rpartition(":")[2])
        if self._said:
            return
        self._said = said
        if self._demo:
            sys.stdout.write(f"the API server is at {said['url']}; waiting for the first decisions …\n")
            sys.stdout.flush()
        elif self._has_console:
            self._tasks.append(asyncio.ensure_future(self._with_console("")))
        else:
            self._print("", "")

    def controllers_ready(self, _: JsonObject) -> None:
        if not self._has_controllers:
            self._has_controllers = True
            self._tasks.append(asyncio.ensure_future(self._once_decided()))

    def console_ready(self, said: JsonObject) -> None:
        """The console has a link. One that was started again has a new one, which nobody would find otherwise."""
        self.console_port = int(said["url"].rpartition(":")[2])
        link = self._expected_link()
        if link.done():
            sys.stdout.write(f"the console was started again: {said['link']}\n")
            sys.stdout.flush()
        else:
            link.set_result(said["link"])

    def _expected_link(self) -> asyncio.Future[str]:
        if self._link is None:
            self._link = asyncio.get_running_loop().create_future()
        return self._link

    async def _once_decided(self) -> None:
        found = await first_steps.decided(Path(self._said["kubeconfig"]))
        if found is None:
            sys.stdout.write("some of the demo's objects are not decided yet; the log above may say why\n")
        await self._with_console(first_steps.text())

    async def _with_console(self, more: str) -> None:
        link = ""
        if self._has_console:
            try:
                link = await asyncio.wait_for(asyncio.shield(self._expected_link()), _PATIENCE)
            except TimeoutError:
                sys.stdout.write("the console is not ready yet; its link follows when it is\n")
                self._expected_link().set_result("")
        self._print(link, more)

    def _print(self, link: str, more: str) -> None:
        path = Path(self._said["kubeconfig"]).resolve()
        console = f"open the console (the link works once): {link}\n" if link else ""
        sys.stdout.write(
            f"{console}muster hub at {self._said['url']}, {self._said['objects']} objects\n"
            f"export KUBECONFIG={path}{more}\n"
        )
        sys.stdout.flush()
