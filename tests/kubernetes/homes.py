"""The two homes behind one face: a hub with roles, and a kube-apiserver with Muster installed.

A test that takes the fixture `home` runs on both, and on Kubernetes twice: with our Pods, and with kinds and policies
alone. Users exist on all of them by name; what they may do says `grant`.
"""

from __future__ import annotations

import contextlib
import io
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Final

from muster.cli.main import run
from muster.hub.access import AccessSettings
from muster.hub.auth.certificates import serving_certificate
from tests.e2e.test_kubectl import Kubectl
from tests.hub.rest.running import running_hub
from tests.kubernetes.calling import Caller, grant
from tests.kubernetes.installing import PROBER, eventually, install, labels_by_policy, until_known
from tests.kubernetes.pods import installed

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from muster.values.json import JsonObject
    from tests.kubernetes.server import Server

HUB, KUBERNETES, WITHOUT_PODS = "hub", "kubernetes", "without-pods"
_SKEW: Final = "WARNING: version difference"


@dataclass
class Home:
    """A server with users. `callers` and `kubectl` speak as one of them; no name is the administrator."""

    name: str
    folder: Path
    kubeconfig: Callable[[str], Path]
    server: Server | None = None
    _callers: dict[str, Caller] = field(default_factory=dict)

    @property
    def is_kubernetes(self) -> bool:
        return self.server is not None

    @cached_property
    def labels_clusters(self) -> bool:
        """Whether clusters get the default label: not without our Pods on Kubernetes before 1.36."""
        return self.name != WITHOUT_PODS or labels_by_policy(self.admin)

    @property
    def admin(self) -> Caller:
        return self.caller("")

    def caller(self, user: str) -> Caller:
        if user not in self._callers:
            self._callers[user] = Caller(self.kubeconfig(user))
        return self._callers[user]

    def kubectl(self, user: str = "") -> Kubectl:
        return Kubectl(self.folder, self.kubeconfig(user))

    def grant(self, user: str, *rules: JsonObject) -> None:
        """The user may do exactly this from now on."""
        grant(self.admin, user, *rules)
        self._until_granted(user, rules)

    def known(self, key: str, name: str, *, guards: bool = True) -> None:
        """Wait until a set that was created or deleted counts. On the hub it does at once."""
        if self.is_kubernetes:
            until_known(self.caller(PROBER), key, name, guards=guards)

    def _until_granted(self, user: str, rules: tuple[JsonObject, ...]) -> None:
        """A kube-apiserver reads roles from a cache too."""
        if not self.is_kubernetes or not rules:
            return
        last = rules[-1]
        resource, _, part = last["resources"][0].partition("/")
        about = {
            "verb": last["verbs"][0],
            "group": last["apiGroups"][0],
            "resource": resource,
            "subresource": part,
            "name": last.get("resourceNames", [""])[0],
        }
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SubjectAccessReview",
            "spec": {"user": user, "resourceAttributes": about},
        }
        path = "/apis/authorization.k8s.io/v1/subjectaccessreviews"
        eventually(lambda: bool(self.admin.ok("POST", path, review)["status"]["allowed"]), f"the role of {user} counts")

    def close(self) -> None:
        for caller in self._callers.values():
            caller.close()


@contextlib.contextmanager
def hub_home(folder: Path) -> Iterator[Home]:
    """A hub that looks at names on create as little as Kubernetes does, so that the same roles mean the same."""
    tls, settings = serving_certificate(folder), AccessSettings(strict_names=True)
    with running_hub(folder / "hub.db", tls=tls, state=folder, access_settings=settings) as hub:
        admin = hub.kubeconfig(folder / "kubeconfig")

        def kubeconfig(user: str) -> Path:
            path = folder / f"{user}.kubeconfig"
            if not user or path.exists():
                return path if user else admin
            args = ("hub", "token", "create", "--user", user, "--kubeconfig", str(path), "--data", str(folder))
            told = io.StringIO()
            assert run(args, io.StringIO(), told, told) == 0, told.getvalue()
            return path

        home = Home(HUB, folder, kubeconfig)
        try:
            yield home
        finally:
            home.close()


@contextlib.contextmanager
def kubernetes_home(server: Server, folder: Path, *, pods: int = 1) -> Iterator[Home]:
    """A server with Muster installed and so many Pods; without any, with our kinds and policies alone."""
    with contextlib.ExitStack() as stack:
        if pods:
            stack.enter_context(installed(server, pods=pods))
        else:
            install(server)
        name = KUBERNETES if pods else WITHOUT_PODS
        home = Home(name, folder, lambda user: server.user(user) if user else server.kubeconfig, server)
        stack.callback(home.close)
        yield home


def told(text: str) -> str:
    """What kubectl says, without what it says about its own version."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(_SKEW))
