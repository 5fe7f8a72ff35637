"""Options that several commands share, and the connection they lead to."""

from __future__ import annotations

import asyncio
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from muster.client import Client

Result = TypeVar("Result")


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


Context = Annotated[str | None, typer.Option("--context", help="Context of the kubeconfig to use.", show_default=False)]
Kubeconfig = Annotated[
    str | None,
    typer.Option("--kubeconfig", help="Kubeconfig file; else $KUBECONFIG, else ~/.kube/config.", show_default=False),
]
Namespace = Annotated[
    str | None, typer.Option("--namespace", "-n", help="Namespace; else the context's.", show_default=False)
]
AllNamespaces = Annotated[bool, typer.Option("--all-namespaces", "-A", help="All namespaces.")]
Selector = Annotated[str, typer.Option("--selector", "-l", help="Label selector, such as cloud=Amazon,tier!=gold.")]
Files = Annotated[
    list[str] | None,
    typer.Option("--filename", "-f", help="File, directory (its .yaml, .yml and .json files) or - for stdin."),
]
OutputFormat = Annotated[Output, typer.Option("--output", "-o", help="How to print.")]
ReportFormat = Annotated[Report, typer.Option("--output", "-o", help="How to print; json and yaml for machines.")]


def with_client(work: Callable[[Client], Awaitable[Result]], context: str | None, kubeconfig: str | None) -> Result:
    """Connect as the kubeconfig says, do the work, disconnect."""
    from muster.client import Client, load_connection

    async def connected() -> Result:
        async with Client(await load_connection(context, kubeconfig)) as client:
            return await work(client)

    return asyncio.run(connected())
