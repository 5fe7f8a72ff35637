"""One replica's serving part, put together: webhooks, questions, certificates, health and metrics.

`muster kubernetes run` starts it beside the controllers, which answer for it on loopback. It writes nothing but the
Secret with the certificates and the authority in the configurations. It leads nothing: every replica does the same.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import ssl
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.client import Client
from muster.client.errors import UnreachableError
from muster.client.kubeconfig import load_pair
from muster.client.loop_errors import quiet_transports
from muster.client.reflector import Reflector
from muster.controllers.garbage.collector import METADATA, METADATA_LIST
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS, Controllers
from muster.controllers.runtime.late_kinds import discovered
from muster.errors import ApiError, MusterError
from muster.hub.heavy_work import HeavyWork
from muster.hub.rest.server import serve
from muster.kubernetes.serving.authorizer import RBAC, ReviewingAuthorizer
from muster.kubernetes.serving.certificate_keeper import CertificateKeeper
from muster.kubernetes.serving.certificates import self_signed
from muster.kubernetes.serving.front_proxy import FrontProxyWatch
from muster.kubernetes.serving.health import Health, listening
from muster.kubernetes.serving.metrics import ServingMetrics
from muster.kubernetes.serving.mirrored_objects import MirroredObjects
from muster.kubernetes.serving.questions_api import questions_application
from muster.kubernetes.serving.reviews import AccessReviews
from muster.kubernetes.serving.webhooks import MOST_BYTES, Webhooks
from muster.supervision import Vitals, clock, progress_problem
from muster.supervision.readiness import LEADING, STANDBY

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from muster.client import Connection, ServedResource
    from muster.kubernetes.settings import HomeSettings

_LOGGER = logging.getLogger(__name__)
_USER_AGENT: Final = "muster-serving"
_REMEDY: Final = "the Pod starts them again by itself; `muster kubernetes check` says what is wrong with it"
_REMEMBERED: Final = 10.0  # seconds for which a permission is believed when a question asks for it
_OCM: Final = "cluster.open-cluster-management.io"
#: What answers to questions read here, beside what the observer has.
_READ: Final = (
    "namespaces",
    f"managedclustersets.{_OCM}",
    f"managedclustersetbindings.{_OCM}",
    f"placements.{_OCM}",
)
_METADATA_ONLY: Final = (f"managedclusters.{_OCM}",)


_UNUSABLE: Final = 10.0  # seconds until an authority that cannot be used is looked at again
_FORBIDDEN_PAUSE: Final = 300.0  # seconds between looks at whether we may read roles


class PortError(MusterError):
    """A port that cannot be listened on."""


@dataclass(frozen=True, slots=True)
class ReplicaSettings:
    """How one replica serves. `state` is where the controllers beside it say where they answer."""

    home: HomeSettings
    state: Path
    host: str = "0.0.0.0"  # noqa: S104 - the API server comes from elsewhere
    webhook_port: int = 9443
    questions_port: int = 6443
    health_port: int = 8080
    secure_health: bool = False  # HTTPS, as probes of Open Cluster Management's placement controller expect it
    certificates: Path | None = None  # a directory that cert-manager keeps
    vitals: Path | None = None
    drain: float = 3.0  # seconds to go on answering after the end has been told: the API server learns of it later
    tls_versions: tuple[ssl.TLSVersion, str] | None = None  # the oldest version, and OpenSSL's names of ciphers


async def run_replica(
    connection: Connection,
    settings: ReplicaSettings,
    ready: Callable[[], None] = lambda: None,
    now: Callable[[], datetime] = lambda: datetime.now(UTC),
) -> None:
    """Run until cancelled. `ready` is called when the ports are open; what they need of the API server may take
    longer."""
    asyncio.get_running_loop().set_exception_handler(quiet_transports)
    named = replace(connection, headers={**connection.headers, "User-Agent": _USER_AGENT})
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(Client(named))
        replica = _Replica(client, settings, now)
        stack.callback(replica.close)
        await replica.listen(stack, ready)
        async with asyncio.TaskGroup() as tasks:
            replica.begin(tasks)
            try:
                await asyncio.Event().wait()
            finally:
                replica.health.is_stopping = True
                if settings.home.needs_serving:
                    await asyncio.sleep(settings.drain)


class _Replica:
    """The parts of one replica."""

    def __init__(self, client: Client, settings: ReplicaSettings, now: Callable[[], datetime]) -> None:
        self._client = client
        self._settings = settings
        self._now = now
        self._metrics = ServingMetrics()
        self._heavy = HeavyWork()
        self._objects = MirroredObjects()
        self._reviews = AccessReviews(client, _REMEMBERED)
        self._authorizer = ReviewingAuthorizer(self._objects, self._reviews)
        self._controllers = Controllers(settings.state / CONTROLLERS_ADDRESS, "this Pod's controllers", _REMEDY)
        self._proxies = FrontProxyWatch(client)
        self._keeper = CertificateKeeper(client, settings.home, now, settings.certificates)
        self.health = Health(self._ready_checks(), self._other_checks(), self._rendered)
        if settings.home.needs_serving:
            until = "Until the serving certificate ends."
            self._metrics.gauge("muster_certificate_seconds_left", until, lambda: self._keeper.seconds_left)
        self._metrics.gauge("muster_access_reviews", "SubjectAccessReviews asked.", lambda: self._reviews.asked)

    def close(self) -> None:
        self._heavy.close()

    # ------------------------------------------------------------------------------------------------------- health

    def _ready_checks(self) -> dict[str, Callable[[], str | None]]:
        if not self._settings.home.needs_serving:
            return {}
        return {"certificates": lambda: self._keeper.problem}

    def _other_checks(self) -> dict[str, Callable[[], str | None]]:
        found: dict[str, Callable[[], str | None]] = {}
        if self._settings.home.has_questions:
            found["questions"] = lambda: self._proxies.problem
        if self._settings.vitals is not None:
            page = Vitals.open(self._settings.vitals)
            found["controllers"] = lambda: progress_problem(page.signs(), clock())
            leads = "Whether the controllers of this replica lead."
            self._metrics.gauge("muster_leading", leads, lambda: page.signs().status.state == LEADING)
            waits = "Whether they have read everything, and follow whoever leads."
            self._metrics.gauge("muster_standby", waits, lambda: page.signs().status.state == STANDBY)
        return found

    async def _rendered(self) -> bytes:
        return self._metrics.render() + await self._controllers.metrics()

    # -------------------------------------------------------------------------------------------------------- ports

    async def listen(self, stack: contextlib.AsyncExitStack, ready: Callable[[], None]) -> None:
        """Open the ports. Raises PortError."""
        settings = self._settings
        try:
            secure = _probed_tls(self._now(), settings.tls_versions) if settings.secure_health else None
            health = listening(self.health.routes(), settings.host, settings.health_port, secure)
            await stack.enter_async_context(health)
            if settings.home.has_webhooks:
                tls = _server_tls()
                self._keeper.serve_with(tls)
                webhooks = Webhooks(
                    self._client,
                    self._reviews,
                    self._authorizer,
                    self._heavy,
                    self._now,
                    self._metrics,
                    self._controllers,
                )
                door = listening(webhooks.routes(), settings.host, settings.webhook_port, tls, MOST_BYTES)
                await stack.enter_async_context(door)
        except OSError as error:
            raise PortError(f"a port cannot be listened on: {error.strerror or error}; choose another one") from None
        ready()

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """What goes on behind the ports."""
        home = self._settings.home
        if home.needs_serving:
            tasks.create_task(self._keeper.run())
        if home.has_questions:
            tasks.create_task(self._mirror(tasks))
            tasks.create_task(self._serve_questions())

    # ---------------------------------------------------------------------------------------------------- questions

    async def _serve_questions(self) -> None:
        """Behind the front proxy; anew when that has another authority."""
        settings = self._settings
        while True:
            proxy = await self._proxies.first()
            tls = _server_tls()
            try:
                tls.load_verify_locations(cadata=proxy.authority)
            except ssl.SSLError as error:
                self._proxies.problem = f"the authority of the front proxy cannot be used: {error}"
                _LOGGER.warning("questions: %s", self._proxies.problem)
                await asyncio.sleep(_UNUSABLE)
                continue
            tls.verify_mode = ssl.CERT_OPTIONAL  # whoever shows none is told so in words
            self._keeper.serve_with(tls)
            application = questions_application(self._client, proxy, self._authorizer, self._controllers, self._heavy)
            changed = asyncio.Event()
            watching = asyncio.create_task(self._proxies.run(proxy, changed.set))
            try:
                await serve(application, settings.host, settings.questions_port, stop=changed, context=tls)
            finally:
                watching.cancel()
                self._keeper.forget(tls)

    async def _mirror(self, tasks: asyncio.TaskGroup) -> None:
        """Read what answers need. Roles are read where that is permitted."""
        discovery = await discovered(self._client, (*_READ, *_METADATA_ONLY))
        for name in _READ:
            reflector = Reflector(self._client, discovery.named(name), self._objects.feeding(name))
            tasks.create_task(reflector.run())
        for name in _METADATA_ONLY:
            feed, accept = self._objects.feeding(name), (METADATA_LIST, METADATA)
            tasks.create_task(Reflector(self._client, discovery.named(name), feed, accept=accept).run())
        for name in RBAC:
            tasks.create_task(self._mirror_if_permitted(name, discovery.named(name)))

    async def _mirror_if_permitted(self, name: str, resource: ServedResource) -> None:
        feed = self._objects.feeding(name, self._authorizer.roles_changed)
        told = False
        while True:
            try:
                await self._client.request("GET", resource.path(), params={"limit": "1"})
                break
            except (ApiError, UnreachableError) as error:
                if not told:
                    _LOGGER.warning("who may join is not told, and permissions by name are not found: %s", error)
                told = True
                await asyncio.sleep(_FORBIDDEN_PAUSE)
        await Reflector(self._client, resource, feed).run()


def _server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    return context


def _probed_tls(now: datetime, versions: tuple[ssl.TLSVersion, str] | None) -> ssl.SSLContext:
    """For probes, which do not look at the certificate."""
    context, made = _server_tls(), self_signed("localhost", now)
    if versions is not None:
        context.minimum_version = versions[0]
        if versions[1]:
            context.set_ciphers(versions[1])
    load_pair(context, made.certificate, made.key)
    return context
