"""From a kubeconfig to a connection: which server, which credentials, which namespace.

Static credentials (tokens, token files, client certificates) are read here, because importing a full
Kubernetes client takes longer than the whole command. Everything else (exec plugins, auth providers) goes
through kubernetes_asyncio.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from muster.errors import InvalidObjectError

_IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


class KubeconfigError(InvalidObjectError):
    """A kubeconfig that is missing, broken, or does not have what was asked for."""

    def __init__(self, reason: str) -> None:
        super().__init__("", reason)


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything needed to speak to one server as one user."""

    server: str
    namespace: str = "default"
    headers: dict[str, str] = field(default_factory=dict)
    tls: ssl.SSLContext | None = None


async def load_connection(context: str | None = None, path: str | None = None) -> Connection:
    """The connection of the named context, or of the current one. In a pod without a kubeconfig: the pod's own."""
    config, sources = _read(path)
    if config is None:
        if own := _in_cluster():
            return own
        raise KubeconfigError(
            f"no kubeconfig: none of {', '.join(map(str, sources))} exists. "
            "Start a hub with `muster hub run` and export the KUBECONFIG it prints, or pass --kubeconfig."
        )
    wanted = context or config.get("current-context") or ""
    if not wanted:
        raise KubeconfigError("the kubeconfig has no current-context: name one with --context")
    chosen = _named(config, "contexts", wanted).get("context") or {}
    cluster = _named(config, "clusters", str(chosen.get("cluster", ""))).get("cluster") or {}
    user = _named(config, "users", str(chosen["user"])).get("user") or {} if chosen.get("user") else {}
    server = str(cluster.get("server", "")).rstrip("/")
    if not server:
        raise KubeconfigError(f"cluster {chosen.get('cluster')!r} of the kubeconfig has no server")
    if "exec" in user or "auth-provider" in user:
        user = await _dynamic_credentials(user, wanted, sources)
    return Connection(
        server=server,
        namespace=str(chosen.get("namespace") or "default"),
        headers=_headers(user),
        tls=_tls(cluster, user) if server.startswith("https:") else None,
    )


def _read(path: str | None) -> tuple[dict[str, Any] | None, list[Path]]:
    """The merged kubeconfig, and where it was looked for. The first file that names a thing wins, as in kubectl."""
    named = path or os.environ.get("KUBECONFIG") or ""
    sources = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    if not sources:
        sources = [Path("~/.kube/config").expanduser()]
    merged: dict[str, Any] | None = None
    for source in sources:
        if not source.is_file():
            if path:
                raise KubeconfigError(f"{source}: no such file")
            continue
        try:
            config = yaml.load(source.read_bytes(), Loader=yaml.CSafeLoader)
        except (OSError, yaml.YAMLError) as error:
            raise KubeconfigError(f"{source}: {error}") from error
        if not isinstance(config, dict):
            raise KubeconfigError(f"{source}: not a kubeconfig")
        _absolute_paths(config, source.parent)
        if merged is None:
            merged = {"contexts": [], "clusters": [], "users": []}
        for section in ("contexts", "clusters", "users"):
            merged[section].extend(config.get(section) or [])
        merged["current-context"] = merged.get("current-context") or config.get("current-context")
    return merged, sources


def _absolute_paths(config: dict[str, Any], folder: Path) -> None:
    for section, entry, keys in (
        ("clusters", "cluster", ("certificate-authority",)),
        ("users", "user", ("client-certificate", "client-key", "tokenFile")),
    ):
        for item in config.get(section) or []:
            details = item.get(entry) or {}
            for key in keys:
                if details.get(key):
                    details[key] = str(folder / details[key])


def _named(config: dict[str, Any], section: str, name: str) -> dict[str, Any]:
    for item in config.get(section) or []:
        if isinstance(item, dict) and item.get("name") == name:
            return item
    known = ", ".join(str(item.get("name")) for item in config.get(section) or []) or "none"
    raise KubeconfigError(f"the kubeconfig has no {section[:-1]} {name!r} (it has: {known})")


def _headers(user: dict[str, Any]) -> dict[str, str]:
    token = user.get("token")
    if not token and user.get("tokenFile"):
        token = _content(user, "tokenFile", "").decode().strip()
    if token:
        return {"Authorization": f"Bearer {token}"}
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _tls(cluster: dict[str, Any], user: dict[str, Any]) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority = _content(cluster, "certificate-authority", "certificate-authority-data")
    try:
        if authority:
            context = ssl.create_default_context(cadata=authority.decode())
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate = _content(user, "client-certificate", "client-certificate-data")
        key = _content(user, "client-key", "client-key-data")
        if certificate and key:
            _load_pair(context, certificate, key)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"the certificates of the kubeconfig cannot be used: {error}") from error
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """ssl reads certificates of its own from files only; ours live there no longer than that takes."""
    with tempfile.TemporaryDirectory(prefix="muster-") as folder:
        certificate_file, key_file = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(certificate_file, key_file)


def _content(entry: dict[str, Any], file_key: str, data_key: str) -> bytes:
    try:
        if data_key and entry.get(data_key):
            return base64.b64decode(entry[data_key], validate=True)
        return Path(entry[file_key]).read_bytes() if entry.get(file_key) else b""
    except (OSError, binascii.Error) as error:
        raise KubeconfigError(f"{file_key} of the kubeconfig cannot be read: {error}") from error


async def _dynamic_credentials(user: dict[str, Any], context: str, sources: list[Path]) -> dict[str, Any]:
    """Ask kubernetes_asyncio, which runs exec plugins and refreshes tokens, and hand on what it found."""
    from kubernetes_asyncio.client import Configuration
    from kubernetes_asyncio.config import ConfigException, load_kube_config

    configuration = Configuration()
    try:
        await load_kube_config(
            config_file=os.pathsep.join(map(str, sources)), context=context, client_configuration=configuration
        )
    except (ConfigException, OSError) as error:
        raise KubeconfigError(f"the credentials of context {context!r} cannot be had: {error}") from error
    found = {key: value for key, value in user.items() if key not in ("exec", "auth-provider")}
    authorization = str(configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization") or "")
    if authorization:
        found["token"] = authorization.removeprefix("Bearer ")
    if configuration.cert_file and configuration.key_file:
        found["client-certificate"], found["client-key"] = configuration.cert_file, configuration.key_file
    return found


def _in_cluster() -> Connection | None:
    if not _IN_CLUSTER.is_dir():
        return None
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise KubeconfigError("a service account is mounted, but KUBERNETES_SERVICE_HOST is not set")
    host = f"[{host}]" if ":" in host else host
    return Connection(
        server=f"https://{host}:{port}",
        namespace=(_IN_CLUSTER / "namespace").read_text().strip(),
        headers={"Authorization": f"Bearer {(_IN_CLUSTER / 'token').read_text().strip()}"},
        tls=ssl.create_default_context(cafile=str(_IN_CLUSTER / "ca.crt")),
    )
