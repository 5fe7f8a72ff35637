"""The hub that is soaked, and what is done to it: kills, pauses, a disk that is full for a while."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Final

import aiohttp
import yaml

from tests.controllers.processes import HubProcess
from tests.hostile.stage import Hub

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

EVENTS_LIVE: Final = 120  # seconds, so that they end while we look
TROUBLE: Final = (aiohttp.ClientError, OSError, TimeoutError)


class Home:
    """`muster hub run`, started again whenever it was killed."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.deeds: Counter[str] = Counter()
        self.hub: HubProcess

    def start(self) -> None:
        """It keeps its port, as clients expect."""
        words = [
            sys.executable,
            "-m",
            "muster",
            "hub",
            "run",
            "--data",
            str(self.directory),
            "--port",
            str(self._port()),
        ]
        words += ["--events-ttl", f"{EVENTS_LIVE}s"]
        with (self.directory.parent / "log").open("a") as log:
            process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=log, text=True)
        self.hub = HubProcess(self.directory, process)

    def _port(self) -> int:
        kubeconfig = self.directory / "kubeconfig"
        if not kubeconfig.exists():
            return 0
        server = str(yaml.safe_load(kubeconfig.read_text())["clusters"][0]["cluster"]["server"])
        return int(server.rpartition(":")[2])

    async def client(self) -> Hub:
        await until((self.directory / "kubeconfig").exists)
        config = yaml.safe_load((self.directory / "kubeconfig").read_text())
        return Hub(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"], seconds=20)

    def stop(self) -> None:
        self.hub.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.hub.process.wait(30)
        self.hub.process.kill()

    async def kill_server(self, _: random.Random) -> None:
        self.hub.kill("serve")

    async def kill_controllers(self, _: random.Random) -> None:
        self.hub.kill("controllers")

    async def pause(self, chance: random.Random) -> None:
        pid = self.hub.child(chance.choice(("serve", "controllers")))
        if pid is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGSTOP)
                await asyncio.sleep(chance.uniform(3, 8))
                os.kill(pid, signal.SIGCONT)

    async def kill_supervisor(self, _: random.Random) -> None:
        """Its children notice and end; somebody starts it again."""
        children = [self.hub.child(name) for name in ("serve", "controllers")]
        self.hub.process.kill()
        self.hub.process.wait()
        for pid in children:
            await until(lambda pid=pid: pid is None or not Path(f"/proc/{pid}").exists())  # type: ignore[misc]  # the default binds it
        self.start()

    async def fill_disk(self, _: random.Random) -> None:
        """The server's files cannot grow for a while."""
        pid = self.hub.child("serve")
        if pid is None:
            return
        unlimited = resource.RLIM_INFINITY
        with contextlib.suppress(ProcessLookupError):
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (1_000, unlimited))
            await asyncio.sleep(5)
            resource.prlimit(pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))


async def disturb(home: Home, chance: random.Random, end: float) -> None:
    """One thing after another, each as often as the others, until that moment."""
    deeds = (home.kill_server, home.kill_controllers, home.pause, home.kill_supervisor, home.fill_disk)
    turn = 0
    while time.monotonic() < end:
        deed = deeds[turn % len(deeds)]
        home.deeds[deed.__name__] += 1
        await deed(chance)
        turn += 1
        await asyncio.sleep(chance.uniform(4, 10))


async def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something outside of this process, which no event tells of."""
    for _ in range(int(seconds * 10)):
        if holds():
            return
        await asyncio.sleep(0.1)
    raise TimeoutError
