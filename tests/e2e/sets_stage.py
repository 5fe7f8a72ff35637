"""The stage of the stories of cluster sets: a hub, and its users with a kubeconfig each."""

from __future__ import annotations

import contextlib
import io
import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from muster.cli.main import run
from muster.hub.auth.certificates import serving_certificate
from tests.e2e.test_kubectl import Kubectl
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator

EXAMPLE = Path(__file__).parents[2] / "examples" / "04-cluster-sets"
GROUP = "cluster.open-cluster-management.io"
DEFAULT_KEY = f"{GROUP}/clusterset"


@dataclass(frozen=True, slots=True)
class Stage:
    """A hub, its administrator, and the users of the stories."""

    admin: Kubectl
    dev1: Kubectl
    dev2: Kubectl
    sre1: Kubectl
    agent: Kubectl

    def members(self, name: str) -> list[str]:
        found: list[str] = json.loads(self.muster("members", name, "-o", "json")[1])["members"]
        return found

    def muster(self, *args: str, user: Kubectl | None = None) -> tuple[int, str]:
        """Exit code and output of `muster clusterset`, asked by a user; by the administrator if none is given."""
        out, err = io.StringIO(), io.StringIO()
        asked = ("clusterset", *args, "--kubeconfig", str((user or self.admin).kubeconfig))
        code = run(asked, io.StringIO(), out, err)
        return code, out.getvalue() + err.getvalue()

    def grant(self, user: str, rules: list[dict[str, Any]]) -> None:
        """Give a user a role of exactly these rules."""
        name = f"granted-to-{user}"
        role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
        self.admin("apply", "-f", "-", stdin=json.dumps(role | {"rules": rules}))
        if self.admin.run("get", "clusterrolebinding", name).returncode:
            self.admin("create", "clusterrolebinding", name, f"--clusterrole={name}", f"--user={user}")


@contextlib.contextmanager
def a_stage(tmp_path: Path) -> Iterator[Stage]:
    """A hub of its own, with a kubeconfig for everybody."""
    with running_hub(tmp_path / "hub.db", tls=serving_certificate(tmp_path), state=tmp_path) as hub:
        hub.kubeconfig(tmp_path / "kubeconfig")
        files = {user: tmp_path / f"{user}.kubeconfig" for user in ("dev1", "dev2", "sre1", "agent-mc1")}
        for user, file in files.items():
            args = ("hub", "token", "create", "--user", user, "--kubeconfig", str(file), "--data", str(tmp_path))
            assert run(args, io.StringIO(), io.StringIO(), io.StringIO()) == 0
        yield Stage(Kubectl(tmp_path, tmp_path / "kubeconfig"), *(Kubectl(tmp_path, file) for file in files.values()))


def example(name: str) -> str:
    return str(EXAMPLE / name)


def a_rule(resource: str, *names: str, verbs: tuple[str, ...] = ("create",)) -> dict[str, Any]:
    return {"apiGroups": [GROUP], "resources": [resource], "resourceNames": list(names), "verbs": list(verbs)}


def a_set(name: str, version: str = "v1alpha1", **spec: Any) -> str:
    body = {"apiVersion": f"{GROUP}/{version}", "kind": "ManagedClusterSet", "metadata": {"name": name}, "spec": spec}
    return json.dumps(body)


def a_cluster(name: str, **labels: str) -> str:
    metadata = {"name": name, "labels": labels}
    body = {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": {}}
    return json.dumps(body)
