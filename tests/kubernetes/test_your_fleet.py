"""Your real fleet: real API servers are imported, kept true, killed and upgraded; the guide is typed as it stands."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers.running import CLUSTERS
from tests.kubernetes.binaries import CHOSEN, NEWEST, OLDEST, NotBuiltError, found
from tests.kubernetes.calling import Caller
from tests.kubernetes.fleets import managed, write_kubeconfig

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.fleets import ManagedServer

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.timeout(900)]
ROOT = Path(__file__).parents[2]
GUIDE = (ROOT / "docs" / "guides" / "your-fleet.md").read_text(encoding="utf-8")
COMMANDS = re.findall(
    r"^\$ (.*?)\n(.*?)(?=^\$ |^```)",
    "\n".join(re.findall(r"```console\n(.*?```)", GUIDE, re.DOTALL)),
    re.DOTALL | re.MULTILINE,
)
FILES = re.findall(r"`(\S+\.yaml)`:\n\n```yaml\n(.*?)```", GUIDE, re.DOTALL)
AVAILABLE = "ManagedClusterConditionAvailable"
PATIENCE = 180.0


@dataclass
class Fleet:
    """Three clusters, a hub with its controllers, and a folder to type commands in."""

    servers: dict[str, ManagedServer]
    hub: Caller
    folder: Path
    binaries: Binaries
    environment: dict[str, str]

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

    def condition(self, name: str, kind: str) -> tuple[str, str] | None:
        status = self.hub.ok("GET", f"{CLUSTERS}/{name}").get("status", {})
        found = [each for each in status.get("conditions", ()) if each["type"] == kind]
        return (found[0]["status"], found[0]["reason"]) if found else None

    def decided(self, placement: str) -> list[str]:
        path = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/apps/placementdecisions"
        label = f"cluster.open-cluster-management.io%2Fplacement%3D{placement}"
        pages = self.hub.ok("GET", f"{path}?labelSelector={label}")["items"]
        return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", ()))


def eventually(question: Any, expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while (answer := question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        time.sleep(0.2)


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
        hub = Caller(folder / "hub" / "kubeconfig")
        stack.callback(hub.close)
        yield Fleet(servers, hub, here, binaries, environment)


def _older() -> Binaries | None:
    """The programs of the oldest version that we promise, if they are built."""
    if os.environ.get(CHOSEN, NEWEST) != NEWEST or os.environ.get("MUSTER_KUBERNETES_BIN"):
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


def test_the_guide_says_what_is_printed(fleet: Fleet) -> None:
    assert len(COMMANDS) >= 6
    assert len(FILES) >= 2
    for command, shown in COMMANDS:
        if "--watch" in command:
            continue  # the next test runs it
        assert plain(fleet.typed(command)) == plain(shown), command


def test_one_is_killed_and_comes_back_and_one_is_upgraded(fleet: Fleet) -> None:
    assert "sync --watch" in GUIDE
    command = [sys.executable, "-m", "muster", "sync", "--watch", "--every", "2", "--full-every", "5"]
    with _started(command, fleet.environment, fleet.folder) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "3 clusters are kept true\n"
        for name in fleet.servers:
            eventually(lambda name=name: fleet.condition(name, "Synced"), ("True", "Synced"))
        eventually(lambda: fleet.decided("everywhere"), ["east", "lab", "west"])
        fleet.servers["west"].kill()
        eventually(lambda: fleet.condition("west", AVAILABLE), ("Unknown", "ManagedClusterUnreachable"))
        assert fleet.condition("west", "Synced") == ("False", "Unreachable")
        eventually(lambda: fleet.decided("everywhere"), ["east", "lab"])
        taints = fleet.hub.ok("GET", f"{CLUSTERS}/west")["spec"]["taints"]
        assert [each["key"] for each in taints] == ["cluster.open-cluster-management.io/unreachable"]
        fleet.servers["west"].start(fleet.binaries)
        eventually(lambda: fleet.condition("west", AVAILABLE), ("True", "ManagedClusterAvailable"))
        eventually(lambda: fleet.decided("everywhere"), ["east", "lab", "west"])
        if _older() is None:
            assert fleet.decided("newest") == ["east", "lab", "west"]
            pytest.skip("an upgrade needs both versions: `make interop` builds the older one")
        assert fleet.decided("newest") == ["east", "west"]
        fleet.servers["lab"].kill()
        fleet.servers["lab"].start(fleet.binaries)
        eventually(lambda: fleet.decided("newest"), ["east", "lab", "west"])


@pytest.mark.skipif(shutil.which("bash") is None, reason="the guide is typed into bash")
def test_what_the_guide_types_is_a_shell_command() -> None:
    for command, _ in COMMANDS:
        done = subprocess.run(["bash", "-n", "-c", command], check=False, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
