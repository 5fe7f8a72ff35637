"""From a kubeconfig to a connection: which server, which credentials, which namespace.

Static credentials (tokens, token files, client certificates) are read here, because importing a full
Kubernetes client takes longer than the whole command. Everything else (exec plugins, auth providers) goes
through kubernetes_asyncio. What does not last comes with a `Renewal`.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import os
import ssl
import tempfile
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from muster.client.credentials import Credentials, Renewal
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject
from muster.values.times import Fault, parse_time
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable


_FILE_LASTS = timedelta(minutes=1)  # before a token file is read again, as other Kubernetes clients do it
_PLUGIN_SECONDS = 60.0  # for a plugin to answer; some ask a person
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
    impersonation: tuple[tuple[str, str], ...] = ()  # headers that ask to act as somebody else; groups repeat theirs
    tls: ssl.SSLContext | None = None
    renewal: Renewal | None = field(default=None, compare=False)  # of credentials that do not last


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
    load = _loader(user, wanted, sources)
    first = Credentials(_headers(user)) if load is None else await load()
    return Connection(
        server=server,
        namespace=str(chosen.get("namespace") or "default"),
        headers=dict(first.headers),
        impersonation=_impersonation(user),
        tls=_tls(cluster, user, first.pair) if server.startswith("https:") else None,
        renewal=None if load is None else Renewal(server, first, load),
    )


def context_names(path: str | None = None) -> list[str]:
    """The contexts that there are. Raises KubeconfigError for a file that cannot be read."""
    config, _ = _read(path)
    return [] if config is None else [str(each["name"]) for each in config["contexts"] if "name" in each]


def _loader(user: JsonObject, context: str, sources: list[Path]) -> Callable[[], Awaitable[Credentials]] | None:
    """Where to get the user's credentials, and again later; None for those that never change."""
    if "exec" in user:
        return lambda: _from_plugin(user["exec"])
    if "auth-provider" in user:
        return lambda: _from_provider(context, sources)
    if user.get("tokenFile") and not user.get("token"):
        return lambda: _from_file(Path(user["tokenFile"]))
    return None


def _read(path: str | None) -> tuple[JsonObject | None, list[Path]]:
    """The merged kubeconfig, and where it was looked for. The first file that names a thing wins, as in kubectl."""
    named = path or os.environ.get("KUBECONFIG") or ""
    sources = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    if not sources:
        sources = [Path("~/.kube/config").expanduser()]
    merged: JsonObject | None = None
    for source in sources:
        if not source.is_file():
            if path:
                what = "is a directory; name the kubeconfig file in it" if source.is_dir() else "no such file"
                raise KubeconfigError(f"{source}: {what}")
            continue
        try:
            document = read_yaml(source.read_bytes(), YamlLimits())
        except (OSError, YamlError) as error:
            raise KubeconfigError(f"{source}: {error}") from error
        config = None if document is None else document.value
        if not isinstance(config, dict):
            raise KubeconfigError(f"{source}: not a kubeconfig")
        _absolute_paths(config, source.parent)
        if merged is None:
            merged = {"contexts": [], "clusters": [], "users": []}
        for section in ("contexts", "clusters", "users"):
            merged[section].extend(config.get(section) or [])
        merged["current-context"] = merged.get("current-context") or config.get("current-context")
    return merged, sources


def _absolute_paths(config: JsonObject, folder: Path) -> None:
    for section, entry, keys in (
        ("clusters", "cluster", ("certificate-authority",)),
        ("users", "user", ("client-certificate", "client-key", "tokenFile")),
    ):
        for item in config.get(section) or []:
            details = item.get(entry) or {}
            for key in keys:
                if details.get(key):
                    details[key] = str(folder / details[key])
            plugin = details.get("exec")
            if isinstance(plugin, dict) and "/" in str(plugin.get("command") or ""):
                plugin["command"] = str(folder / plugin["command"])


def _named(config: JsonObject, section: str, name: str) -> JsonObject:
    for item in config.get(section) or []:
        if isinstance(item, dict) and item.get("name") == name:
            return item
    known = ", ".join(str(item.get("name")) for item in config.get(section) or []) or "none"
    raise KubeconfigError(f"the kubeconfig has no {section[:-1]} {name!r} (it has: {known})")


