"""A hub as users run it, in a process of its own, for the time of a run."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PATIENCE = 120.0  # seconds


@contextlib.contextmanager
def a_running_hub(folder: Path, *, controllers: bool = True) -> Iterator[Path]:
    """Start one, and give its kubeconfig. Without controllers it leaves placements and sets to somebody else's."""
    log = folder / "hub.log"
    kubeconfig = folder / "state" / "kubeconfig"
    verb = "run" if controllers else "serve"
    command = [sys.executable, "-m", "muster", "hub", verb, "--data", str(folder / "state")]
    with log.open("w") as written:
        process = subprocess.Popen(command, stdout=written, stderr=subprocess.STDOUT)
        try:
            until = time.monotonic() + PATIENCE
            while "KUBECONFIG" not in log.read_text():
                if process.poll() is not None or time.monotonic() > until:
                    raise RuntimeError(f"the hub did not start:\n{log.read_text()}")
                time.sleep(0.1)
            yield kubeconfig
        finally:
            process.terminate()
            process.wait(60)
