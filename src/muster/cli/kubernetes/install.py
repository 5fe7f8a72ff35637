"""`muster kubernetes install` and `upgrade`: a plan, a question, and its steps."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.option_groups import grouped
from muster.cli.inputs.options import Context, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.kubernetes.options import Home, SettingOptions
from muster.cli.kubernetes.planned import plain_plan, print_plan
from muster.cli.terminal.consent import asked, require_terminal
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.client import Client
    from muster.kubernetes.installing.inventory import Inventory
    from muster.kubernetes.installing.plan import Plan
    from muster.kubernetes.settings import HomeSettings
    from muster.values.json import JsonObject


@dataclass(frozen=True, slots=True)
class Manner:
    """How it is gone about."""

    yes: Annotated[bool, typer.Option("--yes", "-y", help="Show the plan, and do not ask.")] = False
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan, and change nothing.")] = False
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="Take over fields that another manager owns.")
    ] = False
    replace_crds: Annotated[
        bool, typer.Option("--replace-crds", help="Replace definitions of kinds that somebody else owns.")
    ] = False
    wait: Annotated[
        int,
        typer.Option("--wait", min=0, metavar="SECONDS", help="Wait so long until every Pod is ready; 0: do not."),
    ] = 0


@grouped(SettingOptions, "said")
@grouped(Manner, "manner")
def install(
    said: SettingOptions,
    manner: Manner,
    namespace: Home = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Install Muster on the server of a kubeconfig: shows what would happen, asks, does it.

    Installing again changes nothing, or what differs. Whatever somebody else owns is left alone: definitions of kinds
    are kept, conflicts over fields are named and stop it before anything is changed. Exits with 1 then, and when the
    answer is no.

    Examples:
      muster kubernetes install --dry-run
      muster kubernetes install --yes --wait 120
      muster kubernetes install --crds upstream --set mode=beside --yes
    """
    run(said, manner, namespace, output, context, kubeconfig, upgrading=False)


@grouped(SettingOptions, "said")
@grouped(Manner, "manner")
def upgrade(
    said: SettingOptions,
    manner: Manner,
    namespace: Home = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Bring an installation to this version, with its settings and those that are given.

    What the earlier version installed and this one does not is removed; definitions of kinds stay.

    Examples:
      muster kubernetes upgrade --dry-run
      muster kubernetes upgrade --set questions=true --yes
    """
    run(said, manner, namespace, output, context, kubeconfig, upgrading=True)


def run(
    said: SettingOptions,
    manner: Manner,
    namespace: str | None,
    output: Report,
    context: str | None,
    kubeconfig: str | None,
    *,
    upgrading: bool,
) -> None:
    """Plan, ask, apply."""
    from muster.kubernetes.installing.applying import carry_out, until_available
    from muster.kubernetes.installing.cluster import Cluster
    from muster.kubernetes.installing.home import chosen_home
    from muster.kubernetes.installing.inventory import read_inventory
    from muster.kubernetes.installing.notes import notes
    from muster.kubernetes.installing.plan import Options, planned
    from muster.kubernetes.manifests import objects
    from muster.kubernetes.settings import DEFAULTS

    if not (manner.yes or manner.dry_run):
        require_terminal(f"kubernetes {'upgrade' if upgrading else 'install'}")
    allowed = Options(manner.force_conflicts, manner.replace_crds)
    named = said.settings(namespace).namespace  # what is said wrong is refused before anybody is asked

    def say(line: str) -> None:
        if output is Report.TEXT:
            sys.stdout.write(f"{line}\n")
            sys.stdout.flush()

    async def work(client: Client) -> int:
        cluster = Cluster(client, await client.discover())
        home = await chosen_home(cluster, named if named != DEFAULTS.namespace or namespace is not None else None)
        installed = await read_inventory(cluster, home)
        if upgrading and installed is None:
            raise InvalidObjectError("", f"nothing was installed in {home} that could be upgraded: use install")
        settings = said.settings(home, DEFAULTS if installed is None or not upgrading else installed.settings)
        plan = await planned(cluster, objects(settings), installed, allowed)
        _show(plan, await notes(cluster, plan, settings), installed, settings, output)
        if plan.blocked:
            _say_what_blocks(plan)
            return int(Exit.NO)
        if manner.dry_run:
            return int(Exit.OK)
        if plan.changes_something and not (manner.yes or asked("Go on?")):
            sys.stderr.write("nothing was changed\n")
            return int(Exit.NO)
        await carry_out(cluster, plan, settings, installed, allowed, say)
        if manner.wait:
            await until_available(cluster, settings.namespace, manner.wait, say)
        say("installed" if plan.changes_something else "nothing had to be changed")
        return int(Exit.OK)

    if code := with_client(work, context, kubeconfig):
        raise typer.Exit(code)


def _show(
    plan: Plan, noted: Sequence[str], installed: Inventory | None, settings: HomeSettings, output: Report
) -> None:
    from muster import __version__

    if output is not Report.TEXT:
        before: JsonObject = {} if installed is None else {"installed": installed.version}
        head = {**before, "version": __version__, "namespace": settings.namespace}
        print_report({**head, **plain_plan(plan), **({"notes": list(noted)} if noted else {})}, output)
    else:
        if installed is not None:
            sys.stdout.write(f"installed: version {installed.version}; this is {__version__}\n")
        print_plan(plan)
        sys.stdout.writelines(f"note: {each}\n" for each in noted)
    sys.stdout.flush()  # what stands in the way is told on another stream


def _say_what_blocks(plan: Plan) -> None:
    from muster.kubernetes.installing.plan import Deed

    if conflicts := plan.count(Deed.CONFLICT):
        told = "--force-conflicts takes fields over, but not what Helm installed"
        sys.stderr.write(f"muster: {conflicts} objects are somebody else's or have fields of theirs; {told}\n")
    if refused := plan.count(Deed.REFUSE):
        sys.stderr.write(f"muster: the server would refuse {refused} objects\n")
    sys.stderr.write("nothing was changed\n")
