"""Real API servers as managed clusters: each can be killed, started again and upgraded where it is.

The same etcd, the same port and the same certificates outlive the API server, as they would in a real cluster.
"""

from __future__ import annotations

import base64
import contextlib
import secrets
import ssl
import time
import urllib.request
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import yaml
from cryptography.hazmat.primitives.asymmetric import ec

from tests.kubernetes.calling import Caller
from tests.kubernetes.certificates import Authority, write_key
from tests.kubernetes.ports import free_ports
from tests.kubernetes.server import StartError, _answers, _apiserver, _etcd, _started

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.kubernetes.binaries import Binaries

_PATIENCE: Final = 180  # seconds until one must be ready; four are usual
_UNKNOWN: Final = (
    "machineID",
    "systemUUID",
    "bootID",
    "kernelVersion",
    "osImage",
    "containerRuntimeVersion",
    "kubeletVersion",
    "kubeProxyVersion",
)


@dataclass
class ManagedServer:
    """One cluster."""

    name: str
    url: str
    folder: Path
    authority: Authority
    token: str
    _arguments: list[str]
    _running: contextlib.ExitStack = field(default_factory=contextlib.ExitStack)

    def start(self, binaries: Binaries) -> None:
        """With these programs, which may be of another version than before."""
        arguments = [str(binaries.apiserver), *self._arguments[1:]]
        process = self._running.enter_context(_started("kube-apiserver", arguments, self.folder))
        self._until_ready(process)

    def kill(self) -> None:
        """The API server is gone, and what it has stored is not."""
        self._running.close()

    def _until_ready(self, process: subprocess.Popen[bytes]) -> None:
        context = ssl.create_default_context(cafile=str(self.authority.file))
        headers = {"Authorization": f"Bearer {self.token}"}
        request = urllib.request.Request(f"{self.url}/readyz", headers=headers)
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline and process.poll() is None:
            if _answers(request, context):
                return
            time.sleep(0.1)
        told = (self.folder / "kube-apiserver.log").read_text(errors="replace")[-3000:]
        raise StartError(f"{self.name} was not ready after {_PATIENCE} s:\n{told}")

    def entries(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """A cluster and a user of a kubeconfig."""
        trusted = base64.b64encode(self.authority.file.read_bytes()).decode()
        cluster = {"server": self.url, "certificate-authority-data": trusted}
        return {"name": self.name, "cluster": cluster}, {"name": self.name, "user": {"token": self.token}}

    @property
    def kubeconfig(self) -> Path:
        """Of an administrator."""
        file = self.folder / "admin.kubeconfig"
        write_kubeconfig(file, [self])
        return file

    def caller(self) -> Caller:
        return Caller(self.kubeconfig)

    def add_node(self, name: str, arch: str, cpu: str, **labels: str) -> None:
        """A node as its kubelet would report it: nobody runs one here."""
        caller = self.caller()
        places = {"topology.kubernetes.io/region": "eu-west-1", "topology.kubernetes.io/zone": "eu-west-1a", **labels}
        node = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": places}}
        caller.ok("POST", "/api/v1/nodes", node)
        amounts = {"cpu": cpu, "memory": "16Gi", "pods": "110"}
        info = {**dict.fromkeys(_UNKNOWN, ""), "architecture": arch, "operatingSystem": "linux"}
        status = {"capacity": amounts, "allocatable": amounts, "nodeInfo": info}
        caller.ok("PATCH", f"/api/v1/nodes/{name}/status", {"status": status})
        caller.close()


def write_kubeconfig(file: Path, servers: Sequence[ManagedServer]) -> None:
    """A context for each."""
    entries = [each.entries() for each in servers]
    contexts = [{"name": each.name, "context": {"cluster": each.name, "user": each.name}} for each in servers]
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": servers[0].name,
        "clusters": [cluster for cluster, _ in entries],
        "contexts": contexts,
        "users": [user for _, user in entries],
    }
    file.touch(mode=0o600)
    file.write_text(yaml.safe_dump(config))


@contextlib.contextmanager
def managed(name: str, binaries: Binaries, folder: Path) -> Iterator[ManagedServer]:
    """A cluster that runs until the end of the block, but for when it is killed."""
    folder.mkdir(parents=True, exist_ok=True)
    authority, proxies = Authority(folder, "ca"), Authority(folder, "proxy-ca")
    token = secrets.token_hex(16)
    tokens = folder / "tokens.csv"
    tokens.touch(mode=0o600)
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    account_key = folder / "service-accounts.key"
    write_key(account_key, ec.generate_private_key(ec.SECP256R1()))
    client_port, peer_port, port = free_ports(3)
    with _started("etcd", _etcd(binaries, folder, client_port, peer_port), folder):
        arguments = _apiserver(binaries, client_port, port, authority, proxies)
        arguments += [
            f"--token-auth-file={tokens}",
            f"--service-account-key-file={account_key}",
            f"--service-account-signing-key-file={account_key}",
        ]
        made = ManagedServer(name, f"https://127.0.0.1:{port}", folder, authority, token, arguments)
        try:
            made.start(binaries)
            yield made
        finally:
            made.kill()
