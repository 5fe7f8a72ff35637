"""`muster resolve`: which operators to install, and why; or why there is no answer. From files, or by a server."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from muster.api.fleet_resolution import INVALID, RESOLVED
from muster.cli.completion.answers import names_of
from muster.cli.inputs.documents import load_one
from muster.cli.inputs.options import Context, Kubeconfig, Namespace  # noqa: TC001 - typer reads annotations
from muster.cli.resolve.asking import Server, given_resolution
from muster.cli.resolve.checks import constraints_command, lint_command
from muster.cli.resolve.output import Output, drawn, print_answer, print_catalog_faults
from muster.cli.resolve.requests import Asked, request_of, resolution_of
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import yaml_text
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from muster.api.fleet_resolution import ResolutionPreviewStatus
    from muster.resolution.telling.lock import Lock

app = App()

_DEFAULT_LIMIT = 30.0


_Catalogs = Annotated[
    list[str] | None,
    typer.Option(
        "--catalog",
        "-c",
        metavar="[NAME=]PATH",
        help="Catalog: file or directory; several are taken.",
        show_default=False,
    ),
]


@app.callback(invoke_without_command=True)
def resolve_command(
    context: typer.Context,
    catalog: _Catalogs = None,
    filename: Annotated[
        str,
        typer.Option("--filename", "-f", metavar="FILE", help="A Resolution, saved or not.", show_default=False),
    ] = "",
    resolution: Annotated[
        str,
        typer.Option(
            "--resolution",
            metavar="NAME",
            help="A Resolution that a server has.",
            show_default=False,
            autocompletion=names_of("resolutions"),
        ),
    ] = "",
    want: Annotated[
        list[str] | None,
        typer.Option(
            "--want",
            "-w",
            metavar="PACKAGE",
            help="PACKAGE, PACKAGE@RANGE, PACKAGE:CHANNEL or PACKAGE@RANGE:CHANNEL.",
            show_default=False,
        ),
    ] = None,
    starting: Annotated[
        list[str] | None,
        typer.Option(
            "--starting",
            metavar="PACKAGE=BUNDLE",
            help="The bundle, or =VERSION, to begin with if none is installed.",
            show_default=False,
        ),
    ] = None,
    installed: Annotated[
        str,
        typer.Option(
            "--installed", metavar="FILE", help="What is installed: a list, or a lock file.", show_default=False
        ),
    ] = "",
    priority: Annotated[
        list[str] | None,
        typer.Option("--priority", metavar="NAME=NUMBER", help="Priority of a catalog.", show_default=False),
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact", metavar="TYPE=VALUE", help="A property of the cluster, value as YAML.", show_default=False
        ),
    ] = None,
    optional: Annotated[
        str,
        typer.Option(
            "--optional", metavar="install|only-if-present|ignore", help="What to do with optional requirements."
        ),
    ] = "install",
    compat: Annotated[
        str, typer.Option("--compat", metavar="olm-v0", help="Decide as olm-v0 does.", show_default=False)
    ] = "",
    lock: Annotated[
        str,
        typer.Option(
            "--lock", metavar="FILE", help="Write the plan here; print what changed since.", show_default=False
        ),
    ] = "",
    locked: Annotated[bool, typer.Option("--locked", help="Take exactly what --lock says, or fail.")] = False,
    explain: Annotated[
        str,
        typer.Option(
            "--explain", metavar="PACKAGE", help="Why this version of a package, why not another.", show_default=False
        ),
    ] = "",
    graph: Annotated[
        str,
        typer.Option(
            "--graph", metavar="FILE", help="Write a picture: FILE.svg, FILE.mmd, or - for Mermaid.", show_default=False
        ),
    ] = "",
    time_limit: Annotated[
        float, typer.Option("--time-limit", metavar="SECONDS", help="Seconds to decide in.")
    ] = _DEFAULT_LIMIT,
    strict: Annotated[bool, typer.Option("--strict", help="Fail if anything in the catalogs cannot be used.")] = False,
    output: Annotated[Output, typer.Option("--output", "-o", help="How to print.")] = Output.TREE,
    namespace: Namespace = None,
    server_context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Find operators that work together, and say why. Exits with 0 for a plan, 1 if there is none or time was up, 2
    for bad input.

    Without --catalog a server resolves, with its own catalogs or those of a Resolution.

    Examples:
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop --explain shop
      muster resolve -c examples/03-resolve-operators/catalog.yaml -w shop --lock operators.lock
      muster resolve --resolution shop-with-legacydb -n operators
    """
    if context.invoked_subcommand is not None:
        return
    asked = Asked(_all(catalog), _all(want), _all(starting), installed, _all(priority), _all(fact), optional, compat)
    old_lock = _old_lock(lock) if lock else None
    if locked and old_lock is None:
        raise InvalidObjectError(lock or "--locked", "there is no lock file to go by")
    if catalog:
        if filename or resolution:
            raise InvalidObjectError("--catalog", "a Resolution names its own catalogs: leave one of both out")
        status = _over_files(asked, old_lock, locked=locked, explain=explain, seconds=time_limit, strict=strict)
    else:
        server = Server(namespace, server_context, kubeconfig, old_lock, locked=locked, explain=explain)
        if resolution:
            status = server.saved(resolution)
        elif filename:
            status = server.unsaved(given_resolution(filename))
        else:
            status = server.unsaved(resolution_of(asked, time_limit))
    _finish(status, output, graph, strict=strict)
    if lock and not locked:
        _write_lock(status, lock, old_lock)


