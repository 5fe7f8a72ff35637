"""`muster kubernetes uninstall`: what we installed goes, what users wrote stays unless it is said otherwise."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.options import Context, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.kubernetes.options import Home  # noqa: TC001 - typer reads annotations at run time
from muster.cli.kubernetes.planned import plain_plan, print_plan
from muster.cli.terminal.consent import asked, require_terminal
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report

if TYPE_CHECKING:
    from muster.client import Client


def command(
    namespace: Home = None,
    delete_crds: Annotated[
        bool,
        typer.Option(
            "--delete-crds", help="Remove our definitions of kinds too, and with them every object of theirs."
        ),
    ] = False,
    delete_namespace: Annotated[
        bool, typer.Option("--delete-namespace", help="Remove the namespace too, with everything in it.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Show the plan, and do not ask.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")] = False,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Remove Muster from a server: shows what would go, asks, does it.

    What makes the API server call our Pods goes first, so that nobody else is disturbed. Definitions of kinds stay, and
    with them clusters, sets, placements and decisions; definitions of others are never touched.

    Examples:
      muster kubernetes uninstall --dry-run
      muster kubernetes uninstall --yes
      muster kubernetes uninstall --delete-crds --delete-namespace --yes
    """
    from muster.kubernetes.installing.cluster import Cluster
    from muster.kubernetes.installing.home import chosen_home
    from muster.kubernetes.installing.inventory import read_inventory
    from muster.kubernetes.installing.removing import Leaving, removal_planned, take_away
    from muster.kubernetes.settings import settings_from

    if not (yes or dry_run):
        require_terminal("kubernetes uninstall")
    named = None if namespace is None else settings_from({"namespace": namespace}).namespace

    def say(line: str) -> None:
        if output is Report.TEXT:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    async def work(client: Client) -> int:
        cluster = Cluster(client, await client.discover())
        home = await chosen_home(cluster, named)
        installed = await read_inventory(cluster, home)
        plan = await removal_planned(cluster, home, installed, Leaving(delete_crds, delete_namespace))
        if output is Report.TEXT:
            print_plan(plan)
        else:
            print_report({"namespace": home, **plain_plan(plan)}, output)
        sys.stdout.flush()
        if plan.blocked:
            sys.stderr.write("nothing was changed\n")
            return int(Exit.NO)
        if dry_run:
            return int(Exit.OK)
        if plan.changes_something and not (yes or asked("Go on?")):
            sys.stderr.write("nothing was changed\n")
            return int(Exit.NO)
        await take_away(cluster, plan, say)
        say("removed" if plan.changes_something else "there was nothing to remove")
        return int(Exit.OK)

    if code := with_client(work, context, kubeconfig):
        raise typer.Exit(code)
