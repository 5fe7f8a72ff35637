"""`muster plan`: what applying files would change in the decisions of placements, before anything is written."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from muster.cli.documents import read_documents
from muster.cli.exits import Exit
from muster.cli.fleets import FleetFiles, gathered
from muster.cli.options import Context, Files, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.cli.output import print_json
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.controllers.preview import PlacementChange

_SHOWN = 12


def command(
    filename: Files = None,
    fleet: FleetFiles = None,
    fail_if_removes: Annotated[
        int | None,
        typer.Option(
            "--fail-if-removes", min=1, help="Exit with 1 if a placement would lose so many clusters or more."
        ),
    ] = None,
    fail_if_empty: Annotated[
        bool, typer.Option("--fail-if-empty", help="Exit with 1 if a placement would have no cluster left.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for machines.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Show which clusters each placement would gain and lose.

    Covers placements, cluster sets, bindings, clusters and scores. Nothing is written.
    """
    if not filename:
        raise InvalidObjectError("", "nothing to plan: name files, directories or - with -f")
    changes = planned(filename, fleet, context, kubeconfig)
    if as_json:
        print_json([msgspec.to_builtins(change) for change in changes])
    else:
        print_changes(changes)
    emptied = [change for change in changes if fail_if_empty and change.before and not change.after]
    shrunk = [change for change in changes if fail_if_removes is not None and len(change.lost) >= fail_if_removes]
    for change in {id(each): each for each in (*emptied, *shrunk)}.values():
        sys.stderr.write(f"guard: {change.namespace}/{change.name} would lose {len(change.lost)} of {change.before}\n")
    if emptied or shrunk:
        raise typer.Exit(int(Exit.NO))


def planned(
    files: list[str], fleet: list[str] | None, context: str | None, kubeconfig: str | None
) -> list[PlacementChange]:
    """The changes that applying the files would bring."""
    from muster.controllers.preview import preview, settle, world_of

    objects, namespace = gathered(fleet, context, kubeconfig)
    now = datetime.now(UTC)
    changes = []
    for document in read_documents(files):
        obj = document.object
        if obj["kind"] in ("Placement", "ManagedClusterSetBinding", "AddOnPlacementScore"):
            obj = {**obj, "metadata": {"namespace": namespace, **obj["metadata"]}}
        changes.append(obj)
    world = world_of(objects, now)
    if not world.decisions:
        settle(world, now)
    return preview(world, changes, now)


def print_changes(changes: Sequence[PlacementChange]) -> None:
    """For people."""
    if not changes:
        sys.stdout.write("no placement changes\n")
    for change in changes:
        kind = "new, " if change.is_new else ""
        sys.stdout.write(f"{change.namespace}/{change.name}: {kind}{change.before} → {change.after} clusters\n")
        if change.fault:
            sys.stdout.write(f"  ! misconfigured, its decisions would stay: {change.fault}\n")
        for sign, names in (("+", change.gained), ("-", change.lost)):
            sys.stdout.writelines(f"  {sign} {name}\n" for name in names[:_SHOWN])
            if len(names) > _SHOWN:
                sys.stdout.write(f"  {sign} … and {len(names) - _SHOWN} more\n")
