"""Gives a cluster that the hub accepts what its agent needs, takes it back when it is denied, and clears away what is
left when it is deleted.

Which clusters: those whose agent has asked for a certificate and was approved, or that an annotation says it of, and
from then on until they are deleted; or every cluster that is accepted, where that is set. Clusters that somebody feeds
by hand or by imports have no agent: a lease that nobody renews would only make them unreachable.
"""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from muster.api.certificate_rules import SigningRequest
from muster.api.certificate_signing_request import APPROVED, DENIED
from muster.api.certificate_signing_request import GROUP as CERTIFICATES
from muster.api.managed_cluster import GROUP, MANAGED_CLUSTER, ManagedCluster
from muster.api.parts import Condition, Node, ObjectMeta, Part, plain_conditions
from muster.api.reading import Reader
from muster.api.registration import (
    ACCEPTED,
    CLUSTER_LABEL,
    DELETING,
    FINALIZER,
    HAS_AGENT,
    is_reserved,
    requesting_agent,
)
from muster.client.heads import Place
from muster.controllers.registration import objects
from muster.controllers.registration.clearing import Clearing
from muster.controllers.registration.keeping import Keeper
from muster.controllers.registration.renewals import Renewals
from muster.controllers.runtime.conditions import merged
from muster.controllers.runtime.events import About
from muster.controllers.runtime.mirror import Mirror
from muster.controllers.runtime.queue import WorkQueue
from muster.controllers.runtime.runner import work
from muster.errors import ApiError
from muster.values.api_paths import object_path
from muster.values.json_members import object_at, text_at

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from muster.client import Client
    from muster.client.reflector import Handler
    from muster.controllers.runtime.containment import Unreadable
    from muster.controllers.runtime.events import EventRecorder
    from muster.controllers.runtime.metrics import ControllerMetrics
    from muster.controllers.runtime.mirror import Stored
    from muster.values.faults import Fault

CLUSTERS: Final = f"managedclusters.{GROUP}"
REQUESTS: Final = f"certificatesigningrequests.{CERTIFICATES}"
_PATH: Final = (GROUP, "v1", "managedclusters", "")
_MERGE: Final = "application/merge-patch+json"
_WORKERS: Final = 4
_LATER: Final = 15.0  # seconds until one that could not be let in is looked at again
_AGAIN: Final = 5.0  # seconds until a cluster that is being deleted is looked at again
_YES: Final = ("True", "HubClusterAdminAccepted", "Accepted by hub cluster admin")
_NO: Final = ("False", "HubClusterAdminDenied", "Denied by hub cluster admin")
_LOGGER = logging.getLogger(__name__)


class _Spec(Part, frozen=True):
    hub_accepts_client: bool = False


