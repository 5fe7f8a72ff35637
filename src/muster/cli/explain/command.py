"""`muster explain`: why a placement selected what it did, and why not the rest; the same for a cluster and a set."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.completion.answers import names_of
from muster.cli.explain import by_hub as explain_hub
from muster.cli.explain import classification as explain_classification
from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fleets import FleetFiles, gathered, in_namespace, overlaid
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, Report, ReportFormat
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import ApiError, InvalidObjectError
from muster.values.json import Json

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from muster.api.placement import Placement
    from muster.api.reading import Reading
    from muster.cli.terminal.paint import Paint
    from muster.selection import Snapshot

app = App()
app.command("classification")(explain_classification.command)


@app.callback()
def _explain() -> None:
    """Say why: for a placement, a cluster, a cluster set or a classification of hosts.

    Works with a hub, any Kubernetes server, or files.
    """


@app.command()
def placement(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The placement; may be left out with -f FILE.",
            show_default=False,
            autocompletion=names_of("placements"),
        ),
    ] = "",
    filename: Annotated[
        str,
        typer.Option("--filename", "-f", metavar="FILE", help="A Placement that is not saved yet.", show_default=False),
    ] = "",
    cluster: Annotated[
        str,
        typer.Option(
            "--cluster",
            metavar="CLUSTER",
            help="The way of this one cluster.",
            show_default=False,
            autocompletion=names_of("managedclusters"),
        ),
    ] = "",
    namespace: Namespace = None,
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """The funnel: how many clusters each stage removed, and why; or the whole way of one cluster.

    With --cluster, exits with 1 when the cluster is not selected. Who may not list the clusters of a hub is told what
    the hub explains to them.

    Examples:
      muster explain placement checkout -n apps
      muster explain placement training -n apps --cluster stage-nyc-dc1-00013
      muster explain placement -f examples/06-first-look/checkout.yaml --fleet fleet
    """
    from muster.cli.explain.text import cluster_lines, placement_lines
    from muster.placement.explain.explanation import explain_cluster, explain_placement

    try:
        snapshot, default, unsaved = _snapshot(fleet, context, kubeconfig, filename)
    except ApiError as refusal:
        if refusal.code != explain_hub.FORBIDDEN:
            raise
        found = explain_hub.asked(refusal, name, cluster, filename, namespace, context, kubeconfig)
        _show(found, cluster_lines if cluster else placement_lines, output)
        if cluster and not found.selected:
            raise typer.Exit(int(Exit.NO)) from None
        return
    if not name and len(unsaved) == 1:
        wanted = unsaved[0]
    elif name:
        wanted = _named(unsaved or snapshot.placements, name, namespace, default)
    else:
        raise InvalidObjectError("", "say which placement: by name, or with -f FILE that has one Placement in it")
    result = snapshot.schedule(wanted)
    if not cluster:
        _show(explain_placement(result, snapshot.profile), placement_lines, output)
        return
    try:
        way = explain_cluster(result, cluster, snapshot.profile, snapshot.rules)
    except KeyError:
        raise _no_cluster(snapshot, cluster) from None
    _show(way, cluster_lines, output)
    if not way.selected:
        raise typer.Exit(int(Exit.NO))


@app.command("cluster")
def one_cluster(
    name: Annotated[
        str, typer.Argument(metavar="CLUSTER", help="The cluster.", autocompletion=names_of("managedclusters"))
    ],
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Which placements take the cluster, and why the others do not, near misses first.

    Examples:
      muster explain cluster prod-eu-central-1-00023
      muster explain cluster prod-eu-central-1-00023 --fleet fleet -o yaml
    """
    from muster.cli.explain.text import outlook_lines
    from muster.placement.explain.across_placements import explain_everywhere

    snapshot, *_ = _snapshot(fleet, context, kubeconfig)
    results = map(snapshot.schedule, snapshot.placements)
    try:
        found = explain_everywhere(name, results, snapshot.rules, snapshot.bindings, snapshot.fleet, snapshot.profile)
    except KeyError:
        raise _no_cluster(snapshot, name) from None
    _show(found, outlook_lines, output)


@app.command("set")
def one_set(
    name: Annotated[
        str, typer.Argument(metavar="SET", help="The cluster set.", autocompletion=names_of("managedclustersets"))
    ],
    fleet: FleetFiles = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Which clusters are in a cluster set, by which rule, where it is bound and who chooses from it.

    Examples:
      muster explain set prod-clusters
      muster explain set prod-clusters --fleet fleet
    """
    from muster.cli.explain.text import set_lines
    from muster.placement.explain.across_placements import explain_set

    snapshot, *_ = _snapshot(fleet, context, kubeconfig)
    if name not in snapshot.rules:
        raise InvalidObjectError("", f"there is no ManagedClusterSet {name!r}{_meant(name, list(snapshot.rules))}")
    placements = (each.obj for each in snapshot.placements)
    found = explain_set(name, snapshot.rules[name], snapshot.fleet, snapshot.bindings, placements)
    _show(found, set_lines, output)


def _snapshot(
    fleet: list[str] | None, context: str | None, kubeconfig: str | None, filename: str = ""
) -> tuple[Snapshot, str, list[Reading[Placement]]]:
    """What explanations look at, the usual namespace, and the placements of the file, which count more."""
    from muster.placement.schedule.plan import PLACEMENTS
    from muster.selection import Snapshot

    objects, default = gathered(fleet, context, kubeconfig)
    unsaved = [in_namespace(each.object, default) for each in read_documents([filename])] if filename else []
    snapshot = Snapshot(overlaid([*objects, *unsaved], default), datetime.now(UTC))
    return snapshot, default, [PLACEMENTS.partly(each) for each in unsaved if each["kind"] == "Placement"]


def _show(found: Json, lines: Callable[[Json, Paint], Iterator[str]], output: Report) -> None:
    from muster.cli.explain.text import document
    from muster.cli.terminal.paint import paint_for

    if output is Report.TEXT:
        sys.stdout.writelines(f"{line}\n" for line in lines(found, paint_for()))
    else:
        print_report(document(found), output)


def _named(
    placements: Sequence[Reading[Placement]], name: str, namespace: str | None, default: str
) -> Reading[Placement]:
    """The one of that name: in the namespace that was asked for, else the usual one, else the only one there is."""
    found = {each.obj.metadata.namespace: each for each in placements if each.obj.metadata.name == name}
    for wanted in (namespace,) if namespace else (default, ""):
        if wanted in found:
            return found[wanted]
    if len(found) == 1 and not namespace:
        return next(iter(found.values()))
    where = f" in namespace {namespace or default}" if namespace or default else ""
    if found:
        hint = f"; it is in {', '.join(sorted(found))}: name one with -n"
    else:
        hint = _meant(name, [each.obj.metadata.name for each in placements])
    raise InvalidObjectError("", f"there is no Placement {name!r}{where}{hint}")


def _no_cluster(snapshot: Snapshot, name: str) -> InvalidObjectError:
    known = snapshot.fleet.names(snapshot.fleet.rows().tolist())
    return InvalidObjectError("", f"there is no ManagedCluster {name!r}{_meant(name, known)}")


def _meant(name: str, known: Sequence[str]) -> str:
    from muster.values.nearest import nearest

    close = nearest(name, known)
    return f": did you mean {' or '.join(close)}?" if close else ""
