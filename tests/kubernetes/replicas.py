"""Replicas of ours beside a real kube-apiserver: `muster kubernetes run` as processes, called on loopback.

There is no kubelet and no network of Pods: our Service is of type ExternalName and means this machine, and the
configurations name the ports of the processes. Everything else is as `manifests` prints it.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import ssl
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol

import yaml

from muster.api import RESOURCES
from muster.api.crds import definition
from muster.client.kubeconfig_files import read_kubeconfig
from muster.kubernetes.serving.configurations import api_service, conversion, webhook_configurations
from tests.kubernetes.ports import free_ports

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from muster.api.resource import Resource
    from muster.kubernetes.settings import HomeSettings
    from muster.values.json import JsonObject

HOME: Final = "muster-system"
OCM: Final = "cluster.open-cluster-management.io"
CLUSTERS: Final = f"/apis/{OCM}/v1/managedclusters"
SETS: Final = f"/apis/{OCM}/v1beta2/managedclustersets"
LEASE: Final = f"/apis/coordination.k8s.io/v1/namespaces/{HOME}/leases/muster-controllers"
_PATIENCE: Final = 180.0  # seconds; on a busy machine a Pod takes its time


class Server(Protocol):
    """The kube-apiserver that the harness has started."""

    url: str

    @property
    def kubeconfig(self) -> Path:
        """An administrator's."""

    def user(self, name: str, groups: Sequence[str] = ()) -> Path:
        """A kubeconfig of somebody else."""


@dataclass(frozen=True)
class Answer:
    """What a server said."""

    code: int
    body: JsonObject
    warnings: tuple[str, ...] = ()


class User:
    """Whoever a kubeconfig is of."""

    def __init__(self, kubeconfig: Path) -> None:
        config, _ = read_kubeconfig(str(kubeconfig))
        assert config is not None
        plain = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config.clusters[0].cluster, plain["users"][0]["user"]
        self.server = cluster.server
        data = cluster.certificate_authority_data
        self._tls = ssl.create_default_context(cadata=base64.b64decode(data).decode())
        if "client-certificate" in user:
            self._tls.load_cert_chain(user["client-certificate"], user["client-key"])
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}

    def send(self, method: str, path: str, body: Any = None, kind: str = "", **headers: str) -> Answer:
        content = kind or ("application/merge-patch+json" if method == "PATCH" else "application/json")
        request = urllib.request.Request(
            self.server + path,
            None if body is None else json.dumps(body).encode(),
            {**self._headers, "Content-Type": content, **headers},
            method=method,
        )
        try:
            with urllib.request.urlopen(request, timeout=30, context=self._tls) as reply:
                return Answer(reply.status, _json(reply.read()), tuple(reply.headers.get_all("Warning") or ()))
        except urllib.error.HTTPError as error:
            return Answer(error.code, _json(error.read()), tuple(error.headers.get_all("Warning") or ()))

    def ok(self, method: str, path: str, body: Any = None, kind: str = "") -> JsonObject:
        answer = self.send(method, path, body, kind)
        assert answer.code < 300, f"{method} {path}: {answer.code} {answer.body.get('message')}"
        return answer.body

    def apply(self, path: str, body: JsonObject) -> JsonObject:
        return self.ok("PATCH", f"{path}?fieldManager=tests&force=true", body, "application/apply-patch+yaml")


def _json(content: bytes) -> JsonObject:
    try:
        found = json.loads(content)
    except ValueError:
        return {"message": content.decode(errors="replace")}
    return found if isinstance(found, dict) else {"items": found}


def eventually(ask: Callable[[], Any], wanted: Any = True, patience: float = _PATIENCE) -> float:
    """Wait until an answer is as wanted; how many seconds that took."""
    started = time.monotonic()
    while True:
        with contextlib.suppress(OSError, KeyError, AssertionError):
            found = ask()
            if found == wanted:
                return time.monotonic() - started
        if time.monotonic() - started > patience:
            raise AssertionError(f"not after {patience} s: {ask()!r} is not {wanted!r}")
        time.sleep(0.02)


# ------------------------------------------------------------------------------------------------------- installing


