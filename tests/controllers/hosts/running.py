"""The host controllers alone beside a hub, and what the tests say to it about agents and classifications."""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from muster.client import Client, Connection
from muster.client.reflector import Reflector
from muster.controllers.hosts.controllers import HostControllers
from muster.controllers.manager import utc_now
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.events import EventRecorder
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.quarantine import Quarantine
from muster.supervision import Notes
from tests.controllers.running import PATIENCE, Driver

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine, Iterator, Sequence

    from muster.client.replies import Reply
    from tests.hub.rest.running import RunningHub

PREFIX = "inventoryclassification.agent-install.openshift.io/"
BASE = "/apis/agent-install.openshift.io/v1beta1/namespaces/apps"


class MortalClient(Client):
    """A client whose process dies at a write: just before it is sent, or when it is done and nobody knows yet."""

    def __init__(self, connection: Connection, writes: int, *, before: bool, die: Callable[[], object]) -> None:
        super().__init__(connection)
        self._left = writes
        self._before = before
        self._die = die

    async def request(self, method: str, path: str, **given: Any) -> Reply:
        self._left -= method != "GET"
        if self._left < 0 and self._before:
            await self._end()
        reply = await super().request(method, path, **given)
        if self._left < 0:
            await self._end()
        return reply

    async def _end(self) -> None:
        self._die()
        await asyncio.Event().wait()


def kill(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """End every task of the loop, again and again: a process that is killed is not asked whether it minds."""
    deadline = time.monotonic() + PATIENCE
    while thread.is_alive():
        assert time.monotonic() < deadline
        loop.call_soon_threadsafe(lambda: [each.cancel() for each in asyncio.all_tasks(loop)])
        thread.join(0.05)


class Runs(Protocol):
    async def run(self) -> None: ...


Controllers = TypeVar("Controllers", bound=Runs)


async def run_synced(
    reflectors: Sequence[Reflector], controllers: Controllers, started: Callable[[Controllers], None]
) -> None:
    """Run controllers that have seen everything once."""
    async with asyncio.TaskGroup() as tasks:
        for reflector in reflectors:
            tasks.create_task(reflector.run())
        for reflector in reflectors:
            await reflector.synced.wait()
        tasks.create_task(controllers.run())
        started(controllers)


@contextlib.contextmanager
def in_a_thread(
    run: Callable[[Callable[[Controllers], None], Callable[[], object]], Coroutine[Any, Any, None]],
    *,
    gently: bool = False,
) -> Iterator[Controllers]:
    """Controllers on a loop of their own. `run` is given whom to tell that they run, and how to die in the middle.

    They end as a crash would end them, or gently: with time to tidy up.
    """
    found: list[Controllers] = []
    ready = threading.Event()
    loop = asyncio.new_event_loop()

    def started(controllers: Controllers) -> None:
        found.append(controllers)
        ready.set()

    task = loop.create_task(run(started, lambda: task.cancel()))

    def main() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=main, name="controllers")
    thread.start()
    try:
        assert ready.wait(PATIENCE)
        yield found[0]
    finally:
        if gently:
            loop.call_soon_threadsafe(task.cancel)
            thread.join(PATIENCE)
        kill(loop, thread)
        loop.close()


@contextlib.contextmanager
def host_controllers(hub: RunningHub, dies_at: int | None = None, *, before: bool = True) -> Iterator[HostControllers]:
    """The controllers in a thread, ended as a crash would: cancelled wherever they are, or at a certain write."""

    async def run(started: Callable[[HostControllers], None], die: Callable[[], object]) -> None:
        connection = Connection(hub.url, "default", {"Authorization": f"Bearer {hub.token}"})
        writes = 10**9 if dies_at is None else dies_at
        async with MortalClient(connection, writes, before=before, die=die) as client:
            discovery = await client.discover()
            events = EventRecorder(client, "t", utc_now)
            hosts = HostControllers(client, utc_now, ControllerMetrics(), events, Quarantine(), Notes(), Unreadable())
            served = ((discovery.find(name), each) for name, each in hosts.handlers().items())
            reflectors = [Reflector(client, found, each) for found, each in served if found is not None]
            await run_synced(reflectors, hosts, started)

    with in_a_thread(run) as hosts:
        yield hosts


def add_agent(hub: Driver, name: str, inventory: dict[str, Any] | None = None, **labels: str) -> None:
    body = {
        "apiVersion": "agent-install.openshift.io/v1beta1",
        "kind": "Agent",
        "metadata": {"name": name, "labels": {key.replace("__", PREFIX): value for key, value in labels.items()}},
        "spec": {"approved": True, "role": "worker"},
    }
    hub.send("POST", f"{BASE}/agents", body)
    if inventory is not None:
        report(hub, name, inventory)


def report(hub: Driver, name: str, inventory: dict[str, Any]) -> None:
    """The host reports its hardware."""
    hub.patch(f"{BASE}/agents/{name}/status", {"status": {"inventory": inventory}})


def classify(hub: Driver, name: str, key: str, value: str, query: str) -> None:
    body = {
        "apiVersion": "agent-install.openshift.io/v1beta1",
        "kind": "AgentClassification",
        "metadata": {"name": name},
        "spec": {"labelKey": key, "labelValue": value, "query": query},
    }
    hub.send("POST", f"{BASE}/agentclassifications", body)


def requery(hub: Driver, name: str, query: str) -> None:
    hub.patch(f"{BASE}/agentclassifications/{name}", {"spec": {"query": query}})


def labels(hub: Driver, agent: str) -> dict[str, str]:
    """An agent's labels, ours without their prefix."""
    found = hub.get(f"{BASE}/agents/{agent}")["metadata"].get("labels") or {}
    return {key.removeprefix(PREFIX): value for key, value in found.items()}


def counts(hub: Driver, name: str) -> tuple[int, int] | None:
    """Matched agents and errors, when the status has been written."""
    status = hub.get(f"{BASE}/agentclassifications/{name}").get("status")
    return (status["matchedCount"], status["errorCount"]) if status else None


def message(hub: Driver, name: str, kind: str) -> str | None:
    """The text of a condition."""
    status = hub.get(f"{BASE}/agentclassifications/{name}").get("status") or {}
    return next((each["message"] for each in status.get("conditions", ()) if each["type"] == kind), None)
