"""client-go by a small program of ours (`informer`): informers, server-side apply, a dynamic client, leader election.

The program does everything once and writes a line of JSON per verb; the cells are read from these lines.
"""

from __future__ import annotations

import json
import subprocess
from functools import partial
from pathlib import Path

from tests.clients.matrix import CannotBeHadError, Client
from tests.differential.building import NoGoError, build

HERE = Path(__file__).parent


def client_go(kubeconfig: Path) -> Client:
    try:
        program = build(HERE / "informer")
    except (NoGoError, RuntimeError, OSError, subprocess.CalledProcessError) as error:
        raise CannotBeHadError(str(error)) from None
    done = subprocess.run([str(program), str(kubeconfig)], capture_output=True, text=True, timeout=300, check=False)
    said = {line["verb"]: line["error"] for line in map(json.loads, done.stdout.splitlines())}
    if not said:
        raise CannotBeHadError(f"the program said nothing: {done.stderr[-500:]}")
    return Client("client-go", {verb: partial(_judged, error) for verb, error in said.items()})


def _judged(error: str) -> None:
    assert not error, error
