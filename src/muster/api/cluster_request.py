"""ClusterRequest: asks for a cluster with a purpose; the status says which one was granted."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.cluster import GROUP
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version


class NamespacedName(Part, frozen=True):
    name: str = ""
    namespace: str = ""


class ClusterRequestSpec(Part, frozen=True):
    purpose: str = ""
    wait_for_cluster_deletion: bool | None = None


class ClusterRequestStatus(Node, frozen=True):
    phase: str = ""
    observed_generation: int = 0
    cluster: NamespacedName | None = None
    conditions: tuple[Condition, ...] = ()


class ClusterRequest(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClusterRequestSpec = ClusterRequestSpec()
    status: ClusterRequestStatus = ClusterRequestStatus()


_SPEC = parts.immutable(
    parts.obj(
        "What is asked for. Cannot be changed.",
        ("purpose",),
        {
            "purpose": parts.string("The purpose of the cluster.", minLength=1),
            "waitForClusterDeletion": parts.boolean("Whether the request stays until its cluster is deleted."),
        },
    ),
    "spec is immutable",
)
_STATUS = parts.obj(
    "What was granted.",
    ("observedGeneration", "phase"),
    {
        "phase": parts.string("Pending, Granted or Denied."),
        "observedGeneration": parts.integer("The generation the status speaks of.", "int64"),
        "cluster": parts.immutable(parts.reference("The cluster that was granted."), "cluster is immutable"),
        "conditions": parts.ATOMIC_CONDITIONS,
    },
) | {
    "x-kubernetes-validations": [
        {"rule": "!has(oldSelf.cluster) || has(self.cluster)", "message": "cluster may not be removed once set"}
    ]
}

CLUSTER_REQUEST: Final = Resource(
    group=GROUP,
    kind="ClusterRequest",
    plural="clusterrequests",
    singular="clusterrequest",
    list_kind="ClusterRequestList",
    namespaced=True,
    short_names=("cr", "creq"),
    versions=(
        Version(
            "v1alpha1",
            parts.kind("Asks for a cluster.", _SPEC, _STATUS),
            (
                PrinterColumn("Purpose", "string", ".spec.purpose"),
                PrinterColumn("Phase", "string", ".status.phase"),
                PrinterColumn("Cluster", "string", ".status.cluster.name"),
                PrinterColumn("Cluster-NS", "string", ".status.cluster.namespace"),
            ),
            status=True,
            selectable_fields=(".spec.purpose", ".status.phase"),
        ),
    ),
)
