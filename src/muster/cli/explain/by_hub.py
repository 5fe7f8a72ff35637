"""`muster explain placement` for those who may not list the clusters: a hub explains with what they may see.

`explain` falls back to it when listing was refused. Other Kubernetes servers cannot explain.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cli.inputs.documents import read_documents
from muster.cli.inputs.fields import part_of, text_in
from muster.cli.inputs.options import with_client
from muster.errors import ApiError
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from muster.client import Client
    from muster.placement.explain.explanation import ClusterExplanation, PlacementExplanation

FORBIDDEN = 403
_NOT_FOUND = 404


def asked(
    refusal: ApiError,
    name: str,
    cluster: str,
    filename: str,
    namespace: str | None,
    context: str | None,
    kubeconfig: str | None,
) -> PlacementExplanation | ClusterExplanation:
    """What the hub says. Raises the refusal that led here when the hub does not explain to this user either."""
    from muster.client.explanations import explained

    unsaved: JsonObject | None = None
    if filename:
        found = [each.object for each in read_documents([filename]) if each.object["kind"] == "Placement"]
        named = [each for each in found if name in ("", each["metadata"]["name"])]
        if len(named) != 1:
            raise refusal
        unsaved = named[0]
        name = unsaved["metadata"]["name"]
    place = namespace or text_in(part_of(unsaved or {}, "metadata"), "namespace")

    async def ask(client: Client) -> PlacementExplanation | ClusterExplanation:
        return await explained(client, place or client.connection.namespace, name, cluster, unsaved)

    try:
        return with_client(ask, context, kubeconfig)
    except ApiError as error:
        is_closed = error.code == FORBIDDEN and error.kind == "placements"
        is_unknown = error.code == _NOT_FOUND and error.name != name
        if is_closed or is_unknown:
            raise refusal from None
        raise
