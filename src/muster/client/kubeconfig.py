"""From a kubeconfig to a connection: which server, which credentials, which namespace. `kubeconfig_files` reads it.

Static credentials (tokens, token files, client certificates) are read here, because importing a full
Kubernetes client takes longer than the whole command. Everything else (exec plugins, auth providers) goes
through kubernetes_asyncio. What does not last comes with a `Renewal`.
"""

from __future__ import annotations

import asyncio
import base64
import os
import ssl
import tempfile
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import structs

from muster.client.credentials import Credentials, Renewal
from muster.client.kubeconfig_files import Cluster, Context, Entry, Kubeconfig, KubeconfigError, User, read_kubeconfig
from muster.values.json import JsonObject
from muster.values.times import Fault, parse_time

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence


_FILE_LASTS = timedelta(minutes=1)  # before a token file is read again, as other Kubernetes clients do it
_PLUGIN_SECONDS = 60.0  # for a plugin to answer; some ask a person
_IN_CLUSTER = Path("/var/run/secrets/kubernetes.io/serviceaccount")


@dataclass(frozen=True, slots=True)
class Connection:
    """Everything needed to speak to one server as one user."""

    server: str
    namespace: str = "default"
    headers: dict[str, str] = field(default_factory=dict)
    impersonation: tuple[tuple[str, str], ...] = ()  # headers that ask to act as somebody else; groups repeat theirs
    tls: ssl.SSLContext | None = None
    server_name: str = ""  # by which its certificate calls the server, if not as the address does
    proxy: str = ""  # through which the server is reached
    renewal: Renewal | None = field(default=None, compare=False)  # of credentials that do not last


async def load_connection(
    context: str | None = None, path: str | None = None, *, anonymous: bool = False
) -> Connection:
    """The connection of the named context, or of the current one. In a pod without a kubeconfig: the pod's own.

    An anonymous one has the server and whom to trust, and nothing of the user: each request brings its own.
    """
    config, sources = read_kubeconfig(path)
    if config is None:
        if own := in_cluster():
            return replace(own, headers={}, renewal=None) if anonymous else own
        raise KubeconfigError(
            f"no kubeconfig: none of {', '.join(map(str, sources))} exists. "
            "Start a hub with `muster hub run` and export the KUBECONFIG it prints, or pass --kubeconfig."
        )
    wanted, chosen, cluster, user = chosen_context(config, context)
    user = User() if anonymous else user
    server = cluster.server.rstrip("/")
    load = _loader(user, wanted, sources)
    first = Credentials(_headers(user)) if load is None else await load()
    return Connection(
        server=server,
        namespace=chosen.namespace or "default",
        headers=dict(first.headers),
        impersonation=_impersonation(user),
        tls=_tls(cluster, user, first.pair) if server.startswith("https:") else None,
        server_name=cluster.tls_server_name,
        proxy=_proxy(cluster.proxy_url),
        renewal=None if load is None else Renewal(server, first, load),
    )


def chosen_context(config: Kubeconfig, context: str | None) -> tuple[str, Context, Cluster, User]:
    """The named context or the current one, with what it names. Raises KubeconfigError."""
    wanted = context or config.current_context
    if not wanted:
        raise KubeconfigError("the kubeconfig has no current-context: name one with --context")
    chosen = _named("context", config.contexts, wanted).context
    cluster = _named("cluster", config.clusters, chosen.cluster).cluster
    user = _named("user", config.users, chosen.user).user if chosen.user else User()
    if not cluster.server.rstrip("/"):
        raise KubeconfigError(f"cluster {chosen.cluster!r} of the kubeconfig has no server")
    return wanted, chosen, cluster, user


def static_connection(cluster: Cluster, user: User) -> Connection:
    """For what somebody else wrote: nothing is started, no file is read, certificates are verified.

    Raises KubeconfigError for what would need more.
    """
    server = cluster.server.rstrip("/")
    if not server.startswith("https://"):
        raise KubeconfigError(f"the server {server[:200]!r} is no https address")
    if cluster.insecure_skip_tls_verify:
        raise KubeconfigError("insecure-skip-tls-verify is set: certificates of clusters are always verified")
    if user.exec is not None or user.auth_provider is not None:
        raise KubeconfigError("a program would have to make the credentials: none is started for what others wrote")
    if cluster.proxy_url:
        raise KubeconfigError("proxy-url is set: only contexts of a person are reached through a proxy")
    files = (cluster.certificate_authority, user.client_certificate, user.client_key, user.token_file)
    if any(files):
        raise KubeconfigError("it names files: certificates and tokens must stand in it")
    return Connection(
        server=server,
        headers=_headers(user),
        impersonation=_impersonation(user),
        tls=_tls(cluster, user, None),
        server_name=cluster.tls_server_name,
    )


