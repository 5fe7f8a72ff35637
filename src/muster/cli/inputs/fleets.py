"""The objects that a selection looks at: from files, or everything of that kind on a live server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import Document, read_documents
from muster.cli.inputs.options import with_client
from muster.cli.terminal.progress import Progress
from muster.library.overlays import in_namespace, overlaid
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.client import Client

__all__ = ["FleetFiles", "counted", "gathered", "in_namespace", "overlaid"]

FleetFiles = Annotated[
    list[str] | None,
    typer.Option(
        "--fleet",
        metavar="FILE",
        help="Objects to look at: files, directories, -; else the server of the kubeconfig.",
    ),
]
_LIVE = (
    "managedclusters",
    "managedclustersets",
    "managedclustersetbindings",
    "addonplacementscores",
    "placementdecisions",
    "placements",
)


def gathered(files: list[str] | None, context: str | None, kubeconfig: str | None) -> tuple[list[JsonObject], str]:
    """The objects, and the namespace that is meant where none is given."""
    if files:
        return [document.object for document in counted(files)], "default"
    return with_client(_live_objects, context, kubeconfig)


def counted(files: list[str]) -> list[Document]:
    """Everything in files; who waits for a large fleet sees how far it is."""
    found = []
    with Progress("read") as progress:
        for document in read_documents(files):
            found.append(document)
            progress.advance()
    return found


async def _live_objects(client: Client) -> tuple[list[JsonObject], str]:
    discovery = await client.discover()
    served = {resource.plural: resource for resource in reversed(discovery.resources)}
    objects: list[JsonObject] = []
    with Progress("read") as progress:
        for resource in (served[plural] for plural in _LIVE if plural in served):
            async for page in client.pages(resource.path()):
                objects += [{"kind": resource.kind, **item} for item in page["items"]]
                progress.advance(len(page["items"]))
    return objects, client.connection.namespace
