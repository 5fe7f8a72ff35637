"""The world that admission asks, on Kubernetes: objects from the API server, permissions by SubjectAccessReviews.

One for each request: what it has asked it does not ask again. The hub's world holds a write back if an answer changes
before it is stored; an API server cannot, so two writes at the same moment may both be let through.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import msgspec

from muster.api import RESOURCES
from muster.errors import ApiError
from muster.hub.requests import User
from muster.values.api_paths import by_name, collection_path, object_path
from muster.values.names import label_value_problems

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.admission import Asker
    from muster.client import Client
    from muster.kubernetes.serving.reviews import AccessReviews
    from muster.values.json import JsonObject

MOST_REVIEWS: Final = 1000  # names that are asked for one by one for one write: so many take a second or two
_NOT_FOUND: Final = 404
_CONFIG_MAPS: Final = "configmaps"
_METADATA: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


class _Named(msgspec.Struct, frozen=True):
    name: str = ""


class _Item(msgspec.Struct, frozen=True):
    metadata: _Named = _Named()


class KubernetesWorld:
    """What one write may ask."""

    def __init__(self, client: Client, reviews: AccessReviews) -> None:
        self._client = client
        self._reviews = reviews.for_one_request()
        self._read: dict[tuple[str, str, str], JsonObject | None] = {}
        self._left = MOST_REVIEWS

    async def get(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        key = (resource, namespace, name)
        if key not in self._read:
            self._read[key] = await self._found(resource, namespace, name)
        return self._read[key]

    async def _found(self, resource: str, namespace: str, name: str) -> JsonObject | None:
        address = _address(resource)
        if resource == _CONFIG_MAPS:
            # Listed by its name, as the controllers watch it: then one grant does for both.
            pages = self._client.pages(collection_path(*address, namespace), params=by_name(name))
            found = [each async for page in pages for each in page["items"] or ()]
            return found[0] if found else None
        try:
            stored: JsonObject = (await self._client.request("GET", object_path(*address, namespace, name))).json()
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
            return None
        return stored

    async def list(self, resource: str, namespace: str | None = None) -> Sequence[JsonObject]:
        pages = self._client.pages(collection_path(*_address(resource), namespace or ""))
        return [each async for page in pages for each in page["items"] or ()]

    async def labelled(self, resource: str, key: str, value: str) -> Sequence[str]:
        if label_value_problems(value):
            return []  # no object can carry it
        path = collection_path(*_address(resource))
        pages = self._client.pages(path, params={"labelSelector": f"{key}={value}"}, accept=_METADATA)
        found = [msgspec.convert(each, _Item).metadata.name async for page in pages for each in page["items"] or ()]
        return sorted(found)

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        """Raises TooManyReviewsError."""
        user = User(asker.name, asker.uid, asker.groups, asker.extra)
        if len(names) > 1 and not await self._reviews.missing(user, verb, resource, ("",), namespace, most=1):
            return []  # what is allowed whatever the name is allowed with any
        missing = await self._reviews.missing(user, verb, resource, names, namespace, most=max(self._left, 1))
        self._left -= len(names)
        return missing


def _address(resource: str) -> tuple[str, str, str]:
    known = RESOURCES[resource]
    return known.group, known.storage_version.name, known.plural
