"""Cluster sets and bindings: member counts, what is wrong with a set, whether its key and name go together, and whether
a binding's set is there, all in status; the two built-in sets.
"""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from muster.api.managed_cluster_set import MANAGED_CLUSTER_SET
from muster.api.parts import Node, plain_conditions
from muster.api.reading import Reader
from muster.clustersets.pairs import PairRules
from muster.controllers.placements.keys import SetKey
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.events import About
from muster.controllers.runtime.quarantine import CONDITION
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.errors import InvalidObjectError
from muster.selectors.membership import DEFAULT_SET, GLOBAL_SET, ExclusiveMembership
from muster.values.api_paths import collection_path, object_path
from muster.values.faults import Fault
from muster.values.json import Json, JsonMapping, JsonObject
from muster.values.messages import fitting
from muster.values.names import NAME_LENGTH

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterable, Mapping
    from datetime import datetime

    from muster.api.config_map import ConfigMap
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.client import Client
    from muster.client.heads import Place
    from muster.controllers.placements.keys import Key
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored
    from muster.placement import Rule

_GROUP: Final = "cluster.open-cluster-management.io"
_SETS: Final = (_GROUP, "v1beta2", "managedclustersets")
_BINDINGS: Final = (_GROUP, "v1beta2", "managedclustersetbindings")
_MERGE: Final = "application/merge-patch+json"
_AUTO_UPDATE: Final = f"{_GROUP}/autoupdate"
_COALESCE: Final = 0.1  # seconds: a thousand joining clusters are one new count
_SLICE: Final = 0.01  # seconds of evaluation after which others have their turn
BUILT_IN: Final[Mapping[str, JsonObject]] = {
    DEFAULT_SET: {"selectorType": "ExclusiveClusterSetLabel"},
    GLOBAL_SET: {"selectorType": "LabelSelector", "labelSelector": {}},
}


class _WrittenSpec(Node, frozen=True):
    cluster_selector: Json = None


class _WrittenSet(Node, frozen=True):
    """A set with its selector as it is written: whatever is in it has to go if it does not belong there."""

    spec: _WrittenSpec = _WrittenSpec()


_SELECTORS: Final = Reader(_WrittenSet)
USABLE: Final = "ClusterSetUsable"
PAIR_ALLOWED: Final = "PairAllowed"
_LONGEST_FAULT: Final = 16_384  # bytes
_NOBODY_JOINS: Final = "no cluster joins by it, and placements keep what they have decided"
Conditions = dict[str, tuple[str, str, str]]  # status, reason and message by type


class BindingKey(NamedTuple):
    namespace: str
    set_name: str


class ClusterSetController:
    """Keeps the status of sets and bindings, and the built-in sets as they must be."""

    def __init__(
        self,
        world: PlacementWorld,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        wake: Callable[[Iterable[Key | SetKey]], None],
        events: EventRecorder,
        written: Callable[[bytes], None],
    ) -> None:
        """`written` is told the sets that this controller has written, and `wake` whom the allowed pairs concern."""
        self._world = world
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._wake = wake
        self._events = events
        self._written = written
        self._pairs: PairRules | None = None
        self.queue: WorkQueue[SetKey | BindingKey] = WorkQueue()

    def put_pairs(self, new: Stored[ConfigMap]) -> Fault | None:
        """The ConfigMap of allowed pairs is new or changed: every set is judged again."""
        self._pairs = PairRules.of(new.obj, new.faults)
        self._wake([SetKey(name) for name in self._world.sets])
        return new.fault

    def remove_pairs(self, _: Place) -> None:
        self._pairs = None
        self._wake([SetKey(name) for name in self._world.sets])

    def wake_set(self, key: SetKey) -> None:
        self.queue.add_after(key, _COALESCE)
        for namespace, bindings in self._world.bindings.items():
            if key.set_name in bindings:
                self.queue.add(BindingKey(namespace, key.set_name))

    async def run(self) -> None:
        for name in BUILT_IN:
            self.queue.add(SetKey(name))
        await work("clusterset", self.queue, self._reconcile, self._metrics)

    async def _reconcile(self, key: SetKey | BindingKey) -> None:
        if isinstance(key, BindingKey):
            await self._reconcile_binding(key)
        else:
            await self._reconcile_set(key.set_name)

    async def _reconcile_set(self, name: str) -> None:
        if name in BUILT_IN:
            await self._ensure_built_in(name)
        known = self._world.sets.get(name)
        if known is None or known.obj.metadata.is_going:
            return
        obj = known.obj
        held = self._world.plans.held_set(name)
        path = object_path(*_SETS, "", name, "status")
        if held is not None:
            # Nothing of it is evaluated: what is known of its members stays.
            condition = held.condition(self._world.quarantine.namespace)
            await self._write_conditions(obj, path, {CONDITION: condition}, keep=True)
            return
        started = time.perf_counter()
        if not self._is_evaluated(SetKey(name)):
            self.queue.put_off(SetKey(name))
            # Half of the time belongs to others, however many labels the selectors of sets have.
            await asyncio.sleep(time.perf_counter() - started)
            return
        if name not in self._world.sets:
            return  # it has gone meanwhile
        wanted = set_condition(self._world, name) | problem_condition(self._world.rules[name])
        wanted |= pair_condition(self._pairs, obj)
        await self._write_conditions(obj, path, wanted)

    def _is_evaluated(self, key: SetKey) -> bool:
        """Look at the clusters for a moment; whether that was enough to know the members of the set."""
        until = time.perf_counter() + _SLICE
        with self._world.notes.evaluating_set(key.set_name):
            return all(time.perf_counter() <= until for _ in self._world.steps(key))

    async def _ensure_built_in(self, name: str) -> None:
        known = self._world.sets.get(name)
        if known is None:
            body = {
                "apiVersion": f"{_GROUP}/v1beta2",
                "kind": "ManagedClusterSet",
                "metadata": {"name": name},
                "spec": {"clusterSelector": BUILT_IN[name]},
            }
            reply = await self._client.request("POST", collection_path(*_SETS), body=body)
        else:
            change = roll_back(known)
            if change is None:
                return
            patch = {"metadata": {"resourceVersion": known.obj.metadata.resource_version}, **change}
            path = object_path(*_SETS, "", name)
            reply = await self._client.request("PATCH", path, body=patch, content_type=_MERGE)
        self._written(reply.body)

    async def _reconcile_binding(self, key: BindingKey) -> None:
        known = self._world.bindings.get(key.namespace, {}).get(key.set_name)
        if known is None or known.obj.metadata.is_going:
            return
        path = object_path(*_BINDINGS, key.namespace, key.set_name, "status")
        await self._write_conditions(known.obj, path, binding_condition(known.obj, self._world.sets))

    async def _write_conditions(
        self, obj: ManagedClusterSet | ManagedClusterSetBinding, path: str, wanted: Conditions, *, keep: bool = False
    ) -> None:
        present = obj.status.conditions
        conditions = merged(present, wanted, self._clock(), drop=() if keep else (USABLE, PAIR_ALLOWED, CONDITION))
        if conditions != present:
            body = {
                "metadata": {"resourceVersion": obj.metadata.resource_version},
                "status": {"conditions": plain_conditions(conditions)},
            }
            await self._client.request("PATCH", path, body=body, content_type=_MERGE)
            if CONDITION in wanted:
                about = About.of(MANAGED_CLUSTER_SET, obj.metadata)
                self._events.record(about, CONDITION, wanted[CONDITION][2], "Warning")