def inlined(cluster: Cluster, user: User) -> tuple[Cluster, User]:
    """The same with the content of the files that they name. Raises KubeconfigError."""
    authority = _content("certificate-authority", cluster.certificate_authority, cluster.certificate_authority_data)
    certificate = _content("client-certificate", user.client_certificate, user.client_certificate_data)
    key = _content("client-key", user.client_key, user.client_key_data)
    token = user.token
    if user.token_file and not token:
        token = _content("tokenFile", user.token_file, "").decode("utf-8", "replace").strip()
    return (
        structs.replace(cluster, certificate_authority="", certificate_authority_data=_encoded(authority)),
        structs.replace(
            user,
            token=token,
            token_file="",
            client_certificate="",
            client_key="",
            client_certificate_data=_encoded(certificate),
            client_key_data=_encoded(key),
        ),
    )


def _encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def context_names(path: str | None = None) -> list[str]:
    """The contexts that there are. Raises KubeconfigError for a file that cannot be read."""
    config, _ = read_kubeconfig(path)
    return [] if config is None else [each.name for each in config.contexts if each.name]


def _loader(user: User, context: str, sources: list[Path]) -> Callable[[], Awaitable[Credentials]] | None:
    """Where to get the user's credentials, and again later; None for those that never change."""
    if (plugin := user.exec) is not None:
        return lambda: _from_plugin(plugin)
    if user.auth_provider is not None:
        return lambda: _from_provider(context, sources)
    if user.token_file and not user.token:
        return lambda: _from_file(Path(user.token_file))
    return None


def _named(kind: str, entries: Sequence[Entry], name: str) -> Entry:
    for each in entries:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in entries) or "none"
    raise KubeconfigError(f"the kubeconfig has no {kind} {name!r} (it has: {known})")


def _proxy(url: str) -> str:
    if url and not url.startswith(("http://", "https://")):
        raise KubeconfigError(f"proxy-url {url[:200]!r} is no http or https address: others are not supported")
    return url


def _headers(user: User) -> dict[str, str]:
    if user.token:
        return _bearer(user.token)
    if user.username:
        pair = f"{user.username}:{user.password}".encode()
        return {"Authorization": f"Basic {base64.b64encode(pair).decode()}"}
    return {}


def _impersonation(user: User) -> tuple[tuple[str, str], ...]:
    """The user whom requests speak for. Left out, they would be made with powers that were meant to be laid down."""
    if not user.as_name:
        if user.as_uid or user.as_groups or user.as_user_extra:
            raise KubeconfigError("the user of the kubeconfig has as-uid, as-groups or as-user-extra, but no `as`")
        return ()
    return (
        ("Impersonate-User", user.as_name),
        *((("Impersonate-Uid", user.as_uid),) if user.as_uid else ()),
        *(("Impersonate-Group", group) for group in user.as_groups),
        *(
            (f"Impersonate-Extra-{quote(key, safe='')}", value)
            for key, values in user.as_user_extra.items()
            for value in values
        ),
    )


def _bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


def _tls(cluster: Cluster, user: User, pair: tuple[bytes, bytes] | None) -> ssl.SSLContext:
    authority = _content("certificate-authority", cluster.certificate_authority, cluster.certificate_authority_data)
    try:
        # The system's authorities are read only where they count: that takes longer than a whole request.
        context = ssl.create_default_context(cadata=authority.decode() if authority else None)
        if cluster.insecure_skip_tls_verify:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
        certificate, key = pair or (
            _content("client-certificate", user.client_certificate, user.client_certificate_data),
            _content("client-key", user.client_key, user.client_key_data),
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


def _content(field: str, path: str, data: str) -> bytes:
    try:
        if data:
            return base64.b64decode(data, validate=True)
        return Path(path).read_bytes() if path else b""
    except (OSError, ValueError) as error:
        raise KubeconfigError(f"{field} of the kubeconfig cannot be read: {error}") from error


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
    keys = (configuration.api_key.get(name) for name in ("BearerToken", "authorization"))
    found = next((str(each) for each in keys if each), "")
    return Credentials(_bearer(found.removeprefix("Bearer ")) if found else {})


def in_cluster() -> Connection | None:
    """As the account of the Pod that we run in; None elsewhere."""
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
