"""ManagedCluster: one cluster of the fleet, what it claims, what it offers and what repels placements from it."""

from __future__ import annotations

from typing import Final

import msgspec

from muster.api import parts
from muster.api.cel_rules import ITEMS, CelRule
from muster.api.parts import Condition, Identity, Node, ObjectMeta, Part
from muster.api.resource import PrinterColumn, Resource, Version
from muster.values.names import DNS_LABEL, NAME_LENGTH

GROUP: Final = "cluster.open-cluster-management.io"
TAINT_EFFECTS: Final = ("NoSelect", "PreferNoSelect", "NoSelectIfNew")


Amount = str | int | float
"""A quantity as it is written: `muster.values.quantity` says whether it is one."""


class ClientConfig(Part, frozen=True):
    url: str = ""
    ca_bundle: str = ""


class Taint(Part, frozen=True):
    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class ManagedClusterSpec(Node, frozen=True):
    managed_cluster_client_configs: tuple[ClientConfig, ...] = ()
    hub_accepts_client: bool = False
    lease_duration_seconds: int = 0
    taints: tuple[Taint, ...] = ()


class ManagedClusterVersion(Part, frozen=True):
    kubernetes: str = ""


class NameValue(Part, frozen=True):
    """A claim or a property."""

    name: str = ""
    value: str = ""


class ManagedClusterStatus(Node, frozen=True):
    conditions: tuple[Condition, ...] = ()
    capacity: dict[str, Amount] = msgspec.field(default_factory=dict)
    allocatable: dict[str, Amount] = msgspec.field(default_factory=dict)
    version: ManagedClusterVersion = ManagedClusterVersion()
    cluster_claims: tuple[NameValue, ...] = ()
    properties: tuple[NameValue, ...] = ()


class ManagedCluster(Node, frozen=True):
    metadata: ObjectMeta = ObjectMeta()
    spec: ManagedClusterSpec = ManagedClusterSpec()
    status: ManagedClusterStatus = ManagedClusterStatus()


class ConditionStatus(Part, frozen=True):
    type: str = ""
    status: str = ""


class ClusterHealthSpec(Part, frozen=True):
    hub_accepts_client: bool = False
    taints: tuple[Taint, ...] = ()


class ClusterHealthStatus(Part, frozen=True):
    conditions: tuple[ConditionStatus, ...] = ()
    version: ManagedClusterVersion = ManagedClusterVersion()
    capacity: dict[str, Amount] = msgspec.field(default_factory=dict)
    allocatable: dict[str, Amount] = msgspec.field(default_factory=dict)


class ClusterHealth(Node, frozen=True):
    """A ManagedCluster as far as every heartbeat is looked at: most of a cluster is claims, which nobody needs then."""

    metadata: Identity = Identity()
    spec: ClusterHealthSpec = ClusterHealthSpec()
    status: ClusterHealthStatus = ClusterHealthStatus()


# A server estimates what rules about addresses can cost, and takes none for a list without an end.
_MOST_ADDRESSES: Final = 100
_LONGEST_ADDRESS: Final = 2048

_NAMED_VALUE = {
    "name": parts.string("A well-known or custom name.", maxLength=253, minLength=1),
    "value": parts.string("What the name stands for.", maxLength=1024, minLength=1),
}

_SPEC = parts.obj(
    "How the hub and the cluster's agent work together.",
    properties={
        "hubAcceptsClient": parts.boolean(
            "Whether the hub accepts the cluster. Setting it needs the permission to update managedclusters/accept."
        ),
        "leaseDurationSeconds": parts.integer("How often the agent renews its lease, in seconds.", default=60),
        "managedClusterClientConfigs": parts.array(
            parts.obj(
                "One address of the cluster's API server.",
                properties={
                    "url": parts.string("The address.", maxLength=_LONGEST_ADDRESS),
                    "caBundle": parts.string("The certificates to trust; the system's if empty.", format="byte"),
                },
            ),
            "Where the cluster's API server can be reached.",
            maxItems=_MOST_ADDRESSES,
        ),
        "taints": parts.array(
            parts.obj(
                "Repels every placement that does not tolerate it.",
                ("effect", "key"),
                {
                    "key": parts.string("The taint's key.", maxLength=316, pattern=parts.QUALIFIED_NAME_PATTERN),
                    "value": parts.string("The taint's value.", maxLength=1024),
                    "effect": parts.string(
                        "What happens to placements that do not tolerate the taint.", enum=list(TAINT_EFFECTS)
                    ),
                    "timeAdded": parts.time("When the taint was added.", nullable=True),
                },
            ),
            "What keeps placements from selecting the cluster.",
        ),
    },
)

