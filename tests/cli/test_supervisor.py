"""Which ends of a process are answered by starting it again."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from muster.cli.supervisor import Part, supervise

if TYPE_CHECKING:
    from collections.abc import Sequence

READY = "import sys; print('{}', flush=True); sys.stdin.read()"


def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are Python programs given as text, instead of commands of ours."""
    start = asyncio.create_subprocess_exec

    async def python(program: str, _m: str, _muster: str, *arguments: str, **options: object) -> object:
        return await start(program, "-c", *arguments, **options)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(asyncio, "create_subprocess_exec", python)


def part(name: str, programs: Sequence[str], on_start: list[str]) -> Part:
    """A process that is another program at each start; the last one stays."""
    left = list(programs)

    def next_program() -> list[str]:
        on_start.append(name)
        return [left.pop(0) if len(left) > 1 else left[0]]

    return Part(name, next_program, lambda _: None)


async def run_until(enough: list[str], started: list[str], first: Part, second: Part) -> int:
    supervising = asyncio.create_task(supervise(first, second))
    async with asyncio.timeout(30):
        while started != enough and not supervising.done():  # noqa: ASYNC110 - processes tell no event
            await asyncio.sleep(0.02)
        await asyncio.sleep(0.5)  # in which nothing more is to happen
    if not supervising.done():
        os.kill(os.getpid(), signal.SIGTERM)
    return await supervising


@pytest.mark.e2e
def test_controllers_that_die_before_they_were_ready_are_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch)
    started: list[str] = []
    killed = "import os; os.kill(os.getpid(), 9)"
    failed = "raise SystemExit(3)"
    first, second = part("server", [READY], started), part("controllers", [killed, failed, READY], started)
    code = asyncio.run(run_until(["server", "controllers", "controllers", "controllers"], started, first, second))
    assert (code, started, second.was_ready) == (0, ["server", "controllers", "controllers", "controllers"], True)


@pytest.mark.e2e
def test_controllers_with_bad_input_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch)
    started: list[str] = []
    first, second = part("server", [READY], started), part("controllers", ["raise SystemExit(2)"], started)
    assert asyncio.run(run_until(["server", "controllers"], started, first, second)) == 0
    assert started == ["server", "controllers"]


@pytest.mark.e2e
def test_a_server_that_cannot_start_ends_everything_with_its_code(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch)
    started: list[str] = []
    first, second = part("server", ["raise SystemExit(3)"], started), part("controllers", [READY], started)
    assert asyncio.run(run_until(["server"], started, first, second)) == 3
    assert started == ["server"]
