"""Clusters as a platform team would see them: labels, claims, taints, capacity, conditions, scores.

Every cluster is made from (seed, index) alone, so that a larger fleet starts with the smaller one.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from muster.values.json import JsonObject

GROUP = "cluster.open-cluster-management.io"
SCORE_NAME = "resource-usage-score"
REGIONS = {
    "Amazon": ("us-east-1", "us-west-2", "eu-west-1", "eu-central-1", "ap-southeast-1"),
    "Azure": ("eastus", "westeurope", "northeurope", "japaneast"),
    "Google": ("us-central1", "europe-west4", "asia-east1"),
    "BareMetal": ("fra-dc1", "ams-dc2", "nyc-dc1"),
}
_CLOUDS = tuple(REGIONS)
_CLOUD_WEIGHTS = (45, 25, 20, 10)
_VENDORS = {
    "Amazon": ("EKS", "OpenShift"),
    "Azure": ("AKS", "OpenShift"),
    "Google": ("GKE",),
    "BareMetal": ("OpenShift",),
}
_MINORS = (27, 28, 29, 30, 31, 32)
_MINOR_WEIGHTS = (3, 9, 18, 30, 28, 12)
_TIERS = ("gold", "silver", "bronze")
_ENVIRONMENTS = ("prod", "prod", "prod", "stage", "dev", "dev")
_TEAMS = ("payments", "search", "mobile", "data", "edge", "core")
_SKUS = ("g6.xlarge", "m6i.4xlarge", "Standard_D8s_v5", "Standard_NC48ads_H100", "m3-ultramem-32", "c3-standard-22")
_ORIGIN = datetime(2026, 1, 5, 8, 0, tzinfo=UTC)
_HEX = "0123456789abcdef"


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What the other objects of the fleet need to know about a cluster."""

    name: str
    environment: str
    team: str
    region: str
    object: JsonObject


