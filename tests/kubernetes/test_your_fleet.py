"""Your real fleet, one story: real API servers are imported and kept true, one dies and comes back, one is upgraded,
one joins by the real agent of Open Cluster Management. The guide is typed as it stands; what happens outside of the
shell stands in it in bold, and is done here. The sections follow each other on one fleet.
"""

from __future__ import annotations

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.clients.ocm_agent import agent, set_up
from tests.clients.raw import Raw
from tests.e2e.pages import as_pattern
from tests.kubernetes.binaries import CHOSEN, NEWEST, OLDEST, NotBuiltError, found
from tests.kubernetes.fleets import managed, write_kubeconfig
from tests.kubernetes.guests import OCM_AGENT, named_program

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.fleets import ManagedServer

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(
        os.environ.get(CHOSEN, NEWEST) != NEWEST,
        reason="the guide's clusters have the newest version: `make kubernetes`",
    ),
]
ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "your-fleet.md").read_text(encoding="utf-8")
FILES = re.findall(r"`(\S+\.yaml)`:\n\n```yaml\n(.*?)```", GUIDE, re.DOTALL)
DIES, UPGRADED, JOINS = "One dies, and comes back", "One is upgraded", "One joins by itself"
PATIENCE = 180.0
_STEP = re.compile(r"\*\*(?P<deed>[^*]+)\*\*|```console\n(?P<typed>.*?)```", re.DOTALL)
_COMMAND = re.compile(r"^\$ (.*?)\n(.*?)(?=^\$ |\Z)", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Step:
    """A command with what is shown below it; or a deed, which is a sentence."""

    text: str
    shown: str | None = None


def steps(*headings: str) -> Iterator[Step]:
    """What some sections say, in order; without headings, all but those of the story."""
    for section in GUIDE.split("\n## ")[1:]:
        heading = section.partition("\n")[0]
        if heading not in headings if headings else heading in (DIES, UPGRADED, JOINS):
            continue
        for part in _STEP.finditer(section):
            if part["deed"]:
                yield Step(part["deed"])
            else:
                yield from (Step(*each) for each in _COMMAND.findall(part["typed"]))


@dataclass
class Fleet:
    """Three clusters, a hub with its controllers, and a folder to type commands in."""

    servers: dict[str, ManagedServer]
    folder: Path
    binaries: Binaries
    environment: dict[str, str]

    def follow(self, *headings: str, deeds: Mapping[str, Callable[[], object]] | None = None) -> None:
        """Type what some sections say, and do what they say is done."""
        left = dict(deeds or {})
        for step in steps(*headings):
            if step.shown is None:
                left.pop(step.text)()
            elif "--watch" not in step.text:  # that one goes on: it has a fixture
                said = plain(self.typed(step.text))
                shown = as_pattern(plain(step.shown))
                assert shown.fullmatch(said), f"$ {step.text}\n{said}\n--- instead of ---\n{step.shown}"
        assert not left

    def typed(self, command: str) -> str:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
            timeout=300,
        )
        return done.stdout


