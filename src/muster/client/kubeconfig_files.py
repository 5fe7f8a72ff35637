"""What a kubeconfig says, read from the files that KUBECONFIG names and merged as kubectl does.

`kubeconfig` makes a connection of it. Knows the fields that connections need; others are passed over.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, TypeVar

import msgspec

from muster.api.reading import Reader
from muster.errors import InvalidObjectError
from muster.values.faults import Fault
from muster.values.json import JsonObject
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml


class KubeconfigError(InvalidObjectError):
    """A kubeconfig that is missing, broken, or does not have what was asked for."""

    def __init__(self, reason: str) -> None:
        super().__init__("", reason)


class _Part(msgspec.Struct, frozen=True, rename="kebab"):
    """Names in kubeconfigs have hyphens."""


class Context(_Part, frozen=True):
    cluster: str = ""
    user: str = ""
    namespace: str = ""


class Cluster(_Part, frozen=True):
    server: str = ""
    certificate_authority: str = ""
    certificate_authority_data: str = ""
    insecure_skip_tls_verify: bool = False
    tls_server_name: str = ""
    proxy_url: str = ""


class User(_Part, frozen=True):
    token: str = ""
    token_file: str = msgspec.field(default="", name="tokenFile")
    username: str = ""
    password: str = ""
    client_certificate: str = ""
    client_certificate_data: str = ""
    client_key: str = ""
    client_key_data: str = ""
    as_name: str = msgspec.field(default="", name="as")
    as_uid: str = ""
    as_groups: tuple[str, ...] = ()
    as_user_extra: dict[str, tuple[str, ...]] = msgspec.field(default_factory=dict)
    exec: JsonObject | None = None  # kubernetes_asyncio knows what is in these two
    auth_provider: JsonObject | None = None


class NamedContext(_Part, frozen=True):
    name: str = ""
    context: Context = Context()


class NamedCluster(_Part, frozen=True):
    name: str = ""
    cluster: Cluster = Cluster()


class NamedUser(_Part, frozen=True):
    name: str = ""
    user: User = User()


class Kubeconfig(_Part, frozen=True):
    contexts: tuple[NamedContext, ...] = ()
    clusters: tuple[NamedCluster, ...] = ()
    users: tuple[NamedUser, ...] = ()
    current_context: str = ""


Entry = TypeVar("Entry", NamedContext, NamedCluster, NamedUser)
_READER: Final = Reader(Kubeconfig)


def read_kubeconfig(path: str | None) -> tuple[Kubeconfig | None, list[Path]]:
    """The merged kubeconfig, and where it was looked for. The first file that names a thing wins, as in kubectl."""
    named = path or os.environ.get("KUBECONFIG", "")
    sources = [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    if not sources:
        sources = [Path("~/.kube/config").expanduser()]
    found: list[Kubeconfig] = []
    for source in sources:
        if source.is_file():
            found.append(_read(source))
        elif path:
            what = "is a directory; name the kubeconfig file in it" if source.is_dir() else "no such file"
            raise KubeconfigError(f"{source}: {what}")
    if not found:
        return None, sources
    merged = Kubeconfig(
        tuple(each for config in found for each in config.contexts),
        tuple(each for config in found for each in config.clusters),
        tuple(each for config in found for each in config.users),
        next((config.current_context for config in found if config.current_context), ""),
    )
    return merged, sources


def _read(source: Path) -> Kubeconfig:
    try:
        content = source.read_bytes()
    except OSError as error:
        raise KubeconfigError(f"{source}: {error}") from error
    return _with_absolute_paths(kubeconfig_in(content, str(source)), source.parent)


def kubeconfig_in(content: bytes, origin: str) -> Kubeconfig:
    """A kubeconfig that was read already; files that it names are as it names them. Raises KubeconfigError."""
    try:
        document = read_yaml(content, YamlLimits())
    except YamlError as error:
        raise KubeconfigError(f"{origin}: {error}") from error
    found = _READER.fitted(None if document is None else document.value)
    if isinstance(found, Fault):
        raise KubeconfigError(f"{origin}: not a kubeconfig")
    if found.faults:
        raise KubeconfigError(f"{origin}: {found.faults[0]}")
    return found.obj


def _with_absolute_paths(config: Kubeconfig, folder: Path) -> Kubeconfig:
    """Files are named from where the kubeconfig is."""
    replace = msgspec.structs.replace
    clusters = tuple(replace(each, cluster=_cluster(each.cluster, folder)) for each in config.clusters)
    users = tuple(replace(each, user=_user(each.user, folder)) for each in config.users)
    return replace(config, clusters=clusters, users=users)


def _cluster(cluster: Cluster, folder: Path) -> Cluster:
    return msgspec.structs.replace(cluster, certificate_authority=_absolute(cluster.certificate_authority, folder))


def _user(user: User, folder: Path) -> User:
    plugin = user.exec
    if plugin is not None and "/" in str(plugin.get("command", "")):
        plugin = {**plugin, "command": str(folder / plugin["command"])}
    return msgspec.structs.replace(
        user,
        client_certificate=_absolute(user.client_certificate, folder),
        client_key=_absolute(user.client_key, folder),
        token_file=_absolute(user.token_file, folder),
        exec=plugin,
    )


def _absolute(path: str, folder: Path) -> str:
    return str(folder / path) if path else ""