_STATUS = parts.obj(
    "What is known of the cluster.",
    properties={
        "conditions": parts.CONDITIONS,
        "capacity": {
            "type": "object",
            "description": "All resources of the cluster.",
            "additionalProperties": parts.quantity(),
        },
        "allocatable": {
            "type": "object",
            "description": "The resources that workloads may use.",
            "additionalProperties": parts.quantity(),
        },
        "version": parts.obj(
            "Versions of the cluster's software.", properties={"kubernetes": parts.string("Its Kubernetes version.")}
        ),
        "clusterClaims": parts.array(
            parts.obj("A fact the cluster states about itself.", properties=_NAMED_VALUE),
            "Facts the cluster states about itself.",
        ),
        "properties": parts.array(
            parts.obj("A property of the cluster.", properties=_NAMED_VALUE),
            "Properties of the cluster, another name for claims.",
        ),
        "managedNamespaces": parts.map_list(
            parts.obj(
                "A namespace that a cluster set manages on the cluster.",
                ("clusterSet", "name"),
                {
                    "name": parts.string("The namespace.", maxLength=63, pattern="^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"),
                    "clusterSet": parts.string("The set that manages it."),
                    "conditions": parts.ATOMIC_CONDITIONS,
                },
            ),
            ("clusterSet", "name"),
            "Namespaces that cluster sets manage on the cluster.",
        ),
    },
)

CEL_RULES: Final = (
    CelRule(
        "!has(self.spec.managedClusterClientConfigs) || size(self.spec.managedClusterClientConfigs) == 0 || "
        f"(size(self.metadata.name) <= {NAME_LENGTH} && self.metadata.name.matches('^{DNS_LABEL}$')) || "
        "(oldSelf.hasValue() && has(oldSelf.value().spec.managedClusterClientConfigs) && "
        "size(oldSelf.value().spec.managedClusterClientConfigs) > 0)",
        "metadata.name format is not correct: it must be able to name a namespace, which is a lowercase RFC 1123 label "
        f"of at most {NAME_LENGTH} characters",
        optional_old=True,
    ),
    CelRule(
        "has(self.url) && isURL(self.url) && url(self.url).getScheme() == 'https'",
        "url is invalid in client configs",
        at=("spec", "managedClusterClientConfigs", ITEMS),
        field=".url",
        message_expression="'url \"' + (has(self.url) ? self.url : '') + '\" is invalid in client configs'",
    ),
)

MANAGED_CLUSTER: Final = Resource(
    group=GROUP,
    kind="ManagedCluster",
    plural="managedclusters",
    singular="managedcluster",
    list_kind="ManagedClusterList",
    namespaced=False,
    short_names=("mcl", "mcls"),
    cel_rules=CEL_RULES,
    versions=(
        Version(
            "v1",
            parts.kind("A cluster of the fleet.", _SPEC, _STATUS, needs_spec=True),
            (
                PrinterColumn("Hub Accepted", "boolean", ".spec.hubAcceptsClient"),
                PrinterColumn("Managed Cluster URLs", "string", ".spec.managedClusterClientConfigs[*].url"),
                parts.condition_column("Joined", "ManagedClusterJoined"),
                parts.condition_column("Available", "ManagedClusterConditionAvailable"),
                parts.AGE,
            ),
            status=True,
        ),
    ),
)