@pytest.fixture(scope="module")
def fleet(binaries: Binaries, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    folder = tmp_path_factory.mktemp("fleet")
    bin_folder = folder / "bin"
    bin_folder.mkdir()
    (bin_folder / "muster").symlink_to(Path(sys.executable).parent / "muster")
    here = folder / "here"
    here.mkdir()
    environment = {
        **os.environ,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "KUBECONFIG": str(folder / "hub" / "kubeconfig"),
        "HOME": str(folder),
    }
    old = _older() or binaries
    with contextlib.ExitStack() as stack:
        servers = {}
        for name, arch in (("east", "amd64"), ("west", "amd64"), ("lab", "arm64")):
            programs = old if name == "lab" else binaries
            servers[name] = stack.enter_context(managed(name, programs, folder / name))
            servers[name].add_node(f"{name}-1", arch, "4")
        write_kubeconfig(here / "clusters.kubeconfig", list(servers.values()))
        for name, text in FILES:
            (here / name).write_text(text)
        stack.enter_context(_running_hub(folder / "hub", environment))
        yield Fleet(servers, here, binaries, environment)


@pytest.fixture(scope="module")
def watched(fleet: Fleet) -> Iterator[Fleet]:
    """The command of the guide that goes on, typed where its section begins."""
    (watching,) = [step for step in steps(DIES) if "--watch" in step.text]
    with _started(shlex.split(watching.text), fleet.environment, fleet.folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == watching.shown
        yield fleet


def _older() -> Binaries | None:
    """The programs of the oldest version that we promise, if they are built."""
    if os.environ.get("MUSTER_KUBERNETES_BIN"):
        return None
    os.environ[CHOSEN] = OLDEST
    try:
        return found()
    except NotBuiltError:
        return None
    finally:
        os.environ[CHOSEN] = NEWEST


@contextlib.contextmanager
def _running_hub(folder: Path, environment: dict[str, str]) -> Iterator[None]:
    command = [sys.executable, "-m", "muster", "hub", "run", "--data", str(folder), "--no-console"]
    with _started(command, environment) as process:
        assert process.stdout is not None
        deadline = time.monotonic() + PATIENCE
        while "export KUBECONFIG" not in process.stdout.readline():
            assert process.poll() is None
            assert time.monotonic() < deadline
        yield


@contextlib.contextmanager
def _started(
    command: list[str], environment: dict[str, str], folder: Path | None = None
) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(command, env=environment, cwd=folder, stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        process.send_signal(signal.SIGTERM)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()


def plain(text: str) -> str:
    """Without what is another in every run: versions, ports, times."""
    text = re.sub(r"v1\.\d+\.\d+", "v1.N.N", text)
    return re.sub(r"127\.0\.0\.1:\d+", "127.0.0.1:PORT", text)


def test_clusters_are_imported_used_and_kept_true(fleet: Fleet) -> None:
    assert len(list(steps())) >= 10
    assert len(FILES) >= 2
    fleet.follow()


def test_one_dies_and_comes_back(watched: Fleet) -> None:
    west = watched.servers["west"]
    deeds = {
        "The API server of `west` is stopped.": west.kill,
        "The API server of `west` is started again.": lambda: west.start(watched.binaries),
    }
    watched.follow(DIES, deeds=deeds)


def test_one_is_upgraded(watched: Fleet) -> None:
    if _older() is None:
        pytest.skip("an upgrade needs both versions: `make interop` builds the older one")
    lab = watched.servers["lab"]

    def upgrade() -> None:
        lab.kill()
        lab.start(watched.binaries)

    sentence = "The API server of `lab` is replaced by one of the version of the others."
    watched.follow(UPGRADED, deeds={sentence: upgrade})


def test_one_joins_by_the_real_agent(watched: Fleet, tmp_path: Path) -> None:
    program = Path(named_program(OCM_AGENT))
    with contextlib.ExitStack() as stack:
        edge = stack.enter_context(managed("edge", watched.binaries, tmp_path / "edge"))
        set_up(Raw(edge.kubeconfig))
        bootstrap = watched.folder / "bootstrap.kubeconfig"

        def start() -> None:
            stack.enter_context(agent(program, edge, bootstrap, tmp_path, "edge"))

        sentence = "The agent of `edge` is started with this kubeconfig to begin with."
        watched.follow(JOINS, deeds={sentence: start})


@pytest.mark.skipif(shutil.which("bash") is None, reason="the guide is typed into bash")
def test_what_the_guide_types_is_a_shell_command() -> None:
    typed = [step.text for step in (*steps(), *steps(DIES, UPGRADED, JOINS)) if step.shown is not None]
    assert len(typed) > 20
    for command in typed:
        done = subprocess.run(["bash", "-n", "-c", command], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
