"""`muster kubernetes registration`: lets clusters in whose agents ask, as a process and a user of its own."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.processes import identity, while_wanted
from muster.cli.inputs.options import Context, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.cli.kubernetes.companions import Listen, telling
from muster.cli.kubernetes.processes import connection_of, log_to_stderr
from muster.cli.kubernetes.run import Home, LogLevel

if TYPE_CHECKING:
    from muster.controllers.runtime.metrics import ControllerMetrics


def command(
    namespace: Home = "muster-system",
    everybody: Annotated[
        bool, typer.Option("--all", help="Every cluster that is accepted, not only those whose agent has asked.")
    ] = False,
    log_level: Annotated[LogLevel, typer.Option("--log-level", help="How much to tell.")] = LogLevel.INFO,
    listen: Listen = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Give clusters that are accepted what their agents need, approve renewals, and clear away what is left of those
    that are deleted, until SIGTERM. One of several leads.

    For servers on which Open Cluster Management's own registration does not run; a hub does it by itself.

    Examples:
      muster kubernetes registration --namespace muster-system
      muster kubernetes registration --kubeconfig my-cluster --listen 127.0.0.1:9090
    """
    import uvloop

    from muster.client import Candidate
    from muster.controllers.manager import utc_now
    from muster.controllers.permissions import REGISTRATION
    from muster.controllers.registration.running import RegistrationOptions, run_registration

    log_to_stderr(log_level.value)
    made: list[ControllerMetrics] = []
    candidate = Candidate(REGISTRATION, identity(), namespace)

    def ready() -> None:
        sys.stdout.write("clusters are let in\n")
        sys.stdout.flush()

    options = RegistrationOptions(
        utc_now, candidate, everybody, lambda metrics: made.__setitem__(slice(None), [metrics]), ready
    )

    async def work() -> None:
        async with telling(listen, lambda: made[0] if made else None):
            await run_registration(await connection_of(context, kubeconfig), options)

    uvloop.run(while_wanted(work, supervised=False))
