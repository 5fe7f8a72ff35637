"""The fleets that outputs are recorded over: the demo's, and one of odd cases."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from muster.demo.fleet import Fleet, fleet_objects
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint

if TYPE_CHECKING:
    from collections.abc import Iterator

Object = dict[str, Any]
LABELS: Final = "managedCluster.metadata.labels"
CLAIMS: Final = "managedCluster.status.clusterClaims"
SET_LABEL: Final = "cluster.open-cluster-management.io/clusterset"


def demo() -> list[Object]:
    """As `muster demo` makes it, without hosts."""
    return list(fleet_objects(Fleet(clusters=24, hosts=0)))


def odd() -> list[Object]:
    """A few clusters and sets of every odd kind, and a placement for every reason there is."""
    return [*_sets(), *_clusters(), *_scores(), *_placements()]


def _sets() -> Iterator[Object]:
    yield a_set("global")
    yield a_set("prod", clusterSelector={"selectorType": "ExclusiveClusterSetLabel"})
    yield a_set("eu", {"region": "eu"})
    yield a_set("broken", clusterSelector={"selectorType": "NoSuchType"})
    yield a_set("nobody", clusterSelector={"selectorType": "LabelSelector", "labelSelector": None})
    yield a_set("empty", {"never": "there"})
    for name, namespace in (
        ("global", "apps"),
        ("prod", "shop"),
        ("eu", "shop"),
        ("broken", "shop"),
        ("broken", "bad"),
        ("nobody", "void"),
        ("empty", "void"),
    ):
        yield a_binding(name, namespace)


def _clusters() -> Iterator[Object]:
    unavailable = a_taint("cluster.open-cluster-management.io/unavailable", added="2020-01-01T00:00:00Z")
    yield a_cluster("a1", {"tier": "gold", "region": "eu", "zone": "e1", SET_LABEL: "prod"}, {"id": "7", "os": "linux"})
    yield a_cluster("a2", {"tier": "gold", "region": "eu", "zone": "e2"}, {"id": "x", "os": "linux"})
    yield a_cluster("a3", {"tier": "silver", "region": "us", "zone": "u1", "note": "a1"}, {"id": "12", "os": "windows"})
    yield a_cluster("b1", {"tier": 'o\'hara "q"', "region": "us"}, {"os": "ok\nnewline"})
    yield a_cluster("b2", {}, {})
    yield a_cluster("t1", {"tier": "gold", "region": "eu"}, {"id": "1"}, [a_taint("gpu", value="reserved")])
    yield a_cluster("t2", {"tier": "gold", "region": "us"}, {"id": "2"}, [unavailable])
    yield a_cluster("t3", {"tier": "gold", "region": "ap"}, {"id": "3"}, [a_taint("slow", "PreferNoSelect")])
    yield a_cluster(
        "t4", {"tier": "gold"}, {"id": "4"}, [a_taint("busy", "NoSelectIfNew", added="2096-01-01T00:00:00Z")]
    )
    leaving = a_cluster("z9", {"tier": "gold", "region": "eu"}, {"id": "9"})
    leaving["metadata"]["deletionTimestamp"] = "2025-01-01T00:00:00Z"
    yield leaving


def _scores() -> Iterator[Object]:
    yield a_score("a1", {"cpu": 20})
    yield a_score("a2", {"cpu": 80}, valid_until="2020-01-01T00:00:00Z")
    yield a_score("a3", {"cpu": -5})


def _selecting(name: str, namespace: str = "apps", **selector: Any) -> Object:
    spec = {key: selector.pop(key) for key in list(selector) if not key.endswith("Selector")}
    return a_placement(name, namespace, predicates=[{"requiredClusterSelector": selector}], **spec)


def _cel(name: str, *texts: str, **spec: Any) -> Object:
    return _selecting(name, celSelector={"celExpressions": list(texts)}, **spec)


def _placements() -> Iterator[Object]:
    yield a_placement("everything")
    yield a_placement("two", numberOfClusters=2)
    yield a_placement("none-wanted", numberOfClusters=0)
    yield _selecting("gold", labelSelector={"matchLabels": {"tier": "gold"}})
    many = [{"key": "tier", "operator": "In", "values": [f"value-{n:03}" for n in range(40)]}]
    yield _selecting("many-values", labelSelector={"matchExpressions": many})
    yield _selecting(
        "several",
        labelSelector={
            "matchLabels": {"tier": "gold"},
            "matchExpressions": [
                {"key": "region", "operator": "NotIn", "values": ["us"]},
                {"key": "zone", "operator": "Exists"},
                {"key": "note", "operator": "DoesNotExist"},
            ],
        },
    )
    yield _selecting("claims", claimSelector={"matchLabels": {"os": "linux"}}, numberOfClusters=1)
    yield _cel("false", f'{LABELS}["tier"] == "bronze"')
    yield _cel("no-key", f'{LABELS}["zone"] == "e1"')
    yield _cel("convert", f"{CLAIMS}.exists(c, c.name == 'id' && int(c.value) > 5)")
    yield _cel("own-value-as-key", f"{LABELS}[{LABELS}['tier']] == 'x'")
    yield _cel("division", f"10 / (size({LABELS}) - 3) == 1")
    yield _cel("no-boolean", f"dyn({LABELS}['tier'])")
    yield _cel("two-expressions", f"has({LABELS}.tier)", f"{LABELS}.tier == 'gold' && {LABELS}.region == 'us'")
    yield _cel("either", f"{LABELS}[?'tier'].orValue('') == 'silver' || {LABELS}[?'zone'].orValue('') == 'e2'")
    yield _cel("chosen", f"has({LABELS}.zone) ? {LABELS}.zone == 'u1' : {LABELS}.tier == 'gold'")
    yield _cel("scores", "managedCluster.scores('usage').exists(s, s.name == 'cpu' && s.value > 10)")
    yield _cel("regex", f"{LABELS}['tier'].matches({LABELS}['tier'] + '[')")
    yield _cel("json", f"parseJSON({LABELS}['tier'] + '{{').x == 1")
    yield _cel("many-parts", " && ".join(f"{LABELS}.size() > {n}" for n in range(-12, 3)))
    alternatives = [
        {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"tier": "bronze"}}}},
        {"requiredClusterSelector": {"celSelector": {"celExpressions": [f"int({LABELS}['tier']) == 1"]}}},
        {"requiredClusterSelector": {"claimSelector": {"matchLabels": {"id": "7"}}}},
    ]
    yield a_placement("alternatives", predicates=alternatives)
    tolerations = [{"key": "gpu", "operator": "Exists"}, {"key": "slow", "operator": "Exists"}]
    yield a_placement("tolerant", tolerations=tolerations, numberOfClusters=7)
    timed = [{"key": "cluster.open-cluster-management.io/unavailable", "operator": "Exists", "tolerationSeconds": 60}]
    yield a_placement("timed", tolerations=[*timed, {"key": "busy", "operator": "Exists", "tolerationSeconds": 600}])
    required = {"topologyKey": "region", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"}
    yield a_placement("spread", numberOfClusters=3, spreadPolicy={"spreadConstraints": [required]})
    anyway = {"topologyKey": "os", "topologyKeyType": "Claim", "whenUnsatisfiable": "ScheduleAnyway"}
    yield a_placement("spread-anyway", numberOfClusters=2, spreadPolicy={"spreadConstraints": [anyway]})
    usage = {"type": "AddOn", "addOn": {"resourceName": "usage", "scoreName": "cpu"}}
    policy = {"mode": "Exact", "configurations": [{"scoreCoordinate": usage, "weight": 2}]}
    yield a_placement("scored", prioritizerPolicy=policy, numberOfClusters=1)
    yield a_placement("unbound", "elsewhere")
    yield a_placement("named-unbound", "apps", clusterSets=["prod", "eu"])
    yield a_placement("in-sets", "shop")
    yield a_placement("in-prod", "shop", clusterSets=["prod"])
    yield a_placement("in-broken", "bad")
    yield a_placement("in-nothing", "void")
    yield _cel("typo", f"{LABELS}['tier'].matchess('x')")
    yield a_placement("bad-scorer", prioritizerPolicy={"mode": "Sometimes"})
    yield a_placement("groups", decisionStrategy={"groupStrategy": {"clustersPerDecisionGroup": "a lot"}})
