"""`muster plan`: what applying files would change in the decisions of placements, before anything is written.

`muster apply --plan` and `muster undo --plan` show the same. Who answers is in `asking`, how it is told in `output`.
"""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Annotated

import typer

from muster.cli.apply import MANAGER, How
from muster.cli.inputs.documents import read_objects
from muster.cli.inputs.fleets import FleetFiles  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.options import OUTPUT, Context, Files, Kubeconfig, Namespace, Report
from muster.cli.plan.markdown import markdown
from muster.cli.plan.output import objections, plain, print_plan
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import InvalidObjectError


class PlanFormat(StrEnum):
    """How plans are printed."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"
    MARKDOWN = "markdown"


def command(
    filename: Files = None,
    namespace: Namespace = None,
    fleet: FleetFiles = None,
    delete: Annotated[bool, typer.Option("--delete", help="Plan for deleting the files' objects instead.")] = False,
    fail_if_removes: Annotated[
        int | None,
        typer.Option(
            "--fail-if-removes",
            min=1,
            metavar="COUNT",
            help="Exit with 1 if a placement would lose so many clusters or more.",
        ),
    ] = None,
    fail_if_empty: Annotated[
        bool, typer.Option("--fail-if-empty", help="Exit with 1 if a placement would have no cluster.")
    ] = False,
    force_conflicts: Annotated[
        bool, typer.Option("--force-conflicts", help="As apply would with it: take over fields of other managers.")
    ] = False,
    field_manager: Annotated[
        str, typer.Option("--field-manager", metavar="NAME", help="Name that apply owns fields by.")
    ] = MANAGER,
    with_status: Annotated[
        bool, typer.Option("--with-status", help="As apply would with it: the files' status counts too.")
    ] = False,
    why: Annotated[bool, typer.Option("--why", help="Say of clusters that a placement would lose, why.")] = False,
    output: Annotated[
        PlanFormat,
        typer.Option(
            "--output", "-o", help="How it is printed; markdown is for pull requests.", rich_help_panel=OUTPUT
        ),
    ] = PlanFormat.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show which clusters each placement would gain and lose.

    Covers placements, cluster sets, bindings, clusters and scores, and hosts with their classifications. Files are
    merged into what is there as `muster apply` would do it: fields that they leave out and others own stay. Nothing is
    written. The token at the end stands for this plan: `muster apply --plan-token` writes only while it is the same.
    Exits with 1 when a guard trips or the server would refuse an object.

    Examples:
      muster plan -f examples/06-first-look/checkout.yaml
      muster plan -f examples/06-first-look/checkout.yaml --fleet fleet --fail-if-removes 1
      muster plan -f examples/06-first-look/checkout.yaml --fleet fleet -o markdown
      muster plan --delete -f examples/06-first-look/checkout.yaml --fleet fleet
    """
    from muster.api.fleet_plan import MOST_NAMES, PlanGuards
    from muster.cli.plan.asking import asked

    if not filename:
        raise InvalidObjectError("", "nothing to plan: name files, directories or - with -f")
    documents = list(read_objects(filename))
    how = How(field_manager, force_conflicts, with_status, delete)
    for_machines = output in (PlanFormat.JSON, PlanFormat.YAML)
    status = asked(
        documents,
        how,
        fleet,
        namespace,
        context,
        kubeconfig,
        guards=PlanGuards(fail_if_removes, fail_if_empty),
        most_names=MOST_NAMES if for_machines else 100,
    )
    if for_machines:
        print_report(plain(status, live=not fleet), Report(output.value))
    elif output is PlanFormat.MARKDOWN:
        sys.stdout.write(markdown(status, live=not fleet))
    else:
        print_plan(status, reasons=why)
        if not fleet:
            sys.stdout.write(f"token: {status.token}\n")
    sys.stdout.flush()  # objections are told on another stream
    sys.stderr.writelines(f"guard: {text}\n" for text in objections(status))
    if not status.allowed:
        raise typer.Exit(int(Exit.NO))
