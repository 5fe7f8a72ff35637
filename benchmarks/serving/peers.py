"""API servers under load: ours, and a kube-apiserver with its etcd. Both durable, with TLS, admission and audit."""

from __future__ import annotations

import base64
import os
import signal
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import yaml
from tests.differential.building import NoGoError
from tests.kubernetes.audit import audited
from tests.kubernetes.binaries import built, version_of
from tests.kubernetes.calling import Caller
from tests.kubernetes.installing import apply_all, crds, eventually
from tests.kubernetes.server import running

from benchmarks._processes import cpu_of, resident

if TYPE_CHECKING:
    from collections.abc import Iterator

OURS: Final = "muster"
CLUSTERS: Final = "/apis/cluster.open-cluster-management.io/v1/managedclusters"


@dataclass(frozen=True, slots=True)
class Peer:
    """A server that runs: where it is, and which processes it consists of."""

    name: str
    address: str
    authority: str
    token: str
    processes: tuple[int, ...]

    def cpu(self) -> float:
        """Seconds of CPU that its processes have used, with what they have started."""
        return cpu_of(*self.processes)

    def megabytes(self) -> float:
        """What its processes hold in memory now."""
        return sum(map(resident, self.processes)) / 2**20


def family(pid: int) -> tuple[int, ...]:
    """A process and those that it has started."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return (pid, *(each for child in children for each in family(int(child))))


@contextmanager
def hub(directory: Path, name: str = OURS, tree: Path | None = None, *, controllers: bool = False) -> Iterator[Peer]:
    """Our server alone, or with its controllers; of another working tree if one is given."""
    python = None if tree is None else tree / ".venv" / "bin" / "python"
    process = subprocess.Popen(
        [
            str(python) if python is not None and python.exists() else sys.executable,
            *("-m", "muster", "hub", "run" if controllers else "serve", "--data", str(directory)),
        ],
        stdout=subprocess.PIPE,
        text=True,
        cwd=tree,
        env=os.environ if tree is None else {**os.environ, "PYTHONPATH": str(tree / "src")},
    )
    try:
        assert process.stdout is not None
        while "export KUBECONFIG" not in (line := process.stdout.readline()):
            if not line:
                raise RuntimeError("the hub did not start")
        config = yaml.safe_load((directory / "kubeconfig").read_text())
        cluster = config["clusters"][0]["cluster"]
        url = urlsplit(cluster["server"])
        authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
        token = config["users"][0]["user"]["token"]
        yield Peer(name, f"{url.hostname}:{url.port}", authority, token, family(process.pid))
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


@contextmanager
def kubernetes(directory: Path) -> Iterator[Peer | None]:
    """A kube-apiserver with the definitions of our kinds; None where it can be neither found nor built."""
    try:
        programs = built()
    except (NoGoError, RuntimeError) as error:
        print(f"kube-apiserver is left out: {str(error)[-300:]}", flush=True)
        yield None
        return
    with running(programs, directory, options=audited(directory), durable=True) as server:
        admin = Caller(server.kubeconfig)
        apply_all(admin, crds())
        eventually(lambda: admin.send("GET", CLUSTERS).code == 200, "managed clusters are served")
        authority = server.authority.file.read_text()
        address = server.url.removeprefix("https://")
        name = f"kube-apiserver {version_of()}"
        yield Peer(name, address, authority, server.admin_token, (server.process, server.store))


@contextmanager
def contestants() -> Iterator[list[Peer]]:
    """Ours, another working tree of ours if MUSTER_OTHER names one, and the kube-apiserver."""
    with ExitStack() as stack:

        def folder() -> Path:
            return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="muster-bench-")))

        peers = [stack.enter_context(hub(folder()))]
        if other := os.environ.get("MUSTER_OTHER"):
            peers.append(stack.enter_context(hub(folder(), "other", Path(other))))
        if os.environ.get("MUSTER_PEERS") != "none":
            peer = stack.enter_context(kubernetes(folder()))
            peers += [] if peer is None else [peer]
        yield peers
