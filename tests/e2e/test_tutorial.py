"""The tutorial, typed as it stands: every command runs, and prints what the page shows."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def commands() -> Iterator[tuple[str, str]]:
    """Every command of the page with what is shown below it."""
    for block in re.findall(r"```console\n(.*?)```", TUTORIAL.read_text(encoding="utf-8"), re.DOTALL):
        command, document = "", False
        shown: list[str] = []
        for line in block.splitlines():
            if line.startswith("$ ") and not document:
                if command:
                    yield command, "\n".join(shown)
                command, shown = line[2:], []
                document = "<<EOF" in line
            elif document:
                command += "\n" + line
                document = line != "EOF"
            else:
                shown.append(line)
        yield command, "\n".join(shown)


def as_pattern(shown: str) -> re.Pattern[str]:
    """What is shown, where `…` stands for anything and columns may be wider."""
    parts = [re.escape(part) for part in re.split(r"\s*…\s*", shown)]
    return re.compile(r"[\s\S]*?".join(parts).replace(r"\ ", r"\s+") + r"\s*")


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment in which `muster` is on the path and a hub runs."""
    home = tmp_path_factory.mktemp("tutorial")
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(home),
        "XDG_DATA_HOME": str(home / "data"),
        "KUBECONFIG": str(home / "data" / "muster" / "kubeconfig"),
        "COLUMNS": "200",
    }
    hub = subprocess.Popen(
        ["muster", "hub", "run"], env=environment, cwd=home, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    deadline = time.monotonic() + 30
    while not Path(environment["KUBECONFIG"]).exists():
        assert hub.poll() is None, hub.stdout.read() if hub.stdout else ""
        assert time.monotonic() < deadline
        time.sleep(0.05)
    yield environment
    hub.send_signal(signal.SIGINT)
    output, _ = hub.communicate(timeout=30)
    assert hub.returncode == 0, output
    assert "stopped; everything acknowledged is on disk" in output


def test_every_command_of_the_tutorial_prints_what_the_page_shows(shell: dict[str, str]) -> None:
    assert len(list(commands())) > 15
    for command, shown in commands():
        done = subprocess.run(
            ["bash", "-c", command],
            env=shell,
            cwd=shell["HOME"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert as_pattern(shown).fullmatch(done.stdout), f"$ {command}\n{done.stdout}\n--- instead of ---\n{shown}"
        assert "Traceback" not in done.stdout
