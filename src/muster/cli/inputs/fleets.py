"""The objects that a selection looks at: from files, or everything of that kind on a live server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.options import with_client
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterable

    from muster.client import Client

FleetFiles = Annotated[
    list[str] | None,
    typer.Option("--fleet", help="Objects to look at: files, directories, -; else the server of the kubeconfig."),
]
_NAMESPACED = frozenset({"Placement", "PlacementDecision", "ManagedClusterSetBinding", "AddOnPlacementScore"})
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
        return [document.object for document in read_documents(files)], "default"
    return with_client(_live_objects, context, kubeconfig)


def overlaid(objects: Iterable[JsonObject], namespace: str) -> list[JsonObject]:
    """Of several states of one object the last one: files count more than what a server has."""
    newest = {}
    for obj in objects:
        placed = in_namespace(obj, namespace)
        metadata = placed["metadata"]
        name = metadata.get("name") or metadata.get("generateName", "")
        newest[placed["kind"], metadata.get("namespace", ""), name] = placed
    return list(newest.values())


def in_namespace(obj: JsonObject, namespace: str) -> JsonObject:
    """The object, in the namespace where it would be if it names none."""
    if obj["kind"] not in _NAMESPACED or obj["metadata"].get("namespace"):
        return obj
    return {**obj, "metadata": {**obj["metadata"], "namespace": namespace}}


async def _live_objects(client: Client) -> tuple[list[JsonObject], str]:
    discovery = await client.discover()
    served = {resource.plural: resource for resource in reversed(discovery.resources)}
    objects: list[JsonObject] = []
    for plural in _LIVE:
        resource = served.get(plural)
        if resource is None:
            continue
        async for page in client.pages(resource.path()):
            objects += [{"kind": resource.kind, **item} for item in page["items"]]
    return objects, client.connection.namespace
