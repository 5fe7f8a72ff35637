"""`muster select`: what a server says it selects, or the same without one over files and standard input."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from muster.cli.inputs.askers import Asked, ask
from muster.cli.inputs.documents import load_one
from muster.cli.inputs.fields import part_of
from muster.cli.inputs.fleets import FleetFiles, counted
from muster.cli.inputs.options import Context, Kubeconfig, Output, OutputFormat
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import TablePrinter, print_json, print_yaml
from muster.cli.terminal.progress import under_way
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.cli.selecting import Found
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
      muster select "managedCluster.status.version.kubernetes.startsWith('v1.3')" --kind ClusterProfile
    """
    if not (cel or labels or filename):
        raise InvalidObjectError("", "say what to select: a CEL expression, -l LABELS, or -f FILE")
    document = _read_wanted(filename) if filename else None
    if fleet:
        _from_files(fleet, cel, labels, document, kind, why, output)
        return
    from muster.cli.selecting import Wanted, objects_of, reason, selected

    wanted = Wanted(cel, labels, document, kind)
    if wanted.placement is not None and (cel or labels):
        raise InvalidObjectError("", "a Placement says everything itself: leave out CEL, labels and selector")

    async def question(asked: Asked) -> tuple[Found, dict[str, JsonObject]]:
        if why:
            _print_reason(why, *(await reason(asked, wanted, why)))
        found = await selected(asked, wanted)
        return found, {} if output is Output.NAME else await objects_of(asked, found)

    found, objects = ask(question, None, context, kubeconfig)
    _print([name for _, name in found.names], objects, output)
    if found.failed:
        _say_what_failed(found.failed, found.failing, found.message)
    if not found.names:
        raise typer.Exit(int(Exit.NO))


def _from_files(
    fleet: list[str], cel: str, labels: str, document: JsonObject | None, kind: str, why: str, output: Output
) -> None:
    """Without a server: the same functions over the objects of files, of whatever kind they are."""
    from muster.selection import name_of, select

    objects = [each.object for each in counted(fleet)]
    wanted = document or {}
    with under_way(f"selecting among {len(objects):,} objects", len(objects)):
        if wanted.get("kind") == "Placement":
            selection = select(objects, cel or None, labels=labels or None, placement=wanted, kind=kind or None)
        else:
            selection = select(objects, cel or None, labels=labels or None, selector=document, kind=kind or None)
    if why:
        _print_reason(why, why in selection.names, selection.why(why))
    chosen = set(selection.names)
    _print(selection.names, {name_of(obj): obj for obj in objects if name_of(obj) in chosen}, output)
    if selection.failed:
        _say_what_failed(len(selection.failed), selection.failed[:3], selection.why(selection.failed[0]))
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


def _say_what_failed(count: int, examples: Sequence[str], message: str) -> None:
    sys.stderr.write(f"{count} objects could not be evaluated ({', '.join(examples)} …): {message}\n")


def _print_reason(name: str, selected: bool, why: str) -> NoReturn:
    sys.stdout.write(f"{name}: {'yes' if selected else 'no'}: {why}\n")
    raise typer.Exit(int(Exit.OK if selected else Exit.NO))


def _print(names: Sequence[str], chosen: dict[str, JsonObject], output: Output) -> None:
    if output is Output.NAME:
        sys.stdout.writelines(f"{name}\n" for name in names)
        return
    objects = [chosen[name] for name in names if name in chosen]
    if output in (Output.TABLE, Output.WIDE):
        shown = [part_of(obj["metadata"], "labels") for obj in objects]
        rows = [
            {"cells": [name, *(labels.get(key, "") for key in ("cloud", "region", "version"))]}
            for name, labels in zip((each for each in names if each in chosen), shown, strict=True)
        ]
        columns = [{"name": name} for name in ("Name", "Cloud", "Region", "Version")]
        TablePrinter(wide=True, with_namespace=False).print({"columnDefinitions": columns, "rows": rows})
    elif output is Output.JSON:
        print_json({"apiVersion": "v1", "kind": "List", "items": objects})
    else:
        print_yaml({"apiVersion": "v1", "kind": "List", "items": objects})
