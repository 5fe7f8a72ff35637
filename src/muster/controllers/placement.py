"""The placement controller: watches what placements depend on, schedules those that something changed for, writes
decisions and status.

It reads only its own copy, decides by calling the core, and writes what differs, guarded by the revision it read. A
conflict means that somebody else was first: the key comes again with the newer state.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Any, Final

from muster.client.errors import UnreachableError
from muster.controllers.conditions import merged
from muster.controllers.metrics import observe_scheduling
from muster.controllers.placement_pages import PageDelete, PageWrite, page_writes
from muster.controllers.placement_world import PLACEMENT_LABEL, Key
from muster.controllers.queue import WorkQueue
from muster.errors import ApiError
from muster.placement.conditions import EVALUATED, SETS_USABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime

    from muster.client import Client
    from muster.controllers.events import EventRecorder
    from muster.controllers.placement_world import PlacementWorld
    from muster.placement import Page, ScheduleResult

_LOGGER = logging.getLogger(__name__)
_GROUP: Final = "cluster.open-cluster-management.io"
_GROUP_NAME: Final = f"{_GROUP}/decision-group-name"
_GROUP_INDEX: Final = f"{_GROUP}/decision-group-index"
_MERGE: Final = "application/merge-patch+json"
_GONE: Final = 404
_CONFLICT: Final = 409
Object = dict[str, Any]


class PlacementController:
    """The manager feeds the world and wakes keys; `run` works the queue."""

    def __init__(
        self, world: PlacementWorld, client: Client, events: EventRecorder, clock: Callable[[], datetime]
    ) -> None:
        self.world = world
        self.queue: WorkQueue[Key] = WorkQueue()
        self._client = client
        self._events = events
        self._clock = clock

    def wake(self, keys: Iterable[Key]) -> None:
        for key in keys:
            self.queue.add(key)

    async def run(self) -> None:
        """Work for ever; start it when everything has been listed once."""
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(self._watch_the_time())
            while True:
                key = await self.queue.get()
                try:
                    await self.reconcile(key)
                    self.queue.forget(key)
                except (ApiError, UnreachableError) as error:
                    if not (isinstance(error, ApiError) and error.code in (_CONFLICT, _GONE)):
                        _LOGGER.warning("placement %s/%s: %s", *key, error)
                    self.queue.add_failed(key)
                finally:
                    self.queue.done(key)

    async def _watch_the_time(self) -> None:
        """Scores expire whether anybody writes or not."""
        while True:
            self.wake(key for key in self.world.advance(self._clock()) if isinstance(key, Key))
            soonest = self.world.fleet.next_expiry()
            pause = 1.0 if soonest is None else (soonest - self._clock()).total_seconds()
            await asyncio.sleep(min(max(pause, 0.05), 1.0))

    async def reconcile(self, key: Key) -> None:
        # Read: from our copy, never over the wire.
        placement = self.world.placements.get(key)
        if placement is None:
            return
        # Decide.
        with observe_scheduling():
            result = self.world.decide(key, self._clock())
        if result is None:
            return
        # Write: decisions first, so that the status never promises what is not there.
        if result.fault is None:
            await self._write_decisions(key, placement, result)
            if result.requeue_at is not None:
                self.queue.add_after(key, (result.requeue_at - self._clock()).total_seconds() + 0.001)
        await self._write_status(key, placement, result)

    # ------------------------------------------------------------------------------------------------- decisions

    async def _write_decisions(self, key: Key, placement: Object, result: ScheduleResult) -> None:
        pages = {page.name: page for page in result.pages()}
        present = {page.obj["metadata"]["name"]: page for page in self.world.pages(key)}
        for name, page in pages.items():
            if name not in present:
                await self._create_page(placement, page)
            elif _labels(present[name].obj) != _wanted_labels(key, page):
                await self._label_page(present[name].obj, _wanted_labels(key, page))
        wanted = {name: page.clusters for name, page in pages.items()}
        reasons = _Reasons(result)
        changed = False
        for write in page_writes({name: page.clusters for name, page in present.items()}, wanted):
            changed = True
            match write:
                case PageWrite(name, clusters):
                    await self._write_page(key, name, [reasons.decision(cluster) for cluster in clusters])
                    await self._tell(placement, "DecisionUpdate", name, "updated", result.warning)
                case PageDelete(name):
                    await self._delete_page(key, name)
                    await self._tell(placement, "DecisionDelete", name, "removed")
        if changed:
            scores = "".join(f"{name}:{score} " for name, score in sorted(result.total_scores().items())[:200])
            await self._events.record(placement, "ScoreUpdate", scores)

    def _page_path(self, key: Key, name: str = "") -> str:
        collection = f"/apis/{_GROUP}/v1beta1/namespaces/{key.namespace}/placementdecisions"
        return f"{collection}/{name}" if name else collection

    async def _create_page(self, placement: Object, page: Page) -> None:
        metadata = placement["metadata"]
        key = Key(metadata["namespace"], metadata["name"])
        body = {
            "apiVersion": f"{_GROUP}/v1beta1",
            "kind": "PlacementDecision",
            "metadata": {
                "name": page.name,
                "namespace": key.namespace,
                "labels": _wanted_labels(key, page),
                "ownerReferences": [
                    {
                        "apiVersion": f"{_GROUP}/v1beta1",
                        "kind": "Placement",
                        "name": key.name,
                        "uid": metadata["uid"],
                        "controller": True,
                        "blockOwnerDeletion": True,
                    }
                ],
            },
        }
        try:
            reply = await self._client.request("POST", self._page_path(key), body=body)
        except ApiError as error:
            if error.code != _CONFLICT:
                raise
            # There is a page of that name that is not labelled as ours: make it ours.
            patch = {"metadata": {key: body["metadata"][key] for key in ("labels", "ownerReferences")}}  # type: ignore[index]
            reply = await self._client.request(
                "PATCH", self._page_path(key, page.name), body=patch, content_type=_MERGE
            )
        self.world.put_decision(reply.json())
        await self._tell(placement, "DecisionCreate", page.name, "created")

    async def _label_page(self, obj: Object, labels: Mapping[str, str]) -> None:
        key = Key(obj["metadata"]["namespace"], labels[PLACEMENT_LABEL])
        path = self._page_path(key, obj["metadata"]["name"])
        reply = await self._client.request("PATCH", path, body={"metadata": {"labels": labels}}, content_type=_MERGE)
        self.world.put_decision(reply.json())

    async def _write_page(self, key: Key, name: str, decisions: list[Object]) -> None:
        path = f"{self._page_path(key, name)}/status"
        reply = await self._client.request(
            "PATCH", path, body={"status": {"decisions": decisions}}, content_type=_MERGE
        )
        # The next round starts from what was written, not from what the watch has brought so far.
        self.world.put_decision(reply.json())

    async def _delete_page(self, key: Key, name: str) -> None:
        try:
            await self._client.request("DELETE", self._page_path(key, name))
        except ApiError as error:
            if error.code != _GONE:
                raise
        self.world.remove_decision({"metadata": {"namespace": key.namespace, "name": name}})

    async def _tell(self, placement: Object, reason: str, page: str, deed: str, warning: str = "") -> None:
        metadata = placement["metadata"]
        text = f"Decision {page} is {deed} with placement {metadata['name']} in namespace {metadata['namespace']}"
        kind = "Warning" if warning else "Normal"
        await self._events.record(placement, reason, f"{text}: {warning}" if warning else text, kind)

    # ---------------------------------------------------------------------------------------------------- status

    async def _write_status(self, key: Key, placement: Object, result: ScheduleResult) -> None:
        present = placement.get("status") or {}
        wanted = {
            kind: (condition.status, condition.reason, condition.message)
            for kind, condition in result.conditions.items()
        }
        status: Object = {
            "conditions": merged(present.get("conditions") or (), wanted, self._clock(), drop=(EVALUATED, SETS_USABLE))
        }
        if result.fault is None:
            status["numberOfSelectedClusters"] = len(result.ranked)
            status["decisionGroups"] = result.decision_groups()
        if all(present.get(field) == value for field, value in status.items()):
            return
        path = f"/apis/{_GROUP}/v1beta1/namespaces/{key.namespace}/placements/{key.name}/status"
        body = {"metadata": {"resourceVersion": placement["metadata"]["resourceVersion"]}, "status": status}
        reply = await self._client.request("PATCH", path, body=body, content_type=_MERGE)
        self.world.put_placement(reply.json())


class _Reasons:
    """Why a cluster is in a decision: the first predicate that it matches."""

    def __init__(self, result: ScheduleResult) -> None:
        self._result = result
        fleet = result.cycle.fleet
        self._masks = [[fleet.mask(part).selected for part in parts] for parts in result.cycle.plan.predicates]
        self._scores = result.total_scores() if result.cycle.plan.by_score else {}

    def decision(self, cluster: str) -> Object:
        decision: Object = {"clusterName": cluster, "reason": self._reason(cluster)}
        if cluster in self._scores:
            decision["score"] = self._scores[cluster]
        return decision

    def _reason(self, cluster: str) -> str:
        row = self._result.cycle.fleet.row(cluster)
        for number, masks in enumerate(self._masks, start=1):
            if row is not None and all(mask[row] for mask in masks):
                return f"matches predicate {number}"
        return "matches: no predicate restricts the placement"


def _labels(obj: Object) -> dict[str, str]:
    labels: dict[str, str] = obj["metadata"].get("labels") or {}
    return {name: labels.get(name, "") for name in (PLACEMENT_LABEL, _GROUP_NAME, _GROUP_INDEX)}


def _wanted_labels(key: Key, page: Page) -> dict[str, str]:
    return {PLACEMENT_LABEL: key.name, _GROUP_NAME: page.group_name, _GROUP_INDEX: str(page.group_index)}
