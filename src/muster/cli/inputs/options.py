"""Options that several commands share. What they lead to is in `connecting`."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

import typer

from muster.cli.completion.answers import contexts, label_keys, namespaces
from muster.cli.inputs.connecting import with_client, with_quick_client
from muster.cli.settings.defaults import SERVER
from muster.cli.terminal.output import Report

__all__ = [
    "OUTPUT",
    "AllNamespaces",
    "Context",
    "Files",
    "Kubeconfig",
    "Namespace",
    "Output",
    "OutputFormat",
    "Report",
    "ReportFormat",
    "Selector",
    "with_client",
    "with_quick_client",
]


class Output(StrEnum):
    """How objects are printed."""

    TABLE = "table"
    WIDE = "wide"
    JSON = "json"
    YAML = "yaml"
    NAME = "name"


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
