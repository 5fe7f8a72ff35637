"""What travels from whoever serves a question to the observer: what is asked, by whom, and what he may be told.

The server knows users, the observer knows the fleet. So the server says which objects the asker may get; nothing in the
observer knows of roles. The answer is the status of the question, as JSON.
"""

from __future__ import annotations

from typing import Final

import msgspec

SECONDS: Final = 10.0  # that a question may take, the time it waits for others included
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
