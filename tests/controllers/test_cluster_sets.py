"""What the controllers say of cluster sets and bindings, and what a set that cannot be evaluated does to placements."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from muster.api import managed_cluster_set
from muster.clustersets.pairs import PairRules
from muster.controllers.cluster_sets import pair_condition, problem_condition
from muster.controllers.permissions import CONTROLLERS, RULES
from muster.placement import rule_of
from muster.selectors.membership import DEFAULT_KEY
from muster.selectors.membership import SETS as A_SET
from tests.builders import a_binding, a_cluster, a_placement, a_set
from tests.controllers.running import APPS, CLUSTERS, GROUP, SETS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

BROKEN = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": [{"key": "a", "operator": "Like"}]}}
BINDINGS = f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings"
HUB_NAMESPACE = "/api/v1/namespaces/open-cluster-management-hub"
PAIRS = f"{HUB_NAMESPACE}/configmaps"


def by_key(name: str, key: str) -> dict[str, Any]:
    return a_set(name, exclusiveKey=key)


def the_pairs(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "clusterset-validation"}, "data": data}


def test_a_set_without_problems_has_no_condition_for_them() -> None:
    assert problem_condition(rule_of(A_SET.demanded(by_key("apac", "region")))) == {}
    assert problem_condition(rule_of(A_SET.demanded(a_set("gpu", {"gpu": "yes"})))) == {}


def test_a_set_that_cannot_be_evaluated_says_so() -> None:
    assert problem_condition(rule_of(A_SET.demanded(a_set("odd", clusterSelector={"selectorType": "Odd"})))) == {
        "ClusterSetUsable": (
            "False",
            "SelectorInvalid",
            "spec.clusterSelector.selectorType: selectorType is not right: Odd; "
            "no cluster joins by it, and placements keep what they have decided",
        )
    }


def test_a_name_that_no_label_can_have_is_told() -> None:
    assert problem_condition(rule_of(A_SET.demanded(a_set("a" * 64, clusterSelector={})))) == {
        "ClusterSetUsable": (
            "False",
            "NameTooLong",
            f"no cluster can join: the name would be a value of the label {DEFAULT_KEY}, "
            "and those have at most 63 characters",
        )
    }


@pytest.mark.parametrize(
    ("config_map", "condition"),
    [
        (the_pairs(region="apac"), ("True", "PairAllowed", "")),
        (
            the_pairs(zone="apac"),
            (
                "False",
                "PairNotAllowed",
                "ConfigMap open-cluster-management-hub/clusterset-validation does not allow region=apac: "
                "the name 'apac' goes only with exclusiveKey zone",
            ),
        ),
        (
            the_pairs(region="Apac"),
            (
                "Unknown",
                "PairRulesInvalid",
                "ConfigMap open-cluster-management-hub/clusterset-validation cannot be read, so it allows no set: "
                "data[region]: 'Apac' cannot be the name of a set; commas separate names",
            ),
        ),
    ],
)
def test_a_set_is_judged_by_the_pairs_that_are_allowed(config_map: Any, condition: tuple[str, str, str]) -> None:
    assert pair_condition(PairRules.parse(config_map), A_SET.demanded(by_key("apac", "region"))) == {
        "PairAllowed": condition
    }


def test_without_a_config_map_nothing_is_said_of_pairs() -> None:
    assert pair_condition(None, A_SET.demanded(by_key("apac", "region"))) == {}


def test_the_pairs_can_be_watched_by_their_name_alone() -> None:
    rule = {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": ["clusterset-validation"]}
    assert rule | {"verbs": ["list", "watch"]} in RULES[CONTROLLERS]


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        yield driver


def condition_message(hub: Driver, path: str, kind: str) -> str | None:
    conditions = ((hub.get(path) or {}).get("status") or {}).get("conditions") or []
    return next((each["message"] for each in conditions if each["type"] == kind), None)


@pytest.mark.e2e
def test_member_counts_follow_the_exclusive_key(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.create(by_key("apac", "region"), by_key("us", "region"))

        def count(name: str) -> str | None:
            return condition_message(hub, f"{SETS}/{name}", "ClusterSetEmpty")

        eventually(lambda: count("apac"), "No ManagedCluster selected")
        hub.create(*(a_cluster(name, {"region": "apac"}) for name in "abc"))
        eventually(lambda: count("apac"), "3 ManagedClusters selected")
        hub.patch(f"{CLUSTERS}/a", {"metadata": {"labels": {"region": "us"}}})
        eventually(lambda: (count("apac"), count("us")), ("2 ManagedClusters selected", "1 ManagedClusters selected"))
        for version in ("v1beta1", "v1alpha1"):
            path = SETS.replace("v1beta2", version)
            assert condition_message(hub, f"{path}/us", "ClusterSetEmpty") == "1 ManagedClusters selected"


@pytest.mark.e2e
def test_sets_in_every_version_are_the_same_to_placements(hub: Driver) -> None:
    forms = {
        "v1alpha1": {"exclusiveKey": "region"},
        "v1beta1": {"exclusiveKey": "region", "clusterSelector": {"selectorType": "LegacyClusterSetLabel"}},
        "v1beta2": {"exclusiveKey": "region", "clusterSelector": {"selectorType": "ExclusiveClusterSetLabel"}},
    }
    with controllers(hub.hub):
        for version, spec in forms.items():
            body = by_key(f"s-{version}", "region") | {
                "apiVersion": f"cluster.open-cluster-management.io/{version}",
                "spec": spec,
            }
            hub.send("POST", SETS.replace("v1beta2", version), body)
            hub.create(a_binding(f"s-{version}"), a_cluster(f"c-{version}", {"region": f"s-{version}"}))
        hub.create(a_placement("p1"))
        eventually(hub.decided, ["c-v1alpha1", "c-v1beta1", "c-v1beta2"])


@pytest.mark.e2e
def test_pairs_are_judged_again_when_the_config_map_changes(hub: Driver) -> None:
    hub.send("POST", "/api/v1/namespaces", {"metadata": {"name": "open-cluster-management-hub"}})
    with controllers(hub.hub) as manager:
        hub.create(by_key("apac", "vendor"), a_binding("apac"), a_cluster("a", {"vendor": "apac"}), a_placement("p1"))
        eventually(hub.decided, ["a"])

        def pair() -> tuple[str, str] | None:
            return hub.condition(f"{SETS}/apac", "PairAllowed")

        assert pair() is None
        hub.send("POST", PAIRS, the_pairs(region="apac, us", vendor="aws, gcp"))
        eventually(pair, ("False", "PairNotAllowed"))
        eventually(lambda: hub.condition(f"{SETS}/default", "PairAllowed"), ("True", "PairAllowed"))
        # What is there is not undone.
        assert hub.decided() == ["a"]
        hub.patch(f"{PAIRS}/clusterset-validation", {"data": {"vendor": "apac"}})
        eventually(pair, ("True", "PairAllowed"))
        hub.patch(f"{PAIRS}/clusterset-validation", {"data": {"pairs.yaml": "- apac"}})
        eventually(pair, ("Unknown", "PairRulesInvalid"))
        other = the_pairs(region="apac") | {"metadata": {"name": "another"}}
        hub.send("POST", PAIRS, other)
        hub.send("DELETE", f"{PAIRS}/clusterset-validation")
        eventually(pair, None)
        eventually(lambda: manager.idle, True)
        assert pair() is None


@pytest.mark.e2e
def test_a_set_that_cannot_be_evaluated_blocks_no_placement_and_is_named(
    hub: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Our hub refuses such a set; a server without our checks, or an older hub, has it.
    monkeypatch.setattr(managed_cluster_set, "_selector_causes", lambda *_: [])
    with controllers(hub.hub):
        hub.create(by_key("apac", "region"), a_set("odd", clusterSelector=BROKEN), a_binding("apac"), a_binding("odd"))
        hub.create(a_cluster("a", {"region": "apac"}), a_cluster("b"), a_placement("p1"))
        eventually(hub.decided, ["a"])
        path = f"{APPS}/placements/p1"
        eventually(lambda: hub.condition(path, "PlacementSatisfied"), ("True", "AllDecisionsScheduled"))
        assert hub.condition(path, "ClusterSetsUsable") == ("False", "ClusterSetsSkipped")
        assert "odd: " in str(condition_message(hub, path, "ClusterSetsUsable"))
        eventually(lambda: hub.condition(f"{SETS}/odd", "ClusterSetUsable"), ("False", "SelectorInvalid"))
        assert hub.condition(f"{SETS}/odd", "ClusterSetEmpty") == ("Unknown", "SelectorInvalid")
        eventually(lambda: hub.condition(f"{BINDINGS}/odd", "Bound"), ("True", "ClusterSetBound"))
        mended = {"selectorType": "LabelSelector", "labelSelector": {"matchExpressions": None}}
        hub.patch(f"{SETS}/odd", {"spec": {"clusterSelector": mended}})
        eventually(hub.decided, ["a", "b"])
        eventually(lambda: hub.condition(path, "ClusterSetsUsable"), None)
        eventually(lambda: hub.condition(f"{SETS}/odd", "ClusterSetUsable"), None)
        hub.patch(f"{SETS}/odd", {"spec": {"clusterSelector": BROKEN}})
        # A mistake removes nothing: the members by its last good rule stay.
        eventually(lambda: hub.condition(path, "ClusterSetsUsable"), ("False", "LastGoodMembersKept"))
        eventually(lambda: hub.condition(f"{SETS}/odd", "ClusterSetUsable"), ("False", "SelectorInvalid"))
        assert hub.decided() == ["a", "b"]
        assert condition_message(hub, f"{SETS}/odd", "ClusterSetEmpty") == "2 ManagedClusters selected"
        hub.send("DELETE", f"{SETS}/odd")
        eventually(hub.decided, ["a"])
        eventually(lambda: hub.condition(f"{BINDINGS}/odd", "Bound"), ("False", "ClusterSetNotFound"))
        eventually(lambda: hub.condition(path, "ClusterSetsUsable"), None)


@pytest.mark.e2e
def test_a_built_in_set_with_members_comes_back(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.create(a_cluster("a"))

        def message() -> str | None:
            return condition_message(hub, f"{SETS}/default", "ClusterSetEmpty")

        eventually(message, "1 ManagedClusters selected")
        before = hub.get(f"{SETS}/default")["metadata"]["uid"]
        hub.send("DELETE", f"{SETS}/default")
        eventually(lambda: (hub.get(f"{SETS}/default") or {}).get("metadata", {}).get("uid") in (None, before), False)
        eventually(message, "1 ManagedClusters selected")
