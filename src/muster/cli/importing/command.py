"""`muster import`: look at clusters elsewhere, show what would become of them, write them to the hub or to files."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.completion.answers import contexts as known_contexts
from muster.cli.inputs.options import Files, with_client
from muster.cli.settings.defaults import SERVER
from muster.cli.terminal.commands import App
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.progress import Progress
from muster.errors import InvalidObjectError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from muster.client import Client
    from muster.importing.found import Found

app = App()
_OCM: Final = "managedclusters.cluster.open-cluster-management.io"
_PROFILES: Final = "clusterprofiles.multicluster.x-k8s.io"
_ARGO_LABEL: Final = "argocd.argoproj.io/secret-type=cluster"
_NO_HUB: Final = (
    "it has no ManagedClusters: it is no hub of Open Cluster Management. A cluster itself is taken by "
    "`muster import kubeconfig`."
)
_NO_INVENTORY: Final = "it has no ClusterProfiles (clusterprofiles.multicluster.x-k8s.io)"

File = Annotated[
    str | None,
    typer.Argument(metavar="[FILE]", help="Kubeconfig of the source; else $KUBECONFIG, else ~/.kube/config."),
]
SourceContext = Annotated[
    str | None, typer.Option("--context", metavar="CONTEXT", help="Context of the source's kubeconfig.")
]
Names = Annotated[
    list[str] | None,
    typer.Option("--name", metavar="OLD=NEW", help="What a cluster is called here, if not as at its source."),
]
Labels = Annotated[
    list[str] | None,
    typer.Option("--label", metavar="KEY=VALUE", help="A label that all of them get; several are taken."),
]
Credentials = Annotated[
    bool,
    typer.Option(
        "--with-credentials", help="Keep what leads to the clusters in Secrets of the hub, for `muster sync`."
    ),
]
Write = Annotated[
    Path | None, typer.Option("--write", metavar="DIRECTORY", help="Write a file for each cluster, and nothing else.")
]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Show what would change, and stop.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Show what would change, and do not ask.")]
HubContext = Annotated[
    str | None,
    typer.Option(
        "--hub-context",
        metavar="CONTEXT",
        help="Context of the hub that clusters are imported to.",
        show_default=False,
        envvar="MUSTER_CONTEXT",
        autocompletion=known_contexts,
        rich_help_panel=SERVER,
    ),
]
HubKubeconfig = Annotated[
    str | None,
    typer.Option(
        "--hub-kubeconfig",
        metavar="FILE",
        help="Kubeconfig of the hub; else $KUBECONFIG, else ~/.kube/config.",
        show_default=False,
        rich_help_panel=SERVER,
    ),
]


@app.callback()
def _import() -> None:
    """Bring clusters and hosts of other places to the hub, as they really are.

    A plan comes first. Labels and fields that people have set on the hub stay theirs: an import owns what it brought.
    """


@app.command()
def kubeconfig(
    file: File = None,
    chosen: Annotated[
        list[str] | None, typer.Option("--context", metavar="CONTEXT", help="A context; several are taken.")
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="All contexts of the file.")] = False,
    name: Names = None,
    label: Labels = None,
    with_credentials: Credentials = False,
    write: Write = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    context: HubContext = None,
    kubeconfig: HubKubeconfig = None,
) -> None:
    """Import the clusters of a kubeconfig's contexts.

    Each cluster is looked at with its context, as kubectl would: version, nodes, ClusterClaims and ClusterProperties.
    What may not be read is told and left out. Without --with-credentials nothing secret goes to the hub.

    Examples:
      muster import kubeconfig hub/kubeconfig --all --dry-run
      muster import kubeconfig hub/kubeconfig --all --write imported
      muster import kubeconfig hub/kubeconfig --label env=test --with-credentials --yes
    """
    from muster.cli.importing.contexts import of_contexts, wanted_contexts
    from muster.collecting.reading import ReadLimits

    if every and chosen:
        raise InvalidObjectError("", "--all and --context do not go together")
    contexts = wanted_contexts(file, chosen or (), every=every)
    renamed = _pairs(name, "--name")
    _consent(write, dry_run=dry_run, yes=yes)
    with Progress(f"of {len(contexts)} contexts read") as progress:
        found = asyncio.run(
            of_contexts(file, contexts, renamed, ReadLimits(), progress.advance, with_credentials=with_credentials)
        )
    _finish(found, label, write, context, kubeconfig, dry_run=dry_run, yes=yes)


@app.command()
def ocm(
    file: File = None,
    source_context: SourceContext = None,
    name: Names = None,
    label: Labels = None,
    write: Write = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    context: HubContext = None,
    kubeconfig: HubKubeconfig = None,
) -> None:
    """Import the ManagedClusters of another hub of Open Cluster Management, with what their agents have told there.

    Labels, claims, version, capacity and availability come along; membership in cluster sets does not. Import again to
    bring them up to date. The source is another server than the hub.

    Examples:
      muster import ocm hub/kubeconfig --write from-ocm
      muster import ocm hub/kubeconfig --label origin=acm --write from-acm
    """
    from muster.importing.sources import from_ocm

    def read(objects: Sequence[JsonObject], server: str) -> list[Found]:
        return [from_ocm(each, f"ManagedCluster of {server}") for each in objects]

    _consent(write, dry_run=dry_run, yes=yes)
    if write is None and _is_the_hub(source_context, file, context, kubeconfig):
        raise InvalidObjectError(
            "", "the source is the hub itself: name the kubeconfig of the other one, or this one by --hub-kubeconfig"
        )
    found = _renamed(with_client(_listed(_OCM, read, none=_NO_HUB), source_context, file), name)
    _finish(found, label, write, context, kubeconfig, dry_run=dry_run, yes=yes)


@app.command()
def clusterprofiles(
    file: File = None,
    source_context: SourceContext = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAMESPACE", help="Only profiles of this namespace.")
    ] = "",
    name: Names = None,
    label: Labels = None,
    write: Write = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    context: HubContext = None,
    kubeconfig: HubKubeconfig = None,
) -> None:
    """Import the ClusterProfiles of an inventory: properties become claims.

    `muster sync --providers FILE` keeps those true that have access providers, if the profiles are on the hub too.

    Examples:
      muster import clusterprofiles hub/kubeconfig --dry-run
      muster import clusterprofiles hub/kubeconfig -n apps --write profiles
    """
    from muster.importing.sources import from_profile, is_written_from_clusters

    is_here = write is None and _is_the_hub(source_context, file, context, kubeconfig)

    def read(objects: Sequence[JsonObject], _: str) -> list[Found]:
        once: dict[str, Found] = {}
        for each in objects:
            if is_here and is_written_from_clusters(each):
                continue  # its cluster is on this hub
            place = f"{each['metadata'].get('namespace', '')}/{each['metadata']['name']}"
            found = from_profile(each, f"ClusterProfile {place}")
            once.setdefault(found.name, found)  # a manager writes one cluster into several namespaces
        return list(once.values())

    _consent(write, dry_run=dry_run, yes=yes)
    found = _renamed(with_client(_listed(_PROFILES, read, namespace, none=_NO_INVENTORY), source_context, file), name)
    _finish(found, label, write, context, kubeconfig, dry_run=dry_run, yes=yes)


@app.command()
def argocd(
    file: File = None,
    source_context: SourceContext = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAMESPACE", help="Where Argo CD keeps its cluster secrets.")
    ] = "argocd",
    name: Names = None,
    label: Labels = None,
    with_credentials: Credentials = False,
    write: Write = None,
    dry_run: DryRun = False,
    yes: Yes = False,
    context: HubContext = None,
    kubeconfig: HubKubeconfig = None,
) -> None:
    """Import the clusters that Argo CD knows, from its cluster secrets.

    Each cluster is looked at with the credentials in its secret. Where a program would have to make credentials, or
    where certificates are not verified, clusters are imported without a look.

    Examples:
      muster import argocd hub/kubeconfig --dry-run
      muster import argocd hub/kubeconfig -n argocd --with-credentials --yes
    """
    from muster.cli.importing.contexts import of_argocd
    from muster.collecting.reading import ReadLimits

    async def work(client: Client) -> list[Found]:
        path = (await client.discover()).named("secrets.v1").path(namespace)
        pages = client.pages(path, params={"labelSelector": _ARGO_LABEL})
        secrets = [(each, f"secret {each['metadata']['name']}") async for page in pages for each in page["items"]]
        if not secrets:
            sys.stdout.write(
                f"the namespace {namespace} has no secret with the label {_ARGO_LABEL}: -n names another\n"
            )
        with Progress(f"of {len(secrets)} clusters read") as progress:
            return await of_argocd(secrets, ReadLimits(), progress.advance, with_credentials=with_credentials)

    _consent(write, dry_run=dry_run, yes=yes)
    found = _renamed(with_client(work, source_context, file), name)
    _finish(found, label, write, context, kubeconfig, dry_run=dry_run, yes=yes)


@app.command()
def hosts(
    file: File = None,
    source_context: SourceContext = None,
    filename: Files = None,
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", metavar="NAMESPACE", help="Only hosts of this namespace.")
    ] = "",
    into: Annotated[
        str, typer.Option("--into", metavar="NAMESPACE", help="Where the Agents go; else as at the source.")
    ] = "",
    dry_run: DryRun = False,
    yes: Yes = False,
    context: HubContext = None,
    kubeconfig: HubKubeconfig = None,
) -> None:
    """Import hosts that metal3 (HardwareData) or Node Feature Discovery (NodeFeature) have found, as Agents.

    Their hardware is projected to the inventory that AgentClassifications query; classifications then label them as any
    other host. `muster classify --agents FILE` shows that before, from files of the same kinds.

    Examples:
      muster import hosts hub/kubeconfig --dry-run
      muster import hosts -f examples/08-your-fleet/hosts.yaml --into apps --dry-run
    """
    from muster.cli.importing import hosts as work
    from muster.cli.inputs.documents import read_documents
    from muster.cli.terminal.consent import asked
    from muster.importing.objects import counted

    _consent(None, dry_run=dry_run, yes=yes)
    unread: list[str] = []
    if filename:
        found = work.agents([document.object for document in read_documents(filename)])
    else:
        found, unread = with_client(lambda client: work.listed(client, namespace), source_context, file)
    plans = with_client(lambda client: work.planned(client, found, into), context, kubeconfig)
    work.print_plan(plans, unread)
    todo = [each for each in plans if each.deed != "same"]
    if not todo or dry_run:
        return
    if not yes and not asked(f"Import {counted(len(todo), 'host')}?"):
        sys.stderr.write("nothing was imported\n")
        raise typer.Exit(int(Exit.NO))
    with Progress(f"of {len(todo)} hosts written") as progress:
        with_client(lambda client: work.write(client, todo, progress.advance), context, kubeconfig)
    sys.stdout.write(f"imported {counted(len(todo), 'host')}\n")


# --------------------------------------------------------------------------------------------------------- parts


def _listed(
    resource: str, read: Callable[[Sequence[JsonObject], str], list[Found]], namespace: str = "", *, none: str
) -> Callable[[Client], Awaitable[list[Found]]]:
    async def work(client: Client) -> list[Found]:
        kind = (await client.discover()).find(resource)
        if kind is None:
            raise InvalidObjectError(client.connection.server, none)
        objects = [each async for page in client.pages(kind.path(namespace)) for each in page["items"]]
        return read(objects, client.connection.server)

    return work


def _is_the_hub(source: str | None, file: str | None, context: str | None, kubeconfig: str | None) -> bool:
    """Whether both are one server. Whatever is wrong with a kubeconfig is said where it is used."""
    from muster.client import KubeconfigError, load_connection

    async def servers() -> tuple[str, str]:
        there = await load_connection(source, file, anonymous=True)
        return there.server, (await load_connection(context, kubeconfig, anonymous=True)).server

    try:
        one, other = asyncio.run(servers())
    except KubeconfigError:
        return False
    return one == other


def _renamed(found: list[Found], names: list[str] | None) -> list[Found]:
    new = _pairs(names, "--name")
    return [replace(each, name=new.get(each.name, each.name)) for each in found]


def _pairs(given: list[str] | None, option: str) -> dict[str, str]:
    found = {}
    for each in given or ():
        key, equals, value = each.rpartition("=") if option == "--name" else each.partition("=")
        if not equals or not key:
            raise InvalidObjectError(option, f"{each!r} is not of the form KEY=VALUE")
        found[key] = value
    return found


def _consent(write: Path | None, *, dry_run: bool, yes: bool) -> None:
    from muster.cli.terminal.consent import require_terminal

    if write is None and not dry_run and not yes:
        require_terminal("import")


def _finish(
    found: list[Found],
    labels: list[str] | None,
    folder: Path | None,
    context: str | None,
    kubeconfig: str | None,
    *,
    dry_run: bool,
    yes: bool,
) -> None:
    """Show, ask, write. Exits with 1 when a cluster could not be read or was refused."""
    from muster.cli.importing.hub import CHANGE, CREATE, REFUSED, planned, write
    from muster.cli.importing.output import print_plan, write_files
    from muster.cli.terminal.consent import asked
    from muster.importing.found import fitting_labels
    from muster.importing.objects import counted, named_twice, told_of_same

    more, problems = fitting_labels(_pairs(labels, "--label"))
    if problems:
        raise InvalidObjectError("--label", problems[0])
    if not found:
        sys.stdout.write("there is no cluster to import\n")
        raise typer.Exit(int(Exit.NO))
    found = told_of_same(named_twice([replace(each, labels={**each.labels, **more}) for each in found]))
    failed = any(each.fault for each in found)
    if folder is not None:
        written = write_files(folder, found)
        sys.stdout.writelines(f"cannot {each.name} ({each.origin}): {each.fault}\n" for each in found if each.fault)
        sys.stdout.writelines(f"{each.name}: {note}\n" for each in found for note in each.notes if not each.fault)
        good = sum(not each.fault for each in found)
        sys.stdout.write(f"{counted(good, 'cluster')} in {folder}, {counted(written, 'file')} written\n")
        raise typer.Exit(int(Exit.NO if failed else Exit.OK))
    with Progress(f"of {len(found)} clusters compared") as progress:
        plans = with_client(lambda client: planned(client, found, progress.advance), context, kubeconfig)
    print_plan(plans, found)
    todo = [each for each in plans if each.deed in (CREATE, CHANGE)]
    refused = [each for each in plans if each.deed == REFUSED]
    if todo and not dry_run:
        if not yes and not asked(f"Import {counted(len(todo), 'cluster')}?"):
            sys.stderr.write("nothing was imported\n")
            raise typer.Exit(int(Exit.NO))
        with Progress(f"of {len(todo)} clusters written") as progress:
            done = with_client(lambda client: write(client, todo, progress.advance), context, kubeconfig)
        late = [each for each in done if each.deed == REFUSED]
        sys.stderr.writelines(f"muster: {each.found.name}: {each.error}\n" for each in late)
        refused += late
        sys.stdout.write(f"imported {counted(len(done) - len(late), 'cluster')}\n")
    if failed or refused:
        raise typer.Exit(int(Exit.NO))
