"""One replica's serving part, put together: health and metrics, and what the API server calls, if anything.

`muster kubernetes run` starts it beside the controllers, which answer for it on loopback. It leads nothing: every
replica does the same.
"""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from muster.client import Client
from muster.client.kubeconfig import load_pair
from muster.client.loop_errors import quiet_transports
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS, Controllers
from muster.errors import MusterError
from muster.kubernetes.serving.certificates import self_signed
from muster.kubernetes.serving.health import Health, listening, server_tls
from muster.kubernetes.serving.metrics import ServingMetrics
from muster.supervision import Vitals, clock, progress_problem
from muster.supervision.readiness import LEADING, STANDBY

if TYPE_CHECKING:
    import ssl
    from collections.abc import Callable
    from pathlib import Path

    from muster.client import Connection
    from muster.kubernetes.serving.answering import Answering
    from muster.kubernetes.settings import HomeSettings

_USER_AGENT: Final = "muster-serving"
_REMEDY: Final = "the Pod starts them again by itself; `muster kubernetes check` says what is wrong with it"


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
        self._settings = settings
        self._now = now
        self._metrics = ServingMetrics()
        self._controllers = Controllers(settings.state / CONTROLLERS_ADDRESS, "this Pod's controllers", _REMEDY)
        self._answering: Answering | None = None
        if settings.home.needs_serving:
            # Whoever calls for placements alone waits for neither admission nor languages, and keeps them in no memory.
            from muster.kubernetes.serving.answering import Answering

            self._answering = Answering(client, settings, now, self._metrics, self._controllers)
        self.health = Health(self._ready_checks(), self._other_checks(), self._rendered)

    def close(self) -> None:
        if self._answering is not None:
            self._answering.close()

    def _ready_checks(self) -> dict[str, Callable[[], str | None]]:
        return {} if self._answering is None else {"certificates": self._answering.certificate_problem}

    def _other_checks(self) -> dict[str, Callable[[], str | None]]:
        found: dict[str, Callable[[], str | None]] = {}
        if self._answering is not None and self._settings.home.has_questions:
            found["questions"] = self._answering.questions_problem
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

    async def listen(self, stack: contextlib.AsyncExitStack, ready: Callable[[], None]) -> None:
        """Open the ports. Raises PortError."""
        settings = self._settings
        try:
            secure = _probed_tls(self._now(), settings.tls_versions) if settings.secure_health else None
            health = listening(self.health.routes(), settings.host, settings.health_port, secure)
            await stack.enter_async_context(health)
            if self._answering is not None:
                await self._answering.listen(stack)
        except OSError as error:
            raise PortError(f"a port cannot be listened on: {error.strerror or error}; choose another one") from None
        ready()

    def begin(self, tasks: asyncio.TaskGroup) -> None:
        """What goes on behind the ports."""
        if self._answering is not None:
            self._answering.begin(tasks)


def _probed_tls(now: datetime, versions: tuple[ssl.TLSVersion, str] | None) -> ssl.SSLContext:
    """For probes, which do not look at the certificate."""
    context, made = server_tls(), self_signed("localhost", now)
    if versions is not None:
        context.minimum_version = versions[0]
        if versions[1]:
            context.set_ciphers(versions[1])
    load_pair(context, made.certificate, made.key)
    return context
