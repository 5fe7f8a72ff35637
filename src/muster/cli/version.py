"""`muster version`: ours, and the server's if one answers."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from muster import __version__
from muster.cli.inputs.options import Context, Kubeconfig, with_client
from muster.errors import MusterError

if TYPE_CHECKING:
    from muster.client import Client


def command(
    client_only: Annotated[bool, typer.Option("--client", help="Do not ask the server.")] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Print the versions of muster and of the server.

    Examples:
      muster version
      muster version --client
    """
    sys.stdout.write(f"muster {__version__}\n")
    if client_only:
        return

    async def work(client: Client) -> str:
        info = (await client.request("GET", "/version")).json()
        return f"server {info.get('gitVersion', 'unknown')} at {client.connection.server}"

    try:
        sys.stdout.write(with_client(work, context, kubeconfig) + "\n")
    except MusterError as error:
        sys.stdout.write(f"server: {error}\n")
