"""Whatever a piece of work raises is contained: the key comes again, other keys are worked on, the process lives."""

from __future__ import annotations

import ast
import asyncio
from pathlib import Path

import pytest

import muster.controllers
from muster.client import LeadershipLostError, UnreachableError
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import keep_doing, work
from muster.errors import ApiError


class Odd(BaseException):
    """Not even an Exception."""


ERRORS = (
    KeyError("x"),
    RecursionError(),
    OverflowError(),
    MemoryError(),
    SystemExit(3),
    asyncio.CancelledError(),
    Odd(),
    ApiError(500, "", "trouble"),
    UnreachableError("server", "gone"),
    LeadershipLostError("others lead"),
    ExceptionGroup("several", [ValueError()]),
)


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_an_error_of_one_key_is_contained(error: BaseException) -> None:
    async def story() -> list[str]:
        queue: WorkQueue[str] = WorkQueue()
        done: list[str] = []

        async def reconcile(key: str) -> None:
            if key == "bad" and done.count("bad") == 0:
                done.append("bad")
                raise error
            done.append(key)

        task = asyncio.create_task(work("test", queue, reconcile, ControllerMetrics()))
        queue.add("bad")
        queue.add("good")
        async with asyncio.timeout(10):
            while sorted(done) != ["bad", "bad", "good"]:  # noqa: ASYNC110 - asked, not told
                await asyncio.sleep(0.005)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        assert task.cancelled()
        return sorted(done)

    assert asyncio.run(story()) == ["bad", "bad", "good"]


@pytest.mark.parametrize("error", ERRORS, ids=lambda each: type(each).__name__)
def test_what_is_done_for_ever_is_done_again(error: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("muster.controllers.runtime.runner._FIRST_PAUSE", 0.001)

    async def story() -> int:
        calls = 0
        enough = asyncio.Event()

        async def deed() -> float:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise error
            enough.set()
            return 0.0

        task = asyncio.create_task(keep_doing("test", deed, ControllerMetrics()))
        async with asyncio.timeout(10):
            await enough.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return calls

    assert asyncio.run(story()) >= 2


def test_a_queue_says_how_long_its_oldest_key_has_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr("muster.controllers.runtime.queue.time.monotonic", lambda: now[0])
    queue: WorkQueue[str] = WorkQueue()
    assert queue.waited == 0.0
    queue.add("a")
    now[0] += 7
    queue.add("b")
    assert queue.waited == 7.0


def test_controllers_are_given_the_guarded_client_and_make_none_of_their_own() -> None:
    """Every write of a controller goes through the fence and names a version, because there is no other client.

    The one exception is the quarantine, which must be recorded whoever leads: it gets a client without a fence.
    """
    found = []
    for file in sorted(Path(muster.controllers.__file__).parent.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name | ast.Attribute):
                name = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if name in ("Client", "GuardedClient", "ClientSession"):
                    found.append((file.name, name))
    assert sorted(found) == [
        ("asking.py", "ClientSession"),  # the hub's questions to the controllers
        ("manager.py", "Client"),  # the quarantine
        ("manager.py", "GuardedClient"),
        ("manager.py", "GuardedClient"),  # the garbage collector
        ("manager.py", "GuardedClient"),  # the registrar
        ("running.py", "Client"),  # of `muster sync`, which reads whoever leads
        ("running.py", "Client"),  # of `muster kubernetes registration`, in the same way
        ("running.py", "GuardedClient"),
        ("running.py", "GuardedClient"),
    ]
