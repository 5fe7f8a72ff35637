"""Pages of the documents typed as they stand: their commands, what they show below each, and a shell with a hub."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping


def commands(page: Path) -> Iterator[tuple[str, str]]:
    """Every command of a page with what is shown below it."""
    for block in re.findall(r"```console\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
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
    # A run of spaces is one step: a step for each would try every way to share them out before giving up.
    return re.compile(re.sub(r"(\\ )+", r"\\s+", r"[\s\S]*?".join(parts)) + r"\s*")


@contextlib.contextmanager
def shell_beside_a_hub(home: Path) -> Iterator[dict[str, str]]:
    """An environment in which `muster` is on the path and a hub runs. The hub ends well."""
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
    deadline = time.monotonic() + 120  # a machine may be busy
    while not Path(environment["KUBECONFIG"]).exists():
        assert hub.poll() is None, hub.stdout.read() if hub.stdout else ""
        assert time.monotonic() < deadline
        time.sleep(0.05)
    try:
        yield environment
    finally:
        hub.send_signal(signal.SIGINT)
        output, _ = hub.communicate(timeout=30)
    assert hub.returncode == 0, output
    assert "stopped; everything acknowledged is on disk" in output


def type_as_it_stands(page: Path, shell: Mapping[str, str], directory: Path) -> None:
    """Run every command of a page, one after the other, and compare."""
    for command, shown in commands(page):
        done = subprocess.run(
            ["bash", "-c", command],
            env=dict(shell),
            cwd=directory,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=60,
            check=False,
        )
        assert as_pattern(shown).fullmatch(done.stdout), f"$ {command}\n{done.stdout}\n--- instead of ---\n{shown}"
        assert "Traceback" not in done.stdout