def install_kinds(admin: User, settings: HomeSettings, webhook_port: int = 0, *, without: tuple[str, ...] = ()) -> None:
    """Our kinds; with a port, ManagedClusterSet in all its versions."""
    made = []
    for key, resource in RESOURCES.items():
        if resource.builtin or resource.virtual or resource.custom or key in without:
            continue
        spec = dict(definition(resource, "")["spec"])
        if resource.convert is not None and webhook_port:
            spec["conversion"] = _at(conversion(settings), webhook_port)
        else:
            spec["versions"] = [version for version in spec["versions"] if version["storage"]]
        head = {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": {"name": key}}
        admin.apply(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{key}", {**head, "spec": spec})
        made.append(resource)
    for each in made:
        eventually(partial(_served, admin, each), 200)


def _served(admin: User, resource: Resource) -> int:
    version = resource.storage_version.name
    return admin.send("GET", f"/apis/{resource.group}/{version}/{resource.plural}?limit=1").code


def install(admin: User, settings: HomeSettings, webhook_port: int, questions_port: int) -> None:
    """Namespace, Service and configurations, for processes that listen on these ports."""
    for name in (HOME, "default", "open-cluster-management-hub"):
        admin.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    service = {"metadata": {"name": "muster"}, "spec": {"type": "ExternalName", "externalName": "localhost"}}
    admin.send("POST", f"/api/v1/namespaces/{HOME}/services", service)
    for each in [*webhook_configurations(settings), *api_service(settings)]:
        plural = f"{each['kind'].lower()}s"
        port = questions_port if each["kind"] == "APIService" else webhook_port
        admin.apply(f"/apis/{each['apiVersion']}/{plural}/{each['metadata']['name']}", _at(each, port))


def grant(admin: User, user: str, *rules: JsonObject) -> None:
    """Give a user exactly these rules, everywhere."""
    rbac, name = "rbac.authorization.k8s.io", f"granted-to-{user}"
    head = {"apiVersion": f"{rbac}/v1", "metadata": {"name": name}}
    admin.apply(f"/apis/{rbac}/v1/clusterroles/{name}", {**head, "kind": "ClusterRole", "rules": list(rules)})
    role = {"apiGroup": rbac, "kind": "ClusterRole", "name": name}
    subject = {"apiGroup": rbac, "kind": "User", "name": user}
    binding = {**head, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}
    admin.apply(f"/apis/{rbac}/v1/clusterrolebindings/{name}", binding)


def _at(value: Any, port: int) -> Any:
    """The same with another port of our Service."""
    if isinstance(value, list):
        return [_at(each, port) for each in value]
    if not isinstance(value, dict):
        return value
    changed = {key: _at(each, port) for key, each in value.items()}
    if isinstance(value.get("service"), dict):
        changed["service"] = {**value["service"], "port": port}
    return changed


# ---------------------------------------------------------------------------------------------------------- running


@dataclass
class Replica:
    """One supervisor with its two processes, and what they have said."""

    process: subprocess.Popen[str]
    health_port: int
    log: list[str] = field(default_factory=list)

    def says(self, text: str) -> bool:
        return any(text in line for line in self.log)

    def health(self, path: str = "/readyz") -> tuple[int, str]:
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.health_port}{path}", timeout=5) as reply:
                return reply.status, reply.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.read().decode()

    def is_leading(self) -> bool:
        return "\nmuster_leading 1.0" in self.health("/metrics")[1]

    def is_following(self) -> bool:
        return "\nmuster_standby 1.0" in self.health("/metrics")[1]

    def family(self) -> list[int]:
        """The supervisor and what it has started."""
        found = [self.process.pid]
        for each in os.listdir("/proc"):  # noqa: PTH208 - names only
            with contextlib.suppress(OSError):
                if each.isdecimal():
                    with open(f"/proc/{each}/stat") as file:  # noqa: PTH123
                        if int(file.read().rpartition(")")[2].split()[1]) == self.process.pid:
                            found.append(int(each))
        return found

    def signal_all(self, number: int) -> None:
        """As a machine that stops, or is gone: to all processes at once."""
        for pid in self.family():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, number)


@contextlib.contextmanager
def replica(
    kubeconfig: Path,
    *options: str,
    ports: tuple[int, int] = (0, 0),
    command: tuple[str, ...] = ("kubernetes", "run"),
    environment: Mapping[str, str] | None = None,
) -> Iterator[Replica]:
    """A replica until the block ends. `ports` are those of webhooks and of questions."""
    (health,) = free_ports(1)
    own: list[str] = []
    if command == ("kubernetes", "run"):
        own = ["--host=127.0.0.1", f"--health-port={health}", f"--webhook-port={ports[0]}"]
        own += [f"--questions-port={ports[1]}", f"--namespace={HOME}", "--drain=0"]
    else:
        own = [f"--listen=127.0.0.1:{health}"]
    environ = {key: value for key, value in os.environ.items() if key not in ("KUBECONFIG", "POD_NAMESPACE")}
    process = subprocess.Popen(
        [sys.executable, "-m", "muster", *command, f"--kubeconfig={kubeconfig}", *own, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**environ, **(environment or {})},
    )
    started = Replica(process, health)

    def listen() -> None:
        assert process.stdout is not None
        for line in process.stdout:
            started.log.append(line.rstrip())

    reader = threading.Thread(target=listen, daemon=True)
    reader.start()
    try:
        yield started
    finally:
        started.signal_all(signal.SIGCONT)
        if process.poll() is None:
            process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            started.signal_all(signal.SIGKILL)
            process.wait()
        reader.join(5)
        if process.stdout is not None:
            process.stdout.close()


class Pair:
    """Two replicas. Tests that end one find another in its place."""

    def __init__(self, stack: contextlib.ExitStack, kubeconfig: Path, *options: str) -> None:
        self._stack = stack
        self._kubeconfig = kubeconfig
        self._options = options
        self._running: list[Replica] = []

    def both(self) -> tuple[Replica, Replica]:
        """Who leads, and who follows."""
        self._running = [each for each in self._running if each.process.poll() is None]
        while len(self._running) < 2:
            self._running.append(self._stack.enter_context(replica(self._kubeconfig, *self._options)))
        found: list[Replica] = []

        def settled() -> bool:
            leading = [each for each in self._running if each.is_leading()]
            following = [each for each in self._running if each.is_following()]
            found[:] = leading + following
            return (len(leading), len(following)) == (1, 1)

        eventually(settled, patience=100.0)
        return found[0], found[1]


def holder(admin: User) -> str:
    """Who leads."""
    found: str = admin.ok("GET", LEASE)["spec"].get("holderIdentity", "")
    return found
