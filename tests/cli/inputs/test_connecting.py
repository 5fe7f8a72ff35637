"""Commands that ask a server, and wait: they end when they are interrupted."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

KUBECONFIG = """
apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: here, user: me}}]
clusters: [{name: here, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: me, user: {token: none}}]
"""
# What the other thread does is what the kernel may do, and what happens to a loop that is just going to sleep.
WAITING = """
import asyncio, signal, sys, threading, time
from muster.cli.inputs.connecting import with_quick_client

def interrupt():
    time.sleep(0.3)
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)

async def wait(_):
    threading.Thread(target=interrupt, daemon=True).start()
    await asyncio.Event().wait()

try:
    with_quick_client(wait, None, sys.argv[1])
except KeyboardInterrupt:
    print("interrupted", signal.set_wakeup_fd(-1))
"""


def test_an_interrupt_that_nothing_notices_ends_a_command_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "kubeconfig").write_text(KUBECONFIG)
    command = [sys.executable, "-c", WAITING, str(tmp_path / "kubeconfig")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=20, check=False)
    assert (done.stdout, done.stderr) == ("interrupted -1\n", "")
