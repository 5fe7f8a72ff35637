"""/readyz of a hub tells the truth about controllers that make no progress, and `muster hub status` shows it."""

from __future__ import annotations

import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import TYPE_CHECKING

import pytest
import yaml

from muster.supervision import Vitals
from tests.controllers.processes import PATIENCE, HubProcess, hub_process

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]


def readiness(hub: HubProcess) -> tuple[int, str]:
    url = yaml.safe_load(hub.kubeconfig.read_text())["clusters"][0]["cluster"]["server"]
    context = ssl._create_unverified_context()
    try:
        with urllib.request.urlopen(f"{url}/readyz?verbose", context=context, timeout=20) as reply:
            return reply.status, reply.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read().decode()


def eventually(hub: HubProcess, is_so: Callable[[tuple[int, str]], bool]) -> tuple[int, str]:
    deadline = time.monotonic() + PATIENCE
    while not is_so(found := readiness(hub)):
        assert time.monotonic() < deadline, found
        time.sleep(0.1)
    return found


def test_controllers_that_make_no_progress_are_told_until_they_do(tmp_path: Path) -> None:
    with hub_process(tmp_path, "--controllers-patience", "4") as hub:
        assert readiness(hub)[0] == 200  # a start is ordinary
        vitals = Vitals.open(tmp_path / "controllers.vitals")
        deadline = time.monotonic() + PATIENCE
        while vitals.signs().status.state != "leading":
            assert time.monotonic() < deadline
            time.sleep(0.05)
        eventually(hub, lambda found: found[0] == 200 and "[+]controllers ok" in found[1])
        pid = vitals.signs().pid
        os.kill(pid, signal.SIGSTOP)
        _, text = eventually(hub, lambda found: found[0] == 500)
        assert "[-]controllers failed: no progress for" in text
        command = [sys.executable, "-m", "muster", "hub", "status", "--kubeconfig", str(hub.kubeconfig)]
        asked = subprocess.run(command, capture_output=True, text=True, check=False)
        assert asked.returncode == 3, asked.stderr
        assert "is not ready" in asked.stdout
        assert "controllers failed: no progress for" in asked.stdout
        os.kill(pid, signal.SIGCONT)
        eventually(hub, lambda found: found[0] == 200)
        assert hub.child("controllers") == pid  # nobody has killed it: it was only stopped
