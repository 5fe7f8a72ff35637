"""Keeps a ClusterProfile for each cluster of a set in each namespace that the set is bound to, as Open Cluster
Management does: named like the cluster, with its version, claims and health, and gone when the cluster may be used
there no more. Profiles that somebody else manages are left alone.

Runs only where that is set. The world says which clusters a set has; what is written is compared with what is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, NamedTuple

from muster.api.cluster_profile import GROUP, ClusterProfile
from muster.api.managed_cluster import GROUP as OCM
from muster.api.managed_cluster import ManagedCluster
from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
from muster.api.parts import plain_conditions
from muster.api.profile_forms import MANAGER, PROFILES, profile_conditions, profile_labels, profile_properties
from muster.api.reading import Reader
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.errors import ApiError
from muster.values.api_paths import collection_path, object_path
from muster.values.faults import Fault

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from muster.client import Client
    from muster.client.heads import Place
    from muster.client.reflector import Handler
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored
    from muster.values.json import JsonObject

KIND: Final = f"clusterprofiles.{GROUP}"
CLUSTERS: Final = f"managedclusters.{OCM}"
BINDINGS: Final = f"managedclustersetbindings.{OCM}"
_PROFILES: Final = (GROUP, "v1alpha1", "clusterprofiles")
_CLUSTERS: Final = Reader(ManagedCluster)
_BINDINGS: Final = Reader(ManagedClusterSetBinding)
_MERGE: Final = "application/merge-patch+json"
_COALESCE: Final = 0.2  # seconds: a thousand joining clusters are one look at a namespace
_WORKERS: Final = 4


class NamespaceKey(NamedTuple):
    """A namespace whose profiles are to be those of its clusters."""

    namespace: str


class ProfileKey(NamedTuple):
    """A profile that is to say what its cluster says."""

    namespace: str
    name: str


class ProfileController:
    """Knows the profiles that are ours; asks the world for clusters."""

    def __init__(
        self,
        world: PlacementWorld,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        unreadable: Unreadable,
    ) -> None:
        self._world = world
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._unreadable = unreadable
        self._ours: dict[str, dict[str, ClusterProfile]] = {}  # by namespace and name
        self._places: dict[str, set[str]] = {}  # namespaces with a profile of the cluster
        self._said: dict[str, int] = {}  # of each cluster, a digest of what its profiles say
        self.queue: WorkQueue[NamespaceKey | ProfileKey] = WorkQueue()

    # --- What comes in ------------------------------------------------------------------------------------------------

    def handlers(self) -> Mapping[str, Handler]:
        """What to watch besides, by resource."""
        of = self._unreadable.of
        return {
            KIND: Mirror(PROFILES, self._put, self._remove, unreadable=of("clusterprofiles")),
            CLUSTERS: Mirror(_CLUSTERS, self._put_cluster, self._remove_cluster, unreadable=of("profiled clusters")),
            BINDINGS: Mirror(_BINDINGS, self._put_binding, self._remove_binding, unreadable=of("profiled bindings")),
        }

    def _put(self, new: Stored[ClusterProfile]) -> Fault | None:
        namespace, name = new.place
        if new.obj.spec.cluster_manager.name != MANAGER:
            self._remove(new.place)
            return None
        self._ours.setdefault(namespace, {})[name] = new.obj
        self._places.setdefault(name, set()).add(namespace)
        if self._difference(new.obj) is not None:
            self.queue.add(ProfileKey(namespace, name))
        if new.obj.metadata.is_going or name not in self._world.fleet:
            self.queue.add(NamespaceKey(namespace))
        return None

    def _remove(self, place: Place) -> None:
        if self._ours.get(place.namespace, {}).pop(place.name, None) is not None:
            self._places[place.name].discard(place.namespace)
            self.queue.add(NamespaceKey(place.namespace))

    def _put_cluster(self, new: Stored[ManagedCluster]) -> Fault | None:
        name = new.place.name
        said = _digest(new.obj)
        if self._said.get(name) != said:
            self._said[name] = said
            for namespace in self._places.get(name, ()):
                self.queue.add(ProfileKey(namespace, name))
                if new.obj.metadata.is_going:
                    self.queue.add(NamespaceKey(namespace))
        return None

    def _remove_cluster(self, place: Place) -> None:
        self._said.pop(place.name, None)
        for namespace in self._places.get(place.name, ()):
            self.queue.add(NamespaceKey(namespace))

    def _put_binding(self, new: Stored[ManagedClusterSetBinding]) -> Fault | None:
        self.queue.add(NamespaceKey(new.place.namespace))
        return None

    def _remove_binding(self, place: Place) -> None:
        self.queue.add(NamespaceKey(place.namespace))

    def wake_set(self, name: str) -> None:
        """The clusters of a set are others than before."""
        for namespace, bindings in self._world.bindings.items():
            if name in bindings:
                self.queue.add_after(NamespaceKey(namespace), _COALESCE)

    # --- What is done -------------------------------------------------------------------------------------------------

    def wake_all(self) -> None:
        for namespace in {*self._world.bindings, *self._ours}:
            self.queue.add(NamespaceKey(namespace))

    @property
    def idle(self) -> bool:
        return self.queue.settled

    async def run(self) -> None:
        self.wake_all()
        await work("profile", self.queue, self._reconcile, self._metrics, _WORKERS)

    async def _reconcile(self, key: NamespaceKey | ProfileKey) -> None:
        if isinstance(key, ProfileKey):
            await self._update(key)
        else:
            await self._keep(key.namespace)

    async def _keep(self, namespace: str) -> None:
        """One profile for each cluster that may be used here, and no other."""
        wanted = self._usable(namespace)
        present = self._ours.get(namespace, {})
        for name in sorted(present.keys() - wanted.keys()):
            metadata = present[name].metadata
            if not metadata.is_going:
                body = {"preconditions": {"resourceVersion": metadata.resource_version}}
                await self._client.request("DELETE", object_path(*_PROFILES, namespace, name), body=body)
        for name in sorted(wanted.keys() - present.keys()):
            await self._create(namespace, wanted[name])

    def _usable(self, namespace: str) -> dict[str, ManagedCluster]:
        """The clusters of the sets that are bound here, without those that are going."""
        world = self._world
        found: dict[str, ManagedCluster] = {}
        for name in world.bindings.get(namespace, {}):
            rule = world.rules.get(name)
            if rule is None or rule.membership is None or world.plans.held_set(name) is not None:
                continue
            with world.notes.evaluating_set(name):
                rows = world.fleet.mask(rule.membership).selected.nonzero()[0].tolist()
            for row in rows:
                encoded = world.fleet.encoded_at(row)
                cluster = None if encoded is None else _read(encoded)
                if cluster is not None and not cluster.metadata.is_going:
                    found[cluster.metadata.name] = cluster
        return found

    async def _create(self, namespace: str, cluster: ManagedCluster) -> None:
        name = cluster.metadata.name
        body: JsonObject = {
            "apiVersion": f"{GROUP}/v1alpha1",
            "kind": "ClusterProfile",
            "metadata": {"name": name, "namespace": namespace, "labels": profile_labels(cluster)},
            "spec": {"displayName": name, "clusterManager": {"name": MANAGER}},
        }
        try:
            await self._client.request("POST", collection_path(*_PROFILES, namespace), body=body)
        except ApiError as error:
            if error.code != 409:  # somebody else's profile of that name, or ours, which the watch will bring
                raise

    async def _update(self, key: ProfileKey) -> None:
        profile = self._ours.get(key.namespace, {}).get(key.name)
        change = None if profile is None else self._difference(profile)
        if profile is None or change is None:
            return
        revision = {"resourceVersion": profile.metadata.resource_version}
        labels, status = change
        if status is not None:  # labels follow when this has come back: each write names the state it is for
            path, body = object_path(*_PROFILES, *key, "status"), {"metadata": revision, "status": status}
        else:
            path, body = object_path(*_PROFILES, *key), {"metadata": {**revision, "labels": labels}}
        await self._client.request("PATCH", path, body=body, content_type=_MERGE)

    def _difference(self, profile: ClusterProfile) -> tuple[JsonObject | None, JsonObject | None] | None:
        """Labels and status as they should be, where they are not; None if all is well."""
        row = self._world.fleet.row(profile.metadata.name)
        cluster = None if row is None else _read(self._world.fleet.encoded([row])[0])
        if cluster is None or profile.metadata.is_going:
            return None
        wanted = profile_labels(cluster)
        lacking = {key: value for key, value in wanted.items() if profile.metadata.labels.get(key) != value}
        conditions = merged(profile.status.conditions, profile_conditions(cluster), self._clock())
        properties = profile_properties(cluster)
        same = conditions == profile.status.conditions
        same &= properties == tuple((each.name, each.value) for each in profile.status.properties)
        same &= profile.status.version.kubernetes == cluster.status.version.kubernetes
        status = {
            "version": {"kubernetes": cluster.status.version.kubernetes},
            "properties": [{"name": name, "value": value} for name, value in properties],
            "conditions": plain_conditions(conditions),
        }
        if same and not lacking:
            return None
        return lacking or None, None if same else status


def _read(encoded: bytes) -> ManagedCluster | None:
    found = _CLUSTERS.read(encoded)
    return None if isinstance(found, Fault) else found.obj


def _digest(cluster: ManagedCluster) -> int:
    said = (profile_labels(cluster), profile_properties(cluster), profile_conditions(cluster))
    return hash((str(said), cluster.status.version.kubernetes, cluster.metadata.is_going))
