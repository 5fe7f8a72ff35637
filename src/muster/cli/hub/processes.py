"""What the hub's processes have in common: until when they run, how they tell that they are ready, where they log."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import secrets
import signal
import socket
import sys
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine

Supervised = Annotated[bool, typer.Option("--supervised", hidden=True)]


def identity() -> str:
    """Who we are to other candidates: nobody else is called so, not even we after a restart."""
    return f"{socket.gethostname()}_{secrets.token_hex(8)}"


def say_ready(**facts: object) -> None:
    """Tell the supervisor."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


def log_to_stderr() -> None:
    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")


async def while_wanted(work: Callable[[], Coroutine[object, object, None]], supervised: bool) -> None:
    """Do the work until a signal comes or, under a supervisor, from when it says so until it is gone."""
    loop = asyncio.get_running_loop()
    may_begin = asyncio.Event()

    async def begin() -> None:
        await may_begin.wait()
        await work()

    task = asyncio.create_task(begin())
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    if supervised:
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        orphaned = asyncio.create_task(_follow(reader, may_begin))
        orphaned.add_done_callback(lambda _: task.cancel())
    else:
        may_begin.set()
    with contextlib.suppress(asyncio.CancelledError):
        await task


async def _follow(supervisor: asyncio.StreamReader, may_begin: asyncio.Event) -> None:
    """Until the supervisor is gone. A line of it says that what we need is there; its end comes without one."""
    if await supervisor.readline():
        may_begin.set()
    await supervisor.read()
