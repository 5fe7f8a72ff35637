"""Options that several commands share, and the connection they lead to."""

from __future__ import annotations

import asyncio
import os
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

import typer

from muster.cli.completion.answers import contexts, label_keys, namespaces
from muster.cli.settings.defaults import SERVER
from muster.cli.terminal.commands import was_typed

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muster.client import Client, Connection, QuickClient

Result = TypeVar("Result")
AnyClient = TypeVar("AnyClient", "Client", "QuickClient")


class Output(StrEnum):
    """How objects are printed."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


class Report(StrEnum):
    """How answers are printed that are no objects."""

    TEXT = "text"
    JSON = "json"
    YAML = "yaml"


OUTPUT: Final = "Output"
Context = Annotated[
    str | None,
    typer.Option(
        "--context",
        metavar="CONTEXT",
        help="Context of the kubeconfig to use.",
        show_default=False,
        envvar="MUSTER_CONTEXT",
        autocompletion=contexts,
        rich_help_panel=SERVER,
    ),
]
Kubeconfig = Annotated[
    str | None,
    typer.Option(
        "--kubeconfig",
        metavar="FILE",
        help="Kubeconfig file; else $KUBECONFIG, else ~/.kube/config.",
        show_default=False,
        rich_help_panel=SERVER,
    ),
]
Namespace = Annotated[
    str | None,
    typer.Option(
        "--namespace",
        "-n",
        metavar="NAMESPACE",
        help="Namespace; else the context's.",
        show_default=False,
        envvar="MUSTER_NAMESPACE",
        autocompletion=namespaces,
        rich_help_panel=SERVER,
    ),
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.", rich_help_panel=SERVER)]
Selector = Annotated[
    str,
    typer.Option(
        "--selector",
        "-l",
        metavar="LABELS",
        help="Only objects with these labels, such as cloud=Amazon,tier!=gold.",
        autocompletion=label_keys,
    ),
]
Files = Annotated[
    list[str] | None,
    typer.Option(
        "--filename",
        "-f",
        metavar="FILE",
        help="File, directory (its .yaml, .yml and .json files) or - for stdin; several are taken.",
    ),
]
OutputFormat = Annotated[Output, typer.Option("--output", "-o", help="How to print.", rich_help_panel=OUTPUT)]
ReportFormat = Annotated[
    Report,
    typer.Option(
        "--output",
        "-o",
        help="How to print; json and yaml for machines.",
        rich_help_panel=OUTPUT,
    ),
]


def with_client(work: Callable[[Client], Awaitable[Result]], context: str | None, kubeconfig: str | None) -> Result:
    """Connect as the kubeconfig says, do the work, disconnect."""
    from muster.client import Client

    return _connected(Client, work, context, kubeconfig)


def with_quick_client(
    work: Callable[[QuickClient], Awaitable[Result]], context: str | None, kubeconfig: str | None
) -> Result:
    """The same for work that asks little and changes nothing, and is there sooner."""
    from muster.client import QuickClient

    return _connected(QuickClient, work, context, kubeconfig)


def _connected(
    client_of: Callable[[Connection], AnyClient],
    work: Callable[[AnyClient], Awaitable[Result]],
    context: str | None,
    kubeconfig: str | None,
) -> Result:
    from muster.client import KubeconfigError, load_connection

    async def connected() -> Result:
        async with client_of(await load_connection(context, kubeconfig)) as client:
            return await work(client)

    try:
        return asyncio.run(connected())
    except KubeconfigError as error:
        raise KubeconfigError(f"{error.reason}{_hint(context)}") from error


def _hint(context: str | None) -> str:
    """What may help who has no usable kubeconfig: whose word the context is, and the hub that `make run` made here."""
    from muster.cli.settings.file import read_settings

    if context and not was_typed("context"):
        origin = "$MUSTER_CONTEXT" if "MUSTER_CONTEXT" in os.environ else read_settings().origin("context")
        return f" ({origin} names the context)"
    nearby = Path(".muster", "kubeconfig")
    if "KUBECONFIG" not in os.environ and nearby.exists():
        return f" There is a hub in this directory: export KUBECONFIG={nearby.resolve()}"
    return ""
