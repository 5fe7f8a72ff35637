"""A kube-apiserver and its etcd on loopback: TLS, roles, users by certificate and by token, the aggregation layer.

There is no controller manager: namespaces stay Terminating, nothing is collected, aggregated roles stay as they are.
Both programs end with whoever started them, even if that is killed.
"""

from __future__ import annotations

import base64
import contextlib
import ctypes
import json
import secrets
import signal
import ssl
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from cryptography.hazmat.primitives.asymmetric import ec

from tests.kubernetes.certificates import Authority, write_key
from tests.kubernetes.network import pod_network
from tests.kubernetes.ports import free_ports

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from tests.kubernetes.binaries import Binaries
    from tests.kubernetes.certificates import Pair
    from tests.kubernetes.network import PodNetwork

_PATIENCE: Final = 90  # seconds until it must be ready; four are usual
_ENDING: Final = 10
_PROXY: Final = "front-proxy"
_FORGETFUL: Final = ("--unsafe-no-fsync",)  # nothing here outlives the test
PLUGINS: Final = ("OwnerReferencesPermissionEnforcement",)


class StartError(Exception):
    """The server did not get ready; with the last lines of what it said."""


@dataclass
class Server:
    """A running server. `kubeconfig` is an administrator's; `user` makes more of them."""

    url: str
    folder: Path
    authority: Authority
    proxy_authority: Path  # signs the certificate by which the server introduces itself to aggregated APIs
    admin_token: str
    network: PodNetwork
    process: int = 0  # of the kube-apiserver, for those who measure it
    store: int = 0  # of its etcd

    @property
    def kubeconfig(self) -> Path:
        path = self.folder / "admin.kubeconfig"
        if not path.exists():
            self._write(path, {"token": self.admin_token})
        return path

    def user(self, name: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig of a user by certificate. Whoever they are, they may do what roles say."""
        file = "".join(letter if letter.isalnum() else "-" for letter in name)
        path = self.folder / f"{file}.kubeconfig"
        if not path.exists():
            pair = self.authority.client(name, groups)
            self._write(path, {"client-certificate": str(pair.certificate), "client-key": str(pair.key)})
        return path

    def with_token(self, token: str, file: str) -> Path:
        """A kubeconfig with a token, such as one of a service account."""
        path = self.folder / f"{file}.kubeconfig"
        self._write(path, {"token": token})
        return path

    def _write(self, path: Path, user: dict[str, str]) -> None:
        authority = base64.b64encode(self.authority.file.read_bytes()).decode()
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "certificate-authority-data": authority}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test", "namespace": "default"}}],
            "users": [{"name": "test", "user": user}],
        }
        path.touch(mode=0o600)
        path.write_text(json.dumps(config))


@contextlib.contextmanager
def running(
    binaries: Binaries,
    folder: Path,
    *,
    plugins: Sequence[str] = PLUGINS,
    options: Sequence[str] = (),
    durable: bool = False,
) -> Iterator[Server]:
    """Start etcd and the API server, and stop both at the end. `plugins` of admission are those beside the usual, and
    `options` are the API server's own. Only who compares speeds needs an etcd that waits for its disk."""
    authority, proxies = Authority(folder, "ca"), Authority(folder, "proxy-ca")
    token = secrets.token_hex(16)
    tokens = folder / "tokens.csv"
    tokens.touch(mode=0o600)
    tokens.write_text(f'{token},admin,admin,"system:masters"\n')
    account_key = folder / "service-accounts.key"
    write_key(account_key, ec.generate_private_key(ec.SECP256R1()))
    client_port, peer_port, port = free_ports(3)
    with contextlib.ExitStack() as stack:
        network = stack.enter_context(pod_network())
        keeping = [*_etcd(binaries, folder, client_port, peer_port), *(() if durable else _FORGETFUL)]
        store = stack.enter_context(_started("etcd", keeping, folder))
        arguments = _apiserver(binaries, client_port, port, authority, proxies)
        arguments += [
            f"--egress-selector-config-file={network.configuration(folder)}",
            f"--token-auth-file={tokens}",
            f"--service-account-key-file={account_key}",
            f"--service-account-signing-key-file={account_key}",
            *([f"--enable-admission-plugins={','.join(plugins)}"] if plugins else []),
            *options,
        ]
        process = stack.enter_context(_started("kube-apiserver", arguments, folder))
        url = f"https://127.0.0.1:{port}"
        server = Server(url, folder, authority, proxies.file, token, network, process.pid, store.pid)
        _until_ready(server, process)
        yield server


def _etcd(binaries: Binaries, folder: Path, port: int, peers: int) -> list[str]:
    client, peer = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peers}"
    return [
        str(binaries.etcd),
        f"--data-dir={folder / 'etcd'}",
        f"--listen-client-urls={client}",
        f"--advertise-client-urls={client}",
        f"--listen-peer-urls={peer}",
        f"--initial-advertise-peer-urls={peer}",
        f"--initial-cluster=default={peer}",
        "--log-level=error",
    ]


