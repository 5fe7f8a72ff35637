"""Writes decisions as SIG-Multicluster's PlacementDecisions too, beside Open Cluster Management's, where that is set.

Slices are named as pages are. A cluster stays in its slice, and a slice whose clusters are the same is left as it is,
byte by byte. We are the only writer: what is there is read once in a while, and known from our own writes in between.
"""

from __future__ import annotations

import hashlib
import logging
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.api.multicluster_placement_decision import (
    DECISION_INDEX,
    DECISION_KEY,
    GROUP,
    MOST_DECISIONS,
    MulticlusterPlacementDecision,
)
from muster.api.reading import Reader
from muster.controllers.placements.pages import packed
from muster.errors import ApiError
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.api.placement import Placement
    from muster.client import Client
    from muster.controllers.placements.drafts import Draft
    from muster.controllers.placements.keys import Key
    from muster.values.json import JsonObject

_LOGGER = logging.getLogger(__name__)
SCHEDULER: Final = "muster"
_RESOURCE: Final = (GROUP, "v1alpha1", "placementdecisions")
_SLICES: Final = Reader(MulticlusterPlacementDecision)
_MERGE: Final = "application/merge-patch+json"
_NOT_FOUND: Final = 404
_READ_AGAIN: Final = 600.0  # seconds
_LONGEST_LABEL: Final = 63


@dataclass(slots=True)
class _Slice:
    clusters: tuple[str, ...]
    revision: str
    uid: str


@dataclass(slots=True)
class _Known:
    slices: dict[str, _Slice]
    at: float


@dataclass(slots=True)
class MulticlusterWriter:
    """Knows which slices there are."""

    client: Client
    _known: dict[Key, _Known] = field(default_factory=dict)
    _is_missing: bool = False  # the server does not have the kind

    def forget(self, key: Key) -> None:
        """The placement is gone, and its slices go with it."""
        self._known.pop(key, None)

    async def write(self, key: Key, placement: Placement, draft: Draft, *, enabled: bool) -> None:
        """Make the slices those of the draft; without the setting, none."""
        if self._is_missing or (not enabled and key not in self._known):
            return
        try:
            await self._write(key, placement, draft, enabled=enabled)
        except ApiError as error:
            self._known.pop(key, None)
            if error.code != _NOT_FOUND:
                raise
            self._is_missing = True
            _LOGGER.warning("no decisions of SIG-Multicluster are written: %s", error)

    async def _write(self, key: Key, placement: Placement, draft: Draft, *, enabled: bool) -> None:
        known = await self._slices(key)
        names = [name for page in draft.pages for name in page.clusters]
        present = [known[name].clusters if (name := _name(key, index)) in known else () for index in range(len(known))]
        slices = packed(present, names, MOST_DECISIONS) if enabled else []
        # Slices that lose nothing come first: a cluster that moves is never out of all.
        order = sorted(range(len(slices)), key=lambda index: not set(_at(present, index)).issubset(slices[index]))
        for index in order:
            name, clusters = _name(key, index), slices[index]
            if name not in known:
                body = self._body(key, placement, name, index, clusters, draft)
                reply = await self.client.request("POST", collection_path(*_RESOURCE, key.namespace), body=body)
                known[name] = _slice(reply.json())
            elif known[name].clusters != clusters:
                revision = {"resourceVersion": known[name].revision}
                body = {"metadata": revision, "decisions": _decisions(key, clusters, draft)}
                path = object_path(*_RESOURCE, key.namespace, name)
                reply = await self.client.request("PATCH", path, body=body, content_type=_MERGE)
                known[name] = _slice(reply.json())
        wanted = {_name(key, index) for index in range(len(slices))}
        for name in [each for each in known if each not in wanted]:
            conditions = {"uid": known[name].uid, "resourceVersion": known[name].revision}
            path = object_path(*_RESOURCE, key.namespace, name)
            await self.client.request("DELETE", path, body={"preconditions": conditions})
            del known[name]
        if not enabled:
            self._known.pop(key, None)

    async def _slices(self, key: Key) -> dict[str, _Slice]:
        known = self._known.get(key)
        if known is None or time.monotonic() - known.at > _READ_AGAIN:
            selector = {"labelSelector": f"{DECISION_KEY}={label_of(key.name)}"}
            found: dict[str, _Slice] = {}
            async for page in self.client.pages(collection_path(*_RESOURCE, key.namespace), params=selector):
                found |= {each["metadata"]["name"]: _slice(each) for each in page["items"]}
            known = self._known[key] = _Known(found, time.monotonic())
        return known.slices

    def _body(
        self, key: Key, placement: Placement, name: str, index: int, clusters: tuple[str, ...], draft: Draft
    ) -> JsonObject:
        owner = {
            "apiVersion": "cluster.open-cluster-management.io/v1beta1",
            "kind": "Placement",
            "name": key.name,
            "uid": placement.metadata.uid,
            "controller": True,
            "blockOwnerDeletion": True,
        }
        labels = {DECISION_KEY: label_of(key.name), DECISION_INDEX: str(index)}
        metadata = {"name": name, "namespace": key.namespace, "labels": labels, "ownerReferences": [owner]}
        return {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "PlacementDecision",
            "metadata": metadata,
            "schedulerName": SCHEDULER,
            "decisions": _decisions(key, clusters, draft),
        }


def _name(key: Key, index: int) -> str:
    return f"{key.name}-decision-{index + 1}"


def _at(slices: Sequence[Sequence[str]], index: int) -> Sequence[str]:
    return slices[index] if index < len(slices) else ()


def _decisions(key: Key, clusters: tuple[str, ...], draft: Draft) -> list[JsonObject]:
    return [
        {
            "clusterProfileRef": {"name": name, "namespace": key.namespace},
            "reason": draft.reasons.decision(name).reason,
        }
        for name in clusters
    ]


def _slice(plain: JsonObject) -> _Slice:
    found = _SLICES.of(plain)
    metadata = found.metadata
    clusters = tuple(each.cluster_profile_ref.name for each in found.decisions)
    return _Slice(clusters, metadata.resource_version, metadata.uid)


def label_of(placement: str) -> str:
    """The placement as the value of a label: its name, or as much of it as fits and a digest."""
    if len(placement) <= _LONGEST_LABEL:
        return placement
    digest = hashlib.blake2b(placement.encode(), digest_size=5).hexdigest()
    return f"{placement[: _LONGEST_LABEL - len(digest) - 1]}-{digest}"
