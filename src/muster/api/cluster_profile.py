"""ClusterProfile: a cluster as the multicluster inventory API describes it, for tools that know only that API.

How it goes with ManagedClusters is in `profile_forms`.
"""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.parts import Condition, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version

GROUP: Final = "multicluster.x-k8s.io"


class ClusterManager(Part, frozen=True):
    name: str = ""


class ClusterProfileSpec(Node, frozen=True):
    display_name: str = ""
    cluster_manager: ClusterManager = ClusterManager()


class ProfileVersion(Part, frozen=True):
    kubernetes: str = ""


class ProfileProperty(Part, frozen=True):
    name: str = ""
    value: str = ""
    last_observed_time: str | None = None


class ProvidedCluster(Part, frozen=True):
    """Where a cluster is reached, as a kubeconfig says it."""

    server: str = ""
    certificate_authority_data: str = msgspec.field(default="", name="certificate-authority-data")


class AccessProvider(Node, frozen=True):
    name: str = ""
    cluster: ProvidedCluster = ProvidedCluster()


class ClusterProfileStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    version: ProfileVersion = ProfileVersion()
    properties: tuple[ProfileProperty, ...] = ()
    access_providers: tuple[AccessProvider, ...] = ()
    credential_providers: tuple[AccessProvider, ...] = ()


class ClusterProfile(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ClusterProfileSpec = ClusterProfileSpec()
    status: ClusterProfileStatus = ClusterProfileStatus()


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
_PROVIDER = parts.obj(
    "One way to the cluster: a provider that consumers know by its name, and where it leads.",
    ("name",),
    {
        "name": parts.string("The provider, such as secretreader."),
        "cluster": parts.obj(
            "The cluster as a kubeconfig describes it, without anybody's credentials.",
            ("server",),
            {
                "server": parts.string("The address of its API server."),
                "tls-server-name": parts.string(
                    "The name that its certificate has, if it is another than the address."
                ),
                "insecure-skip-tls-verify": parts.boolean("Whether nobody looks at its certificate."),
                "certificate-authority": parts.string("A file of certificates to trust, where the consumer is."),
                "certificate-authority-data": parts.string("The certificates to trust, in PEM.", format="byte"),
                "proxy-url": parts.string("The proxy on the way."),
                "disable-compression": parts.boolean("Whether answers are to come uncompressed."),
                "extensions": parts.array(
                    parts.obj(
                        "Something that a provider knows what to do with.",
                        ("extension", "name"),
                        {
                            "name": parts.string("What it is, such as client.authentication.k8s.io/exec."),
                            "extension": {
                                "description": "Whatever that takes: an object, a list or a text.",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    ),
                    "More about the cluster, for those who know it.",
                ),
            },
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
        "accessProviders": parts.map_list(_PROVIDER, ("name",), "How consumers get to the cluster."),
        "credentialProviders": parts.map_list(
            _PROVIDER, ("name",), "The old name of accessProviders, which win where both name a provider."
        ),
    },
)

CLUSTER_PROFILE: Final = Resource(
    group=GROUP,
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
