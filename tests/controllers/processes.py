"""`muster hub run` as a user runs it: a supervisor and its two processes, which a test may kill."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import aiohttp
import yaml

if TYPE_CHECKING:
    from collections.abc import Iterator

PATIENCE = 60.0
MERGE = "application/merge-patch+json"


@dataclass
class HubProcess:
    """A running hub."""

    directory: Path
    process: subprocess.Popen[str]

    @property
    def kubeconfig(self) -> Path:
        return self.directory / "kubeconfig"

    def child(self, command: str) -> int | None:
        """The process of `serve` or `controllers`."""
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit():
                continue
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except (OSError, ValueError, IndexError):
                continue
            if parent == self.process.pid and command.encode() in words:
                return int(entry.name)
        return None

    def kill(self, command: str) -> bool:
        """kill -9; whether there was something to kill."""
        pid = self.child(command)
        if pid is None:
            return False
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        return True

    @property
    def log(self) -> str:
        return (self.directory / "log").read_text()

    def client(self) -> HubClient:
        config = yaml.safe_load(self.kubeconfig.read_text())
        return HubClient(config["clusters"][0]["cluster"]["server"], config["users"][0]["user"]["token"])


class HubClient:
    """Asks until it is answered: the server may be dead for a moment."""

    def __init__(self, url: str, token: str) -> None:
        self._url = url
        self._headers = {"Authorization": f"Bearer {token}"}
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Self:
        self._session = aiohttp.ClientSession(
            headers=self._headers, connector=aiohttp.TCPConnector(ssl=False), timeout=aiohttp.ClientTimeout(total=20)
        )
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._session is not None
        await self._session.close()

    async def send(self, method: str, path: str, body: Any = None, content_type: str = "application/json") -> Any:
        """The answer. A write that was cut off is sent again, so a test sends only what may be done twice."""
        assert self._session is not None
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                headers = {"Content-Type": content_type}
                async with self._session.request(method, self._url + path, json=body, headers=headers) as reply:
                    answer = await reply.json()
                    if reply.status < 500 and reply.status != 429:
                        return answer
            except (aiohttp.ClientError, OSError, TimeoutError):
                pass
            assert time.monotonic() < deadline, f"no answer to {method} {path}"


@contextlib.contextmanager
def hub_process(
    directory: Path, *options: str, command: str = "run", module: str = "muster", **environment: str
) -> Iterator[HubProcess]:
    """A hub on a free port, stopped at the end. Its command may be `serve`, for the server alone."""
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", module, "hub", command, "--data", str(directory), *options],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, **environment},
        )
    try:
        assert process.stdout is not None
        while "export KUBECONFIG" not in (line := process.stdout.readline()):
            assert line, (directory / "log").read_text()
        yield HubProcess(directory, process)
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        finally:
            process.kill()
            if process.stdout is not None:
                process.stdout.close()
