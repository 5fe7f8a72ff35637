"""A whole fleet: namespaces, cluster sets and bindings, clusters with scores, placements, hosts, purposes."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.demo.clusters import GROUP, SCORE_NAME, ClusterFacts, a_cluster, a_score
from muster.demo.hosts import NAMESPACE as HOSTS
from muster.demo.hosts import an_agent, classifications
from muster.demo.operators import NAMESPACE as OPERATORS
from muster.demo.operators import resolutions
from muster.values.json import JsonObject

if TYPE_CHECKING:
    from collections.abc import Iterator


_ENVIRONMENTS = ("dev", "prod", "stage")
_APPS = "apps"
_SETS_OF_TEAMS = ("payments", "search")  # exclusive by the label `team`, beside the sets by environment
_NEWER_THAN_1_30 = 'semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))'
_OPENMCP = "clusters.openmcp.cloud/v1alpha1"


@dataclass(frozen=True, slots=True)
class Fleet:
    """What to make: how many clusters and hosts, and the seed that decides everything else."""

    clusters: int = 48
    hosts: int = 24
    seed: int = 1


def fleet_objects(fleet: Fleet) -> Iterator[JsonObject]:
    """All objects of the fleet in an order in which they can be created, one at a time, whatever their number."""
    for name in (_APPS, HOSTS, OPERATORS, "purposes"):
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    yield from _sets_and_bindings()
    for index in range(fleet.clusters):
        cluster = a_cluster(fleet.seed, index)
        yield cluster.object
        yield {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": cluster.name}}
        yield a_score(fleet.seed, cluster)
        if "accelerator" in cluster.object["metadata"]["labels"]:
            yield _profile(cluster)
    yield from _placements()
    for index in range(fleet.hosts):
        yield an_agent(fleet.seed, index)
    yield from classifications()
    yield from resolutions()
    yield from _purposes(fleet.seed)


def _sets_and_bindings() -> Iterator[JsonObject]:
    for environment in _ENVIRONMENTS:
        yield {
            "apiVersion": f"{GROUP}/v1beta2",
            "kind": "ManagedClusterSet",
            "metadata": {"name": f"{environment}-clusters"},
            "spec": {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}},
        }
    yield {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": "gpu"},
        "spec": {
            "clusterSelector": {
                "selectorType": "LabelSelector",
                "labelSelector": {"matchLabels": {"accelerator": "nvidia-h100"}},
            }
        },
    }
    for team in _SETS_OF_TEAMS:
        yield {
            "apiVersion": f"{GROUP}/v1beta2",
            "kind": "ManagedClusterSet",
            "metadata": {"name": team},
            "spec": {"clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}, "exclusiveKey": "team"},
        }
    for name in (*(f"{environment}-clusters" for environment in _ENVIRONMENTS), "gpu", "payments"):
        yield {
            "apiVersion": f"{GROUP}/v1beta2",
            "kind": "ManagedClusterSetBinding",
            "metadata": {"name": name, "namespace": _APPS},
            "spec": {"clusterSet": name},
        }


def _placements() -> Iterator[JsonObject]:
    score_of_cpu = {
        "scoreCoordinate": {
            "type": "AddOn",
            "addOn": {"resourceName": SCORE_NAME, "scoreName": "cpuAvailable"},
        },
        "weight": 2,
    }
    specs: dict[str, JsonObject] = {
        "checkout": {
            "clusterSets": ["prod-clusters"],
            "numberOfClusters": 3,
            "predicates": [_requires(labelSelector={"matchLabels": {"cloud": "Amazon"}})],
            "prioritizerPolicy": {"mode": "Exact", "configurations": [score_of_cpu]},
        },
        "modern-kubernetes": {
            "predicates": [_requires(celSelector={"celExpressions": [_NEWER_THAN_1_30]})],
        },
        "training": {
            "clusterSets": ["gpu"],
            "tolerations": [{"key": "gpu", "operator": "Equal", "value": "reserved"}],
            "predicates": [
                _requires(
                    claimSelector={
                        "matchExpressions": [
                            {
                                "key": "platform.open-cluster-management.io",
                                "operator": "In",
                                "values": ["Amazon", "Azure"],
                            }
                        ]
                    }
                )
            ],
        },
        "payments-anywhere": {"clusterSets": ["payments"], "numberOfClusters": 2},
        "spread-over-regions": {
            "clusterSets": ["prod-clusters", "stage-clusters"],
            "numberOfClusters": 6,
            "spreadPolicy": {
                "spreadConstraints": [
                    {
                        "topologyKey": "region",
                        "topologyKeyType": "Label",
                        "maxSkew": 1,
                        "whenUnsatisfiable": "ScheduleAnyway",
                    }
                ]
            },
        },
    }
    for name, spec in specs.items():
        yield {
            "apiVersion": f"{GROUP}/v1beta1",
            "kind": "Placement",
            "metadata": {"name": name, "namespace": _APPS},
            "spec": spec,
        }


def _profile(cluster: ClusterFacts) -> JsonObject:
    """The cluster for tools that know only the multicluster inventory API."""
    status = cluster.object["status"]
    return {
        "apiVersion": "multicluster.x-k8s.io/v1alpha1",
        "kind": "ClusterProfile",
        "metadata": {
            "name": cluster.name,
            "namespace": _APPS,
            "labels": {"x-k8s.io/cluster-manager": "muster", "multicluster.x-k8s.io/clusterset": "gpu"},
        },
        "spec": {"displayName": cluster.name, "clusterManager": {"name": "muster"}},
        "status": {
            "version": status["version"],
            "properties": [
                {"name": claim["name"], "value": claim["value"]} for claim in status["clusterClaims"] if claim["value"]
            ],
        },
    }


def _requires(**selectors: Any) -> JsonObject:
    return {"requiredClusterSelector": selectors}


def _purposes(seed: int) -> Iterator[JsonObject]:
    chance = random.Random(f"{seed}/purposes")  # noqa: S311 - made-up data, not a secret
    for number, purposes in enumerate((["onboarding"], ["platform", "mcp"], ["workload"], ["workload", "gpu"])):
        yield {
            "apiVersion": _OPENMCP,
            "kind": "Cluster",
            "metadata": {"name": f"mcp-{number}", "namespace": "purposes"},
            "spec": {
                "profile": chance.choice(("default", "small")),
                "purposes": purposes,
                "tenancy": "Shared" if number % 2 else "Exclusive",
                "kubernetes": {"version": "1.32"},
            },
        }
    yield {
        "apiVersion": _OPENMCP,
        "kind": "ClusterRequest",
        "metadata": {"name": "build-farm", "namespace": "purposes"},
        "spec": {"purpose": "workload"},
    }
