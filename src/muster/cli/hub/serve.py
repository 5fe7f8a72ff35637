"""`muster hub serve`: the API server alone; `muster hub run` starts it so."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.announcement import Announcement
from muster.cli.hub.options import ServerOptions, hub_settings
from muster.cli.hub.processes import Supervised, log_to_stderr, say_ready, while_wanted
from muster.cli.inputs.limits import ServerLimits, takes
from muster.cli.inputs.option_groups import grouped

if TYPE_CHECKING:
    from muster.app import Running

VitalsFile = Annotated[Path | None, typer.Option("--vitals", hidden=True)]


@takes(ServerLimits)
@grouped(ServerOptions, "server")
def command(
    server: ServerOptions,
    limits: ServerLimits,
    supervised: Supervised = False,
    vitals: VitalsFile = None,
) -> None:
    """Run the API server alone: nothing decides for placements until controllers run too.

    Examples:
      muster hub serve --data my-hub --port 8443
      muster hub serve --data my-hub --anonymous
    """
    import uvloop

    from muster.app import run_hub
    from muster.selectors.cel import CEL_LIMITS

    log_to_stderr()
    CEL_LIMITS.value = limits.expressions

    def announce(running: Running) -> None:
        said = {"url": running.url, "kubeconfig": str(running.kubeconfig), "objects": running.objects}
        if supervised:
            say_ready(**said)
        else:
            Announcement(False, server.port).server_ready(said)

    uvloop.run(while_wanted(partial(run_hub, hub_settings(server, limits, vitals), announce), supervised))
