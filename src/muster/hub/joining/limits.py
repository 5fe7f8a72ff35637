"""What a cluster may say of itself: its addresses and its state, and nothing about where it belongs or what it may get.

An admission plugin of the hub. Roles give an agent its own ManagedCluster; they cannot tell the parts of an object
apart, and this does. An agent changes no label, annotation, taint or acceptance, not even of its own cluster, nothing
of any other cluster, and asks for certificates in no other cluster's name. Whoever is yet to join creates a cluster
with a name and addresses; the rest is up to those who accept it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.managed_cluster import MANAGED_CLUSTER, ManagedCluster
from muster.api.metadata import labels_of, name_of
from muster.api.reading import Reader
from muster.api.registration import (
    ACCEPTED,
    AGENT_ANNOTATIONS,
    CLUSTER_LABEL,
    JOINING_TAINT,
    clusters_of,
    is_joining,
)
from muster.hub import status
from muster.hub.auth.tokens import SYSTEM_MASTERS
from muster.hub.requests import Admitted
from muster.selectors.membership import DEFAULT_KEY, DEFAULT_SET
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.hub.requests import AdmissionRequest
    from muster.values.json import JsonObject

_REQUESTS: Final = "certificatesigningrequests.certificates.k8s.io"
_CLUSTERS: Final = Reader(ManagedCluster)
_NOTHING: Final = Admitted()
_IDENTITY: Final = ("labels", "annotations", "finalizers", "ownerReferences")


class AgentLimits:
    """The plugin."""

    kinds = frozenset({MANAGED_CLUSTER.key, _REQUESTS})

    async def mutate(self, request: AdmissionRequest) -> Admitted:  # noqa: ARG002 - the protocol's signature
        return _NOTHING

    async def validate(self, request: AdmissionRequest) -> Admitted:
        user, key = request.user, request.target.resource.key
        if key not in self.kinds or SYSTEM_MASTERS in user.groups:
            return _NOTHING
        own = clusters_of(user.groups)
        if not own and not is_joining(user.name, user.groups):
            return _NOTHING
        if key == _REQUESTS:
            found = next(_requests(request, own), "") if own else ""
        elif own:
            found = next(_by_agent(request, own), "")
        else:
            found = next(_by_joiner(request), "")
        if found:
            resource = request.target.resource
            raise status.refused(resource.group, resource.plural, _name(request), found)
        return _NOTHING


def _name(request: AdmissionRequest) -> str:
    return request.target.name or name_of(request.new)


def _requests(request: AdmissionRequest, own: frozenset[str]) -> Iterator[str]:
    """A request in another cluster's name would count among that cluster's requests, which are counted."""
    for obj in (request.old, request.new):
        named = labels_of(obj).get(CLUSTER_LABEL) if obj is not None else None
        if named is not None and named not in own:
            yield f'an agent of cluster {_names(own)} cannot write requests of cluster "{named}"'


def _by_agent(request: AdmissionRequest, own: frozenset[str]) -> Iterator[str]:
    if _name(request) not in own:
        yield f"an agent of cluster {_names(own)} cannot write other clusters"
    if request.old is None or request.new is None:
        yield "an agent neither creates nor deletes clusters"
        return
    yield from (f"an agent cannot change {what}" for what in _changed(request.old, request.new))
    if _verdict(request.old) != _verdict(request.new):
        yield f"an agent cannot change the condition {ACCEPTED}"


def _by_joiner(request: AdmissionRequest) -> Iterator[str]:
    new = request.new
    if new is None:
        yield "a cluster that is about to join deletes nothing"
        return
    if request.old is not None:
        yield from (f"a cluster that is about to join cannot change {what}" for what in _changed(request.old, new))
        return
    if set(labels_of(new).items()) - {(DEFAULT_KEY, DEFAULT_SET)}:
        yield "a cluster that is about to join has no labels of its own; whoever accepts it gives it some"
    metadata = object_at(new, "metadata")
    if not all(key.startswith(AGENT_ANNOTATIONS) for key in object_at(metadata, "annotations")):
        yield f"a cluster that is about to join has no annotations but {AGENT_ANNOTATIONS}…"
    if metadata.get("finalizers") or metadata.get("ownerReferences"):
        yield "a cluster that is about to join has neither finalizers nor owners"
    spec = _CLUSTERS.of(new).spec
    if any(each.key != JOINING_TAINT for each in spec.taints):
        yield "a cluster that is about to join has no taints of its own"
    if spec.hub_accepts_client:
        yield "a cluster that is about to join cannot accept itself"


def _changed(old: JsonObject, new: JsonObject) -> Iterator[str]:
    """What of a cluster is another than before, besides its addresses and its status."""
    before, after = object_at(old, "metadata"), object_at(new, "metadata")
    for field in _IDENTITY:
        if (before.get(field) or None) != (after.get(field) or None):
            yield f"metadata.{field}"
    was, now = _CLUSTERS.of(old).spec, _CLUSTERS.of(new).spec
    if was.hub_accepts_client != now.hub_accepts_client:
        yield "spec.hubAcceptsClient"
    if was.lease_duration_seconds != now.lease_duration_seconds:
        yield "spec.leaseDurationSeconds"
    if was.taints != now.taints:
        yield "spec.taints"


def _verdict(cluster: JsonObject) -> tuple[str, str] | None:
    conditions = _CLUSTERS.of(cluster).status.conditions
    return next(((each.status, each.reason) for each in conditions if each.type == ACCEPTED), None)


def _names(own: frozenset[str]) -> str:
    return " and ".join(f'"{name}"' for name in sorted(own))
