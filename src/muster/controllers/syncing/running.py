"""The sync controller as a process: it watches imported clusters and the rules, and works while it leads."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from muster.api.config_map import ConfigMap
from muster.api.reading import Reader
from muster.client import Client, GuardedClient, Leadership, LeadershipLostError
from muster.client.loop_errors import quiet_transports
from muster.client.reflector import Reflector
from muster.collecting.access import Accesses
from muster.controllers.runtime.containment import Unreadable
from muster.controllers.runtime.metrics import ControllerMetrics
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.syncing.controller import LABEL, SyncController, SyncSettings
from muster.controllers.syncing.rules import CONFIG_MAP, rules_of

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Candidate, Connection
    from muster.client.heads import Place
    from muster.collecting.access import Contexts
    from muster.collecting.plugins import Plugins
    from muster.controllers.runtime.mirror import Stored
    from muster.importing.rules import Rules
    from muster.values.faults import Fault

LEASE: Final = "muster-sync"  # whoever holds it looks at clusters
_CLUSTERS: Final = "managedclusters.cluster.open-cluster-management.io"
_CONFIG_MAPS: Final = Reader(ConfigMap)
_USER_AGENT: Final = "muster-sync"
_LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """How the process runs. Rules that are given count instead of the hub's."""

    settings: SyncSettings
    clock: Callable[[], datetime]
    candidate: Candidate | None = None
    plugins: Plugins | None = None
    contexts: Contexts | None = None
    rules: Rules | None = None
    namespace: str = "kube-system"  # of the lease and of the rules
    made: Callable[[SyncController], None] = lambda _: None  # told of the controller before it leads


async def run_sync(
    connection: Connection, options: SyncOptions, ready: Callable[[SyncController], None] = lambda _: None
) -> None:
    """Until it is cancelled. Whoever loses the lease stands by and starts anew."""
    asyncio.get_running_loop().set_exception_handler(quiet_transports)
    named = replace(connection, headers={**connection.headers, "User-Agent": _USER_AGENT})
    while True:
        try:
            await _run_once(named, options, ready)
        except* LeadershipLostError:
            _LOGGER.warning("the lease is lost. Standing by")


async def _run_once(connection: Connection, options: SyncOptions, ready: Callable[[SyncController], None]) -> None:
    leadership = None if options.candidate is None else Leadership(connection, options.candidate)
    fence = None if leadership is None else leadership.fence
    async with contextlib.AsyncExitStack() as stack:
        client = await stack.enter_async_context(GuardedClient(connection, fence))
        # Reading goes on whoever leads.
        reading = await stack.enter_async_context(Client(connection))
        accesses = Accesses(reading, options.clock, options.plugins, options.contexts)
        metrics = ControllerMetrics()
        unreadable = Unreadable(metrics.registry)
        controller = SyncController(
            client, accesses, options.clock, metrics, unreadable, options.settings, options.rules
        )
        discovery = await reading.discover()
        reflectors = [Reflector(reading, discovery.named(_CLUSTERS), controller.mirror, labels=LABEL)]
        if options.rules is None:
            mirror = _rules_mirror(controller, unreadable)
            place = (options.namespace, CONFIG_MAP)
            reflectors.append(Reflector(reading, discovery.named("configmaps.v1"), mirror, one=place))

        async def work() -> None:
            ready(controller)
            await controller.run()

        async with asyncio.TaskGroup() as tasks:
            for each in reflectors:
                tasks.create_task(each.run())
            for each in reflectors:
                await each.synced.wait()
            options.made(controller)
            tasks.create_task(work() if leadership is None else leadership.lead(work))


def _rules_mirror(controller: SyncController, unreadable: Unreadable) -> Mirror[ConfigMap]:
    def put(new: Stored[ConfigMap]) -> Fault | None:
        controller.use(rules_of(new.obj))
        return new.fault

    def remove(_: Place) -> None:
        controller.use(rules_of(None))

    return Mirror(_CONFIG_MAPS, put, remove, unreadable=unreadable.of("rules"))
