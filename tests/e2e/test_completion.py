"""Tab: what bash is told as it runs, what zsh and fish are told in their own words, beside a hub and without one."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Self

import msgspec
import pytest

from tests.builders import a_cluster
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.e2e
PATIENCE = 60.0
GROUP = "/apis/cluster.open-cluster-management.io"


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """An environment with `muster` on the path and a hub with a few objects."""
    folder = tmp_path_factory.mktemp("completion")
    command = folder / "bin" / "muster"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m muster "$@"\n')
    command.chmod(0o755)
    with running_hub() as hub:
        headers = {"Content-Type": "application/json"}
        for name in ("tab-a", "tab-b", "other"):
            body = msgspec.json.encode(a_cluster(name, {"cloud": "Amazon"}))
            code, _, _ = hub.request("POST", f"{GROUP}/v1/managedclusters", body, headers)
            assert code == 201
        namespace = msgspec.json.encode({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "tabs"}})
        assert hub.request("POST", "/api/v1/namespaces", namespace, headers)[0] == 201
        path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
        kubeconfig = str(hub.kubeconfig(folder / "kubeconfig"))
        yield {**os.environ, "PATH": path, "HOME": str(folder), "KUBECONFIG": kubeconfig}


def bash(words: list[str], environment: Mapping[str, str]) -> list[str]:
    """What bash offers for the last word, with the script that we print."""
    line = " ".join(f"'{word}'" for word in words)
    script = (
        f"source <(muster completion bash); COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
        '_muster_completion muster; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        env=dict(environment),
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=True,
    )
    assert done.stderr == ""
    return done.stdout.split()


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["muster", "sel"], ["select"]),
        (["muster", "hub", "st"], ["stop", "status"]),
        (["muster", "get", "placementd"], ["placementdecisions", "placementdecisions.multicluster.x-k8s.io"]),
        (["muster", "get", "placements,managedclustersetb"], ["placements,managedclustersetbindings"]),
        (["muster", "get", "managedclusters", "tab"], ["tab-a", "tab-b"]),
        (["muster", "get", "managedclusters", "tab-a", "tab"], ["tab-b"]),
        (["muster", "get", "managedcluster/oth"], ["managedcluster/other"]),
        (["muster", "delete", "mcl", "oth"], ["other"]),
        (["muster", "get", "placements", "-n", "tab"], ["tabs"]),
        (["muster", "get", "placements", "--context", ""], ["hub"]),
        (["muster", "get", "mcl", "-l", "clo"], ["cloud"]),
        (["muster", "get", "mcl", "-o", ""], ["json", "name", "table", "wide", "yaml"]),
        (["muster", "get", "mcl", "--output", "=", "y"], ["yaml"]),
        (["muster", "explain", "cluster", "tab"], ["tab-a", "tab-b"]),
        (["muster", "cel", "eval", "--env", "kubernetes-1.28"], ["kubernetes-1.28"]),
        (["muster", "completion", "z"], ["zsh"]),
        (["muster", "get", "mcl", "--all-n"], ["--all-namespaces"]),
        (["muster", "apply", "-f", "any"], []),  # files are the shell's
        (["muster", "jq", ".a", "any"], []),
    ],
)
def test_bash_is_told_what_can_come_next(words: list[str], expected: list[str], shell: dict[str, str]) -> None:
    assert bash(words, shell) == expected


def test_a_key_press_completes_in_a_terminal(shell: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "my-objects.yaml").write_text("")
    with Terminal(["bash", "--norc", "-i"], shell, tmp_path) as terminal:
        terminal.type("PS1='> '; source <(muster completion bash); echo begin\n", until="begin\r\n")
        terminal.type("muster vers\t", until="muster version ")
        terminal.type("--cl\t", until="--client ")
        terminal.type("\n", until="muster 0")
        terminal.type("muster get managedclusters oth\t", until="managedclusters other ")
        terminal.type("-o na\t\n", until="managedclusters.cluster.open-cluster-management.io/other")
        terminal.type("muster apply -f my-o\t", until="my-objects.yaml ")


def test_zsh_is_told_in_its_own_words(shell: dict[str, str]) -> None:
    asked = {"_MUSTER_COMPLETE": "complete_zsh", "_TYPER_COMPLETE_ARGS": "muster get managedclusters tab"}
    assert protocol(shell, asked) == '_arguments \'*: :(("tab-a"\n"tab-b"))\'\n'
    assert protocol(shell, {**asked, "_TYPER_COMPLETE_ARGS": "muster apply -f x"}) == "_files\n"
    told = protocol(shell, {**asked, "_TYPER_COMPLETE_ARGS": "muster hub sto"})
    assert told == '_arguments \'*: :(("stop":"End the hub that runs in a directory of this machine."))\'\n'
    script = subprocess.run(
        ["muster", "completion", "zsh"], env=shell, capture_output=True, text=True, check=True
    ).stdout
    assert script.startswith("#compdef muster")
    assert "complete_zsh muster" in script


def test_fish_is_told_in_its_own_words(shell: dict[str, str]) -> None:
    asked = {
        "_MUSTER_COMPLETE": "complete_fish",
        "_TYPER_COMPLETE_ARGS": "muster hub sto",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    assert protocol(shell, asked) == "stop\tEnd the hub that runs in a directory of this machine.\n"
    script = subprocess.run(
        ["muster", "completion", "fish"], env=shell, capture_output=True, text=True, check=True
    ).stdout
    assert script.startswith("complete --command muster")


def test_the_scripts_are_taken_by_the_shells_that_are_there(shell: dict[str, str]) -> None:
    lines = {
        "bash": "source <(muster completion bash)",
        "zsh": "autoload -Uz compinit && compinit -u; source <(muster completion zsh)",
        "fish": "muster completion fish | source",
    }
    for name in filter(shutil.which, lines):
        done = subprocess.run(
            [name, "-c", lines[name]], env=shell, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        assert (name, done.returncode, done.stderr) == (name, 0, "")


@pytest.mark.parametrize("kubeconfig", ["/nowhere", "nobody-there", "broken"])
def test_without_a_server_there_is_silence(kubeconfig: str, shell: dict[str, str], tmp_path: Path) -> None:
    text = Path(shell["KUBECONFIG"]).read_text()
    (tmp_path / "nobody-there").write_text("\n".join(_elsewhere(line) for line in text.splitlines()))
    (tmp_path / "broken").write_text("{")
    away = {**shell, "KUBECONFIG": str(tmp_path / kubeconfig)}
    for words in (["muster", "get", "pla"], ["muster", "get", "mcl", "-n", ""], ["muster", "get", "mcl", "-l", "a"]):
        assert bash(words, away) == []
    assert bash(["muster", "vers"], away) == ["version"]


def test_a_broken_settings_file_does_not_disturb_the_prompt(shell: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "config.yaml").write_text("nosuch: 1\n")
    assert bash(["muster", "get", "mcl", "oth"], {**shell, "MUSTER_CONFIG": str(tmp_path / "config.yaml")}) == ["other"]


@pytest.mark.parametrize("name", ["bash", "zsh", "fish"])
def test_completion_imports_neither_an_http_library_nor_what_makes_values(name: str) -> None:
    program = (
        "import sys; from muster.cli.main import run; run([], sys.stdin, sys.stderr, sys.stderr);"
        "heavy = {'aiohttp', 'pydantic', 'numpy', 'uvicorn', 'rich', 'muster.cel', 'muster.hub'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    asked = {
        "_MUSTER_COMPLETE": f"complete_{name}",
        "COMP_WORDS": "muster get placements ",
        "COMP_CWORD": "3",
        "_TYPER_COMPLETE_ARGS": "muster g",
        "_TYPER_COMPLETE_FISH_ACTION": "get-args",
    }
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"


def _elsewhere(line: str) -> str:
    key, colon, _ = line.partition("server:")
    return f"{key}{colon} https://127.0.0.1:9" if colon else line


def protocol(environment: Mapping[str, str], asked: Mapping[str, str]) -> str:
    done = subprocess.run(
        ["muster"], env={**environment, **asked}, capture_output=True, text=True, timeout=PATIENCE, check=True
    )
    assert done.stderr == ""
    return done.stdout


class Terminal:
    """A program at a terminal."""

    def __init__(self, command: list[str], environment: Mapping[str, str], folder: Path) -> None:
        self._master, slave = pty.openpty()
        self._process = subprocess.Popen(
            command,
            stdin=slave,
            stdout=slave,
            stderr=slave,
            cwd=folder,
            env={**environment, "TERM": "dumb", "INPUTRC": os.devnull},
            start_new_session=True,
        )
        os.close(slave)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._master)

    def type(self, keys: str, *, until: str) -> None:
        """Press keys, and read until something stands there."""
        os.write(self._master, keys.encode())
        seen = ""
        deadline = time.monotonic() + PATIENCE
        while until not in seen:
            assert time.monotonic() < deadline, seen
            if select.select([self._master], [], [], 1.0)[0]:
                seen += os.read(self._master, 65536).decode(errors="replace")