def roll_back(built_in: Stored[ManagedClusterSet]) -> JsonObject | None:
    """The patch that makes a built-in set select what it must; None when it does, or when its owner decides."""
    metadata, wanted = built_in.obj.metadata, BUILT_IN[built_in.place.name]
    found = _SELECTORS.read(built_in.encoded)
    present = None if isinstance(found, Fault) else found.obj.spec.cluster_selector
    patch: JsonObject = {}
    if present != wanted:
        patch["clusterSelector"] = merge_to(present, wanted)
    if "labelSelector" in wanted and built_in.obj.spec.exclusive_key:
        patch["exclusiveKey"] = None  # with one, a set with a label selector cannot be evaluated
    return {"spec": patch} if patch and metadata.annotations.get(_AUTO_UPDATE) != "false" else None


def merge_to(present: Json, wanted: JsonMapping) -> JsonObject:
    """The merge patch that makes one map another: it must name what has to go, or merging would keep it."""
    before: JsonMapping = present if isinstance(present, dict) else {}
    patch: JsonObject = dict.fromkeys(before.keys() - wanted.keys())
    for key, value in wanted.items():
        if key in before and before[key] == value:
            continue
        patch[key] = merge_to(before.get(key), value) if isinstance(value, dict) else value
    return patch


def set_condition(world: PlacementWorld, name: str) -> Conditions:
    """Whether a set has members, in upstream's words."""
    try:
        count = world.member_count(name)
    except InvalidObjectError as error:  # nobody can tell, and no good rule was seen before
        return {"ClusterSetEmpty": ("Unknown", "SelectorInvalid", str(error))}
    if count == 0:
        return {"ClusterSetEmpty": ("True", "NoClusterMatched", "No ManagedCluster selected")}
    return {"ClusterSetEmpty": ("False", "ClustersSelected", f"{count} ManagedClusters selected")}


def problem_condition(found: Rule) -> Conditions:
    """Only there when something is wrong: the set cannot be evaluated, or can never have a member.

    The rule is an earlier one when the set as it is now cannot be evaluated; its fault says so.
    """
    if found.fault:
        stays = "the members by its last good rule stay" if found.membership is not None else _NOBODY_JOINS
        return {USABLE: ("False", "SelectorInvalid", f"{fitting(found.fault, _LONGEST_FAULT)}; {stays}")}
    rule = found.membership
    if isinstance(rule, ExclusiveMembership) and len(rule.set_name) > NAME_LENGTH:
        message = (
            f"no cluster can join: the name would be a value of the label {rule.key}, "
            f"and those have at most {NAME_LENGTH} characters"
        )
        return {USABLE: ("False", "NameTooLong", message)}
    return {}


def pair_condition(rules: PairRules | None, cluster_set: ManagedClusterSet) -> Conditions:
    """Whether key and name go together. Only there while a ConfigMap says which do; it undoes no set that exists."""
    if rules is None:
        return {}
    refusal = rules.refusal_of(cluster_set)
    if refusal is None:
        return {PAIR_ALLOWED: ("True", "PairAllowed", "")}
    if rules.problems:
        return {PAIR_ALLOWED: ("Unknown", "PairRulesInvalid", refusal)}
    return {PAIR_ALLOWED: ("False", "PairNotAllowed", refusal)}


def binding_condition(binding: ManagedClusterSetBinding, sets: Container[str]) -> Conditions:
    if binding.spec.cluster_set in sets:
        return {"Bound": ("True", "ClusterSetBound", "")}
    return {"Bound": ("False", "ClusterSetNotFound", "")}
