"""What `make run` prints is typed here line by line, and does what it promises."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.cli.hub.first_steps import STEPS
from tests.controllers.processes import hub_process
from tests.e2e.pages import as_pattern, commands

if TYPE_CHECKING:
    from collections.abc import Iterator

CLONE = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed"),
]


class Terminal:
    """Another terminal, where the lines above the commands were typed."""

    def __init__(self, printed: str, folder: Path) -> None:
        self.printed = printed
        self.environment = dict(os.environ)
        for line in printed.splitlines():
            if line.startswith("export KUBECONFIG="):
                self.environment["KUBECONFIG"] = line.partition("=")[2]
        # Whoever runs the tests may not have installed the command: `muster` here is the package under test.
        command = folder / "bin" / "muster"
        command.parent.mkdir()
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m muster "$@"\n')
        command.chmod(0o755)
        self.environment["PATH"] = f"{command.parent}{os.pathsep}{self.environment['PATH']}"

    def type(self, line: str) -> str:
        done = subprocess.run(["bash", "-c", line], env=self.environment, capture_output=True, text=True, check=False)
        told_no = line.startswith("muster explain")  # it ends with 1 where the answer is no
        assert done.returncode == int(told_no), f"{line}\n{done.stdout}{done.stderr}"
        return done.stdout

    def commands(self) -> list[str]:
        return [
            line for line in self.printed.splitlines() if line.startswith(("kubectl ", "muster explain", "muster h"))
        ]


@pytest.fixture(scope="module")
def terminal(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Terminal]:
    folder = tmp_path_factory.mktemp("demo")
    with hub_process(folder, "--demo") as hub:
        assert hub.process.stdout is not None
        lines = [f"export KUBECONFIG={hub.kubeconfig}"]
        while "Ctrl-C" not in lines[-1]:
            lines.append(hub.process.stdout.readline().rstrip("\n"))
        yield Terminal("\n".join(lines), folder)


def test_the_first_example_of_the_readme_runs_in_the_clone_and_prints_what_the_page_shows(
    terminal: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "examples").symlink_to(CLONE / "examples")
    examples = [each for each in commands(CLONE / "README.md") if each[0].startswith("muster ")]
    assert len(examples) == 3
    for command, shown in examples:
        done = subprocess.run(
            ["bash", "-c", command],
            env=terminal.environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        # The page breaks long lines where the terminal would.
        assert as_pattern(shown.replace("\n", " ")).fullmatch(done.stdout.replace("\n", " ")), done.stdout + done.stderr


def _decided(terminal: Terminal) -> list[str]:
    query = "-o jsonpath='{.items[*].status.decisions[*].clusterName}'"
    label = "cluster.open-cluster-management.io/placement=checkout"
    return terminal.type(f"kubectl get placementdecisions -n apps -l {label} {query}").split()


def test_every_step_is_printed_and_runs_and_the_label_moves_the_decision(terminal: Terminal) -> None:
    typed = terminal.commands()
    expected = [command for _, each in STEPS for command in each]
    assert [line for line in typed if not line.startswith("muster hub")] == expected
    before = _decided(terminal)
    assert len(before) == 3  # the first decisions are there when the hub says what to try
    said: dict[str, str] = {}
    for command in expected:
        said[command] = terminal.type(command)
        if command.startswith("kubectl label"):
            moved = command.split()[3]
            assert moved in before
            deadline = time.monotonic() + 30
            while moved in _decided(terminal):
                assert time.monotonic() < deadline
            assert len(_decided(terminal)) == 3  # another cluster has taken its place
    explained = next(text for command, text in said.items() if command.startswith("muster explain"))
    assert ": no: " in explained
    assert "wanted platform.open-cluster-management.io in (Amazon,Azure)" in explained
    history = next(text for command, text in said.items() if command.startswith("muster history"))
    assert "label cloud" in history
    assert "Placement apps/checkout was created" in history
    assert "while no controller was running" not in history
    conflict = next(text for command, text in said.items() if "jsonpath" in command)
    assert "there is no set of operators that meets all of this" in conflict
    resolutions = said["kubectl get resolutions -n operators"]
    assert "True" in resolutions
    assert "Unsatisfiable" in resolutions
    hosts = next(text for command, text in said.items() if "get agents" in command)
    assert "large" in hosts
    assert "edge-fra" in hosts


def test_the_hub_is_found_at_the_same_port_when_it_runs_again(tmp_path: Path) -> None:
    addresses = []
    for _ in range(2):
        with hub_process(tmp_path, command="serve") as hub:
            addresses.append(next(line for line in hub.kubeconfig.read_text().splitlines() if "server:" in line))
    assert addresses[0] == addresses[1]