def a_cluster(seed: int, index: int) -> ClusterFacts:
    """The cluster with this index in the fleet with this seed."""
    chance = random.Random(f"{seed}/{index}")  # noqa: S311 - made-up data, not a secret
    cloud = chance.choices(_CLOUDS, _CLOUD_WEIGHTS)[0]
    region = chance.choice(REGIONS[cloud])
    environment = chance.choice(_ENVIRONMENTS)
    team = chance.choice(_TEAMS)
    name = f"{environment}-{region}-{index:05d}"
    kubernetes = f"1.{chance.choices(_MINORS, _MINOR_WEIGHTS)[0]}.{chance.randrange(12)}"
    vendor = chance.choice(_VENDORS[cloud])
    nodes = chance.choice((3, 5, 8, 12, 24, 60))
    cpu, memory = nodes * 16, nodes * 64
    gpu = chance.random() < 0.12
    available = chance.random() > 0.04
    created = _ORIGIN + timedelta(minutes=index % 400_000, seconds=chance.randrange(60))
    labels = {
        "cloud": cloud,
        "region": region,
        "environment": environment,
        "team": team,
        "tier": chance.choice(_TIERS),
        "vendor": vendor,
        "version": kubernetes,
        f"{GROUP}/clusterset": f"{environment}-clusters",
        "feature.open-cluster-management.io/addon-application-manager": "available",
        "feature.open-cluster-management.io/addon-work-manager": "available" if available else "unhealthy",
        "velero.io/exclude-from-backup": "true",
    }
    if gpu:
        labels["accelerator"] = "nvidia-h100"
    spec: JsonObject = {
        "hubAcceptsClient": True,
        "leaseDurationSeconds": 60,
        "managedClusterClientConfigs": [
            {
                "url": f"https://api.{name}.example.com:6443",
                "caBundle": "".join(chance.choices(_HEX, k=400)),
            }
        ],
    }
    taints = []
    if not available:
        taints.append(_taint(f"{GROUP}/unreachable", "", "NoSelect", created))
    if gpu and chance.random() < 0.7:
        taints.append(_taint("gpu", "reserved", "NoSelect", created))
    if chance.random() < 0.03:
        taints.append(_taint("maintenance", "planned", "PreferNoSelect", created))
    if taints:
        spec["taints"] = taints
    claims = {
        "id.k8s.io": "".join(chance.choices(_HEX, k=32)),
        "kubeversion.open-cluster-management.io": kubernetes,
        "platform.open-cluster-management.io": cloud,
        "product.open-cluster-management.io": vendor,
        "region.open-cluster-management.io": region,
        "consoleurl.cluster.open-cluster-management.io": f"https://console.{name}.example.com",
        "controlplanetopology.openshift.io": "HighlyAvailable" if nodes > 3 else "SingleReplica",
        "nodecount.example.com": str(nodes),
    }
    properties = [{"name": "sku.node.k8s.io", "value": ",".join(sorted(chance.sample(_SKUS, 3)))}]
    if gpu:
        properties.append(
            {
                "name": "sku.gpu.kubernetes-fleet.io",
                "value": f'{{"H100":[{{"Standard_NC96ads_H100_v4":{chance.randrange(1, 5)}}}]}}',
            }
        )
    used = chance.uniform(0.2, 0.95)
    status = {
        "version": {"kubernetes": f"v{kubernetes}"},
        "capacity": {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": str(nodes * 110)},
        "allocatable": {
            "cpu": f"{int(cpu * 960)}m",
            "memory": f"{int(memory * 0.94 * 1024)}Mi",
            "pods": str(nodes * 110),
        },
        "clusterClaims": [{"name": key, "value": value} for key, value in claims.items()],
        "properties": properties,
        "conditions": _conditions(created, available),
    }
    cluster = {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ManagedCluster",
        "metadata": {
            "name": name,
            "labels": labels,
            "annotations": {"agent.open-cluster-management.io/klusterlet-config": "default", "usage": f"{used:.3f}"},
        },
        "spec": spec,
        "status": status,
    }
    return ClusterFacts(name, environment, team, region, cluster)


def a_score(seed: int, cluster: ClusterFacts) -> JsonObject:
    """What a resource-usage add-on reports about the cluster."""
    chance = random.Random(f"{seed}/score/{cluster.name}")  # noqa: S311 - made-up data, not a secret
    cpu = chance.randrange(0, 64)
    memory = chance.randrange(1, 256)
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "AddOnPlacementScore",
        "metadata": {"name": SCORE_NAME, "namespace": cluster.name},
        "status": {
            "conditions": [],
            "scores": [
                {"name": "cpuAvailable", "value": min(100, cpu * 3 - 90), "quantity": str(cpu)},
                {"name": "memAvailable", "value": min(100, memory - 100), "quantity": f"{memory}Gi"},
            ],
        },
    }


def _taint(key: str, value: str, effect: str, added: datetime) -> JsonObject:
    taint = {"key": key, "effect": effect, "timeAdded": _time(added)}
    return taint | {"value": value} if value else taint


def _conditions(created: datetime, available: bool) -> list[JsonObject]:
    def condition(kind: str, status: str, reason: str, message: str) -> JsonObject:
        return {
            "type": kind,
            "status": status,
            "reason": reason,
            "message": message,
            "lastTransitionTime": _time(created),
        }

    state = ("True", "ManagedClusterAvailable", "Managed cluster is available")
    if not available:
        state = ("Unknown", "ManagedClusterLeaseUpdateStopped", "Registration agent stopped updating its lease.")
    return [
        condition("HubAcceptedManagedCluster", "True", "HubClusterAdminAccepted", "Accepted by hub cluster admin"),
        condition("ManagedClusterJoined", "True", "ManagedClusterJoined", "Managed cluster joined"),
        condition("ManagedClusterConditionAvailable", *state),
    ]


def _time(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")
