"""`muster argocd`: what Argo CD's generators ask for."""

from __future__ import annotations

import sys
from pathlib import Path  # noqa: TC003 - typer reads annotations at run time
from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.hub.processes import log_to_stderr, while_wanted
from muster.cli.inputs.options import Context, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.cli.terminal.commands import App
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from ssl import SSLContext

app = App()


@app.callback()
def _argocd() -> None:
    """Decisions for Argo CD."""


@app.command()
def serve(
    token_file: Annotated[
        Path, typer.Option("--token-file", metavar="FILE", help="The token that requests must carry; read again.")
    ],
    address: Annotated[str, typer.Option("--address", metavar="ADDRESS", help="Where to listen.")] = "127.0.0.1",
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0 is any free one.")] = 8086,
    certificate: Annotated[
        Path | None, typer.Option("--tls-cert", metavar="FILE", help="Serve HTTPS with this certificate.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--tls-key", metavar="FILE", help="The certificate's key.")] = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Have labelled ApplicationSets look again when decisions change.")
    ] = False,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
) -> None:
    """Answer the plugin generator of ApplicationSets: clusters of a placement, or of an expression.

    Reads clusters, placements and decisions from the server of the kubeconfig, a hub or Kubernetes. Whatever is not
    certain is an error, and Argo CD keeps what it has.

    Examples:
      muster argocd serve --token-file token --port 8086
      muster argocd serve --token-file token --address 0.0.0.0 --port 8086 --refresh
    """
    import asyncio

    from aiohttp import web

    from muster.argocd.refreshing import Refreshing
    from muster.argocd.serving import PATH, PluginService
    from muster.client import Client, load_connection

    log_to_stderr()
    if (certificate is None) != (key is None):
        raise InvalidObjectError("", "--tls-cert and --tls-key come together")
    _token(token_file)
    tls = None if certificate is None or key is None else _tls(certificate, key)

    async def work() -> None:
        async with Client(await load_connection(context, kubeconfig)) as client:
            service = PluginService(client, lambda: _token(token_file), Refreshing(client) if refresh else None)
            runner = web.AppRunner(service.application(), access_log=None, handle_signals=False)
            await runner.setup()
            try:
                await web.TCPSite(runner, address, port, ssl_context=tls).start()
                chosen = runner.addresses[0][1]
                scheme = "http" if tls is None else "https"
                sys.stdout.write(f"{scheme}://{address}:{chosen}{PATH}\n")
                sys.stdout.flush()
                await service.run()
            finally:
                await runner.cleanup()

    asyncio.run(while_wanted(work, supervised=False))


def _token(file: Path) -> str:
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidObjectError("", f"{file} cannot be read: {error}") from error
    if not token:
        raise InvalidObjectError("", f"{file} is empty: write a long random token into it")
    return token


def _tls(certificate: Path, key: Path) -> SSLContext:
    import ssl

    found = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        found.load_cert_chain(certificate, key)
    except (OSError, ssl.SSLError) as error:
        raise InvalidObjectError("", f"{certificate} and {key} cannot be used: {error}") from error
    return found
