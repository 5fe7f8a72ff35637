"""The objects that a command looks at, from files: the option that names them, and what reads them."""

from __future__ import annotations

from typing import Annotated

import typer

from muster.cli.inputs.reading import counted, heads, staying
from muster.library.overlays import in_namespace, overlaid

__all__ = ["FleetFiles", "counted", "heads", "in_namespace", "overlaid", "staying"]

FleetFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--fleet",
        metavar="FILE",
        help="Objects to look at: files, directories, -; else the server of the kubeconfig.",
    ),
]
