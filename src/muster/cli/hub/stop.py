"""`muster hub stop`: ends the hub that runs in a directory of this machine."""

from __future__ import annotations

import contextlib
import os
import signal
import sys
import time
from typing import Annotated

import typer

from muster.cli.hub.directory import Data, chosen, process
from muster.cli.terminal.exits import Exit


def command(
    data: Data = None,
    wait: Annotated[
        float, typer.Option("--wait", min=0, metavar="SECONDS", help="Seconds to wait for it to end.")
    ] = 60.0,
) -> None:
    """End the hub that runs in a directory of this machine, and wait for it.

    Examples:
      muster hub stop
      muster hub stop --data hub --wait 10
    """
    directory = chosen(data)
    number = process(directory)
    if number is None:
        sys.stdout.write(f"no hub runs in {directory}\n")
        raise typer.Exit(int(Exit.NO))
    with contextlib.suppress(ProcessLookupError):
        os.kill(number, signal.SIGTERM)
    deadline = time.monotonic() + wait
    while process(directory) is not None:
        if time.monotonic() > deadline:
            sys.stdout.write(f"the hub in {directory}, process {number}, has not ended after {wait:g} s\n")
            raise typer.Exit(int(Exit.SERVER_TROUBLE))
        time.sleep(0.05)
    sys.stdout.write(f"stopped the hub in {directory}; everything acknowledged is on disk\n")
