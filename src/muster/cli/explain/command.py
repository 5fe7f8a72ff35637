"""`muster explain`: why a placement selected what it did, and why not the rest; the same for a cluster and a set."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar

import typer

from muster.cli.completion.answers import names_of
from muster.cli.inputs.fleets import FleetFiles  # noqa: TC001 - typer reads annotations at run time
from muster.cli.inputs.options import Context, Kubeconfig, Namespace, Report, ReportFormat
from muster.cli.terminal.commands import App, Lazy, LazyGroup
from muster.cli.terminal.exits import Exit

if TYPE_CHECKING:
    from collections.abc import Mapping


class ExplainGroup(LazyGroup):
    """What can be explained. Hosts take a language and a client that clusters do not."""

    modules: ClassVar[Mapping[str, Lazy]] = {
        "classification": Lazy(
            "muster.cli.explain.classification",
            "What a classification says of hosts, and the values of its query's parts.",
        ),
        "placement": Lazy(
            "muster.cli.explain.command:placement", "How many clusters each stage removed, and why; or the way of one."
        ),
        "cluster": Lazy(
            "muster.cli.explain.command:one_cluster", "Which placements take the cluster, and why the others do not."
        ),
        "set": Lazy(
            "muster.cli.explain.command:one_set", "Which clusters are in a cluster set, and who chooses from it."
        ),
    }


app = App(cls=ExplainGroup)


@app.callback()
def _explain() -> None:
    """Say why: for a placement, a cluster, a cluster set or a classification of hosts.

    Works with a hub, any Kubernetes server, or files.
    """


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

    With --cluster, exits with 1 when the cluster is not selected. The server is asked; where it answers no questions,
    the same is worked out here from what may be listed, and what could not be read is said.

    Examples:
      muster explain placement checkout -n apps
      muster explain placement training -n apps --cluster stage-nyc-dc1-00013
      muster explain placement -f examples/06-first-look/checkout.yaml --fleet fleet
    """
    from muster.cli.explain.showing import explain_placement

    _end(explain_placement(name, filename, cluster, namespace, fleet, output, context, kubeconfig))


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
    from muster.cli.explain.showing import explain_cluster

    _end(explain_cluster(name, fleet, output, context, kubeconfig))


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
    from muster.cli.explain.showing import explain_set

    _end(explain_set(name, fleet, output, context, kubeconfig))


def _end(code: Exit) -> None:
    if code is not Exit.OK:
        raise typer.Exit(int(code))
