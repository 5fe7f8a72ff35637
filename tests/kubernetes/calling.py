"""Requests to any server of a kubeconfig, in a few words, as whoever the kubeconfig is of."""

from __future__ import annotations

import base64
import http.client
import json
import ssl
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

GROUP = "cluster.open-cluster-management.io"
CLUSTERS = f"/apis/{GROUP}/v1/managedclusters"
SETS = f"/apis/{GROUP}/v1beta2/managedclustersets"
RBAC = "/apis/rbac.authorization.k8s.io/v1"
_COME_AGAIN = 429
MERGE, APPLY, JSON_PATCH = (
    "application/merge-patch+json",
    "application/apply-patch+yaml",
    "application/json-patch+json",
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a server said."""

    code: int
    body: JsonObject
    warnings: tuple[str, ...] = ()

    @property
    def is_allowed(self) -> bool:
        return self.code < 300

    @property
    def message(self) -> str:
        found: str = self.body.get("message", "")
        return found


class Caller:
    """One user of one server, over one connection."""

    def __init__(self, kubeconfig: Path) -> None:
        config = yaml.safe_load(kubeconfig.read_text())
        cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
        context = ssl.create_default_context(cadata=base64.b64decode(cluster["certificate-authority-data"]).decode())
        if "client-certificate" in user:
            context.load_cert_chain(user["client-certificate"], user["client-key"])
        self._headers = {"Authorization": f"Bearer {user['token']}"} if "token" in user else {}
        where = urlsplit(cluster["server"])
        assert where.hostname is not None
        self._connection = http.client.HTTPSConnection(where.hostname, where.port, timeout=30, context=context)

    def send(
        self, method: str, path: str, body: Any = None, content_type: str = "", *, dry_run: bool = False
    ) -> Answer:
        """One request. A patch is a merge patch unless something else is said. While a definition has just changed a
        server asks to come again, and so we do, as any client would."""
        while (answer := self._send(method, path, body, content_type, dry_run)).code == _COME_AGAIN:
            time.sleep(0.2)
        return answer

    def _send(self, method: str, path: str, body: Any, content_type: str, dry_run: bool) -> Answer:
        if dry_run:
            path += f"{'&' if '?' in path else '?'}dryRun=All"
        kind = content_type or (MERGE if method == "PATCH" else "application/json")
        headers = self._headers | ({"Content-Type": kind} if body is not None else {})
        encoded = None if body is None else json.dumps(body).encode()
        try:
            self._connection.request(method, path, body=encoded, headers=headers)
            answer = self._connection.getresponse()
        except (http.client.HTTPException, ConnectionError, ssl.SSLError):
            self._connection.close()  # the server has ended a connection that nobody used
            self._connection.request(method, path, body=encoded, headers=headers)
            answer = self._connection.getresponse()
        content = answer.read()
        is_json = answer.headers.get("Content-Type", "").startswith("application/json")
        found = json.loads(content) if is_json and content else {"message": content.decode()}
        return Answer(answer.status, found, tuple(answer.headers.get_all("Warning") or ()))

    def ok(self, method: str, path: str, body: Any = None, content_type: str = "") -> JsonObject:
        answer = self.send(method, path, body, content_type)
        assert answer.is_allowed, f"{method} {path}: {answer.code} {answer.message}"
        return answer.body

    def apply(self, path: str, body: JsonObject) -> JsonObject:
        """Server-side, as one who is right about conflicts."""
        return self.ok("PATCH", f"{path}?fieldManager=tests&force=true", body, APPLY)

    def events(self, path: str) -> Iterator[JsonObject]:
        """A watch, until the server ends it."""
        self._connection.request("GET", path, headers=self._headers)
        answer = self._connection.getresponse()
        assert answer.status == 200, answer.read()
        while line := answer.readline():
            yield json.loads(line)

    def close(self) -> None:
        self._connection.close()


def a_cluster(name: str, labels: dict[str, str] | None = None, **spec: Any) -> JsonObject:
    metadata = {"name": name, **({"labels": labels} if labels is not None else {})}
    return {"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": metadata, "spec": spec}


def a_set(name: str, **spec: Any) -> JsonObject:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": spec,
    }


def a_binding(name: str, cluster_set: str | None = None) -> JsonObject:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": name},
        "spec": {"clusterSet": name if cluster_set is None else cluster_set},
    }


def bindings(namespace: str) -> str:
    return f"/apis/{GROUP}/v1beta2/namespaces/{namespace}/managedclustersetbindings"


def a_rule(verbs: str, resources: str, *names: str, group: str = GROUP) -> JsonObject:
    limited = {"resourceNames": list(names)} if names else {}
    return {"apiGroups": [group], "resources": resources.split(","), "verbs": verbs.split(","), **limited}


def grant(admin: Caller, user: str, *rules: JsonObject) -> None:
    """Give a user exactly these rules, everywhere."""
    name = f"granted-to-{user}"
    head = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": name}}
    admin.apply(f"{RBAC}/clusterroles/{name}", {**head, "kind": "ClusterRole", "rules": list(rules)})
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name}
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": user}
    binding = {**head, "kind": "ClusterRoleBinding", "roleRef": role, "subjects": [subject]}
    admin.apply(f"{RBAC}/clusterrolebindings/{name}", binding)
