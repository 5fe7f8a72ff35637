"""What a removed cluster leaves behind that nobody should keep: the credentials that an import has stored."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.errors import ApiError
from muster.importing.found import ACCESS, BY_SECRET, SECRET
from muster.importing.objects import CLUSTERS
from muster.values.api_paths import object_path

if TYPE_CHECKING:
    from muster.client import Client
    from muster.values.json import JsonMapping

_NOT_FOUND: Final = 404


def has_credentials(cluster: JsonMapping) -> bool:
    """Whether an import has stored them for it."""
    return CLUSTERS.of(cluster).metadata.annotations.get(ACCESS) == BY_SECRET


async def forget_credentials(client: Client, cluster: str) -> str:
    """Delete the Secret; what there is to say of it, after the word `removed`."""
    try:
        await client.request("DELETE", object_path("", "v1", "secrets", cluster, SECRET))
    except ApiError as error:
        if error.code == _NOT_FOUND:
            return ""
        return f"; the Secret {cluster}/{SECRET} with its credentials stays: {error}"
    return ", and the Secret with its credentials"
