"""The composition root: from settings to a running hub. The only module that knows all parts.

State lives in one directory: the database, the administrator's token, and a kubeconfig that is written anew at every
start, because the port may be another one.
"""

from __future__ import annotations

import asyncio
import base64
import gc
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from muster.api import RESOURCES
from muster.demo import Fleet, fleet_objects
from muster.errors import MusterError, StorageError
from muster.hub.api import Api
from muster.hub.auth.certificates import serving_certificate
from muster.hub.auth.masters import MastersAuthorizer
from muster.hub.auth.tokens import ADMINISTRATOR, TokenAuthenticator, administrator_token
from muster.hub.requests import Given, PatchType, Target, WriteOptions
from muster.hub.rest.application import Application
from muster.hub.rest.metrics import Metrics
from muster.hub.rest.server import serve
from muster.hub.storage import Store

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

DATABASE = "muster.db"
TOKEN = "admin-token"  # noqa: S105 - the name of a file
KUBECONFIG = "kubeconfig"
_DEMO_WRITES_AT_ONCE = 32


class SettingsError(MusterError):
    """Settings that cannot be used together, or a directory that cannot be used."""


@dataclass(frozen=True, slots=True)
class HubSettings:
    """What `muster hub run` needs to know."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 0
    demo: Fleet | None = None


@dataclass(frozen=True, slots=True)
class Running:
    """A hub that answers requests."""

    url: str
    kubeconfig: Path
    objects: int
    revision: int


def default_directory() -> Path:
    """Where a hub keeps its state unless told otherwise."""
    home = os.environ.get("XDG_DATA_HOME") or "~/.local/share"
    return Path(home).expanduser() / "muster"


async def run_hub(settings: HubSettings, announce: Callable[[Running], None]) -> None:
    """Run until cancelled. What was acknowledged is on disk at any moment; stopping only tidies up."""
    if not _is_loopback(settings.host):
        raise SettingsError(
            f"{settings.host} can be reached from other machines, and the hub knows only one user so far, who may do "
            "everything: listen on 127.0.0.1"
        )
    _prepare(settings.directory)
    token = administrator_token(settings.directory / TOKEN)
    tls = serving_certificate(settings.directory)
    async with Store.open(settings.directory / DATABASE) as store:
        authorizer = MastersAuthorizer()
        authenticator = TokenAuthenticator({token: ADMINISTRATOR})
        api = Api(store, authorizer, authenticator=authenticator)
        await api.start()
        try:
            if settings.demo is not None and not store.count("managedclusters.cluster.open-cluster-management.io"):
                await load_fleet(api, fleet_objects(settings.demo))
            # What is loaded by now stays: the collector need not look at it again.
            gc.collect()
            gc.freeze()
            application = Application(
                api,
                RESOURCES,
                authenticator,
                authorizer,
                metrics=_metrics(store),
                checks={"storage": lambda: store.problem},
            )

            def ready(url: str) -> None:
                kubeconfig = settings.directory / KUBECONFIG
                write_kubeconfig(kubeconfig, url, token, tls.authority)
                announce(Running(url, kubeconfig, sum(store.statistics().objects.values()), store.revision))

            await serve(application, settings.host, settings.port, ready, tls=tls)
        finally:
            await api.close()


def _metrics(store: Store) -> Metrics:
    metrics = Metrics()
    metrics.gauge("muster_store_revision", "The newest revision.", lambda: store.revision)
    metrics.gauge("muster_store_compacted_revision", "History below this is gone.", lambda: store.compacted)
    return metrics


async def load_fleet(api: Api, objects: Iterable[Mapping[str, Any]]) -> None:
    """Create objects with their status, many at a time. They come in an order in which they can exist."""
    waiting: set[asyncio.Task[None]] = set()
    for obj in objects:
        if obj["kind"] in ("Namespace", "ManagedClusterSet"):
            await _create(api, obj)  # others refer to these
            continue
        if len(waiting) >= _DEMO_WRITES_AT_ONCE:
            done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
        waiting.add(asyncio.create_task(_create(api, obj)))
    for task in waiting:
        await task


async def _create(api: Api, obj: Mapping[str, Any]) -> None:
    group, _, version_name = obj["apiVersion"].rpartition("/")
    resource = next(each for each in RESOURCES.values() if each.group == group and each.kind == obj["kind"])
    version = next(each for each in resource.versions if each.name == version_name)
    metadata = obj["metadata"]
    options = WriteOptions(field_manager="muster-demo")
    place = Target(resource, version, metadata.get("namespace", ""))
    await api.create(ADMINISTRATOR, place, Given(obj), options)
    if "status" in obj:
        target = Target(resource, version, place.namespace, metadata["name"], "status")
        await api.patch(ADMINISTRATOR, target, PatchType.MERGE, Given({"status": obj["status"]}), options)


def write_kubeconfig(path: Path, url: str, token: str, authority: bytes) -> None:
    """A kubeconfig for the administrator, readable only by its owner, replaced in one step."""
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "muster", "cluster": {"server": url, "certificate-authority-data": _base64(authority)}}],
        "users": [{"name": "muster-admin", "user": {"token": token}}],
        "contexts": [{"name": "muster", "context": {"cluster": "muster", "user": "muster-admin"}}],
        "current-context": "muster",
    }
    draft = path.with_suffix(".new")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(msgspec.yaml.encode(config))
    draft.replace(path)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _prepare(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{directory}: cannot be made or used: {error.strerror}") from error


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")
