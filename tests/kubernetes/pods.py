"""Muster as it is installed: the objects of `muster kubernetes install`, and Pods that are processes of ours.

A Pod has what the Deployment says: its arguments, and the token of our ServiceAccount, so that it may do what the roles
say and no more. The Service is reached through the `network`, unchanged.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.cli.main import run
from muster.kubernetes.objects.workload import arguments
from muster.kubernetes.settings import DEFAULTS, NAME, QUESTIONS_PORT, changed_values
from tests.kubernetes.calling import CLUSTERS, SETS, Caller, a_cluster, a_set
from tests.kubernetes.installing import eventually, labels_by_policy, until_guarded
from tests.kubernetes.network import Endpoint
from tests.kubernetes.ports import free_ports
from tests.kubernetes.replicas import replica

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from muster.kubernetes.settings import HomeSettings
    from muster.values.json import JsonObject
    from tests.kubernetes.replicas import Replica
    from tests.kubernetes.server import Server

WEBHOOKS: Final = 443  # of the Service


def muster(server: Server, *args: str) -> str:
    """A command of ours, as an administrator; what it says. It must succeed."""
    out, err = io.StringIO(), io.StringIO()
    code = run([*args, "--kubeconfig", str(server.kubeconfig)], io.StringIO(), out, err)
    assert code == 0, f"muster {' '.join(args)}: {code}\n{out.getvalue()}{err.getvalue()}"
    return out.getvalue()


@dataclass
class Installed:
    """An installation. Pods are started and ended by the test."""

    server: Server
    settings: HomeSettings
    admin: Caller
    account: Path  # a kubeconfig with the token of our ServiceAccount
    _stack: contextlib.ExitStack
    pods: list[Replica] = field(default_factory=list)

    def start(self, *options: str) -> Replica:
        """One more Pod; it may not be ready yet."""
        webhooks, questions = free_ports(2)
        told = (*arguments(self.settings), *options)
        name = f"muster-{len(self.pods) + 1}"
        environment = {"POD_NAME": name, "POD_NAMESPACE": self.settings.namespace}
        running = replica(self.account, *told, ports=(webhooks, questions), environment=environment)
        started = self._stack.enter_context(running)
        endpoint = Endpoint({WEBHOOKS: webhooks, QUESTIONS_PORT: questions}, lambda: started.health()[0] == 200)
        self.server.network.add(endpoint)
        self._stack.callback(self.server.network.remove, endpoint)
        self.pods.append(started)
        return started

    def until_ready(self) -> None:
        """Until every Pod that lives is ready, one leads, and the API server calls them and believes them."""
        alive = [each for each in self.pods if each.process.poll() is None]
        for each in alive:
            eventually(lambda each=each: _answers(each), "a Pod is ready")  # type: ignore[misc]
        eventually(lambda: any(_leads(each) for each in alive), "a Pod leads")
        if self.settings.webhooks:
            made = a_set("ready-probe")
            eventually(lambda: self.admin.send("POST", SETS, made, dry_run=True).is_allowed, "webhooks are called")
        if self.settings.webhooks and self.settings.mode == "alone":
            eventually(lambda: self._stamps_times(), "times of taints are set")
        self._tell_what_runs(len(alive))

    def _stamps_times(self) -> bool:
        tainted = a_cluster("ready-probe", taints=[{"key": "probe", "effect": "NoSelect"}])
        answer = self.admin.send("POST", CLUSTERS, tainted, dry_run=True)
        return answer.is_allowed and "timeAdded" in answer.body["spec"]["taints"][0]

    def _tell_what_runs(self, count: int) -> None:
        """As the controller manager would, whom nobody runs here: how many are available, and that they are behind the
        Service. The addresses are nobody's: it is the `network` that leads to them."""
        path = f"/apis/apps/v1/namespaces/{self.settings.namespace}/deployments/{NAME}"
        generation = self.admin.ok("GET", path)["metadata"]["generation"]
        counts = dict.fromkeys(("replicas", "updatedReplicas", "readyReplicas", "availableReplicas"), count)
        self.admin.ok("PATCH", f"{path}/status", {"status": {"observedGeneration": generation, **counts}})
        slices = f"/apis/discovery.k8s.io/v1/namespaces/{self.settings.namespace}/endpointslices"
        addresses = [
            {"addresses": [f"10.244.0.{number + 1}"], "conditions": {"ready": True}} for number in range(count)
        ]
        head = {"apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4"}
        metadata = {"name": "muster-pods", "labels": {"kubernetes.io/service-name": NAME}}
        service = self.admin.ok("GET", f"/api/v1/namespaces/{self.settings.namespace}/services/{NAME}")
        ports = [{"name": each["name"], "port": each["port"]} for each in service["spec"]["ports"]]
        made = {**head, "metadata": metadata, "endpoints": addresses, "ports": ports}
        self.admin.apply(f"{slices}/muster-pods", made)


def _answers(pod: Replica) -> bool:
    with contextlib.suppress(OSError):
        return pod.health()[0] == 200
    return False


def _leads(pod: Replica) -> bool:
    with contextlib.suppress(OSError):
        return pod.is_leading()
    return False


def said(settings: HomeSettings) -> list[str]:
    """The settings as options of `muster kubernetes install`."""
    found = []
    for name, value in changed_values(settings).items():
        assert not isinstance(value, dict), name
        found += ["--set", f"{name}={str(value).lower() if isinstance(value, bool) else value}"]
    return found


def account_of(server: Server, admin: Caller, namespace: str) -> Path:
    """A kubeconfig of our ServiceAccount, with a token as a kubelet would ask for it."""
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{NAME}/token"
    token: JsonObject = admin.ok("POST", path, {"spec": {"expirationSeconds": 6 * 3600}})
    return server.with_token(token["status"]["token"], "muster")


@contextlib.contextmanager
def installed(server: Server, settings: HomeSettings = DEFAULTS, *, pods: int = 1) -> Iterator[Installed]:
    """Installed by our own command, with so many Pods that are ready, and with policies that are in force."""
    with contextlib.ExitStack() as stack:
        admin = Caller(server.kubeconfig)
        stack.callback(admin.close)
        muster(server, "kubernetes", "install", "--yes", *said(settings))
        home = Installed(server, settings, admin, account_of(server, admin, settings.namespace), stack)
        for _ in range(pods):
            home.start()
        if pods:
            home.until_ready()
        if settings.policies and settings.mode == "alone" and (pods or not settings.webhooks):
            until_guarded(server, admin, labels=settings.webhooks or labels_by_policy(admin))
        yield home
