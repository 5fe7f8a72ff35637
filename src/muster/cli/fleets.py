"""The objects that a selection looks at: from files, or everything of that kind on a live server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from muster.cli.documents import read_documents
from muster.cli.options import with_client

if TYPE_CHECKING:
    from muster.client import Client

FleetFiles = Annotated[
    list[str] | None,
    typer.Option("--fleet", help="Objects to look at: files, directories, -; else the server of the kubeconfig."),
]
_LIVE = (
    "managedclusters",
    "managedclustersets",
    "managedclustersetbindings",
    "addonplacementscores",
    "placementdecisions",
    "placements",
)


def gathered(files: list[str] | None, context: str | None, kubeconfig: str | None) -> tuple[list[dict[str, Any]], str]:
    """The objects, and the namespace that is meant where none is given."""
    if files:
        return [document.object for document in read_documents(files)], "default"
    return with_client(_live_objects, context, kubeconfig)


async def _live_objects(client: Client) -> tuple[list[dict[str, Any]], str]:
    discovery = await client.discover()
    served = {resource.plural: resource for resource in reversed(discovery.resources)}
    objects: list[dict[str, Any]] = []
    for plural in _LIVE:
        resource = served.get(plural)
        if resource is None:
            continue
        async for page in client.pages(resource.path()):
            objects += [{"kind": resource.kind, **item} for item in page["items"]]
    return objects, client.connection.namespace
