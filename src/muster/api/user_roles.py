"""What users of our kinds may see and change in their namespaces: one list, for the roles of the hub and of Kubernetes.

Read by `hub/auth/rbac/bootstrap.py` and `kubernetes/objects/user_roles.py`. It knows resources, not roles.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

OCM: Final = "cluster.open-cluster-management.io"
AGENTS: Final = "agent-install.openshift.io"
OPENMCP: Final = "clusters.openmcp.cloud"
RESOLUTION: Final = "resolution.muster.dev"
HISTORY: Final = "placement.muster.dev"
MULTICLUSTER: Final = "multicluster.x-k8s.io"

#: By group, what whoever may see a namespace sees of our kinds in it.
SEEN: Final[Mapping[str, tuple[str, ...]]] = {
    OCM: (
        "addonplacementscores",
        "managedclustersetbindings",
        "managedclustersetbindings/status",
        "placementdecisions",
        "placementdecisions/status",
        "placements",
        "placements/explain",
        "placements/status",
    ),
    AGENTS: ("agentclassifications", "agentclassifications/status", "agents", "agents/status"),
    OPENMCP: ("clusterrequests", "clusterrequests/status", "clusters", "clusters/status"),
    RESOLUTION: ("resolutions", "resolutions/status"),
    HISTORY: ("placementguardrecords", "placementhistories"),
    MULTICLUSTER: ("placementdecisions",),
}

#: By group, what whoever may edit a namespace changes.
EDITED: Final[Mapping[str, tuple[str, ...]]] = {
    OCM: ("managedclustersetbindings", "placements"),
    AGENTS: ("agentclassifications", "agents"),
    OPENMCP: ("clusterrequests",),
    RESOLUTION: ("resolutions",),
}
