"""Placements over the generated fleets: predicates, tolerations, prioritizers, groups, spread, from a seed.

Faults are rare and mostly come alone, so that upstream's choice of the first one is not the question.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tests.differential.placement.fleets import (
    CLOUDS,
    EFFECTS,
    GROUP,
    NAMESPACE,
    PRODUCT_VERSIONS,
    REGIONS,
    RESOURCES,
    SCORES,
    SETS,
    TAINT_KEYS,
    TAINT_VALUES,
    TIERS,
    ZONES,
)

if TYPE_CHECKING:
    import random

    from tests.differential.placement.fleets import Object

NAME: Final = "chosen"
LABELS: Final = {"cloud": CLOUDS, "region": REGIONS, "zone": ZONES, "tier": TIERS, "cores": ("8", "16"), "none": ("x",)}
CLAIMS: Final = {
    "platform.open-cluster-management.io": ("AWS", "Azure"),
    "version.openshift.io": PRODUCT_VERSIONS[:3],
    "region.open-cluster-management.io": REGIONS,
}
BUILT_IN: Final = ("Balance", "Steady", "ResourceAllocatableCPU", "ResourceAllocatableMemory")

# Expressions of the kind people write; many fail on some clusters, which then are no match.
EXPRESSIONS: Final = (
    "managedCluster.metadata.labels.cloud == 'Amazon'",
    "managedCluster.metadata.labels['tier'] in ['gold', 'silver']",
    "'zone' in managedCluster.metadata.labels && managedCluster.metadata.labels.zone != 'c'",
    "has(managedCluster.metadata.annotations) && managedCluster.metadata.annotations.note.parseJSON().owner == 'blue'",
    "managedCluster.metadata.annotations['note'].parseJSON().n > 2",
    "managedCluster.metadata.name.matches('^cluster[0-9]$')",
    "managedCluster.metadata.labels['region'].startsWith('eu-')",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'version.openshift.io' && c.value.startsWith('4.1'))",
    "managedCluster.status.clusterClaims.filter(c, c.name.contains('region')).map(c, c.value) == ['eu-west-1']",
    "managedCluster.status.clusterClaims.all(c, size(c.value) > 2)",
    "semver(managedCluster.status.version.kubernetes).isLessThan(semver('1.31.0'))",
    "isSemver(managedCluster.status.version.kubernetes)",
    "managedCluster.status.clusterClaims.exists_one(c, c.name == 'version.openshift.io' && "
    "semver(c.value).major() == 4)",
    "quantity(managedCluster.status.allocatable.memory).isGreaterThan(quantity('7Gi'))",
    "quantity(managedCluster.status.allocatable['cpu']).compareTo(quantity(managedCluster.status.capacity['cpu'])) < 1",
    "managedCluster.scores('usage').filter(s, s.name == 'cpu').all(s, s.value >= 50)",
    "managedCluster.scores('latency').exists(s, s.name == 'ms' && s.value < 60)",
    "managedCluster.scores('usage').size() == 3 || managedCluster.metadata.labels.cloud == 'Azure'",
    "managedCluster.status.conditions.exists(c, c.type == 'ManagedClusterConditionAvailable' && c.status == 'True')",
    "!has(managedCluster.spec.taints) || managedCluster.spec.taints.size() < 2",
    "managedCluster.metadata.labels.nothing == 'x' || managedCluster.metadata.labels.cloud == 'Google'",
    "int(managedCluster.metadata.labels.cores) >= 16",
    "managedCluster.spec.hubAcceptsClient",
    "managedCluster.metadata.labels.?tier.orValue('none') != 'none'",
    "managedCluster.metadata.labels.region.split('-')[1] == 'west'",
    "managedCluster.metadata.labels.cloud",
    "true",
    "false",
    "1 / 0 == 1",
)
# As the specification writes them, with what upstream ships for the same.
SPECIFICATION: Final = {
    "parseJSON(managedCluster.metadata.annotations['note']).n == 3": (
        "managedCluster.metadata.annotations['note'].parseJSON().n == 3"
    ),
    "scores(managedCluster, 'usage').exists(s, s.value > 0)": ("managedCluster.scores('usage').exists(s, s.value > 0)"),
}
NOT_BOOLEAN: Final = ("1 + 1", "managedCluster", "'yes'")
BROKEN: Final = (
    "managedCluster.metadata.labels.cloud ==",
    "cluster.metadata.name == 'x'",
    "managedCluster.metadata.name.startsWiht('x')",
    "'a' + 1 == 2",
)


def a_placement(chance: random.Random) -> Object:
    spec: Object = {}
    if chance.random() < 0.4:
        spec["clusterSets"] = chance.sample((*SETS, "global", "gold", "absent"), chance.randint(1, 3))
    if chance.random() < 0.6:
        spec["numberOfClusters"] = chance.choice((0, 1, 1, 2, 3, 5, 8, 50))
    if chance.random() < 0.75:
        spec["predicates"] = [a_predicate(chance) for _ in range(chance.choice((1, 1, 1, 2, 3)))]
    if chance.random() < 0.55:
        spec["tolerations"] = [a_toleration(chance) for _ in range(chance.choice((1, 1, 2, 3)))]
    spec["prioritizerPolicy"] = a_policy(chance) if chance.random() < 0.7 else {}
    if chance.random() < 0.35:
        spec["decisionStrategy"] = {"groupStrategy": a_strategy(chance)}
    if chance.random() < 0.08:
        spec["spreadPolicy"] = a_spread(chance)
    if chance.random() < 0.05:
        spec["sortBy"] = "Score"
    return {
        "apiVersion": f"{GROUP}/v1beta1",
        "kind": "Placement",
        "metadata": {"name": NAME, "namespace": NAMESPACE, "uid": "6f2c5a7e-0000-4000-8000-000000000001"},
        "spec": spec,
    }


def a_predicate(chance: random.Random) -> Object:
    selector: Object = {}
    if chance.random() < 0.5:
        selector["labelSelector"] = labels_wanted(chance)
    if chance.random() < 0.35:
        selector["claimSelector"] = {"matchExpressions": [an_expression(chance, CLAIMS)]}
    if chance.random() < 0.5:
        selector["celSelector"] = {"celExpressions": [a_rule(chance) for _ in range(chance.choice((1, 1, 2)))]}
    return {"requiredClusterSelector": selector}


def a_rule(chance: random.Random) -> str:
    drawn = chance.random()
    if drawn < 0.03:
        return chance.choice(tuple(SPECIFICATION))
    if drawn < 0.035:
        return chance.choice(NOT_BOOLEAN)
    return chance.choice(BROKEN if drawn < 0.045 else EXPRESSIONS)


def labels_wanted(chance: random.Random) -> Object:
    selector: Object = {}
    if chance.random() < 0.6:
        key = chance.choice(("cloud", "region", "tier", "zone"))
        selector["matchLabels"] = {key: chance.choice(LABELS[key])}
    if chance.random() < 0.6:
        selector["matchExpressions"] = [an_expression(chance, LABELS) for _ in range(chance.choice((1, 1, 2)))]
    return selector


def an_expression(chance: random.Random, known: dict[str, Any]) -> Object:
    key = chance.choice(tuple(known))
    operator = chance.choice(("In", "In", "NotIn", "Exists", "DoesNotExist"))
    expression: Object = {"key": key, "operator": operator}
    if operator in ("In", "NotIn"):
        values = known[key]
        expression["values"] = [chance.choice(values) for _ in range(chance.randint(1, 3))]
    if chance.random() < 0.01:
        fault = chance.choice(("operator", "key", "values"))
        expression[fault] = {"operator": "Near", "key": "not a key", "values": ["not a value!"]}[fault]
    return expression


def a_toleration(chance: random.Random) -> Object:
    toleration: Object = {
        "key": chance.choice(TAINT_KEYS),
        "operator": chance.choice(("Equal", "Exists", "Exists", "")),
    }
    if toleration["operator"] != "Exists":
        toleration["value"] = chance.choice(TAINT_VALUES)
    elif chance.random() < 0.15:
        del toleration["key"]
    if chance.random() < 0.4:
        toleration["effect"] = chance.choice(EFFECTS)
    if chance.random() < 0.4:
        toleration["tolerationSeconds"] = chance.choice((0, 1, 60, 61, 300, 3600, 10**10))
    if chance.random() < 0.01:
        return chance.choice(({"operator": "Equal"}, {"key": "gpu", "operator": "Exists", "value": "true"}))
    return toleration


def a_policy(chance: random.Random) -> Object:
    policy: Object = {"mode": chance.choice(("Additive", "Exact", "Exact", ""))}
    if chance.random() < 0.01:
        policy["mode"] = "Subtractive"
    configurations = []
    for _ in range(chance.randint(0, 4)):
        if chance.random() < 0.6:
            coordinate: Object = {"type": "BuiltIn", "builtIn": chance.choice(BUILT_IN)}
            if chance.random() < 0.01:
                coordinate["builtIn"] = "Spread"
        else:
            add_on = {
                "resourceName": chance.choice((*RESOURCES, "absent")),
                "scoreName": chance.choice((*SCORES, "no")),
            }
            coordinate = {"type": "AddOn", "addOn": add_on}
        configurations.append({"scoreCoordinate": coordinate, "weight": chance.choice((-10, -1, 0, 1, 1, 2, 10))})
    return policy | {"configurations": configurations}


def a_strategy(chance: random.Random) -> Object:
    strategy: Object = {}
    if chance.random() < 0.7:
        strategy["clustersPerDecisionGroup"] = chance.choice((1, 2, 3, 10, "1%", "25%", "30%", "50%", "100%"))
    if chance.random() < 0.02:
        strategy["clustersPerDecisionGroup"] = chance.choice(("many", "2"))
    groups = []
    for number in range(chance.randint(0, 3)):
        selector: Object = {"labelSelector": labels_wanted(chance)} if chance.random() < 0.8 else {}
        if chance.random() < 0.3:
            selector["claimSelector"] = {"matchExpressions": [an_expression(chance, CLAIMS)]}
        groups.append({"groupName": chance.choice(("canary", f"wave-{number}")), "groupClusterSelector": selector})
    return strategy | {"decisionGroups": groups}


def a_spread(chance: random.Random) -> Object:
    terms = []
    for key, kind in chance.sample(
        (("region", "Label"), ("zone", "Label"), ("cloud", "Label"), ("region.open-cluster-management.io", "Claim")),
        chance.choice((1, 1, 2)),
    ):
        action = chance.choice(("ScheduleAnyway", "DoNotSchedule"))
        term = {"topologyKey": key, "topologyKeyType": kind, "maxSkew": chance.choice((1, 1, 2, 3))}
        terms.append(term | {"whenUnsatisfiable": action})
    return {"spreadConstraints": terms}
