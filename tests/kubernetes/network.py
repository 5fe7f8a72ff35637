"""The network of Pods that a lone kube-apiserver lacks: it asks us for every Service, and we lead it to a process.

The API server dials Services and aggregated APIs through an HTTP proxy (its egress selector), which is this. So what
is installed stays as it is printed, cluster addresses and ports included. As in a cluster, a Pod that is not ready is
not called, and one that has just died is until somebody has noticed.
"""

from __future__ import annotations

import contextlib
import json
import random
import socket
import socketserver
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

_NOTICED: Final = 1.0  # seconds for which what a probe has said is believed
_PATIENCE: Final = 10.0
_SERVICES: Final = "10.0.0."  # where the addresses of Services begin (`server`)


@dataclass(eq=False)
class Endpoint:
    """One Pod: which of its ports stands behind which port of the Service, and whether it is ready."""

    ports: Mapping[int, int]
    probe: Callable[[], bool]
    _asked: float = field(default=-1e9)
    _ready: bool = field(default=False)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def is_ready(self) -> bool:
        with self._lock:
            if time.monotonic() - self._asked > _NOTICED:
                with contextlib.suppress(OSError):
                    self._ready = False
                    self._ready = self.probe()
                self._asked = time.monotonic()
            return self._ready


class PodNetwork:
    """Who stands behind our Service. There is one Service here, so that its port says enough."""

    def __init__(self) -> None:
        self._endpoints: list[Endpoint] = []
        self.address = ""  # a socket of this machine

    def add(self, endpoint: Endpoint) -> None:
        self._endpoints.append(endpoint)

    def remove(self, endpoint: Endpoint) -> None:
        with contextlib.suppress(ValueError):
            self._endpoints.remove(endpoint)

    def connected(self, host: str, port: int) -> socket.socket:
        """A connection to whoever answers there. Raises OSError."""
        if host.startswith(_SERVICES):
            ready = [each for each in list(self._endpoints) if port in each.ports and each.is_ready()]
            if not ready:
                raise ConnectionRefusedError(f"no Pod is ready behind {host}:{port}")
            host, port = "127.0.0.1", random.choice(ready).ports[port]  # as kube-proxy does
        return socket.create_connection((host, port), _PATIENCE)

    def configuration(self, folder: Path) -> Path:
        """The file by which an API server is told to come to us."""
        transport = {"uds": {"udsName": self.address}}  # an API server of 1.36 panics over HTTP without TLS
        selection = {"name": "cluster", "connection": {"proxyProtocol": "HTTPConnect", "transport": transport}}
        head = {"apiVersion": "apiserver.k8s.io/v1beta1", "kind": "EgressSelectorConfiguration"}
        path = folder / "egress.json"
        path.write_text(json.dumps({**head, "egressSelections": [selection]}))
        return path


@contextlib.contextmanager
def pod_network() -> Iterator[PodNetwork]:
    network = PodNetwork()

    class Tunnel(socketserver.StreamRequestHandler):
        timeout = None

        def handle(self) -> None:
            _, _, rest = self.rfile.readline(4096).decode("latin-1").partition(" ")
            host, _, port = rest.partition(" ")[0].rpartition(":")
            while self.rfile.readline(4096).strip():
                pass
            try:
                other = network.connected(host.strip("[]"), int(port))
            except (OSError, ValueError) as error:
                self.wfile.write(f"HTTP/1.1 503 Service Unavailable\r\nX-Why: {error}\r\n\r\n".encode())
                return
            with other:
                other.settimeout(None)
                self.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
                back = threading.Thread(target=_pump, args=(other, self.connection), daemon=True)
                back.start()
                _pump(self.connection, other)
                back.join()

    class Listener(socketserver.ThreadingUnixStreamServer):
        daemon_threads = True
        block_on_close = False
        request_queue_size = 128

    with contextlib.ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="pods-"))  # the name of a socket must be short
        network.address = str(Path(folder) / "network")
        listening = stack.enter_context(Listener(network.address, Tunnel))
        thread = threading.Thread(target=listening.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
        thread.start()
        try:
            yield network
        finally:
            listening.shutdown()
            thread.join()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(65536):
            target.sendall(content)
    for each in (source, target):
        with contextlib.suppress(OSError):
            each.shutdown(socket.SHUT_RDWR)