def _headers(user: JsonObject) -> dict[str, str]:
    if user.get("token"):
        return _bearer(str(user["token"]))
    if user.get("username"):
        pair = f"{user['username']}:{user.get('password', '')}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _impersonation(user: JsonObject) -> tuple[tuple[str, str], ...]:
    """The user whom requests speak for. Left out, they would be made with powers that were meant to be laid down."""
    name, uid = user.get("as"), user.get("as-uid")
    groups, extra = user.get("as-groups") or (), user.get("as-user-extra") or {}
    if not name:
        if uid or groups or extra:
            raise KubeconfigError("the user of the kubeconfig has as-uid, as-groups or as-user-extra, but no `as`")
        return ()
    return (
        ("Impersonate-User", str(name)),
        *((("Impersonate-Uid", str(uid)),) if uid else ()),
        *(("Impersonate-Group", str(group)) for group in groups),
        *(
            (f"Impersonate-Extra-{quote(str(key), safe='')}", str(value))
            for key, values in extra.items()
            for value in values
        ),
    )


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _tls(cluster: JsonObject, user: JsonObject, pair: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority = _content(cluster, "certificate-authority", "certificate-authority-data")
    try:
        if authority:
            context = ssl.create_default_context(cadata=authority.decode())
        if cluster.get("insecure-skip-tls-verify"):
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate, key = pair or (
            _content(user, "client-certificate", "client-certificate-data"),
            _content(user, "client-key", "client-key-data"),
        )
        if certificate and key:
            load_pair(context, certificate, key)
    except (ssl.SSLError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"the certificates of the kubeconfig cannot be used: {error}") from error
    return context


def load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """ssl reads certificates of its own from files only; ours live there no longer than that takes."""
    with tempfile.TemporaryDirectory(prefix="muster-") as folder:
        certificate_file, key_file = Path(folder, "tls.crt"), Path(folder, "tls.key")
        certificate_file.write_bytes(certificate)
        key_file.touch(mode=0o600)
        key_file.write_bytes(key)
        context.load_cert_chain(certificate_file, key_file)


def _content(entry: JsonObject, file_key: str, data_key: str) -> bytes:
    try:
        if data_key and entry.get(data_key):
            return base64.b64decode(entry[data_key], validate=True)
        return Path(entry[file_key]).read_bytes() if entry.get(file_key) else b""
    except (OSError, binascii.Error) as error:
        raise KubeconfigError(f"{file_key} of the kubeconfig cannot be read: {error}") from error


async def _from_file(path: Path) -> Credentials:
    return _token_in(path)


def _token_in(path: Path) -> Credentials:
    """A token in a file, which somebody replaces now and then."""
    try:
        token = path.read_text().strip()
    except (OSError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"tokenFile {path} cannot be read: {error}") from error
    return Credentials(_bearer(token), datetime.now(UTC) + _FILE_LASTS)


async def _from_plugin(config: JsonObject) -> Credentials:
    """Run an exec plugin; kubernetes_asyncio knows how to talk to it."""
    from kubernetes_asyncio.config import ConfigException
    from kubernetes_asyncio.config.exec_provider import ExecProvider
    from kubernetes_asyncio.config.kube_config import ConfigNode

    given = {key: value for key, value in config.items() if value is not None}
    try:
        async with asyncio.timeout(_PLUGIN_SECONDS):
            status = await ExecProvider(ConfigNode("exec", given)).run()
    except TimeoutError:
        raise KubeconfigError(f"the credential plugin {config.get('command')} does not answer") from None
    except (ConfigException, OSError, UnicodeDecodeError) as error:
        raise KubeconfigError(f"the credential plugin {config.get('command')} failed: {error}") from error
    if not isinstance(status, dict):
        raise KubeconfigError(f"the credential plugin {config.get('command')} answered without a status")
    token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    return Credentials(
        _bearer(str(token)) if token else {},
        _expiry(status.get("expirationTimestamp"), str(config.get("command"))),
        (str(certificate).encode(), str(key).encode()) if certificate and key else None,
    )


def _expiry(text: object, command: str) -> datetime | None:
    if not text:
        return None
    found = parse_time(text)
    if isinstance(found, Fault):
        raise KubeconfigError(f"the credential plugin {command} answered with a wrong time: {found}")
    return found


async def _from_provider(context: str, sources: list[Path]) -> Credentials:
    """Ask kubernetes_asyncio, which knows the older ways of getting tokens, and hand on what it found."""
    from kubernetes_asyncio.client import Configuration
    from kubernetes_asyncio.config import ConfigException, load_kube_config

    configuration = Configuration()
    try:
        await load_kube_config(
            config_file=os.pathsep.join(map(str, sources)), context=context, client_configuration=configuration
        )
    except (ConfigException, OSError) as error:
        raise KubeconfigError(f"the credentials of context {context!r} cannot be had: {error}") from error
    found = str(configuration.api_key.get("BearerToken") or configuration.api_key.get("authorization") or "")
    return Credentials(_bearer(found.removeprefix("Bearer ")) if found else {})


def _in_cluster() -> Connection | None:
    if not _IN_CLUSTER.is_dir():
        return None
    host, port = os.environ.get("KUBERNETES_SERVICE_HOST"), os.environ.get("KUBERNETES_SERVICE_PORT", "443")
    if not host:
        raise KubeconfigError("a service account is mounted, but KUBERNETES_SERVICE_HOST is not set")
    host = f"[{host}]" if ":" in host else host
    server = f"https://{host}:{port}"
    first = _token_in(_IN_CLUSTER / "token")
    return Connection(
        server=server,
        namespace=(_IN_CLUSTER / "namespace").read_text().strip(),
        headers=dict(first.headers),
        tls=ssl.create_default_context(cafile=str(_IN_CLUSTER / "ca.crt")),
        renewal=Renewal(server, first, lambda: _from_file(_IN_CLUSTER / "token")),  # the kubelet rotates it
    )
