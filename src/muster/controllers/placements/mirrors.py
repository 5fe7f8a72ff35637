"""The mirrors that show a world what placements depend on, and whom each change wakes.

The manager hangs them on reflectors; controllers give them the answers to their own writes, which wake nobody.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final, Protocol

from muster.api.lease import Lease
from muster.api.managed_cluster import GROUP
from muster.api.reading import Reader
from muster.client.heads import Place
from muster.controllers.clusters import HEALTH
from muster.controllers.placements.keys import Key, SetKey
from muster.controllers.placements.readers import BINDINGS, DECISIONS, PLACEMENTS, SCORES, SETS
from muster.controllers.runtime.mirror import Mirror

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from muster.api.addon_placement_score import AddOnPlacementScore
    from muster.api.managed_cluster import ClusterHealth
    from muster.api.managed_cluster_set import ManagedClusterSet
    from muster.api.managed_cluster_set_binding import ManagedClusterSetBinding
    from muster.api.placement import Placement
    from muster.api.placement_decision import PlacementDecision
    from muster.controllers.placements.world import PlacementWorld
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.mirror import AnyMirror, Stored
    from muster.values.faults import Fault

LEASES: Final = Reader(Lease)
CLUSTER_LEASES: Final = "leases.coordination.k8s.io"  # by which clusters show that they are alive


class ClusterWatcher(Protocol):
    """Whoever looks after the health of clusters, as the cluster controller does."""

    def look_at(self, new: Stored[ClusterHealth]) -> Fault | None: ...

    def put_lease(self, new: Stored[Lease]) -> Fault | None: ...

    def remove_lease(self, place: Place) -> None: ...


class _ClusterLoading:
    """All clusters on their way into the fleet; everybody is woken when they are there."""

    def __init__(self, world: PlacementWorld, wake: Callable[[Iterable[Key | SetKey]], None]) -> None:
        self._world = world
        self._wake = wake
        self._loading = world.fleet.loading()

    def add(self, objects: Sequence[bytes], /) -> None:
        self._loading.add(objects)

    def finish(self) -> None:
        self._loading.finish()
        self._world.note_loaded()
        self._wake(self._world.placements)
        self._wake(SetKey(name) for name in self._world.sets)


class PlacementMirrors:
    """One mirror for each kind that placements depend on."""

    def __init__(
        self,
        world: PlacementWorld,
        clusters: ClusterWatcher,
        wake: Callable[[Iterable[Key | SetKey]], None],
        wake_binding: Callable[[Place], None],
        unreadable: Unreadable,
    ) -> None:
        self._world = world
        self._look = clusters.look_at
        self._wake = wake
        self._wake_binding = wake_binding
        # Clusters stay encoded: the fleet reads from them only what somebody needs.
        self.clusters = Mirror(
            HEALTH,
            self._put_cluster,
            lambda place: wake(world.remove_cluster(place.name)),
            put_listed=self._look,
            loading=partial(_ClusterLoading, world, wake),
            places=self._cluster_places,
            unreadable=unreadable.of("managedclusters"),
        )
        self.scores = Mirror(
            SCORES,
            self._put_score,
            lambda place: wake(world.remove_score(place)),
            unreadable=unreadable.of("addonplacementscores"),
        )
        self.sets = Mirror(
            SETS,
            self._put_set,
            lambda place: wake(world.remove_set(place.name)),
            unreadable=unreadable.of("managedclustersets"),
        )
        self.bindings = Mirror(
            BINDINGS,
            self._put_binding,
            lambda place: wake(world.remove_binding(place)),
            unreadable=unreadable.of("managedclustersetbindings"),
        )
        self.decisions = Mirror(
            DECISIONS,
            self._put_decision,
            lambda place: wake(world.remove_decision(place)),
            put_written=self._put_own_decision,
            remove_written=world.remove_decision,
            unreadable=unreadable.of("placementdecisions"),
        )
        self.placements = Mirror(
            PLACEMENTS,
            self._put_placement,
            lambda place: wake(world.remove_placement(place)),
            put_written=self._put_own_placement,
            unreadable=unreadable.of("placements"),
        )
        self.leases = Mirror(LEASES, clusters.put_lease, clusters.remove_lease, unreadable=unreadable.of("leases"))

    def by_resource(self) -> Mapping[str, AnyMirror]:
        """By their full names: other groups have placements and decisions too."""
        return {
            f"managedclusters.{GROUP}": self.clusters,
            f"addonplacementscores.{GROUP}": self.scores,
            f"managedclustersets.{GROUP}": self.sets,
            f"managedclustersetbindings.{GROUP}": self.bindings,
            f"placementdecisions.{GROUP}": self.decisions,
            f"placements.{GROUP}": self.placements,
            CLUSTER_LEASES: self.leases,
        }

    def _put_cluster(self, new: Stored[ClusterHealth]) -> Fault | None:
        self._wake(self._world.put_cluster(new.place.name, new.encoded))
        return self._look(new)  # the rest of the cluster is in use

    def _cluster_places(self) -> Iterator[Place]:
        fleet = self._world.fleet
        return (Place("", name) for name in fleet.names(fleet.rows().tolist()))

    def _put_score(self, new: Stored[AddOnPlacementScore]) -> Fault | None:
        told, fault = self._world.put_score(new)
        self._wake(told)
        return fault

    def _put_set(self, new: Stored[ManagedClusterSet]) -> Fault | None:
        self._wake(self._world.put_set(new))
        return new.fault

    def _put_binding(self, new: Stored[ManagedClusterSetBinding]) -> Fault | None:
        self._wake_binding(new.place)
        self._wake(self._world.put_binding(new))
        return new.fault

    def _put_decision(self, new: Stored[PlacementDecision]) -> Fault | None:
        self._wake(self._world.put_decision(new))
        return new.fault

    def _put_own_decision(self, new: Stored[PlacementDecision]) -> Fault | None:
        self._world.put_decision(new)
        return new.fault

    def _put_placement(self, new: Stored[Placement]) -> Fault | None:
        self._wake(self._world.put_placement(new))
        return new.fault

    def _put_own_placement(self, new: Stored[Placement]) -> Fault | None:
        self._world.put_placement(new)
        return new.fault
