"""`muster hub status`: whether a hub is ready, and what it holds; and of one that does not answer, whether it runs."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

import typer

from muster.cli.hub.directory import Data, chosen, process
from muster.cli.inputs.options import Context, Kubeconfig, Report, ReportFormat, with_client
from muster.cli.terminal.exits import Exit
from muster.cli.terminal.output import print_report
from muster.errors import ApiError

if TYPE_CHECKING:
    from muster.client import Client
    from muster.values.json import JsonObject

_COUNTED: Final = ("managedclusters", "managedclustersets", "placements", "placementdecisions", "agents", "namespaces")
_FAILED: Final = "[-]"  # before a check of /readyz that did not pass


def command(
    data: Data = None,
    output: ReportFormat = Report.TEXT,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Whether a hub is ready, and what it holds.

    Asks the server of the kubeconfig, or the hub in a directory of this machine. Exits with 3 if it is not ready or
    does not answer.

    Examples:
      muster hub status
      muster hub status -o json
    """
    from muster.client import UnreachableError

    directory = chosen(data)
    file = kubeconfig or _own_kubeconfig(directory, data, context)
    try:
        found = with_client(_asked, context, file)
    except UnreachableError as error:
        found = {"ready": False, "problems": [str(error), *_advice(directory, file)]}
    if output is Report.TEXT:
        _print(found)
    else:
        print_report(found, output)
    if not found["ready"]:
        raise typer.Exit(int(Exit.SERVER_TROUBLE))


def _own_kubeconfig(directory: Path, data: Path | None, context: str | None) -> str | None:
    """The hub's own kubeconfig, where nothing else says which server is meant."""
    from muster.hub.directory import KUBECONFIG

    if data is None and (context or os.environ.get("KUBECONFIG")):
        return None
    path = directory / KUBECONFIG
    return str(path) if data is not None or path.exists() else None


def _advice(directory: Path, file: str | None) -> list[str]:
    """What a hub that does not answer needs, if it is one of this machine."""
    from muster.hub.directory import DATABASE, KUBECONFIG

    named = file or os.environ.get("KUBECONFIG", "")
    if not (directory / DATABASE).exists() or Path(named).absolute() != (directory / KUBECONFIG).absolute():
        return []
    if (number := process(directory)) is not None:
        return [f"the hub in {directory} runs as process {number}, and does not answer"]
    return [f"the hub in {directory} is not running; `muster hub run --data {directory}` starts it"]


async def _asked(client: Client) -> JsonObject:
    version = (await client.request("GET", "/version")).json()
    ready = True
    try:
        checks = (await client.request("GET", "/readyz", params={"verbose": ""}, accept="*/*")).body.decode()
    except ApiError as error:
        ready, checks = False, error.message  # what is wrong
    counts = {}
    for resource in (await client.discover()).resources:
        if resource.plural in _COUNTED:
            page = (await client.request("GET", resource.path(), params={"limit": "1"})).json()
            metadata = page["metadata"]
            counts[resource.plural] = len(page["items"]) + metadata.get("remainingItemCount", 0)
    return {
        "server": client.connection.server,
        "version": version.get("gitVersion", ""),
        "ready": ready,
        "problems": [line.removeprefix(_FAILED) for line in checks.splitlines() if line.startswith(_FAILED)],
        "objects": counts,
    }


def _print(found: JsonObject) -> None:
    if "server" in found:
        state = "ready" if found["ready"] else "not ready"
        sys.stdout.write(f"{found['server']} is {state}, version {found['version']}\n")
    for problem in found["problems"]:
        sys.stdout.write(f"{'  ' if 'server' in found else ''}{problem}\n")
    for name, count in found.get("objects", {}).items():
        sys.stdout.write(f"  {count:>8} {name}\n")
