"""A hub with roles and several users, spoken to over HTTP in a few words."""

from __future__ import annotations

import contextlib
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.hub.requests import User
from tests.hub.rest.running import running_hub

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from muster.hub.access import AccessSettings
    from muster.hub.auth.certificates import ServingCertificate
    from tests.hub.rest.running import RunningHub

Object = dict[str, Any]
RBAC = "/apis/rbac.authorization.k8s.io/v1"
OCM = "/apis/cluster.open-cluster-management.io"
AUTHENTICATED = "system:authenticated"
USERS = {
    "alice-token-0123456789": User("alice", "2", ("devs", AUTHENTICATED)),
    "bob-token-0123456789": User("bob", "3", (AUTHENTICATED,)),
    "carol-token-0123456789": User("carol", "4", ("admins", AUTHENTICATED)),
}


@dataclass
class GuardedHub:
    """The verbs as different users."""

    running: RunningHub
    state: Path

    def send(
        self, user: str, method: str, path: str, body: Any = None, headers: Mapping[str, str] | None = None
    ) -> tuple[int, Any]:
        """Code and decoded answer. Users are known by their names; `admin` is in system:masters."""
        sent = dict(headers or {})
        if user != "admin":
            sent.setdefault("Authorization", f"Bearer {user}-token-0123456789")
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        encoded = body if isinstance(body, bytes) else None if body is None else json.dumps(body).encode()
        code, answered, content = self.running.request(method, path, encoded, sent)
        is_json = answered.get("content-type", "").startswith("application/json")
        return code, json.loads(content) if is_json and content else content.decode()

    def ok(self, user: str, method: str, path: str, body: Any = None, **headers: str) -> Any:
        code, answer = self.send(user, method, path, body, headers)
        assert code < 300, answer
        return answer

    def refusal(self, user: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[int, str]:
        code, answer = self.send(user, method, path, body, headers)
        assert code >= 400, answer
        return code, answer["message"] if isinstance(answer, dict) else answer

    def role(self, name: str, *rules: Object, namespace: str = "", **more: Any) -> None:
        kind, plural = ("Role", "roles") if namespace else ("ClusterRole", "clusterroles")
        where = f"/namespaces/{namespace}" if namespace else ""
        body = {"kind": kind, "metadata": {"name": name, **more.pop("metadata", {})}, "rules": list(rules), **more}
        self.ok("admin", "POST", f"{RBAC}{where}/{plural}", body)

    def bind(self, name: str, role: str, *subjects: Object, namespace: str = "") -> None:
        self.ok("admin", "POST", binding_path(namespace), binding(name, role, *subjects, namespace=namespace))

    def namespace(self, name: str) -> None:
        self.ok("admin", "POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": name}})

    def may(self, user: str, **attributes: str) -> bool:
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        body = {"kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}}
        return bool(self.ok(user, "POST", path, body)["status"]["allowed"])


def binding_path(namespace: str = "") -> str:
    return f"{RBAC}/namespaces/{namespace}/rolebindings" if namespace else f"{RBAC}/clusterrolebindings"


def binding(name: str, role: str, *subjects: Object, namespace: str = "") -> Object:
    kind, _, role_name = role.rpartition("/")
    return {
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": name},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind or "ClusterRole", "name": role_name},
        "subjects": list(subjects),
    }


def user(name: str) -> Object:
    return {"kind": "User", "apiGroup": "rbac.authorization.k8s.io", "name": name}


def group(name: str) -> Object:
    return {"kind": "Group", "apiGroup": "rbac.authorization.k8s.io", "name": name}


def rule(verbs: str, resources: str, group: str = "", names: str = "") -> Object:
    """`rule("get,list", "secrets")`."""
    found = {"verbs": verbs.split(","), "resources": resources.split(","), "apiGroups": [group]}
    return found | ({"resourceNames": names.split(",")} if names else {})


@contextlib.contextmanager
def guarded_hub(
    state: Path, settings: AccessSettings | None = None, tls: ServingCertificate | None = None
) -> Iterator[GuardedHub]:
    with running_hub(state=state, users=USERS, access_settings=settings, tls=tls) as running:
        yield GuardedHub(running, state)
