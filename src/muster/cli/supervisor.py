"""Keeps the hub's processes running: starts them, starts them again when they die, ends them together.

A child tells that it is ready by one line of JSON on its standard output. Its standard input is a pipe that we hold
open: when we are gone, however that happened, the child reads its end and stops too.
"""

from __future__ import annotations

import asyncio
import json
import logging
import signal
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from muster.cli.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_LOGGER = logging.getLogger(__name__)
_FIRST_PAUSE = 0.2
_LONGEST_PAUSE = 5.0
_STEADY = 30.0  # seconds of running after which a death is the first again
_GRACE = 15.0  # seconds that a child has to end by itself


@dataclass
class Part:
    """A process to keep running. `arguments` may depend on what has become known since, such as a port."""

    name: str
    arguments: Callable[[], Sequence[str]]
    on_ready: Callable[[dict[str, Any]], None]
    starts: int = field(default=0, init=False)
    was_ready: bool = field(default=False, init=False)
    process: asyncio.subprocess.Process | None = field(default=None, init=False)


async def supervise(first: Part, second: Part) -> int:
    """Run both until a signal comes; the second starts when the first is ready. The result is the exit code.

    A part that ends before it was ever ready, and not because it was killed, has said why. Starting the first again
    would not help then; the second is only given up when its input was bad, since its server may have been away.
    """
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop.set)
    first_ready = asyncio.Event()
    running = asyncio.create_task(_keep_running(first, stop, first_ready, lambda code: code > 0))
    dependent = asyncio.create_task(_after(first_ready, second, stop))
    stopped = asyncio.create_task(stop.wait())
    await asyncio.wait({running, stopped}, return_when=asyncio.FIRST_COMPLETED)
    stop.set()
    # Controllers first: they need the server to finish what they are doing.
    await _end(second)
    await _end(first)
    dependent.cancel()
    await asyncio.gather(running, dependent, stopped, return_exceptions=True)
    code = first.process.returncode if first.process is not None else 0
    return code if code is not None and code > 0 and not first.was_ready else 0


async def _after(ready: asyncio.Event, part: Part, stop: asyncio.Event) -> None:
    await ready.wait()
    await _keep_running(part, stop, asyncio.Event(), lambda code: code == Exit.BAD_INPUT)


async def _keep_running(
    part: Part, stop: asyncio.Event, ready: asyncio.Event, is_hopeless: Callable[[int], bool]
) -> None:
    pause = _FIRST_PAUSE
    loop = asyncio.get_running_loop()
    while not stop.is_set():
        started = loop.time()
        code = await _run_once(part, ready)
        if stop.is_set() or (not part.was_ready and is_hopeless(code)):
            return
        if loop.time() - started > _STEADY:
            pause = _FIRST_PAUSE
        _LOGGER.error("%s ended with code %s; starting it again in %.1f s", part.name, code, pause)
        await asyncio.sleep(pause)
        pause = min(pause * 2, _LONGEST_PAUSE)


async def _run_once(part: Part, ready: asyncio.Event) -> int:
    part.starts += 1
    part.process = process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "muster",
        *part.arguments(),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        start_new_session=True,  # Ctrl-C is for us; we tell the children in our order
    )
    if process.stdout is not None:
        async for line in process.stdout:
            _take(part, line, ready)
    return await process.wait()


def _take(part: Part, line: bytes, ready: asyncio.Event) -> None:
    try:
        said = json.loads(line)
    except ValueError:
        sys.stdout.write(line.decode("utf-8", "replace"))
        return
    part.was_ready = True
    ready.set()
    part.on_ready(said)


async def _end(part: Part) -> None:
    process = part.process
    if process is None or process.returncode is not None:
        return
    process.send_signal(signal.SIGTERM)
    try:
        await asyncio.wait_for(process.wait(), _GRACE)
    except TimeoutError:
        _LOGGER.error("%s did not end within %.0f s and is killed", part.name, _GRACE)  # noqa: TRY400 - no trace
        process.kill()
        await process.wait()
