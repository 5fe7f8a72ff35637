"""Every example of every `--help`, run as it stands beside a hub with the demo fleet."""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.cli.main import run
from tests.cli.tree import all_commands, examples
from tests.controllers.processes import hub_process

if TYPE_CHECKING:
    from collections.abc import Iterator

CLONE = Path(__file__).resolve().parents[2]
pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(600)]
#: Programs for Pods, and what installs them, need a Kubernetes server: tests/kubernetes runs them beside one.
ON_KUBERNETES = tuple(
    f"muster kubernetes {each}" for each in ("run", "placement", "registration", "install", "upgrade")
)
EXAMPLES = [
    line for command in all_commands().values() for line in examples(command) if not line.startswith(ON_KUBERNETES)
]
CONSOLE = "muster console"
GOES_ON = ("muster hub run", "muster hub serve", "muster hub controllers", "muster argocd serve", CONSOLE)
#: What has to come before and after: backups before what reads them, and whatever ends the hub at the end.
LATE = ("muster hub restore", "muster hub repair", "muster hub stop")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A directory as the examples assume it: the clone's examples, a fleet in files, a hub that runs."""
    folder = tmp_path_factory.mktemp("examples")
    (folder / "examples").symlink_to(CLONE / "examples")
    (folder / "hosts.json").write_text('[{"cpu": 4}, {"cpu": 16}]')
    command = folder / "bin" / "muster"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m muster "$@"\n')
    command.chmod(0o755)
    (folder / "hub").mkdir()
    with pytest.MonkeyPatch.context() as patch, hub_process(folder / "hub", "--demo") as hub:
        assert hub.process.stdout is not None
        while "Ctrl-C" not in hub.process.stdout.readline():
            assert hub.process.poll() is None, hub.log
        patch.setenv("KUBECONFIG", str(hub.kubeconfig))
        patch.setenv("PATH", f"{command.parent}{os.pathsep}{os.environ['PATH']}")
        patch.chdir(folder)
        typed("muster demo fleet -o fleet", folder)
        yield folder


def typed(line: str, folder: Path) -> tuple[int, str]:
    """The exit code, and what was said on standard error. Plain lines need no shell."""
    if any(sign in line for sign in "|<>"):
        done = subprocess.run(
            ["bash", "-c", line], cwd=folder, capture_output=True, text=True, timeout=120, check=False
        )
        return done.returncode, done.stderr
    with (folder / "out").open("w+") as out, (folder / "err").open("w+") as err:
        code = run(shlex.split(line)[1:], sys.stdin, out, err)
        err.seek(0)
        return code, err.read()


def ends(line: str) -> bool:
    return not line.startswith(GOES_ON)


def test_the_endpoint_for_argo_cd_gets_ready_and_ends(place: Path) -> None:
    """Before what ends the hub."""
    (place / "token").write_text("a-token")
    lines = [line for line in EXAMPLES if line.startswith("muster argocd serve")]
    assert len(lines) == 2
    for line in lines:
        with going_on(line, place):
            pass


def test_every_example_that_ends_runs(place: Path) -> None:
    lines = sorted(filter(ends, EXAMPLES), key=lambda line: line.startswith(LATE))
    assert len(lines) > 80
    lines.sort(key=lambda line: line.startswith("muster hub stop"))
    failed = []
    for line in lines:
        code, said = typed(line, place)
        if code not in (0, 1) or "muster: " in said:  # 1 is a no
            failed.append(f"$ {line}\n{said}[{code}]")
    assert not failed, "\n".join(failed)


@contextlib.contextmanager
def going_on(line: str, folder: Path) -> Iterator[None]:
    """A command that goes on, once it has said that it is ready."""
    # A port that somebody else may have in use is the only thing that is not typed as it stands.
    words = shlex.split(re.sub(r" --port \d+", "", line).replace("argocd serve", "argocd serve --port 0"))
    process = subprocess.Popen(
        [sys.executable, "-m", *words], cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        while True:
            said = process.stdout.readline()
            assert said, process.stderr.read()
            ready = ("export KUBECONFIG=", "controllers are running", "getparams.execute", "muster console: http")
            if any(each in said for each in ready):
                break
        yield
    finally:
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    assert process.returncode == 0, line


def test_every_example_that_goes_on_gets_ready_and_ends(tmp_path: Path) -> None:
    lines = [line for line in EXAMPLES if not ends(line) and not line.startswith(("muster argocd", CONSOLE))]
    controllers = [line for line in lines if line.startswith("muster hub controllers")]
    assert len(controllers) == 2
    for number, line in enumerate([each for each in lines if each not in controllers]):
        folder = tmp_path / str(number)
        folder.mkdir()
        with contextlib.ExitStack() as stack:
            stack.enter_context(going_on(line, folder))
            while line.startswith("muster hub serve") and controllers:
                with going_on(controllers.pop(), folder):
                    pass


def test_every_example_of_the_console_gets_ready_and_ends(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BROWSER", "true")  # the command of that name: nothing is opened
    lines = [line for line in EXAMPLES if line.startswith(CONSOLE)]
    assert len(lines) == 3
    for line in lines:
        with going_on(line, place):
            pass
