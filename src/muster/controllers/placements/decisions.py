"""Writes a draft's pages as PlacementDecisions, in rounds, so that no cluster that stays is ever out of all.

When all pages are written, the first one is marked with the generation that is finished.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec

from muster.api.placement import PLACEMENT
from muster.client.heads import Place, head_of
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.kept_pages import GROUP_INDEX, GROUP_NAME
from muster.controllers.placements.keys import Key
from muster.controllers.placements.pages import PageDelete, PageWrite, page_writes
from muster.controllers.runtime.events import About
from muster.errors import ApiError
from muster.placement.generations import Marks, next_marks
from muster.values.api_paths import collection_path, object_path
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Awaitable, Collection, Iterable, Mapping

    from muster.api.parts import ObjectMeta
    from muster.api.placement import Placement
    from muster.api.placement_decision import ClusterDecision, PlacementDecision
    from muster.client import Client
    from muster.controllers.placements.drafts import Draft, Reasons
    from muster.controllers.placements.pages import Write
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Mirror
    from muster.placement import Page

_GROUP: Final = "cluster.open-cluster-management.io"
_DECISIONS: Final = (_GROUP, "v1beta1", "placementdecisions")
_MERGE: Final = "application/merge-patch+json"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_AT_ONCE: Final = 8  # writes of one placement that are under way


class DecisionWriter:
    """Makes the pages of a placement those of a schedule."""

    def __init__(
        self,
        world: PlacementWorld,
        client: Client,
        events: EventRecorder,
        metrics: ControllerMetrics,
        mirror: Mirror[PlacementDecision],
    ) -> None:
        self._world = world
        self._mirror = mirror
        self._client = client
        self._events = events
        self._metrics = metrics
        self._finished: dict[Key, Marks] = {}  # what was seen to be whole, so that it is not added up again

    async def write(self, key: Key, placement: Placement, draft: Draft) -> None:
        """Only what differs is written; what was written is in the world when this returns."""
        pages = {page.name: page for page in draft.pages}
        finished = self._finished.pop(key, None)
        was_whole = finished is not None or self._is_whole(key)
        self._refuse_other_removals(key, draft)
        labelled = {page.metadata.name: page.metadata for page in self._world.decisions.of(key)}
        new = [page for name, page in pages.items() if name not in labelled]
        await _all(self._create(placement, page) for page in new)
        await _all(
            self._label(key, metadata, _wanted_labels(key, pages[name]))
            for name, metadata in labelled.items()
            if name in pages and _labels(metadata) != _wanted_labels(key, pages[name])
        )
        present = {page.metadata.name: page.clusters for page in self._world.decisions.of(key)}
        rounds = page_writes(present, {name: page.clusters for name, page in pages.items()})
        if said := self._unsaid(key, rounds):
            rounds.append(said)
        for writes in rounds:
            self._refuse_other_removals(key, draft)
            await _all(self._carry_out(key, placement, write, draft.reasons) for write in writes)
        if rounds:
            self._events.record(About.of(PLACEMENT, placement.metadata), "ScoreUpdate", draft.scores)
        changed = {page.name for page in new} | {each.name for writes in rounds for each in writes}
        await self._finish(key, draft, changed, finished, was_whole=was_whole)

    def _unsaid(self, key: Key, rounds: list[list[Write]]) -> list[Write]:
        """Empty pages whose status does not say so: consumers stumble over a list that is not there."""
        written = {each.name for writes in rounds for each in writes}
        pages = self._world.decisions.of(key)
        empty = [page for page in pages if not page.clusters and page.metadata.name not in written]
        return [PageWrite(page.metadata.name, ()) for page in empty if b'"decisions"' not in page.stored.encoded]

    def _refuse_other_removals(self, key: Key, draft: Draft) -> None:
        """What stands in pages may have changed since guards looked at it: they look again."""
        if draft.going is None:
            return
        present = {name for page in self._world.decisions.of(key) for name in page.clusters}
        if present.difference(draft.selected, draft.going):
            raise ApiError(_CONFLICT, "Conflict", f"decisions of {key.namespace}/{key.name} have changed meanwhile")

    def _is_whole(self, key: Key) -> bool:
        """Whether the pages are those of the generation that the first of them names."""
        pages = self._world.decisions.of(key)
        marks = next((found for page in pages if (found := Marks.read(page.metadata.annotations)) is not None), None)
        return marks is not None and marks.fits([page.clusters for page in pages])

    async def _finish(
        self, key: Key, draft: Draft, changed: Collection[str], finished: Marks | None, *, was_whole: bool
    ) -> None:
        """The first page names the generation, last of all."""
        first = self._world.decisions.by_place.get(Place(key.namespace, draft.pages[0].name))
        if first is None:
            raise ApiError(_CONFLICT, "Conflict", f"{draft.pages[0].name} was deleted meanwhile")
        present = Marks.read(first.metadata.annotations)
        if not changed and was_whole and present is not None and (finished is None or finished == present):
            self._finished[key] = present
            return
        names = [page.name for page in draft.pages]
        wanted = next_marks(finished or present, names, changed if was_whole else names, draft.selected)
        body = {"metadata": {"resourceVersion": first.metadata.resource_version, "annotations": wanted.annotations()}}
        with self._mirror.writing(Place(key.namespace, names[0])):
            reply = await self._client.request("PATCH", _path(key, names[0]), body=body, content_type=_MERGE)
            self._mirror.put_written(reply.body)
        self._finished[key] = wanted

    def forget(self, key: Key) -> None:
        """The placement is gone."""
        self._finished.pop(key, None)

    async def _carry_out(self, key: Key, placement: Placement, write: Write, reasons: Reasons) -> None:
        match write:
            case PageWrite(name, clusters):
                await self._write_page(key, name, [reasons.decision(cluster) for cluster in clusters])
                self._tell(placement, "DecisionUpdate", name, "updated", reasons.warning)
            case PageDelete(name):
                await self._delete(key, name)
                self._tell(placement, "DecisionDelete", name, "removed")

    async def _create(self, placement: Placement, page: Page) -> None:
        metadata = placement.metadata
        key = Key(metadata.namespace, metadata.name)
        own: JsonObject = {
            "labels": _wanted_labels(key, page),
            "ownerReferences": [
                {
                    "apiVersion": f"{_GROUP}/v1beta1",
                    "kind": "Placement",
                    "name": key.name,
                    "uid": metadata.uid,
                    "controller": True,
                    "blockOwnerDeletion": True,
                }
            ],
        }
        body = {
            "apiVersion": f"{_GROUP}/v1beta1",
            "kind": "PlacementDecision",
            "metadata": {"name": page.name, "namespace": key.namespace, **own},
        }
        with self._mirror.writing(Place(key.namespace, page.name)):
            self._mirror.put_written(await self._created(key, page.name, body, own))
        self._metrics.count_decision("create")
        self._tell(placement, "DecisionCreate", page.name, "created")

    async def _created(self, key: Key, name: str, body: JsonObject, own: JsonObject) -> bytes:
        """The page as the server has it now."""
        try:
            return (await self._client.request("POST", collection_path(*_DECISIONS, key.namespace), body=body)).body
        except ApiError as error:
            if error.code != _CONFLICT:
                raise
        # There is a page of that name that is not labelled as ours: make it ours.
        there = head_of((await self._client.request("GET", _path(key, name))).body)
        own = {"resourceVersion": there.metadata.resourceVersion, **own}
        path = _path(key, name)
        return (await self._client.request("PATCH", path, body={"metadata": own}, content_type=_MERGE)).body

    async def _label(self, key: Key, page: ObjectMeta, labels: Mapping[str, str]) -> None:
        path = _path(key, page.name)
        body = {"metadata": {"resourceVersion": page.resource_version, "labels": labels}}
        with self._mirror.writing(Place(key.namespace, page.name)):
            reply = await self._client.request("PATCH", path, body=body, content_type=_MERGE)
            self._mirror.put_written(reply.body)

    async def _write_page(self, key: Key, name: str, decisions: list[ClusterDecision]) -> None:
        known = self._world.decisions.by_place.get(Place(key.namespace, name))
        if known is None:
            raise ApiError(_CONFLICT, "Conflict", f"{name} was deleted meanwhile")
        body = {
            "metadata": {"resourceVersion": known.metadata.resource_version},
            "status": {"decisions": msgspec.to_builtins(decisions)},
        }
        with self._mirror.writing(Place(key.namespace, name)):
            reply = await self._client.request("PATCH", _path(key, name, "status"), body=body, content_type=_MERGE)
            # The next round starts from what was written, not from what the watch has brought so far.
            self._mirror.put_written(reply.body)
        self._metrics.count_decision("update")

    async def _delete(self, key: Key, name: str) -> None:
        place = Place(key.namespace, name)
        known = self._world.decisions.by_place.get(place)
        if known is None:
            return  # somebody else was first
        metadata = known.metadata
        body = {"preconditions": {"uid": metadata.uid, "resourceVersion": metadata.resource_version}}
        try:
            await self._client.request("DELETE", _path(key, name), body=body)
        except ApiError as error:
            if error.code != _NOT_FOUND:
                raise
        self._mirror.remove_written(place)
        self._metrics.count_decision("delete")

    def _tell(self, placement: Placement, reason: str, page: str, deed: str, warning: str = "") -> None:
        metadata = placement.metadata
        text = f"Decision {page} is {deed} with placement {metadata.name} in namespace {metadata.namespace}"
        kind = "Warning" if warning else "Normal"
        about = About.of(PLACEMENT, metadata)
        self._events.record(about, reason, f"{text}: {warning}" if warning else text, kind)


def _path(key: Key, name: str, subresource: str = "") -> str:
    return object_path(*_DECISIONS, key.namespace, name, subresource)


def _labels(page: ObjectMeta) -> dict[str, str]:
    return {name: page.labels.get(name, "") for name in (PLACEMENT_LABEL, GROUP_NAME, GROUP_INDEX)}


def _wanted_labels(key: Key, page: Page) -> dict[str, str]:
    return {PLACEMENT_LABEL: key.name, GROUP_NAME: page.group_name, GROUP_INDEX: str(page.group_index)}


async def _all(writes: Iterable[Awaitable[None]]) -> None:
    """Some at a time, all of them; the first failure is raised when none is under way any more."""
    waiting = list(writes)
    for start in range(0, len(waiting), _AT_ONCE):
        results = await asyncio.gather(*waiting[start : start + _AT_ONCE], return_exceptions=True)
        failures = [each for each in results if isinstance(each, BaseException)]
        if failures:
            for rest in waiting[start + _AT_ONCE :]:
                if asyncio.iscoroutine(rest):
                    rest.close()
            raise failures[0]
