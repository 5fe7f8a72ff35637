"""One cluster, two forms: what a ManagedCluster and a ClusterProfile say of it, in each other's words. Pure.

Claims are properties, availability is the health of the control plane, addresses are where access providers lead. The
controller of profiles writes one form from the other; selection reads profiles as if they were clusters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.api.cluster_profile import GROUP, ClusterProfile
from muster.api.managed_cluster import GROUP as OCM
from muster.api.reading import Reader
from muster.api.registration import CLUSTER_LABEL, JOINED
from muster.values.json_members import object_at

if TYPE_CHECKING:
    from muster.api.managed_cluster import ManagedCluster
    from muster.values.json import JsonMapping, JsonObject

#: Whose profiles these are, as Open Cluster Management names itself there.
MANAGER: Final = "open-cluster-management"
MANAGER_LABEL: Final = "x-k8s.io/cluster-manager"
SET_LABEL: Final = f"{GROUP}/clusterset"
HEALTHY: Final = "ControlPlaneHealthy"
_JOINED: Final = "Joined"
_AVAILABLE: Final = "ManagedClusterConditionAvailable"
_CONDITIONS: Final = {_AVAILABLE: HEALTHY, JOINED: _JOINED}
_SETS: Final = f"{OCM}/clusterset"
PROFILES: Final = Reader(ClusterProfile)

Conditions = dict[str, tuple[str, str, str]]  # status, reason and message by type


def profile_labels(cluster: ManagedCluster) -> dict[str, str]:
    """By which consumers find the profiles of a manager, of a set, of a cluster."""
    found = {MANAGER_LABEL: MANAGER, CLUSTER_LABEL: cluster.metadata.name}
    if cluster.metadata.labels.get(_SETS):
        found[SET_LABEL] = cluster.metadata.labels[_SETS]
    return found


def profile_properties(cluster: ManagedCluster) -> tuple[tuple[str, str], ...]:
    """Claims and properties by name; of two of the same name the later one counts, and claims before properties."""
    status = cluster.status
    found = {each.name: each.value for each in (*status.properties, *status.cluster_claims) if each.name and each.value}
    return tuple(found.items())


def profile_conditions(cluster: ManagedCluster) -> Conditions:
    return {
        _CONDITIONS[each.type]: (each.status, each.reason, each.message)
        for each in cluster.status.conditions
        if each.type in _CONDITIONS
    }


def managed_form(profile: JsonMapping) -> JsonObject:
    """A profile that can be read as a ManagedCluster, too: everything that it has, and what goes by other names there.

    Its manager has accepted it, or it would not be in the inventory.
    """
    known = PROFILES.of(profile)
    status = known.status
    providers = {each.name: each.cluster for each in (*status.credential_providers, *status.access_providers)}
    addresses = [
        {"url": each.server, **({"caBundle": ca} if (ca := each.certificate_authority_data) else {})}
        for each in providers.values()
        if each.server
    ]
    conditions = [
        {"type": ours, "status": each.status, "reason": each.reason, "message": each.message}
        | ({"lastTransitionTime": each.last_transition_time} if each.last_transition_time else {})
        for ours, theirs in _CONDITIONS.items()
        for each in status.conditions
        if each.type == theirs
    ]
    written = object_at(profile, "status")
    labels = known.metadata.labels
    sets = {_SETS: labels[SET_LABEL]} if labels.get(SET_LABEL) and _SETS not in labels else {}
    return {
        **profile,
        "metadata": {**object_at(profile, "metadata"), "labels": {**labels, **sets}},
        "spec": {**object_at(profile, "spec"), "hubAcceptsClient": True, "managedClusterClientConfigs": addresses},
        "status": {
            **written,
            "clusterClaims": [{"name": each.name, "value": each.value} for each in status.properties],
            "conditions": [*(each for each in written.get("conditions", ()) if isinstance(each, dict)), *conditions],
        },
    }
