"""ClusterProfile: a cluster as the multicluster inventory API describes it, for tools that know only that API."""

from __future__ import annotations

from typing import Final

from muster.api import parts
from muster.api.resource import PrinterColumn, Resource, Version

_SPEC = parts.obj(
    "Who manages the cluster, and what it is called.",
    ("clusterManager",),
    {
        "displayName": parts.string("The cluster's name for people."),
        "clusterManager": parts.immutable(
            parts.obj(
                "Who manages the cluster and writes this object.",
                ("name",),
                {"name": parts.string("The name of the cluster manager.")},
            ),
            "ClusterManager is immutable",
        ),
    },
)
_STATUS = parts.obj(
    "What is known of the cluster.",
    properties={
        "conditions": parts.ATOMIC_CONDITIONS,
        "version": parts.obj(
            "Versions of the cluster's software.", properties={"kubernetes": parts.string("Its Kubernetes version.")}
        ),
        "properties": parts.array(
            parts.obj(
                "A fact about the cluster.",
                ("name", "value"),
                {
                    "name": parts.string("The fact's name.", maxLength=253, minLength=1),
                    "value": parts.string("The fact.", maxLength=1024, minLength=1),
                    "lastObservedTime": parts.time("When it was last observed."),
                },
            ),
            "Facts about the cluster.",
        ),
    },
)

CLUSTER_PROFILE: Final = Resource(
    group="multicluster.x-k8s.io",
    kind="ClusterProfile",
    plural="clusterprofiles",
    singular="clusterprofile",
    list_kind="ClusterProfileList",
    namespaced=True,
    versions=(
        Version(
            "v1alpha1",
            parts.kind("One cluster of an inventory.", _SPEC, _STATUS, needs_spec=True),
            (
                PrinterColumn("Display Name", "string", ".spec.displayName"),
                PrinterColumn("Manager", "string", ".spec.clusterManager.name"),
                PrinterColumn("Version", "string", ".status.version.kubernetes"),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
