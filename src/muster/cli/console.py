"""`muster console`: the pages, for one user on this machine or behind an ingress for many."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import webbrowser
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer

from muster.cli.hub.processes import Supervised, log_to_stderr, say_ready, while_wanted
from muster.cli.inputs.options import Context, Kubeconfig  # noqa: TC001 - typer reads annotations at run time
from muster.errors import InvalidObjectError

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.console import ConsoleSettings, Ready

_INGRESS: Final = "Behind an ingress"
_KEY_CHARACTERS: Final = 32


def command(
    port: Annotated[
        int, typer.Option("--port", min=0, max=65535, metavar="PORT", help="Port to listen on; 0 takes a free one.")
    ] = 0,
    no_open: Annotated[bool, typer.Option("--no-open", help="Print the link and open no browser.")] = False,
    idle: Annotated[
        int, typer.Option("--idle", min=1, metavar="MINUTES", help="Minutes without use after which a session ends.")
    ] = 480,
    behind_ingress: Annotated[
        str,
        typer.Option(
            "--behind-ingress",
            metavar="URL",
            help="Serve many users, at this https URL of an ingress: each logs in with a bearer token of his own.",
            rich_help_panel=_INGRESS,
        ),
    ] = "",
    host: Annotated[
        str,
        typer.Option(
            "--host", metavar="ADDRESS", help="Address to listen on, for the ingress.", rich_help_panel=_INGRESS
        ),
    ] = "127.0.0.1",
    session_key: Annotated[
        Path | None,
        typer.Option(
            "--session-key",
            metavar="FILE",
            help="A secret that replicas share, so that each knows the sessions of all; else one made at the start.",
            show_default=False,
            rich_help_panel=_INGRESS,
        ),
    ] = None,
    context: Context = None,
    kubeconfig: Kubeconfig = None,
    supervised: Supervised = False,
) -> None:
    """See the fleet in a browser, ask it, change it safely.

    Serves the console on this machine, with the credentials of the kubeconfig, which never reach the browser. The link
    that is printed works once; other windows of that browser are in, too.

    Examples:
      muster console
      muster console --context muster --port 8090 --no-open
      muster console --behind-ingress https://fleet.example.com --host 0.0.0.0 --port 8080
    """
    import uvloop

    from muster.console import ConsoleSettings

    log_to_stderr()
    settings = ConsoleSettings(
        host=host,
        port=port,
        public=_public(behind_ingress, host),
        idle=idle * 60.0,
        key=None if session_key is None else _key(session_key),
        context=context or "",
    )

    def announce(ready: Ready) -> None:
        if supervised:
            say_ready(url=ready.url, link=ready.link)
            return
        sys.stdout.write(f"muster console: {ready.link}\n")
        if not settings.public:
            sys.stdout.write("The link works once. Ctrl-C ends the console.\n")
        sys.stdout.flush()
        if not no_open and not settings.public:
            _open(ready.link)

    uvloop.run(while_wanted(partial(_served, settings, context, kubeconfig, announce), supervised))


async def _served(
    settings: ConsoleSettings, context: str | None, kubeconfig: str | None, announce: Callable[[Ready], None]
) -> None:
    from dataclasses import replace

    from muster.client import Client, load_connection
    from muster.client.kubeconfig_files import read_kubeconfig
    from muster.console import answering, run_console
    from muster.hub.local_plans import planned_locally

    connection = await load_connection(context, kubeconfig, anonymous=bool(settings.public))
    config, _ = read_kubeconfig(kubeconfig)
    name = context or (config.current_context if config is not None else "")
    chosen = replace(settings, context=name)
    async with Client(connection) as client:
        if settings.public:
            await run_console(chosen, client, announce)
            return
        async with answering(client, planned_locally) as answers:
            await run_console(chosen, client, announce, answers)


def _public(url: str, host: str) -> str:
    if not url:
        if host not in ("127.0.0.1", "::1"):
            raise InvalidObjectError("--host", "only loopback is served without --behind-ingress")
        return ""
    scheme, _, rest = url.rstrip("/").partition("://")
    if scheme != "https" or not rest or "/" in rest:
        raise InvalidObjectError("--behind-ingress", "give the URL that browsers use: https://NAME, without a path")
    return f"https://{rest.lower()}"


def _key(file: Path) -> bytes:
    try:
        key = file.read_bytes().strip()
    except OSError as error:
        raise InvalidObjectError("--session-key", f"{file} cannot be read: {error.strerror}") from error
    if len(key) < _KEY_CHARACTERS:
        raise InvalidObjectError("--session-key", f"{file} has fewer than {_KEY_CHARACTERS} characters")
    return key


def _open(link: str) -> None:
    """Open the browser without showing the link to who lists this machine's processes: by a file only we can read."""
    with tempfile.NamedTemporaryFile("w", prefix="muster-console-", suffix=".html", delete=False) as page:
        page.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={link}"><title>Muster</title>')
    asyncio.get_running_loop().call_later(30, Path(page.name).unlink, True)
    webbrowser.open(Path(page.name).as_uri())
