"""The connection that a command's options lead to. Knows no option itself, and nothing of what is asked."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import threading
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterator

    from muster.client import Client, Connection, QuickClient

Result = TypeVar("Result")
AnyClient = TypeVar("AnyClient", "Client", "QuickClient")


def with_client(work: Callable[[Client], Awaitable[Result]], context: str | None, kubeconfig: str | None) -> Result:
    """Connect as the kubeconfig says, do the work, disconnect."""
    from muster.client import Client

    return _connected(Client, work, context, kubeconfig)


def with_quick_client(
    work: Callable[[QuickClient], Awaitable[Result]], context: str | None, kubeconfig: str | None
) -> Result:
    """The same for work that asks little and changes nothing, and is there sooner."""
    from muster.client import QuickClient

    return _connected(QuickClient, work, context, kubeconfig)


def _connected(
    client_of: Callable[[Connection], AnyClient],
    work: Callable[[AnyClient], Awaitable[Result]],
    context: str | None,
    kubeconfig: str | None,
) -> Result:
    from muster.client import KubeconfigError, load_connection

    async def connected() -> Result:
        with _awake_for_signals():
            async with client_of(await load_connection(context, kubeconfig)) as client:
                return await work(client)

    try:
        return asyncio.run(connected())
    except KubeconfigError as error:
        raise KubeconfigError(f"{error.reason}{_hint(context)}") from error


@contextlib.contextmanager
def _awake_for_signals() -> Iterator[None]:
    """Have signals wake the loop. `asyncio.run` does not see to it: Ctrl-C that comes just as the loop goes to sleep,
    or to another thread, would wait there for whatever happens next, and in a watch that may be hours."""
    if threading.current_thread() is not threading.main_thread():
        yield  # signals are none of its business
        return
    loop = asyncio.get_running_loop()
    awake, told = socket.socketpair()
    with awake, told:
        awake.setblocking(False)
        told.setblocking(False)
        before = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
        loop.add_reader(awake, awake.recv, 64)
        try:
            yield
        finally:
            loop.remove_reader(awake)
            signal.set_wakeup_fd(before)


def _hint(context: str | None) -> str:
    """What may help who has no usable kubeconfig: whose word the context is, and the hub that `make run` made here."""
    from muster.cli.settings.file import read_settings
    from muster.cli.terminal.commands import was_typed

    if context and not was_typed("context"):
        origin = "$MUSTER_CONTEXT" if "MUSTER_CONTEXT" in os.environ else read_settings().origin("context")
        return f" ({origin} names the context)"
    nearby = Path(".muster", "kubeconfig")
    if "KUBECONFIG" not in os.environ and nearby.exists():
        return f" There is a hub in this directory: export KUBECONFIG={nearby.resolve()}"
    return ""
