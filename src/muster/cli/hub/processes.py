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
    from collections.abc import Coroutine

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


async def while_wanted(work: Coroutine[object, object, None], supervised: bool) -> None:
    """Do the work until a signal comes or, under a supervisor, until the supervisor is gone."""
    loop = asyncio.get_running_loop()
    task = asyncio.create_task(work)
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, task.cancel)
    if supervised:
        reader = asyncio.StreamReader()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        orphaned = asyncio.create_task(reader.read())
        orphaned.add_done_callback(lambda _: task.cancel())
    with contextlib.suppress(asyncio.CancelledError):
        await task
