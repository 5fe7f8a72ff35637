"""Tells ApplicationSets to look again when decisions have changed, instead of waiting for their next poll.

Those that carry the label `placement.muster.dev/refresh: "true"`; an annotation `placement.muster.dev/placements` with
a list of NAMESPACE/NAME restricts one to changes of these. Argo CD removes the annotation when it has looked.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.parts import Node, ObjectMeta
from muster.api.reading import Reader
from muster.argocd.questions import PLACEMENT_LABEL
from muster.errors import MusterError
from muster.placement.generations import GENERATION
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from muster.client import Client

_LOGGER = logging.getLogger(__name__)
REFRESH: Final = "argocd.argoproj.io/application-set-refresh"
LABEL: Final = "placement.muster.dev/refresh"
PLACEMENTS: Final = "placement.muster.dev/placements"
_RESOURCE: Final = ("argoproj.io", "v1alpha1", "applicationsets")
_PAUSE: Final = 1.0  # seconds in which changes are gathered


class _Annotated(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()


_OBJECTS: Final = Reader(_Annotated)


class Refreshing:
    """`changed` hears of pages; `run` writes."""

    def __init__(self, client: Client, pause: float = _PAUSE) -> None:
        self._client = client
        self._pause = pause
        self._generations: dict[str, str] = {}
        self._changed: set[str] = set()
        self._wake = asyncio.Event()

    def changed(self, encoded: bytes) -> None:
        """A page of decisions has changed. Only a finished generation is news."""
        metadata = _OBJECTS.of(msgspec.json.decode(encoded)).metadata
        generation = metadata.annotations.get(GENERATION)
        place = f"{metadata.namespace}/{metadata.labels.get(PLACEMENT_LABEL, '')}"
        if generation is not None and self._generations.get(place) != generation:
            self._generations[place] = generation
            self._changed.add(place)
            self._wake.set()

    async def run(self) -> None:
        while True:
            await self._wake.wait()
            await asyncio.sleep(self._pause)
            self._wake.clear()
            changed, self._changed = self._changed, set()
            try:
                await self.refresh(changed)
            except MusterError as error:
                _LOGGER.warning("ApplicationSets were not told of new decisions: %s", error)
                self._changed |= changed
                await asyncio.sleep(10 * self._pause)
                self._wake.set()

    async def refresh(self, placements: set[str]) -> None:
        """Mark every ApplicationSet that wants to know of one of these placements."""
        wanted_ones = {"labelSelector": f"{LABEL}=true"}
        async for page in self._client.pages(collection_path(*_RESOURCE, ""), params=wanted_ones):
            for item in page["items"]:
                metadata = _OBJECTS.of(item).metadata
                listed = metadata.annotations.get(PLACEMENTS, "")
                wanted = {each.strip() for each in listed.split(",") if each.strip()}
                if not wanted or not wanted.isdisjoint(placements):
                    path = object_path(*_RESOURCE, metadata.namespace, metadata.name)
                    body = {"metadata": {"annotations": {REFRESH: "true"}}}
                    content_type = "application/merge-patch+json"
                    await self._client.request("PATCH", path, body=body, content_type=content_type)
