"""`muster clusters`: let clusters join, see who asks, take them out."""

from __future__ import annotations

import asyncio
import sys
import time
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.completion.answers import names_of
from muster.cli.inputs.options import OUTPUT, Context, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.terminal.commands import App
from muster.cli.terminal.consent import asked, require_terminal
from muster.cli.terminal.exits import Exit
from muster.errors import ApiError

if TYPE_CHECKING:
    from muster.cli.clusters.accepting import Asking
    from muster.client import Client
    from muster.values.json import JsonObject

app = App()
_LOOK: Final = 1.0  # seconds between two looks while a command waits
_LONGEST: Final = 24 * 365
ClusterNames = Annotated[
    list[str], typer.Argument(metavar="CLUSTER", help="The clusters.", autocompletion=names_of("managedclusters"))
]
Wait = Annotated[
    float,
    typer.Option("--wait", min=0.0, metavar="SECONDS", help="Wait so long for it, if need be."),
]


class Invitations(StrEnum):
    """How an invitation is printed."""

    COMMAND = "command"
    KUBECONFIG = "kubeconfig"
    SECRET = "secret"  # noqa: S105 - a kind of object


@app.callback()
def _clusters() -> None:
    """Let clusters join, see who asks, take them out. Works with a hub, and with a server that runs Open Cluster
    Management."""


