"""Fleets to place on: clusters, sets, bindings, scores and what others have decided, from a seed.

A fleet's values are few on purpose: labels, taints and scores meet and tie all the time. It does not know placements.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    import random

Object = dict[str, Any]

GROUP: Final = "cluster.open-cluster-management.io"
SET_LABEL: Final = f"{GROUP}/clusterset"
NAMESPACE: Final = "apps"
NOW: Final = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)
SETS: Final = ("default", "dev", "prod")
REGIONS: Final = ("eu-west-1", "eu-north-1", "us-east-1", "ap-south-1")
ZONES: Final = ("a", "b", "c")
CLOUDS: Final = ("Amazon", "Azure", "Google")
TIERS: Final = ("gold", "silver", "")
VERSIONS: Final = ("v1.28.4", "v1.29.1", "v1.30.0-rc.1", "v1.31.2", "1.30.0", "")
PRODUCT_VERSIONS: Final = ("4.14.3", "4.15.0", "4.16.0-rc.2", "not a version")
TAINT_KEYS: Final = (f"{GROUP}/unavailable", f"{GROUP}/unreachable", "gpu", "maintenance")
TAINT_VALUES: Final = ("", "true", "week-9")
EFFECTS: Final = ("NoSelect", "NoSelect", "NoSelectIfNew", "PreferNoSelect")
RESOURCES: Final = ("usage", "latency")
SCORES: Final = ("cpu", "memory", "ms")
CPUS: Final = ("1", "4", "3500m", "16", "0")
MEMORIES: Final = ("4Gi", "8192Mi", "64Gi", "500M", "1e9")


def time_text(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def a_fleet(chance: random.Random, size: int) -> dict[str, Any]:
    """The objects of a case but for its placement."""
    names = cluster_names(chance, size)
    clusters = [a_cluster(chance, name) for name in names]
    return {
        "now": time_text(NOW),
        "clusters": clusters,
        "clusterSets": some_sets(chance),
        "clusterSetBindings": [
            a_binding(name) for name in (*SETS, "global", "gold", "missing", "broken") if chance.random() < 0.6
        ],
        "addOnPlacementScores": [
            a_score(chance, name, resource) for name in names for resource in RESOURCES if chance.random() < 0.5
        ],
        "placementDecisions": others_decisions(chance, names),
    }


def cluster_names(chance: random.Random, size: int) -> list[str]:
    """Names whose order by text is not their order by number."""
    return [f"cluster{number}" for number in chance.sample(range(1, 4 * size + 1), size)]


def a_cluster(chance: random.Random, name: str) -> Object:
    labels = {"name": name, "cloud": chance.choice(CLOUDS), "region": chance.choice(REGIONS)}
    if chance.random() < 0.85:
        labels[SET_LABEL] = chance.choice(SETS)
    if chance.random() < 0.7:
        labels["zone"] = chance.choice(ZONES)
    if chance.random() < 0.6:
        labels["tier"] = chance.choice(TIERS)
    if chance.random() < 0.3:
        labels["cores"] = chance.choice(("8", "16", "032", "many"))
    metadata: Object = {"name": name, "labels": labels, "creationTimestamp": time_text(NOW - timedelta(days=30))}
    if chance.random() < 0.2:
        metadata["annotations"] = {"note": chance.choice(("{}", '{"owner":"blue","n":3}', "not json"))}
    if chance.random() < 0.04:
        metadata |= {"deletionTimestamp": time_text(NOW), "finalizers": ["example.com/hold"]}
    spec: Object = {"hubAcceptsClient": chance.random() < 0.95, "leaseDurationSeconds": 60}
    if chance.random() < 0.35:
        spec["taints"] = [a_taint(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "ManagedCluster",
        "metadata": metadata,
        "spec": spec,
        "status": a_status(chance),
    }


def a_taint(chance: random.Random) -> Object:
    taint = {
        "key": chance.choice(TAINT_KEYS),
        "effect": chance.choice(EFFECTS),
        "timeAdded": time_text(NOW - timedelta(seconds=chance.choice((0, 1, 59, 60, 61, 300, 86400)))),
    }
    if value := chance.choice(TAINT_VALUES):
        taint["value"] = value
    return taint


def a_status(chance: random.Random) -> Object:
    available = chance.choice(("True", "True", "True", "False", "Unknown"))
    conditions = [
        {
            "type": "ManagedClusterConditionAvailable",
            "status": available,
            "reason": "Seen",
            "message": "",
            "lastTransitionTime": time_text(NOW - timedelta(hours=1)),
        }
    ]
    claims = [
        {"name": "platform.open-cluster-management.io", "value": chance.choice(("AWS", "Azure", "None"))},
        {"name": "version.openshift.io", "value": chance.choice(PRODUCT_VERSIONS)},
    ]
    if chance.random() < 0.5:
        claims.append({"name": "region.open-cluster-management.io", "value": chance.choice(REGIONS)})
    if chance.random() < 0.1:
        claims.append({"name": "version.openshift.io", "value": "4.99.0"})  # the last of two counts
    status: Object = {
        "conditions": conditions,
        "clusterClaims": claims if chance.random() < 0.9 else [],
        "version": {"kubernetes": chance.choice(VERSIONS)},
    }
    for field in ("allocatable", "capacity"):
        figures = {"cpu": chance.choice(CPUS), "memory": chance.choice(MEMORIES)}
        status[field] = {name: figure for name, figure in figures.items() if chance.random() < 0.85}
    return status


def some_sets(chance: random.Random) -> list[Object]:
    exclusive = {"selectorType": "ExclusiveClusterSetLabel"}
    sets = [a_set("default", exclusive), a_set("global", _by_labels({})), a_set("dev", exclusive)]
    sets.append(a_set("prod", exclusive if chance.random() < 0.8 else None))
    gold: Object = {"matchLabels": {"tier": "gold"}}
    if chance.random() < 0.5:
        gold = {"matchExpressions": [{"key": "region", "operator": "In", "values": list(chance.sample(REGIONS, 2))}]}
    sets.append(a_set("gold", _by_labels(gold)))
    if chance.random() < 0.06:
        sets.append(
            a_set("broken", _by_labels({"matchExpressions": [{"key": "x", "operator": "Near", "values": ["y"]}]}))
        )
    return [each for each in sets if chance.random() < 0.95]


def _by_labels(selector: Object) -> Object:
    return {"selectorType": "LabelSelector", "labelSelector": selector}


def a_set(name: str, selector: Object | None) -> Object:
    spec = {} if selector is None else {"clusterSelector": selector}
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSet",
        "metadata": {"name": name},
        "spec": spec,
    }


def a_binding(name: str) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta2",
        "kind": "ManagedClusterSetBinding",
        "metadata": {"name": name, "namespace": NAMESPACE},
        "spec": {"clusterSet": name},
    }


def a_score(chance: random.Random, cluster: str, resource: str) -> Object:
    status: Object = {
        "scores": [
            {"name": name, "value": chance.choice((-100, -37, 0, 1, 50, 99, 100))}
            for name in SCORES
            if chance.random() < 0.7
        ]
    }
    if chance.random() < 0.4:
        status["validUntil"] = time_text(NOW + timedelta(seconds=chance.choice((-3600, -1, 0, 1, 120, 86400))))
    return {
        "apiVersion": f"{GROUP}/v1alpha1",
        "kind": "AddOnPlacementScore",
        "metadata": {"name": resource, "namespace": cluster},
        "status": status,
    }


def others_decisions(chance: random.Random, names: list[str]) -> list[Object]:
    """What other placements have decided; also for clusters that are not there."""
    pages = []
    for number in range(chance.choice((0, 0, 1, 2, 3))):
        placement = chance.choice(("other", "another"))
        namespace = chance.choice((NAMESPACE, "elsewhere"))
        chosen = chance.sample(names, chance.randint(0, len(names))) + (["gone"] if chance.random() < 0.2 else [])
        pages.append(a_page(f"{placement}-decision-{number + 1}", namespace, placement, chosen))
    return pages


def a_page(
    name: str, namespace: str, placement: str, clusters: list[str], group: tuple[str, str] = ("", "0")
) -> Object:
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "PlacementDecision",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "labels": {
                f"{GROUP}/placement": placement,
                f"{GROUP}/decision-group-name": group[0],
                f"{GROUP}/decision-group-index": group[1],
            },
        },
        "status": {"decisions": [{"clusterName": each, "reason": ""} for each in clusters]},
    }
