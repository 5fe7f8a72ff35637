"""`muster hub controllers`: the controllers alone, against a hub of this machine or any Kubernetes server."""

from __future__ import annotations

import logging
import os
import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.options import Catalogs, FleetOptions, NewData, Registration
from muster.cli.hub.processes import Supervised, log_to_stderr, say_ready, while_wanted
from muster.cli.hub.processes import identity as our_identity
from muster.cli.inputs.catalogs import named_catalogs
from muster.cli.inputs.limits import ControllersLimits, takes
from muster.cli.inputs.option_groups import grouped
from muster.cli.inputs.options import Context, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.cli.terminal.commands import was_typed

if TYPE_CHECKING:
    from muster.client import Connection
    from muster.controllers.manager import Manager
    from muster.values.json import JsonObject

_LOGGER = logging.getLogger(__name__)


@takes(ControllersLimits)
@grouped(FleetOptions, "fleet")
def command(
    fleet: FleetOptions,
    limits: ControllersLimits,
    data: NewData = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    lease_namespace: Annotated[
        str,
        typer.Option("--lease-namespace", metavar="NAMESPACE", help="Where the lease of the leader is kept."),
    ] = "kube-system",
    identity: Annotated[str, typer.Option("--identity", hidden=True)] = "",
    succeeds: Annotated[str, typer.Option("--succeeds", hidden=True)] = "",
    catalog: Catalogs = None,
    supervised: Supervised = False,
    vitals: Annotated[Path | None, typer.Option("--vitals", hidden=True)] = None,
    set_aside: Annotated[str, typer.Option("--set-aside", hidden=True)] = "",
) -> None:
    """Run the controllers alone, against the hub in --data or the server of a kubeconfig. One of several leads.

    On a Kubernetes server `muster kubernetes run` does that and more; it takes $KUBECONFIG and a Pod's own account.

    Examples:
      muster hub controllers --data my-hub
      muster hub controllers --kubeconfig my-hub/kubeconfig --lease-namespace kube-system
    """
    import uvloop

    from muster.classification.outcomes import QUERY_LIMITS
    from muster.client import Candidate, load_connection
    from muster.client.kubeconfig import context_names
    from muster.controllers.manager import Options, run_controllers
    from muster.controllers.permissions import COLLECTOR, REGISTRAR
    from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
    from muster.controllers.runtime.quarantine import read_entries
    from muster.hub.directory import CONTROLLERS_KUBECONFIG, default_directory
    from muster.questions.observer import Observer
    from muster.selectors.cel import CEL_LIMITS
    from muster.supervision import Vitals, cycles

    log_to_stderr()
    CEL_LIMITS.value, QUERY_LIMITS.value = limits.expressions, limits.queries
    # Only what is typed leads elsewhere: a context that is somebody's default is not meant for a hub's controllers.
    elsewhere = was_typed("kubeconfig") or was_typed("context")
    directory = None if elsewhere else data or default_directory()
    if directory is not None and data is None and os.environ.get("KUBECONFIG"):
        _LOGGER.warning(
            "$KUBECONFIG is not looked at here: these are the controllers of the hub in %s. For the server of "
            "$KUBECONFIG use `muster kubernetes run`, or name it with --kubeconfig",
            directory,
        )
    catalogs = named_catalogs(catalog)
    # Beside a hub all candidates are on one machine or near it, and a lease of 3 s makes fail-over quick; elsewhere
    # these are the numbers that Kubernetes' own components use.
    patience = (3.0, 2.0, 0.75) if directory is not None else (15.0, 10.0, 2.0)
    candidate = Candidate("muster-controllers", identity or our_identity(), lease_namespace, succeeds, *patience)

    watched: JsonObject = {
        "vitals": None if vitals is None else Vitals.open(vitals),
        "set_aside": read_entries(set_aside),
        "namespace": lease_namespace,
    }

    running: list[Manager] = []

    def ready(manager: Manager) -> None:
        running[:] = [manager]
        cycles.freeze_loaded_objects()
        if supervised:
            say_ready(clusters=len(manager.world.fleet))
        else:
            sys.stdout.write(f"controllers are running over {len(manager.world.fleet)} clusters\n")
            sys.stdout.flush()

    async def work() -> None:
        async with cycles.seldom(lambda: any(not each.placements.queue.idle for each in running)):
            await control()

    async def control() -> None:
        if directory is None:
            # A Kubernetes server collects garbage itself.
            plain = Options(candidate, catalogs=catalogs, **watched)
            await run_controllers(await load_connection(context, kubeconfig), ready, plain)
            return
        file = str(directory / CONTROLLERS_KUBECONFIG)
        collector = await load_connection(COLLECTOR, file)
        off = fleet.registration is Registration.OFF
        options = Options(
            candidate,
            collector,
            directory / CONTROLLERS_ADDRESS,
            catalogs=catalogs,
            observer=Observer,
            registrar=None if off else await registrar(file),
            profiles=fleet.cluster_profiles,
            registers_all=fleet.registration is Registration.ALL,
            **watched,
        )
        await run_controllers(await load_connection(None, file), ready, options)

    async def registrar(file: str) -> Connection | None:
        if REGISTRAR in context_names(file):
            return await load_connection(REGISTRAR, file)
        _LOGGER.warning(
            "clusters cannot join: %s knows no %s; start the hub again with room on its disk", file, REGISTRAR
        )
        return None

    uvloop.run(while_wanted(work, supervised))
