"""Writes a schedule's pages as PlacementDecisions, in rounds, so that no cluster that stays is ever out of all."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Final

import msgspec
import numpy as np

from muster.api.placement import PLACEMENT
from muster.api.placement_decision import ClusterDecision
from muster.client.heads import Place, head_of
from muster.controllers.placements.decision_pages import PLACEMENT_LABEL
from muster.controllers.placements.keys import Key
from muster.controllers.placements.pages import PageDelete, PageWrite, page_writes
from muster.controllers.runtime.events import About
from muster.errors import ApiError
from muster.placement.schedule.pipeline import warning_of
from muster.reasons import Code, Reason, Subject, sentence
from muster.values.api_paths import collection_path, object_path

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable, Mapping

    from muster.api.parts import ObjectMeta
    from muster.api.placement import Placement
    from muster.api.placement_decision import PlacementDecision
    from muster.client import Client
    from muster.controllers.placements.pages import Write
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Mirror
    from muster.placement import Page, ScheduleResult

_GROUP: Final = "cluster.open-cluster-management.io"
_DECISIONS: Final = (_GROUP, "v1beta1", "placementdecisions")
_GROUP_NAME: Final = f"{_GROUP}/decision-group-name"
_GROUP_INDEX: Final = f"{_GROUP}/decision-group-index"
_MERGE: Final = "application/merge-patch+json"
_NOT_FOUND: Final = 404
_CONFLICT: Final = 409
_AT_ONCE: Final = 8  # writes of one placement that are under way
_SHOWN_SCORES: Final = 200


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

    async def write(self, key: Key, placement: Placement, result: ScheduleResult) -> None:
        """Only what differs is written; what was written is in the world when this returns."""
        # All of the schedule is read now: rows of the fleet may mean something else after the first wait.
        with self._world.notes.evaluating(key):
            pages = {page.name: page for page in result.pages()}
            reasons, scores = _Reasons(result), _scores_text(result)
        labelled = {page.metadata.name: page.metadata for page in self._world.decisions.of(key)}
        await _all(self._create(placement, page) for name, page in pages.items() if name not in labelled)
        await _all(
            self._label(key, metadata, _wanted_labels(key, pages[name]))
            for name, metadata in labelled.items()
            if name in pages and _labels(metadata) != _wanted_labels(key, pages[name])
        )
        present = {page.metadata.name: page.clusters for page in self._world.decisions.of(key)}
        rounds = page_writes(present, {name: page.clusters for name, page in pages.items()})
        for writes in rounds:
            await _all(self._carry_out(key, placement, write, reasons) for write in writes)
        if rounds:
            self._events.record(About.of(PLACEMENT, placement.metadata), "ScoreUpdate", scores)

    async def _carry_out(self, key: Key, placement: Placement, write: Write, reasons: _Reasons) -> None:
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
        own: dict[str, object] = {
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
        try:
            reply = await self._client.request("POST", collection_path(*_DECISIONS, key.namespace), body=body)
        except ApiError as error:
            if error.code != _CONFLICT:
                raise
            # There is a page of that name that is not labelled as ours: make it ours.
            there = head_of((await self._client.request("GET", _path(key, page.name))).body)
            own = {"resourceVersion": there.metadata.resourceVersion, **own}
            reply = await self._client.request(
                "PATCH", _path(key, page.name), body={"metadata": own}, content_type=_MERGE
            )
        self._mirror.put_written(reply.body)
        self._metrics.count_decision("create")
        self._tell(placement, "DecisionCreate", page.name, "created")

    async def _label(self, key: Key, page: ObjectMeta, labels: Mapping[str, str]) -> None:
        path = _path(key, page.name)
        body = {"metadata": {"resourceVersion": page.resource_version, "labels": labels}}
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


class _Reasons:
    """Why a cluster is in a decision: the first predicate that it matches."""

    def __init__(self, result: ScheduleResult) -> None:
        # Everybody sees the placement's events: clusters that are not decided are not named there.
        self.warning = warning_of(result.cycle, result.ranked)
        fleet, predicates = result.cycle.fleet, result.cycle.plan.predicates
        rows = result.ranked
        numbers = np.zeros(len(rows), dtype=np.int64)
        for number in range(len(predicates), 0, -1):
            holds = np.ones(len(rows), dtype=np.bool_)
            for part in predicates[number - 1]:
                holds &= fleet.mask(part).selected[rows]
            numbers[holds] = number
        whys = [Reason(Code.MATCHES_ALWAYS)]
        whys += [Reason(Code.MATCHES_PREDICATE, Subject(predicate=number + 1)) for number in range(len(predicates))]
        texts = [sentence(why) for why in whys]
        names = fleet.names(rows.tolist())
        self._reasons = {name: texts[number] for name, number in zip(names, numbers.tolist(), strict=True)}
        self._scores = result.total_scores() if result.cycle.plan.by_score else {}

    def decision(self, cluster: str) -> ClusterDecision:
        reason = self._reasons[cluster] if cluster in self._reasons else sentence(Reason(Code.WAS_SELECTED))
        return ClusterDecision(cluster, reason, self._scores.get(cluster))


def _scores_text(result: ScheduleResult) -> str:
    """The scores by name, as many as an event shows. Only of clusters that are decided: the others are nobody's who
    reads the placement's events."""
    taken = np.isin(result.feasible, result.ranked)
    rows, totals = result.feasible[taken][:_SHOWN_SCORES].tolist(), result.totals[taken][:_SHOWN_SCORES].tolist()
    names = result.cycle.fleet.names(rows)
    return "".join(f"{name}:{score} " for name, score in zip(names, totals, strict=True))


def _path(key: Key, name: str, subresource: str = "") -> str:
    return object_path(*_DECISIONS, key.namespace, name, subresource)


def _labels(page: ObjectMeta) -> dict[str, str]:
    return {name: page.labels.get(name, "") for name in (PLACEMENT_LABEL, _GROUP_NAME, _GROUP_INDEX)}


def _wanted_labels(key: Key, page: Page) -> dict[str, str]:
    return {PLACEMENT_LABEL: key.name, _GROUP_NAME: page.group_name, _GROUP_INDEX: str(page.group_index)}


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
