"""`muster kubernetes check`: what is on a server, whose it is, what it lacks, which rules hold."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import typer

from muster.cli.inputs.options import Context, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.kubernetes.options import Home  # noqa: TC001 - typer reads annotations at run time
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.cli.terminal.paint import Shade, paint_for
from muster.kubernetes.checking.findings import Place

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.client import Client
    from muster.kubernetes.checking.findings import Inspection, Kind


def command(
    namespace: Home = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Say what is installed, which kinds are whose and what they lack, which rules are enforced where, and what a user
    would notice of what is missing.

    Reads only, and says what it was not allowed to read. Exits with 1 if Muster is not installed or something should be
    done about it; what upstream's kinds cannot carry is told and is no reason.

    Examples:
      muster kubernetes check
      muster kubernetes check -o json
    """
    from muster.kubernetes.checking.inspection import inspect
    from muster.kubernetes.installing.cluster import Cluster
    from muster.kubernetes.installing.home import chosen_home
    from muster.kubernetes.settings import settings_from

    named = None if namespace is None else settings_from({"namespace": namespace}).namespace

    async def work(client: Client) -> Inspection:
        cluster = Cluster(client, await client.discover())
        return await inspect(cluster, await chosen_home(cluster, named))

    found = with_client(work, context, kubeconfig)
    if output is Report.TEXT:
        _print(found)
    else:
        print_report(found.plain(), output)
    if not found.is_installed or found.problems():
        raise typer.Exit(int(Exit.NO))


def _print(found: Inspection) -> None:
    paint = paint_for()
    write = sys.stdout.write
    write(f"server: {found.server}\n")
    if found.is_installed:
        write(f"installed: version {found.version} in {found.namespace}, by {found.installer}\n")
    else:
        words = "may not be read" if found.is_hidden else "nothing"
        write(f"installed: {words} in {found.namespace}\n")
    for part in found.parts:
        write(f"{part.name}: {paint(part.words, Shade.GOOD if part.well else Shade.BAD)}\n")
    write("\nkinds\n")
    sys.stdout.writelines(f"  {line}\n" for line in _kind_lines(found.kinds))
    write("\nrules\n" if found.rules else "")
    widest = max((len(each.rule) for each in found.rules), default=0)
    for each in found.rules:
        where = ", ".join(place.value for place in each.places)
        note = f" ({each.note})" if each.note and Place.NOWHERE not in each.places else ""
        write(f"  {each.rule.ljust(widest)}  {where}{note}\n")
    _write_list("what should be done about", found.problems())
    _write_list("what a user would notice", found.noticed())
    _write_list("what could not be read (ask for permission)", found.unseen)


def _kind_lines(kinds: Iterable[Kind]) -> Iterable[str]:
    for kind in kinds:
        unknown = "served; whose it is may not be read" if kind.served else "not there"
        whose = {"": unknown, "us": "ours"}.get(kind.owner, f"of {kind.owner}")
        words = kind.lacks.words()
        lacking = f"; lacks {', '.join(words)}" if words else ""
        yield f"{kind.name}: {whose}{lacking}"


def _write_list(heading: str, lines: Iterable[str]) -> None:
    found = list(lines)
    if found:
        sys.stdout.write(f"\n{heading}\n")
        sys.stdout.writelines(f"  {line}\n" for line in found)
