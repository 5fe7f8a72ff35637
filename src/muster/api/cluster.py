"""Cluster: a cluster made by a provider for one or more purposes."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.parts import Condition, Node, ObjectMeta
from muster.api.resource import PrinterColumn, Resource, Version

GROUP: Final = "clusters.openmcp.cloud"


class ClusterSpec(Node, frozen=True):
    profile: str = ""
    # Null and the empty list are told apart: selectors treat them differently.
    purposes: tuple[str, ...] | None = None
    tenancy: str = ""


class ClusterStatus(Node, frozen=True):
    phase: str = ""
    observed_generation: int = 0
    api_server: str = ""
    conditions: tuple[Condition, ...] = ()


class Cluster(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClusterSpec = ClusterSpec()
    status: ClusterStatus = ClusterStatus()


_SPEC = parts.obj(
    "What the cluster is for.",
    ("profile", "tenancy"),
    {
        "profile": parts.immutable(
            parts.string("The profile of the provider that makes the cluster. Cannot be changed."),
            "profile is immutable",
        ),
        "purposes": parts.array(parts.string(), "What the cluster is for.", minItems=1),
        "tenancy": parts.string("Whether several requests may share it.", enum=["Exclusive", "Shared"]),
        "kubernetes": parts.obj(
            "Kubernetes settings.", properties={"version": parts.string("The Kubernetes version.")}
        ),
        "clusterConfigs": parts.array(
            parts.obj(
                "A configuration in the same namespace.",
                properties={"name": parts.string("Its name.", default="")},
            )
            | {"x-kubernetes-map-type": "atomic"},
            "Configurations the provider reads.",
        ),
    },
)
_STATUS = parts.obj(
    "What became of it.",
    ("observedGeneration", "phase"),
    {
        "phase": parts.string("How far the cluster is."),
        "observedGeneration": parts.integer("The generation the status speaks of.", "int64"),
        "apiServer": parts.string("The address of its API server."),
        "conditions": parts.ATOMIC_CONDITIONS,
        "providerStatus": parts.anything("What the provider adds."),
    },
)

CLUSTER: Final = Resource(
    group=GROUP,
    kind="Cluster",
    plural="clusters",
    singular="cluster",
    list_kind="ClusterList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            parts.kind("A cluster made for a purpose.", _SPEC, _STATUS),
            (
                PrinterColumn("Purposes", "string", ".spec.purposes"),
                PrinterColumn("Phase", "string", ".status.phase"),
                PrinterColumn("Version", "string", r".metadata.labels.clusters\.openmcp\.cloud/k8sversion"),
                PrinterColumn("Provider", "string", r".metadata.labels.clusters\.openmcp\.cloud/provider"),
                PrinterColumn("Profile", "string", ".spec.profile", priority=10),
                PrinterColumn(
                    "Info", "string", r".metadata.annotations.clusters\.openmcp\.cloud/providerinfo", priority=10
                ),
                parts.AGE,
            ),
            status=True,
            selectable_fields=(".spec.profile",),
        ),
    ),
)
