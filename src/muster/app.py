"""The composition root: from settings to a running hub. The only module that knows all parts.

State lives in one directory: the database, the administrator's token, and a kubeconfig that is written anew at every
start, because the port may be another one.
"""

from __future__ import annotations

import asyncio
import base64
import logging
import socket
import sys
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

import msgspec

from muster.api import RESOURCES
from muster.controllers.permissions import COLLECTOR, CONTROLLERS, REGISTRAR
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS, Controllers
from muster.demo import Fleet, fleet_objects
from muster.errors import MusterError, StorageError
from muster.hub import directory
from muster.hub.access import Access, AccessSettings
from muster.hub.api import Api
from muster.hub.auth.bootstrap_tokens import BootstrapTokenCleaner
from muster.hub.auth.certificates import given_certificate, serving_certificate
from muster.hub.auth.files import write_private
from muster.hub.auth.tokens import ADMINISTRATOR, AUTHENTICATED, UnwrittenTokenError, administrator_token
from muster.hub.default_accounts import DefaultAccounts
from muster.hub.limits import ObjectLimits
from muster.hub.postponed_writes import PostponedWrites
from muster.hub.published_authority import PublishedAuthority
from muster.hub.requests import ObjectBody, PatchType, Target, User, WriteOptions
from muster.hub.rest.application import Application
from muster.hub.rest.limits import Limits
from muster.hub.rest.metrics import Metrics
from muster.hub.rest.server import serve
from muster.hub.signing.signer import Signer
from muster.hub.storage import Store, StoreSettings
from muster.hub.upgrades import today, upgrade_objects
from muster.supervision import Vitals, clock, cycles, progress_problem
from muster.values.json import Json, JsonMapping
from muster.values.yaml_reading import YamlError, YamlLimits, read_yaml

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from muster.hub.auth.certificates import ServingCertificate

_LOGGER = logging.getLogger(__name__)
DATABASE = directory.DATABASE
TOKEN = "admin-token"  # noqa: S105 - the name of a file
KUBECONFIG = directory.KUBECONFIG
CONTROLLERS_KUBECONFIG = directory.CONTROLLERS_KUBECONFIG
default_directory = directory.default_directory
_DEMO_WRITES_AT_ONCE = 32
# Seconds that a thread beside the loop (heavy work, rendering) keeps the interpreter while the loop wants it. Python's
# own five milliseconds, several times for one request, are what a bystander would feel of somebody's compilation.
_SWITCH_INTERVAL = 0.0005


class SettingsError(MusterError):
    """Settings that cannot be used together, or a directory that cannot be used."""


@dataclass(frozen=True, slots=True)
class HubSettings:
    """What `muster hub run` needs to know."""

    directory: Path
    host: str = "127.0.0.1"
    port: int = 0
    demo: Fleet | None = None
    access: AccessSettings = field(default_factory=AccessSettings)
    names: tuple[str, ...] = ()  # more names for the generated certificate
    certificate: Path | None = None  # given instead of a generated one, with its key and whom clients trust
    key: Path | None = None
    authority: Path | None = None
    requests: Limits = field(default_factory=Limits)
    objects: ObjectLimits = field(default_factory=ObjectLimits)
    store: StoreSettings = field(default_factory=StoreSettings)
    vitals: Path | None = None  # where the controllers beside us show that they make progress


@dataclass(frozen=True, slots=True)
class Running:
    """A hub that answers requests."""

    url: str
    kubeconfig: Path
    objects: int
    revision: int


async def run_hub(settings: HubSettings, announce: Callable[[Running], None]) -> None:
    """Run until cancelled. What was acknowledged is on disk at any moment; stopping only tidies up."""
    if settings.access.anonymous and not _is_loopback(settings.host):
        raise SettingsError(
            f"{settings.host} can be reached from other machines: without credentials only loopback is served"
        )
    _prepare(settings.directory)
    token = administrator_token(settings.directory / TOKEN)
    tls = _certificate(settings)
    postponed = PostponedWrites()
    async with Store.open(settings.directory / DATABASE, replace(settings.store, format=today())) as store:
        await upgrade_objects(store)
        services = service_users(settings.directory)
        access = Access(store, settings.directory, {token: ADMINISTRATOR, **services}, settings.access)
        api = Api(
            store,
            access.authorizer,
            admission=access.admission,
            authenticator=access.authenticator,
            limits=settings.objects,
            names_on_create=not settings.access.strict_names,
            heavy_work=access.heavy_work,
            questions=access.questions,
        )
        await postponed.do("the namespaces that every hub has", api.start)
        looking: asyncio.Task[None] | None = None
        servants = (
            Signer(api, store, settings.directory),
            BootstrapTokenCleaner(api, store),
            DefaultAccounts(api, store),
            PublishedAuthority(api, store, tls.authority),
        )
        try:
            await access.start(api, postponed)
            for servant in servants:
                servant.start()
            if settings.demo is not None and not store.count("managedclusters.cluster.open-cluster-management.io"):
                await load_fleet(api, fleet_objects(settings.demo))
            cycles.freeze_loaded_objects()
            looking = asyncio.create_task(cycles.collect_now_and_then(lambda: access.heavy_work.is_busy))
            sys.setswitchinterval(_SWITCH_INTERVAL)
            application = Application(
                api,
                access.authenticator,
                access.authorizer,
                authentication=access.authentication,
                audit=access.audit,
                subresources=access.subresources,
                identity=access.identity,
                limits=settings.requests,
                metrics=_metrics(store, settings.directory / CONTROLLERS_ADDRESS),
                checks={
                    "storage": lambda: store.problem,
                    "audit": lambda: None if access.audit is None else access.audit.problem,
                    **_controllers_check(settings.vitals),
                },
            )

            named = {user.name: secret for secret, user in services.items()}

            def write_kubeconfigs(url: str) -> None:
                write_kubeconfig(settings.directory / KUBECONFIG, url, {"muster-admin": token}, tls.authority)
                write_kubeconfig(settings.directory / CONTROLLERS_KUBECONFIG, url, named, tls.authority)

            def ready(bound: str) -> None:
                url = _reachable(bound)
                postponed.do_at_once(f"the kubeconfigs for {url}", lambda: write_kubeconfigs(url))
                kubeconfig = settings.directory / KUBECONFIG
                announce(Running(url, kubeconfig, sum(store.statistics().objects.values()), store.revision))

            await serve(application, settings.host, _port(settings), ready, tls=tls)
        finally:
            if looking is not None:
                looking.cancel()
            await postponed.close()
            for servant in servants:
                await servant.close()
            await access.close()
            await api.close()


