"""`muster hub`: run the embedded home, back it up, restore it, ask how it is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from muster.cli.exits import Exit
from muster.cli.options import Context, Kubeconfig, with_client
from muster.cli.output import print_json

if TYPE_CHECKING:
    from muster.app import Running
    from muster.client import Client

app = typer.Typer(no_args_is_help=True)
Data = Annotated[
    Path | None,
    typer.Option("--data", help="Directory of the hub's state; else ~/.local/share/muster.", show_default=False),
]


@app.callback()
def _hub() -> None:
    """Run the hub, back it up, restore it, ask how it is."""


@app.command()
def run(
    data: Data = None,
    host: Annotated[str, typer.Option("--host", help="Address to listen on; loopback only.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Port to listen on; 0 takes a free one.")] = 0,
    demo: Annotated[bool, typer.Option("--demo", help="Fill an empty hub with a demo fleet.")] = False,
) -> None:
    """Run the hub until Ctrl-C or SIGTERM."""
    import logging

    import uvloop

    from muster.app import HubSettings, default_directory, run_hub
    from muster.demo import Fleet

    logging.basicConfig(level=logging.WARNING, format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    if demo:
        sys.stdout.write("loading the demo fleet …\n")
        sys.stdout.flush()
    settings = HubSettings(data or default_directory(), host, port, Fleet() if demo else None)
    uvloop.run(run_hub(settings, _announce_demo if demo else _announce))
    sys.stdout.write("stopped; everything acknowledged is on disk\n")


def _announce(running: Running) -> None:
    sys.stdout.write(
        f"muster hub at {running.url}, {running.objects} objects, revision {running.revision}\n"
        f"export KUBECONFIG={running.kubeconfig.resolve()}\n"
    )
    sys.stdout.flush()


def _announce_demo(running: Running) -> None:
    _announce(running)
    sys.stdout.write(
        "\nIn another terminal, export the KUBECONFIG above, then try:\n"
        "  kubectl get managedclusters -l cloud=Amazon,tier=gold -o wide\n"
        "  kubectl get placements,managedclustersetbindings -n apps\n"
        "  kubectl explain placement.spec.predicates\n"
        "  kubectl get managedclusters -w        # and in a third terminal:\n"
        "  kubectl label managedclusters -l region=us-east-1 wave=first --overwrite\n"
        "\nWithout kubectl, `muster get`, `muster apply` and `muster delete` do the same. Ctrl-C stops the hub.\n"
    )
    sys.stdout.flush()


@app.command()
def backup(
    file: Annotated[Path, typer.Argument(help="Where to write the backup; must not exist.")],
    data: Data = None,
) -> None:
    """Write a consistent copy of the database while the hub runs, or while it does not."""
    from muster.app import DATABASE, default_directory
    from muster.hub.storage import back_up

    back_up((data or default_directory()) / DATABASE, file)
    sys.stdout.write(f"backed up to {file}\n")


@app.command()
def restore(
    file: Annotated[Path, typer.Argument(help="The backup.")],
    data: Data = None,
) -> None:
    """Replace the database of a stopped hub by a backup. The present one is kept beside it."""
    from muster.app import DATABASE, default_directory
    from muster.hub.storage import restore as restore_database

    directory = data or default_directory()
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    restored = restore_database(file, directory / DATABASE)
    sys.stdout.write(f"{restored}\n")


@app.command()
def status(
    output: Annotated[str, typer.Option("--output", "-o", help="text or json.")] = "text",
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Whether the server of the kubeconfig is ready, and what it holds."""

    async def work(client: Client) -> dict[str, Any]:
        version = (await client.request("GET", "/version")).json()
        checks = (await client.request("GET", "/readyz", params={"verbose": ""}, accept="*/*")).body.decode()
        counts = {}
        for resource in (await client.discover()).resources:
            if resource.plural in _COUNTED:
                page = (await client.request("GET", resource.path(), params={"limit": "1"})).json()
                metadata = page["metadata"]
                counts[resource.plural] = len(page["items"]) + metadata.get("remainingItemCount", 0)
        return {
            "server": client.connection.server,
            "version": version.get("gitVersion", ""),
            "ready": "check passed" in checks,
            "objects": counts,
        }

    found = with_client(work, context, kubeconfig)
    if output == "json":
        print_json(found)
    else:
        state = "ready" if found["ready"] else "not ready"
        sys.stdout.write(f"{found['server']} is {state}, version {found['version']}\n")
        for name, count in found["objects"].items():
            sys.stdout.write(f"  {count:>8} {name}\n")
    if not found["ready"]:
        raise typer.Exit(int(Exit.SERVER_TROUBLE))


_COUNTED = ("managedclusters", "managedclustersets", "placements", "placementdecisions", "agents", "namespaces")