@app.command("join-command")
def join_command(
    cluster: Annotated[
        str, typer.Argument(metavar="[CLUSTER]", help="The name that the cluster is to have.", show_default=False)
    ] = "",
    server: Annotated[
        str,
        typer.Option(
            "--server", metavar="URL", help="The hub's address as the cluster reaches it; else the kubeconfig's."
        ),
    ] = "",
    hours: Annotated[
        float, typer.Option("--hours", min=0.1, max=_LONGEST, metavar="HOURS", help="How long the token is good.")
    ] = 24.0,
    output: Annotated[
        Invitations,
        typer.Option(
            "--output",
            "-o",
            help="A command for a shell, a kubeconfig for an agent, or a Secret for a klusterlet.",
            rich_help_panel=OUTPUT,
        ),
    ] = Invitations.COMMAND,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Make a token and print what to run where the cluster is. Whoever has the token may ask to join, no more.

    The token is a Secret in kube-system; delete it and it is good no more. What is printed is secret until then.

    Examples:
      muster clusters join-command edge-7 --hours 2
      muster clusters join-command edge-7 --server https://hub.example.com:8443 -o secret
    """
    from muster.cli.clusters.joining import checked_name, invited, is_local
    from muster.cli.terminal.output import yaml_text

    name = checked_name(cluster) if cluster else ""

    async def work(client: Client) -> str:
        found = await invited(client, name, server, timedelta(hours=hours))
        if is_local(found.server):
            sys.stderr.write(
                f"note: {found.server} is this machine; a cluster elsewhere needs another address: --server URL\n"
            )
        sys.stderr.write(
            f"the token is good until {found.expires}; then run: muster clusters accept {name or 'CLUSTER'}\n"
        )
        if output is Invitations.COMMAND:
            return found.command
        written = yaml_text(found.kubeconfig())
        return written if output is Invitations.KUBECONFIG else yaml_text(found.secret(written))

    sys.stdout.write(with_client(work, context, kubeconfig))


@app.command("list")
def list_clusters(
    pending: Annotated[bool, typer.Option("--pending", help="Only clusters that wait to be accepted.")] = False,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """The clusters: accepted, joined and available or not, and who asks to be let in.

    Examples:
      muster clusters list
      muster clusters list --pending -o json
    """
    from muster.cli.clusters.accepting import CLUSTERS, askings
    from muster.cli.clusters.listing import rows_of
    from muster.cli.inputs.grants import print_rows
    from muster.cli.terminal.output import print_report
    from muster.values.api_paths import collection_path

    async def work(client: Client) -> list[dict[str, str]]:
        known: list[JsonObject] = []
        async for page in client.pages(collection_path(*CLUSTERS)):
            known += page["items"]
        return rows_of(known, await askings(client))

    rows = with_client(work, context, kubeconfig)
    if pending:
        rows = [each for each in rows if each["accepted"] != "true" or each["asking"] != "-"]
    if output is not Report.TEXT:
        print_report(rows, output)
    elif rows:
        print_rows(rows)
    else:
        sys.stdout.write("nobody waits\n" if pending else "there are no clusters\n")


@app.command()
def accept(
    clusters: ClusterNames,
    agent: Annotated[
        str, typer.Option("--agent", metavar="NAME", help="Which agent, if several ask to be the same cluster.")
    ] = "",
    wait: Wait = 0.0,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Let clusters in: approve the certificate that an agent asks for, and accept the cluster.

    You need the permission to approve requests for kubernetes.io/kube-apiserver-client and to update
    managedclusters/accept. Exits with 1 if nobody has asked.

    Examples:
      muster clusters accept edge-7
      muster clusters accept edge-7 edge-8 --wait 5
    """
    from muster.cli.clusters.accepting import askings, chosen, let_in

    async def work(client: Client) -> list[str]:
        waiting = []
        until = time.monotonic() + wait
        for cluster in clusters:
            found: list[Asking] = []
            while not (found := chosen(cluster, await askings(client, cluster), agent)):
                if time.monotonic() >= until:
                    break
                await asyncio.sleep(_LOOK)
            if not found:
                waiting.append(cluster)
                continue
            for each in found:
                if each.waits:
                    sys.stdout.write(f"{cluster}: agent {each.agent} asks, by {each.requester}, in {each.request}\n")
            approved = await let_in(client, cluster, found)
            sys.stdout.write(f"{cluster}: accepted" + (f", {len(approved)} approved\n" if approved else "\n"))
        return waiting

    waiting = with_client(work, context, kubeconfig)
    for cluster in waiting:
        sys.stdout.write(
            f"{cluster}: no agent asks to be this cluster; run what `muster clusters join-command {cluster}` prints, "
            "where the cluster is\n"
        )
    if waiting:
        raise typer.Exit(int(Exit.NO))


@app.command()
def remove(
    clusters: ClusterNames,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    wait: Wait = 60.0,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Take clusters out of the fleet: their add-ons and works go first, then their rights, then they are gone.

    The credentials that an import has kept go too; the namespace of a cluster stays, for what else is in it. Exits with
    1 if something keeps a cluster, and says what.

    Examples:
      muster clusters remove edge-7 --yes
      muster clusters remove edge-7 edge-8 --yes --wait 300
    """
    from muster.cli.clusters.accepting import CLUSTERS
    from muster.cli.clusters.leaving import forget_credentials, has_credentials
    from muster.cli.clusters.listing import why_it_stays
    from muster.values.api_paths import object_path

    if not yes:
        require_terminal("clusters remove")
        if not asked(f"Remove {', '.join(clusters)}?"):
            sys.stderr.write("nothing was removed\n")
            raise typer.Exit(int(Exit.NO))

    async def state_of(client: Client, cluster: str) -> JsonObject | None:
        try:
            found: JsonObject = (await client.request("GET", object_path(*CLUSTERS, "", cluster))).json()
        except ApiError as error:
            if error.code != 404:
                raise
            return None
        return found

    async def work(client: Client) -> int:
        before = {cluster: await state_of(client, cluster) for cluster in clusters}
        known = {cluster: found for cluster, found in before.items() if found is not None}
        for cluster in known:
            await client.request("DELETE", object_path(*CLUSTERS, "", cluster))
        until = time.monotonic() + wait
        missing = [cluster for cluster in clusters if cluster not in known]
        sys.stdout.writelines(f"{cluster}: there is no such cluster\n" for cluster in missing)
        staying = len(missing)
        for cluster in known:
            found = await state_of(client, cluster)
            while found is not None and time.monotonic() < until:
                await asyncio.sleep(_LOOK)
                found = await state_of(client, cluster)
            if found is None:
                told = await forget_credentials(client, cluster) if has_credentials(known[cluster]) else ""
                sys.stdout.write(f"{cluster}: removed{told}\n")
            else:
                staying += 1
                sys.stdout.write(f"{cluster}: is going; {why_it_stays(found)}\n")
        return staying

    if with_client(work, context, kubeconfig):
        raise typer.Exit(int(Exit.NO))