def _port(settings: HubSettings) -> int:
    """The one asked for; else the one in the kubeconfig, where clients look for the hub; else a free one."""
    if settings.port:
        return settings.port
    try:
        document = read_yaml((settings.directory / KUBECONFIG).read_bytes(), YamlLimits())
        config: Json = {} if document is None else document.value
        port = int(config["clusters"][0]["cluster"]["server"].rpartition(":")[2])
        with socket.create_server((settings.host, port)):
            return port
    except (OSError, ValueError, LookupError, TypeError, AttributeError, YamlError, OverflowError):
        return 0


def _certificate(settings: HubSettings) -> ServingCertificate:
    if settings.certificate is None or settings.key is None:
        if settings.certificate is not None or settings.key is not None:
            raise SettingsError("a certificate and its key go together: give both files or none")
        return serving_certificate(settings.directory, hosts=(settings.host, *settings.names))
    return given_certificate(settings.directory, settings.certificate, settings.key, settings.authority)


def service_users(directory: Path) -> dict[str, User]:
    """The users that the hub's own controllers are, by their tokens. What they may do is in their roles.

    A disk that takes no writes has no token of a user that an older version did not know: he has nothing to do there.
    """
    users = {}
    for name in (CONTROLLERS, COLLECTOR, REGISTRAR):
        try:
            token = administrator_token(directory / f"{name.rpartition(':')[2]}-token")
        except UnwrittenTokenError as error:
            if name != REGISTRAR:
                raise
            _LOGGER.warning("clusters cannot join until the hub is started again: %s", error)
            continue
        users[token] = User(name, uid=name, groups=(AUTHENTICATED,))
    return users


def _metrics(store: Store, controllers: Path) -> Metrics:
    metrics = Metrics(Controllers(controllers).metrics)
    metrics.gauge("muster_store_revision", "The newest revision.", lambda: store.revision)
    metrics.gauge("muster_store_compacted_revision", "History below this is gone.", lambda: store.compacted)
    return metrics


def _controllers_check(vitals: Path | None) -> dict[str, Callable[[], str | None]]:
    """What /readyz says of the controllers; nothing when nobody supervises them."""
    if vitals is None:
        return {}
    page = Vitals.open(vitals)
    return {"controllers": lambda: progress_problem(page.signs(), clock())}


async def load_fleet(api: Api, objects: Iterable[JsonMapping]) -> None:
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


async def _create(api: Api, obj: JsonMapping) -> None:
    group, _, version_name = obj["apiVersion"].rpartition("/")
    resource = next(each for each in RESOURCES.values() if each.group == group and each.kind == obj["kind"])
    version = next(each for each in resource.versions if each.name == version_name)
    metadata = obj["metadata"]
    options = WriteOptions(field_manager="muster-demo")
    place = Target(resource, version, metadata.get("namespace", ""))
    await api.create(ADMINISTRATOR, place, ObjectBody(obj), options)
    if "status" in obj:
        target = Target(resource, version, place.namespace, metadata["name"], "status")
        await api.patch(ADMINISTRATOR, target, PatchType.MERGE, ObjectBody({"status": obj["status"]}), options)


def write_kubeconfig(path: Path, url: str, tokens: Mapping[str, str], authority: bytes) -> None:
    """A kubeconfig with a context for each user, the first one current, readable only by its owner."""
    contexts = {("muster" if number == 0 else name): name for number, name in enumerate(tokens)}
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "muster", "cluster": {"server": url, "certificate-authority-data": _base64(authority)}}],
        "users": [{"name": name, "user": {"token": token}} for name, token in tokens.items()],
        "contexts": [
            {"name": context, "context": {"cluster": "muster", "user": name}} for context, name in contexts.items()
        ],
        "current-context": "muster",
    }
    write_private(path, msgspec.yaml.encode(config))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _prepare(directory: Path) -> None:
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise StorageError(f"{directory}: cannot be made or used: {error.strerror}") from error
    for name in (KUBECONFIG, CONTROLLERS_KUBECONFIG):
        if (directory / name).is_dir():
            raise SettingsError(f"{directory / name}: is a directory where the hub writes a file; remove it")


def _reachable(url: str) -> str:
    """The address for this machine's own kubeconfigs: one cannot connect to all addresses at once."""
    return url.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:")


def _is_loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")