class _Status(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()


class JoinedCluster(Node, frozen=True):
    """A ManagedCluster as far as it matters to whoever lets it in."""

    metadata: ObjectMeta = ObjectMeta()
    spec: _Spec = _Spec()
    status: _Status = _Status()


_CLUSTERS: Final = Reader(JoinedCluster)
_WHOLE: Final = Reader(ManagedCluster)
_REQUESTS: Final = Reader(SigningRequest)
_State = tuple[str, bool, bool, bool, str, str]  # what has to change before a cluster has to be looked at again


class NotTakenError(Exception):
    """A cluster that cannot be let in: the reason for its condition, and what to do, for people."""

    def __init__(self, reason: str, message: str) -> None:
        self.reason = reason
        super().__init__(message)


class RegistrationController:
    """Knows which clusters have an agent; asks the server for the rest when there is something to do."""

    def __init__(
        self,
        client: Client,
        clock: Callable[[], datetime],
        metrics: ControllerMetrics,
        events: EventRecorder,
        unreadable: Unreadable,
        *,
        everybody: bool = False,
    ) -> None:
        self._client = client
        self._clock = clock
        self._metrics = metrics
        self._events = events
        self._unreadable = unreadable
        self._everybody = everybody
        self._keeper = Keeper(client)
        self._clearing = Clearing(self._keeper)
        self._asked: dict[str, set[str]] = {}  # approved requests, by cluster
        self._cluster_of: dict[str, str] = {}  # and the other way round
        self._settled: dict[str, _State] = {}  # clusters for which everything is as it should be
        self._shared = False  # whether what all clusters share is there
        self.queue: WorkQueue[str] = WorkQueue()
        self.renewals = Renewals(self._keeper, client, metrics)

    # --- What comes in ------------------------------------------------------------------------------------------------

    def cluster_handler(self) -> Handler:
        """Who listens to clusters."""
        unreadable = self._unreadable.of("joined clusters")
        return Mirror(_CLUSTERS, self.put_cluster, self.remove_cluster, places=self._places, unreadable=unreadable)

    def request_handler(self) -> Handler:
        """Who listens to the requests with the label of a cluster."""
        unreadable = self._unreadable.of("certificatesigningrequests")
        return Mirror(_REQUESTS, self.put_request, self.remove_request, unreadable=unreadable)

    def _places(self) -> list[Place]:
        return [Place("", name) for name in {*self._settled, *self._asked}]

    def put_cluster(self, new: Stored[JoinedCluster]) -> Fault | None:
        """A cluster is new or changed. Most of them need nothing, most of the time."""
        name = new.place.name
        if self._has_agent(new.obj, name) and self._settled.get(name) != state_of(new.obj):
            self.queue.add(name)
        return None  # what cannot be read of a cluster is told by others

    def remove_cluster(self, place: Place) -> None:
        if place.name in self._settled or place.name in self._asked:
            self._settled.pop(place.name, None)
            self.queue.add(place.name)

    def put_request(self, new: Stored[SigningRequest]) -> Fault | None:
        """Somebody has asked for a certificate, or an answer was given."""
        request, name = new.obj, new.place.name
        agent = requesting_agent(request)
        if agent is None or request.metadata.labels.get(CLUSTER_LABEL) != agent.cluster:
            return new.fault
        if request.status.of(DENIED):
            self._forget(name)
        elif request.status.of(APPROVED):
            self._cluster_of[name] = agent.cluster
            self._asked.setdefault(agent.cluster, set()).add(name)
            if agent.cluster not in self._settled:
                self.queue.add(agent.cluster)
        elif request.spec.username == agent.user:
            self.renewals.queue.add(name)
        return new.fault

    def remove_request(self, place: Place) -> None:
        self._forget(place.name)

    def _forget(self, request: str) -> None:
        cluster = self._cluster_of.pop(request, "")
        asked = self._asked.get(cluster)
        if asked is not None:
            asked.discard(request)
            if not asked:
                del self._asked[cluster]

    def _has_agent(self, cluster: JoinedCluster, name: str) -> bool:
        metadata = cluster.metadata
        if self._everybody or FINALIZER in metadata.finalizers or name in self._asked:
            return True
        return metadata.annotations.get(HAS_AGENT) == "true"

    # --- What is done -------------------------------------------------------------------------------------------------

    def wake_set(self, name: str) -> None:
        """Sets do not matter to who lets clusters in."""

    def wake_all(self) -> None:
        """Look at all of them again, whether they have changed or not."""
        self._shared = False
        for name in list(self._settled):
            del self._settled[name]
            self.queue.add(name)

    @property
    def idle(self) -> bool:
        return self.queue.idle and self.renewals.queue.idle

    async def run(self) -> None:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(work("registration", self.queue, self._reconcile, self._metrics, _WORKERS))
            tasks.create_task(self.renewals.run())
            tasks.create_task(self._events.run())

    async def _reconcile(self, name: str) -> None:
        plain = await self._keeper.get(object_path(*_PATH, name))
        if plain is None:
            await self._clearing.remove_rights(name)  # somebody has taken our finalizer away
            self._settled.pop(name, None)
            return
        cluster = _WHOLE.of(plain)
        if cluster.metadata.is_going:
            await self._clear(cluster)
        elif not self._has_agent(_CLUSTERS.of(plain), name):
            return
        elif cluster.spec.hub_accepts_client:
            await self._accept(cluster)
        elif FINALIZER in cluster.metadata.finalizers:
            await self._deny(cluster)

    async def _accept(self, cluster: ManagedCluster) -> None:
        name = cluster.metadata.name
        try:
            cluster = await self._let_in(cluster)
        except NotTakenError as error:
            await self._say(cluster, ("False", error.reason, str(error)))
            self._settle(cluster, ("False", error.reason))
            self.queue.add_after(name, _LATER)  # whoever puts it right tells nobody
            return
        except ApiError as error:
            if error.code not in (404, 409):  # somebody else was first, or the namespace goes: it is done again
                await self._say(cluster, ("False", "Error", str(error)))
            raise
        if await self._say(cluster, _YES):
            text = f"managed cluster {name} is accepted by hub cluster admin"
            self._events.record(About.of(MANAGED_CLUSTER, cluster.metadata), "ManagedClusterAccepted", text)
        self._settle(cluster, _YES)

    async def _let_in(self, cluster: ManagedCluster) -> ManagedCluster:
        """Namespace first, the finalizer before anything that would be left behind, rights, then the lease."""
        name = cluster.metadata.name
        if is_reserved(name):
            raise NotTakenError(
                "NameReserved",
                f'no agent can join as "{name}": the name stands for something that others depend on; '
                "register the cluster by another name",
            )
        await self._take_namespace(name)
        cluster = await self._with_finalizer(cluster)
        await self._share()
        for each in (objects.own_role(name, accepted=True), objects.own_binding(name)):
            await self._keeper.ensure(each)
        for part in objects.PARTS:
            await self._keeper.ensure(objects.part_binding(name, part))
        if await self._keeper.found(held := objects.lease(name, self._clock())) is None:
            await self._keeper.create(held)
        return cluster

    async def _take_namespace(self, name: str) -> None:
        wanted = objects.namespace(name)
        present = await self._keeper.found(wanted)
        if present is None:
            await self._keeper.create(wanted)
        elif text_at(present, "status", "phase") == "Terminating":
            raise NotTakenError("NamespaceTerminating", f'the namespace "{name}" is being deleted; accept it later')
        elif object_at(present, "metadata", "labels").get(CLUSTER_LABEL) != name:
            # Whoever accepts clusters need not be somebody who may give namespaces away.
            raise NotTakenError(
                "NamespaceTaken",
                f'the namespace "{name}" exists and is not marked as that of the cluster; '
                f"if it is to be, run: kubectl label namespace {name} {CLUSTER_LABEL}={name}",
            )

    async def _with_finalizer(self, cluster: ManagedCluster) -> ManagedCluster:
        metadata = cluster.metadata
        if FINALIZER in metadata.finalizers:
            return cluster
        kept = {"resourceVersion": metadata.resource_version, "finalizers": [*metadata.finalizers, FINALIZER]}
        path = object_path(*_PATH, metadata.name)
        reply = await self._client.request("PATCH", path, body={"metadata": kept}, content_type=_MERGE)
        return _WHOLE.of(reply.json())

    async def _share(self) -> None:
        """What all clusters have in common."""
        if self._shared:
            return
        for part in objects.PARTS:
            await self._keeper.ensure(objects.shared_role(part))
        definition = objects.addon_definition()
        if await self._keeper.found(definition) is None:
            await self._keeper.create(definition)
        self._shared = True

    async def _deny(self, cluster: ManagedCluster) -> None:
        """Its agent may see that it was denied, and nothing else."""
        name = cluster.metadata.name
        await self._keeper.ensure(objects.own_role(name, accepted=False))
        for part in objects.PARTS:
            await self._keeper.delete(objects.part_binding(name, part))
        if await self._say(cluster, _NO):
            text = f"managed cluster {name} is denied by hub cluster admin"
            self._events.record(About.of(MANAGED_CLUSTER, cluster.metadata), "ManagedClusterDenied", text)
        self._settle(cluster, _NO)

    async def _clear(self, cluster: ManagedCluster) -> None:
        metadata = cluster.metadata
        if FINALIZER not in metadata.finalizers:
            return
        left = await self._clearing.remaining(metadata.name)
        if left:
            await self._say(cluster, ("False", "ResourceRemaining", left), DELETING)
            self.queue.add_after(metadata.name, _AGAIN)
            return
        await self._clearing.remove_rights(metadata.name)
        kept = [each for each in metadata.finalizers if each != FINALIZER]
        body = {"metadata": {"resourceVersion": metadata.resource_version, "finalizers": kept or None}}
        path = object_path(*_PATH, metadata.name)
        await self._client.request("PATCH", path, body=body, content_type=_MERGE)
        self._settled.pop(metadata.name, None)

    async def _say(self, cluster: ManagedCluster, said: tuple[str, str, str], kind: str = ACCEPTED) -> bool:
        """Write a condition, if it is another one."""
        present = cluster.status.conditions
        conditions = merged(present, {kind: said}, self._clock())
        if conditions == present:
            return False
        metadata = {"resourceVersion": cluster.metadata.resource_version}
        body = {"metadata": metadata, "status": {"conditions": plain_conditions(conditions)}}
        path = object_path(*_PATH, cluster.metadata.name, "status")
        await self._client.request("PATCH", path, body=body, content_type=_MERGE)
        return True

    def _settle(self, cluster: ManagedCluster, said: tuple[str, ...]) -> None:
        metadata = cluster.metadata
        has_finalizer = FINALIZER in metadata.finalizers
        self._settled[metadata.name] = (
            metadata.uid,
            cluster.spec.hub_accepts_client,
            False,
            has_finalizer,
            said[0],
            said[1],
        )


def state_of(cluster: JoinedCluster) -> _State:
    """What of a cluster decides what is done for it."""
    metadata = cluster.metadata
    said = next(((each.status, each.reason) for each in cluster.status.conditions if each.type == ACCEPTED), ("", ""))
    has_finalizer = FINALIZER in metadata.finalizers
    return (metadata.uid, cluster.spec.hub_accepts_client, metadata.is_going, has_finalizer, *said)