def _over_files(
    asked: Asked, lock: Lock | None, *, locked: bool, explain: str, seconds: float, strict: bool
) -> ResolutionPreviewStatus:
    from muster.resolution import resolve
    from muster.resolution.preview import previewed
    from muster.resolution.telling.lock import locked_request

    request = request_of(asked)
    if strict and (faults := [fault for each in request.catalogs for fault in each.faults]):
        raise InvalidObjectError("", "; ".join(map(str, faults)))
    if locked and lock is not None:
        request = locked_request(request, lock)
    deadline = time.monotonic() + seconds
    outcome = resolve(request, lambda: time.monotonic() < deadline)
    told = time.monotonic() + seconds
    return previewed(outcome, go_on=lambda: time.monotonic() < told, seconds=seconds, explain=explain, lock=lock)


def _finish(status: ResolutionPreviewStatus, output: Output, graph: str, *, strict: bool) -> None:
    """Print it, and the picture. Raises InvalidObjectError for what cannot be resolved at all, Exit without a plan."""
    if status.outcome == INVALID:
        raise InvalidObjectError("", status.text)
    if strict and (faults := (*status.catalog_faults, *status.faults)):
        raise InvalidObjectError("", "; ".join(faults))
    print_catalog_faults(status)
    is_resolved = status.outcome == RESOLVED
    if graph == "-" and is_resolved:
        sys.stdout.write(drawn(status.plan, graph))
    else:
        print_answer(status, output)
    if not is_resolved:
        raise typer.Exit(int(Exit.NO))
    if graph and graph != "-":
        _write(graph, drawn(status.plan, graph))


def _all(given: list[str] | None) -> list[str]:
    """The values of an option that may be given several times."""
    return given if given is not None else []


def _old_lock(name: str) -> Lock | None:
    from muster.resolution.telling.lock import read_lock

    return read_lock(load_one(name)) if Path(name).exists() else None


def _write_lock(status: ResolutionPreviewStatus, name: str, before: Lock | None) -> None:
    from muster.resolution.telling.lock import lock_changes, read_lock

    after = read_lock(status.lock)
    if before is not None:
        changes = lock_changes(before, after)
        for change in changes:
            sys.stderr.write(f"{change}\n")
        sys.stderr.write("" if changes else "the lock has not changed\n")
    _write(name, yaml_text(after.to_json()))


def _write(name: str, text: str) -> None:
    try:
        Path(name).write_text(text, encoding="utf-8")
    except OSError as error:
        raise InvalidObjectError(name, error.strerror or str(error)) from error


app.command("constraints")(constraints_command)
app.command("lint")(lint_command)
