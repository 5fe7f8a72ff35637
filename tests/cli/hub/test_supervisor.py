"""Which ends of a process are answered by starting it again."""

from __future__ import annotations

import asyncio
import os
import signal
from typing import TYPE_CHECKING

import pytest

from muster.cli.hub.supervisor import Part, Watch, supervise
from muster.supervision import Vitals

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from muster.supervision import Suspect

BEGINNING = """
import sys
from pathlib import Path
if sys.stdin.readline():
    Path({begun!r}).touch()
sys.stdin.read()
"""
READY = "import sys; print('{}', flush=True); sys.stdin.read()"


def scripted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts are Python programs given as text, instead of commands of ours."""
    start = asyncio.create_subprocess_exec

    async def python(program: str, _m: str, _muster: str, *arguments: str, **options: object) -> object:
        return await start(program, "-c", *arguments, **options)  # type: ignore[arg-type]  # handed on as they came

    monkeypatch.setattr(asyncio, "create_subprocess_exec", python)


SHOWING = """
import os, sys, time
from pathlib import Path
from muster.supervision import Notes, ProcessStatus, Subject, Vitals
vitals = Vitals.open(Path({path!r}))
notes = Notes(vitals)
vitals.begin()
print("{{}}", flush=True)
with notes.evaluating(Subject("Placement", "apps", "p1", "u", 1).text()):
    {deed}
"""
HANG, SLEEP = "while True: pass", "time.sleep(1000)"
GROW = "kept = []\n    while True: kept.append(bytearray(2**22)); vitals.beat(ProcessStatus())"
STOPPED = "os.kill(os.getpid(), 19)"


async def watched(path: Path, deed: str, seconds: float, memory: int = 0) -> tuple[Watch, list[Suspect], int]:
    """Run a process that does this, for so long or until there is a suspect; how often it was started."""
    vitals, _ = Vitals.create(path)
    suspects: list[Suspect] = []
    watch = Watch(vitals, lambda suspect, _: suspects.append(suspect), patience=1.0, memory=memory)
    server = Part("server", lambda: [READY], lambda _: None)
    second = Part("controllers", lambda: [SHOWING.format(path=str(path), deed=deed)], lambda _: None, watch)
    supervising = asyncio.create_task(supervise(server, second))
    until = asyncio.get_running_loop().time() + seconds
    while not suspects and asyncio.get_running_loop().time() < until:  # noqa: ASYNC110 - processes tell no event
        await asyncio.sleep(0.05)
    starts = second.starts
    if second.process is not None and second.process.returncode is None:
        os.kill(second.process.pid, signal.SIGCONT)
    os.kill(os.getpid(), signal.SIGTERM)
    await supervising
    return watch, suspects, starts


@pytest.mark.e2e
@pytest.mark.parametrize("deed", [HANG, SLEEP])
def test_a_process_that_hangs_is_killed_and_what_it_evaluated_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, deed: str
) -> None:
    scripted(monkeypatch)
    watch, suspects, _ = asyncio.run(watched(tmp_path / "vitals", deed, 60))
    assert [str(each.subject) for each in suspects] == ["Placement apps/p1"]
    assert "made no progress for 1 s" in suspects[0].reason
    assert "no progress" in watch.vitals.signs().supervision.last


@pytest.mark.e2e
def test_a_process_that_grows_beyond_its_limit_is_killed_and_what_it_evaluated_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripted(monkeypatch)
    _, suspects, _ = asyncio.run(watched(tmp_path / "vitals", GROW, 60, memory=300 * 2**20))
    assert "more than 300 MiB" in suspects[0].reason


@pytest.mark.e2e
def test_a_process_that_somebody_has_stopped_is_left_alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    scripted(monkeypatch)
    _, suspects, starts = asyncio.run(watched(tmp_path / "vitals", f"{STOPPED}; {SLEEP}", 4))
    assert (suspects, starts) == ([], 1)


def part(name: str, programs: Sequence[str], on_start: list[str]) -> Part:
    """A process that is another program at each start; the last one stays."""
    left = list(programs)

    def next_program() -> list[str]:
        on_start.append(name)
        return [left.pop(0) if len(left) > 1 else left[0]]

    return Part(name, next_program, lambda _: None)


async def run_until(
    enough: list[str], started: list[str], first: Part, second: Part, *, ready: Part | None = None
) -> int:
    """Until so many have been started, the last of them is `ready`, and half a second more has passed."""

    def is_enough() -> bool:
        return started == enough and (ready is None or ready.was_ready)

    supervising = asyncio.create_task(supervise(first, second))
    async with asyncio.timeout(60):
        while not is_enough() and not supervising.done():  # noqa: ASYNC110 - processes tell no event
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
    enough = ["server", "controllers", "controllers", "controllers"]
    code = asyncio.run(run_until(enough, started, first, second, ready=second))
    assert (code, started, second.was_ready) == (0, enough, True)


@pytest.mark.e2e
def test_controllers_with_bad_input_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    scripted(monkeypatch)
    started: list[str] = []
    first, second = part("server", [READY], started), part("controllers", ["raise SystemExit(2)"], started)
    assert asyncio.run(run_until(["server", "controllers"], started, first, second)) == 0
    assert started == ["server", "controllers"]


@pytest.mark.e2e
def test_a_server_that_cannot_start_ends_everything_with_its_code(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripted(monkeypatch)
    started: list[str] = []
    begun = tmp_path / "begun"
    first = part("server", ["raise SystemExit(3)"], started)
    second = part("controllers", [BEGINNING.format(begun=str(begun))], started)
    assert asyncio.run(run_until(["server", "controllers"], started, first, second)) == 3
    assert not begun.exists()


@pytest.mark.e2e
def test_processes_start_side_by_side_and_begin_when_the_server_is_ready(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    scripted(monkeypatch)
    begun, may = tmp_path / "begun", tmp_path / "may"
    waits = f"import time; from pathlib import Path\nwhile not Path({str(may)!r}).exists(): time.sleep(0.02)\n"
    first = Part("server", lambda: [waits + READY], lambda _: None)
    second = Part("controllers", lambda: [BEGINNING.format(begun=str(begun))], lambda _: None)

    async def run() -> None:
        supervising = asyncio.create_task(supervise(first, second))
        async with asyncio.timeout(60):
            while second.process is None:  # noqa: ASYNC110 - processes tell no event
                await asyncio.sleep(0.02)
            await asyncio.sleep(0.3)
            assert (first.was_ready, begun.exists()) == (False, False)
            may.touch()
            while not begun.exists():  # noqa: ASYNC110
                await asyncio.sleep(0.02)
        assert (first.was_ready, second.starts) == (True, 1)
        os.kill(os.getpid(), signal.SIGTERM)
        assert await supervising == 0

    asyncio.run(run())
