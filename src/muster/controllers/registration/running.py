"""The registration controller as a process: it watches clusters and requests, and works while it leads.

On a hub it runs beside the other controllers (`starting`). On a Kubernetes server it has a process of its own, because
it gives rights away: nobody else there has to be able to.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.api.registration import CLUSTER_LABEL
from muster.client import Client, GuardedClient, Leadership, LeadershipLostError
from muster.client.loop_errors import quiet_transports
from muster.client.reflector import Reflector
from muster.controllers.registration.controller import CLUSTERS, REQUESTS, RegistrationController
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.events import EventRecorder
from muster.controllers.runtime.late_kinds import discovered
from muster.controllers.runtime.metrics import ControllerMetrics

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Candidate, Connection

_USER_AGENT: Final = "muster-registration"
_RESYNC: Final = 600.0  # seconds after which everything is looked at again, whether it has changed or not
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RegistrationOptions:
    """How the process runs. `made` is told when everything has been read, `ready` when it leads."""

    clock: Callable[[], datetime]
    candidate: Candidate | None = None
    everybody: bool = False
    made: Callable[[ControllerMetrics], None] = lambda _: None
    ready: Callable[[], None] = lambda: None


async def run_registration(connection: Connection, options: RegistrationOptions) -> None:
    """Until it is cancelled. Whoever loses the lease stands by and starts anew."""
    asyncio.get_running_loop().set_exception_handler(quiet_transports)
    named = replace(connection, headers={**connection.headers, "User-Agent": _USER_AGENT})
    while True:
        try:
            await _run_once(named, options)
        except* LeadershipLostError:
            _LOGGER.warning("the lease is lost. Standing by")


async def _run_once(connection: Connection, options: RegistrationOptions) -> None:
    leadership = None if options.candidate is None else Leadership(connection, options.candidate)
    fence = None if leadership is None else leadership.fence
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(GuardedClient(connection, fence))
        reading = await stack.enter_async_context(Client(connection))
        metrics = ControllerMetrics()
        events = EventRecorder(client, "registration-controller", options.clock)
        unreadable = Unreadable(metrics.registry)
        controller = RegistrationController(
            client, options.clock, metrics, events, unreadable, everybody=options.everybody
        )
        discovery = await discovered(reading, (CLUSTERS, REQUESTS))
        reflectors = [
            Reflector(reading, discovery.named(CLUSTERS), controller.cluster_handler()),
            Reflector(reading, discovery.named(REQUESTS), controller.request_handler(), labels=CLUSTER_LABEL),
        ]

        async def work() -> None:
            options.ready()
            async with asyncio.TaskGroup() as tasks:
                tasks.create_task(controller.run())
                tasks.create_task(_resync(controller))

        async with asyncio.TaskGroup() as tasks:
            for each in reflectors:
                tasks.create_task(each.run())
            for each in reflectors:
                await each.synced.wait()
            options.made(metrics)
            tasks.create_task(work() if leadership is None else leadership.lead(work))


async def _resync(controller: RegistrationController) -> None:
    while True:
        await asyncio.sleep(_RESYNC)
        controller.wake_all()
