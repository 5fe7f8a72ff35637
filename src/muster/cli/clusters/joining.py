"""What a cluster needs to ask: a token that ends, the hub's address, and whom to trust. As a command, or as files.

Used by `muster clusters join-command`.
"""

from __future__ import annotations

import base64
import secrets
import string
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from muster.api.registration import JOINERS, is_reserved
from muster.api.secret import BOOTSTRAP_TOKEN
from muster.errors import ApiError, InvalidObjectError
from muster.values.api_paths import collection_path, object_path
from muster.values.json_members import text_at
from muster.values.names import dns_label_problems

if TYPE_CHECKING:
    from muster.client import Client
    from muster.values.json import JsonObject

_LETTERS: Final = string.ascii_lowercase + string.digits
_NAMESPACE: Final = "kube-system"
_AUTHORITY: Final = ("", "v1", "configmaps", _NAMESPACE, "kube-root-ca.crt")
AGENT_NAMESPACE: Final = "open-cluster-management-agent"
_CA_FILE: Final = "hub-ca.crt"


@dataclass(frozen=True, slots=True)
class Invitation:
    """What a cluster is told."""

    cluster: str
    server: str
    token: str
    authority: str  # certificates in PEM; empty where the system's are to be trusted
    expires: str

    @property
    def command(self) -> str:
        """For the shell of somebody who reaches the cluster: `clusteradm` asks for nothing else."""
        trust = f"--ca-file {_CA_FILE}" if self.authority else ""
        name = self.cluster or "CLUSTER"
        parts = ["clusteradm join", f"--hub-token {self.token}", f"--hub-apiserver {self.server}"]
        joined = " \\\n  ".join([*parts, *([trust] if trust else []), f"--cluster-name {name}"])
        if not self.authority:
            return f"{joined}\n"
        return f"cat > {_CA_FILE} <<'EOF'\n{self.authority.strip()}\nEOF\n{joined}\n"

    def kubeconfig(self) -> JsonObject:
        """For an agent's --bootstrap-kubeconfig."""
        trust = {"certificate-authority-data": _encoded(self.authority)} if self.authority else {}
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "hub", "cluster": {"server": self.server, **trust}}],
            "users": [{"name": "bootstrap", "user": {"token": self.token}}],
            "contexts": [{"name": "bootstrap", "context": {"cluster": "hub", "user": "bootstrap"}}],
            "current-context": "bootstrap",
        }

    def secret(self, kubeconfig: str) -> JsonObject:
        """For the namespace of the agents, where a klusterlet looks for it."""
        return {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "bootstrap-hub-kubeconfig", "namespace": AGENT_NAMESPACE},
            "type": "Opaque",
            "data": {"kubeconfig": _encoded(kubeconfig)},
        }


def checked_name(cluster: str) -> str:
    """The name, if an agent can join by it. Raises InvalidObjectError."""
    problems = dns_label_problems(cluster)
    if problems:
        raise InvalidObjectError("", f"no cluster can be named {cluster!r}: {problems[0]}")
    if is_reserved(cluster):
        raise InvalidObjectError("", f"no cluster can join as {cluster!r}: others depend on that name; choose another")
    return cluster


def is_local(server: str) -> bool:
    """Whether an address leads back to whoever uses it."""
    host = urlsplit(server).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


async def invited(client: Client, cluster: str, server: str, life: timedelta) -> Invitation:
    """Make a token on the server, and find out whom to trust."""
    authority = await _authority(client)
    name, secret = (_random(length) for length in (6, 16))
    expires = (datetime.now(UTC) + life).strftime("%Y-%m-%dT%H:%M:%SZ")
    texts = {
        "token-id": name,
        "token-secret": secret,
        "expiration": expires,
        "usage-bootstrap-authentication": "true",
        "auth-extra-groups": JOINERS,
        "description": f"For cluster {cluster} to join, made by muster." if cluster else "For clusters to join.",
    }
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"bootstrap-token-{name}"},
        "type": BOOTSTRAP_TOKEN,
        "stringData": texts,
    }
    params = {"fieldManager": "muster-clusters"}
    await client.request("POST", collection_path("", "v1", "secrets", _NAMESPACE), params=params, body=body)
    return Invitation(cluster, server or client.connection.server, f"{name}.{secret}", authority, expires)


async def _authority(client: Client) -> str:
    """The certificates that the server itself publishes in its namespaces."""
    try:
        found: JsonObject = (await client.request("GET", object_path(*_AUTHORITY))).json()
    except ApiError as error:
        if error.code != 404:
            raise
        return ""
    return text_at(found, "data", "ca.crt")


def _random(length: int) -> str:
    return "".join(secrets.choice(_LETTERS) for _ in range(length))


def _encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()
