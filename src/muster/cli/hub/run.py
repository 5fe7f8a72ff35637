"""`muster hub run`: the API server and the controllers as two supervised processes, of a demo the console too."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from typing import Annotated, Final

import typer

from muster.cli.hub.announcement import Announcement
from muster.cli.hub.directory import running
from muster.cli.hub.options import Catalogs, FleetOptions, ServerOptions
from muster.cli.hub.processes import identity, log_to_stderr
from muster.cli.inputs.catalogs import named_catalogs
from muster.cli.inputs.limits import ControllersLimits, HubLimits, ServerLimits, arguments, takes
from muster.cli.inputs.option_groups import arguments_of, grouped

_CONTROLLERS: Final = "Controllers"
ControllersMemory = Annotated[
    int | None,
    typer.Option(
        "--controllers-memory",
        min=0,
        metavar="MIB",
        help="MiB of memory at which the controllers are started anew; 0 for no limit. "
        "Else a quarter of the machine's, at least 2048.",
        show_default=False,
        rich_help_panel=_CONTROLLERS,
    ),
]
ControllersPatience = Annotated[
    float,
    typer.Option(
        "--controllers-patience",
        min=1.0,
        metavar="SECONDS",
        help="Seconds without progress after which they are.",
        rich_help_panel=_CONTROLLERS,
    ),
]
ConsolePort = Annotated[
    int | None,
    typer.Option(
        "--console",
        min=0,
        max=65535,
        metavar="PORT",
        help="Serve the console too, at this port; 0 takes a free one. A demo has it unless told --no-console.",
        show_default=False,
    ),
]


@takes(HubLimits)
@grouped(ServerOptions, "server")
@grouped(FleetOptions, "fleet")
def command(
    server: ServerOptions,
    fleet: FleetOptions,
    limits: HubLimits,
    catalog: Catalogs = None,
    controllers_memory: ControllersMemory = None,
    controllers_patience: ControllersPatience = 20.0,
    console: ConsolePort = None,
    no_console: Annotated[bool, typer.Option("--no-console", help="Serve no console, not even of a demo.")] = False,
) -> None:
    """Run the API server and the controllers until Ctrl-C or SIGTERM; either is started again when it dies.

    Prints the line that points kubectl and muster at it. The settings file (`muster config`) may hold any of these
    options.

    Examples:
      muster hub run --demo --data demo-hub
      muster hub run --data my-hub --port 8443 --tls-name hub.example.com
      muster hub run --data my-hub --objects-per-kind 200000 --audit all
    """
    from muster.cli.hub.controllers_process import ControllersProcess
    from muster.cli.hub.supervisor import Part, supervise
    from muster.hub.directory import KUBECONFIG, default_directory

    log_to_stderr()
    directory = server.data or default_directory()
    with_console = not no_console and (server.demo or console is not None)
    announced = Announcement(server.demo, server.port, with_console)
    shared = ["--data", str(directory), "--supervised"]
    catalogs = (f"{name}={path}" for name, path in named_catalogs(catalog).items())
    options = [*shared, *(part for each in catalogs for part in ("--catalog", each))]
    options += [*arguments(limits, ControllersLimits), *arguments_of(fleet)]
    memory = None if controllers_memory is None else controllers_memory * 2**20
    beside = ControllersProcess(directory, options, identity(), memory, controllers_patience)

    def serving() -> list[str]:
        # The port that was found free at the first start stays: clients know it by now.
        told = arguments_of(replace(server, data=None, port=announced.port))
        return ["hub", "serve", *shared, *told, *arguments(limits, ServerLimits), "--vitals", str(beside.vitals)]

    def showing() -> list[str]:
        kubeconfig = ["--kubeconfig", str(directory / KUBECONFIG)]
        return ["console", *kubeconfig, "--port", str(announced.console_port or console or 0), "--supervised"]

    parts = [beside.part(announced.controllers_ready)]
    if with_console:
        parts.append(Part("the console", showing, announced.console_ready))
    if server.demo:
        sys.stdout.write("loading the demo fleet …\n")
        sys.stdout.flush()
    with running(directory):
        code = asyncio.run(
            supervise(
                Part("the API server", serving, announced.server_ready),
                *parts,
            )
        )
    if code:
        raise typer.Exit(code)
    sys.stdout.write("stopped; everything acknowledged is on disk\n")
