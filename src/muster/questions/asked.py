"""What travels from whoever serves a question to the observer: what is asked, by whom, and what he may be told.

The server knows users, the observer knows the fleet. So the server says which objects the asker may get; nothing in the
observer knows of roles. The answer is the status of the question, as JSON. Also the resources that questions are about,
and where a server has them; whoever needs no more than that is spared the fleet.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muster.client.discovery import ServedResource
from muster.importing.hosts import OTHER_KINDS

SECONDS: Final = 10.0  # that a question may take, the time it waits for others included
LOCAL_SECONDS: Final = 60.0  # where somebody answers himself, and nobody else is kept waiting
_RESOLVING: Final = 5  # times as long for one that has catalogs read and resolves, in a process of its own


def seconds_of(kind: str, usual: float = SECONDS) -> float:
    """How long a question of some kind may take."""
    return usual * _RESOLVING if kind == "ResolutionPreview" else usual


CLUSTERS: Final = "managedclusters"
OTHERS: Final = {
    "clusterprofiles": "clusterprofiles.multicluster.x-k8s.io",
    "clusters": "clusters.clusters.openmcp.cloud",
    "clusterrequests": "clusterrequests.clusters.openmcp.cloud",
}
"""What can be asked about beside clusters, by the name that questions use."""
SETS, BINDINGS, PLACEMENTS = "managedclustersets", "managedclustersetbindings", "placements"
DECISIONS, SCORES = "placementdecisions", "addonplacementscores"
PLACING: Final = (CLUSTERS, SETS, BINDINGS, SCORES, DECISIONS, PLACEMENTS)
"""What decisions are made from."""
AGENTS, LABELLING, RESOLUTIONS = "agents", "agentclassifications", "resolutions"
GUARD_RECORDS, DEFAULTS = "placementguardrecords", "configmaps"
GUARDS: Final = (GUARD_RECORDS, DEFAULTS)
"""What guards are asked with, beside placements themselves: what they remember, and what the fleet has for all."""
PLACED: Final = frozenset(
    {BINDINGS, SCORES, DECISIONS, PLACEMENTS, AGENTS, LABELLING, RESOLUTIONS, GUARD_RECORDS, *OTHERS, *OTHER_KINDS}
)
"""What is in namespaces."""
# Groups of what is not about clusters. Versions are those that the structs of `muster.api` read; a server that prefers
# another one serves them too.
_GROUPS: Final = {
    AGENTS: "agent-install.openshift.io",
    LABELLING: "agent-install.openshift.io",
    RESOLUTIONS: "resolution.muster.dev",
    GUARD_RECORDS: "placement.muster.dev",
    **{name: each.group for name, each in OTHER_KINDS.items()},
}
_VERSIONS: Final = {
    CLUSTERS: "v1",
    SETS: "v1beta2",
    BINDINGS: "v1beta2",
    SCORES: "v1alpha1",
    RESOLUTIONS: "v1alpha1",
    GUARD_RECORDS: "v1alpha1",
    **{name: each.version for name, each in OTHER_KINDS.items()},
}


def served(resource: str) -> ServedResource:
    """Where a server has a resource, if it has it."""
    if resource in OTHERS:
        group, version = OTHERS[resource].partition(".")[2], "v1alpha1"
    else:
        group = _GROUPS.get(resource, "cluster.open-cluster-management.io")
        version = _VERSIONS.get(resource, "v1beta1")
    return ServedResource(group, version, resource, resource, resource, namespaced=resource in PLACED)


class Scope(msgspec.Struct, frozen=True):
    """What the asker may be told of one resource.

    `everything`: every object. Else the objects with these names; of resources that live in namespaces, everything in
    `namespaces`, and names are `namespace/name`. Of clusters, those in sets bound to `bound` are counted too, and never
    shown. `sets` are the cluster sets that he may get; None for all.
    """

    everything: bool = False
    names: frozenset[str] = frozenset()
    namespaces: frozenset[str] = frozenset()
    bound: str = ""
    sets: frozenset[str] | None = frozenset()


class Question(msgspec.Struct, frozen=True):
    """A kind of `fleet.muster.dev`, the spec of the object, and who asks: askers take turns.

    `places` is where he may explain placements, for kinds that speak of these; for previews, the classifications that
    he may get, and whether he may resolve with the server's own catalogs. `others` is what he may be told of hosts that
    are no Agents, by resource.
    """

    kind: str
    spec: msgspec.Raw
    asker: str
    scope: Scope
    places: Scope = Scope()
    others: dict[str, Scope] = msgspec.field(default_factory=dict)