def _apiserver(binaries: Binaries, etcd: int, port: int, authority: Authority, proxies: Authority) -> list[str]:
    serving: Pair = authority.server("apiserver")
    proxy = proxies.client(_PROXY)
    return [
        str(binaries.apiserver),
        f"--etcd-servers=http://127.0.0.1:{etcd}",
        "--bind-address=127.0.0.1",
        "--advertise-address=127.0.0.1",
        "--endpoint-reconciler-type=none",
        f"--secure-port={port}",
        f"--tls-cert-file={serving.certificate}",
        f"--tls-private-key-file={serving.key}",
        f"--client-ca-file={authority.file}",
        "--authorization-mode=RBAC",
        "--service-account-issuer=https://kubernetes.default.svc",
        "--service-cluster-ip-range=10.0.0.0/24",
        f"--requestheader-client-ca-file={proxies.file}",
        f"--requestheader-allowed-names={_PROXY}",
        "--requestheader-username-headers=X-Remote-User",
        "--requestheader-group-headers=X-Remote-Group",
        "--requestheader-extra-headers-prefix=X-Remote-Extra-",
        f"--proxy-client-cert-file={proxy.certificate}",
        f"--proxy-client-key-file={proxy.key}",
        "--profiling=false",
        "--v=0",
    ]


@contextlib.contextmanager
def _started(name: str, arguments: list[str], folder: Path) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{name}.log").open("wb") as log:
        process = subprocess.Popen(
            arguments, stdout=log, stderr=log, stdin=subprocess.DEVNULL, cwd=folder, preexec_fn=_end_with_parent
        )
        try:
            yield process
        finally:
            process.terminate()
            try:
                process.wait(_ENDING)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _end_with_parent() -> None:
    """Runs in the child: the kernel kills it when its parent is gone, however that went."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def _until_ready(server: Server, process: subprocess.Popen[bytes]) -> None:
    context = ssl.create_default_context(cafile=str(server.authority.file))
    request = urllib.request.Request(f"{server.url}/readyz", headers={"Authorization": f"Bearer {server.admin_token}"})
    deadline = time.monotonic() + _PATIENCE
    while time.monotonic() < deadline and process.poll() is None:
        if _answers(request, context):
            return
        time.sleep(0.1)
    told = (server.folder / "kube-apiserver.log").read_text(errors="replace")[-3000:]
    raise StartError(f"kube-apiserver was not ready after {_PATIENCE} s:\n{told}")


def _answers(request: urllib.request.Request, context: ssl.SSLContext) -> bool:
    try:
        with urllib.request.urlopen(request, timeout=5, context=context) as answer:
            return bool(answer.status == 200)
    except (urllib.error.URLError, ConnectionError, TimeoutError):
        return False
