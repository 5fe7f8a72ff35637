"""`muster select`: selection without a hub, over files, standard input or what a live server has."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import load_one
from muster.cli.inputs.fields import part_of
from muster.cli.inputs.fleets import FleetFiles, gathered
from muster.cli.inputs.options import Context, Kubeconfig, Output, OutputFormat
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.cli.terminal.progress import under_way
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.selection import Selection


def command(
    cel: Annotated[
        str, typer.Argument(metavar="EXPRESSION", help="CEL expression over managedCluster.", show_default=False)
    ] = "",
    labels: Annotated[
        str,
        typer.Option(
            "--selector", "-l", metavar="LABELS", help="Labels, such as cloud=Amazon,tier!=gold.", show_default=False
        ),
    ] = "",
    filename: Annotated[
        str,
        typer.Option(
            "--filename", "-f", metavar="FILE", help="A Placement or a selector in a file.", show_default=False
        ),
    ] = "",
    fleet: FleetFiles = None,
    kind: Annotated[
        str, typer.Option("--kind", metavar="KIND", help="Kind to select; else by what is asked.", show_default=False)
    ] = "",
    why: Annotated[
        str, typer.Option("--why", metavar="NAME", help="Print the reason for this object.", show_default=False)
    ] = "",
    output: OutputFormat = Output.NAME,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Select clusters by CEL, labels, a selector or a Placement.

    Exits with 0 when something was selected (or the object asked about was), 1 when nothing was, 2 for bad input.

    Examples:
      muster select "managedCluster.metadata.labels.cloud == 'Amazon'" --fleet fleet
      muster select -l environment=prod,cloud=Amazon --fleet fleet -o table
      muster select -f examples/06-first-look/checkout.yaml --fleet fleet --why dev-eastus-00047
    """
    from muster.selection import name_of, select

    if not (cel or labels or filename):
        raise InvalidObjectError("", "say what to select: a CEL expression, -l LABELS, or -f FILE")
    objects, _ = gathered(fleet, context, kubeconfig)
    wanted = _read_wanted(filename) if filename else {}
    with under_way(f"selecting among {len(objects):,} objects", len(objects)):
        if wanted.get("kind") == "Placement":
            selection = select(objects, cel or None, labels=labels or None, placement=wanted)
        else:
            given = wanted if filename else None
            selection = select(objects, cel or None, labels=labels or None, selector=given, kind=kind or None)
    if why:
        _print_reason(selection, why)
        return
    chosen = set(selection.names)
    _print({name_of(obj): obj for obj in objects if name_of(obj) in chosen}, selection, output)
    if selection.failed:
        shown = ", ".join(selection.failed[:3])
        first = selection.why(selection.failed[0])
        sys.stderr.write(f"{len(selection.failed)} objects could not be evaluated ({shown} …): {first}\n")
    if not selection.names:
        _say_what_was_not_looked_at(objects, selection)
        raise typer.Exit(int(Exit.NO))


def _say_what_was_not_looked_at(objects: list[JsonObject], selection: Selection) -> None:
    """Nothing was selected from nothing: the fleet is of another kind than the one that is asked for."""
    if objects and not selection.reasons and selection.result is None:
        kinds = ", ".join(f"{count} {kind}" for kind, count in Counter(obj["kind"] for obj in objects).most_common(5))
        sys.stderr.write(f"none of these was looked at: {kinds}; --kind names the kind to select from\n")


def _read_wanted(filename: str) -> JsonObject:
    """A Placement, or a selector document, which has no kind of its own."""
    wanted = load_one(filename)
    if not isinstance(wanted, dict):
        raise InvalidObjectError(filename, f"a Placement or a selector is a mapping, this is {type(wanted).__name__}")
    if wanted.get("kind", "Placement") != "Placement":
        raise InvalidObjectError(
            filename, f"a {wanted['kind']} selects nothing; -f takes a Placement, or a selector, which has no kind"
        )
    return wanted


def _print_reason(selection: Selection, name: str) -> None:
    try:
        reason = selection.why(name)
    except KeyError:
        raise InvalidObjectError("", f"there is no object {name!r} in the fleet") from None
    selected = name in selection.names
    sys.stdout.write(f"{name}: {'yes' if selected else 'no'}: {reason}\n")
    if not selected:
        raise typer.Exit(int(Exit.NO))


def _print(chosen: dict[str, JsonObject], selection: Selection, output: Output) -> None:
    if output is Output.NAME:
        sys.stdout.writelines(f"{name}\n" for name in selection.names)
        return
    objects = [chosen[name] for name in selection.names if name in chosen]
    if output in (Output.TABLE, Output.WIDE):
        shown = [part_of(obj["metadata"], "labels") for obj in objects]
        rows = [
            {"cells": [name, *(labels.get(key, "") for key in ("cloud", "region", "version"))]}
            for name, labels in zip(selection.names, shown, strict=True)
        ]
        columns = [{"name": name} for name in ("Name", "Cloud", "Region", "Version")]
        TablePrinter(wide=True, with_namespace=False).print({"columnDefinitions": columns, "rows": rows})
    elif output is Output.JSON:
        print_json({"apiVersion": "v1", "kind": "List", "items": objects})
    else:
        print_yaml({"apiVersion": "v1", "kind": "List", "items": objects})
