"""The controllers against a hub over HTTP."""

from __future__ import annotations

import json
import threading
from typing import TYPE_CHECKING, Any

import pytest

from tests.builders import a_binding, a_cluster, a_placement, a_set, a_taint
from tests.controllers.running import APPS, CLUSTERS, SETS, Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        yield driver


def labels_wanted(**labels: str) -> list[dict[str, Any]]:
    return [{"requiredClusterSelector": {"labelSelector": {"matchLabels": labels}}}]


def test_decisions_appear_and_follow_the_fleet(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.create(a_binding("global"), a_placement("p1", predicates=labels_wanted(cloud="Amazon")))
        hub.create(a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"}))
        eventually(hub.decided, ["a"])
        hub.patch(f"{CLUSTERS}/b", {"metadata": {"labels": {"cloud": "Amazon"}}})
        eventually(hub.decided, ["a", "b"])
        hub.patch(f"{CLUSTERS}/a", {"spec": {"taints": [a_taint("broken")]}})
        eventually(hub.decided, ["b"])
        hub.send("DELETE", f"{CLUSTERS}/b")
        eventually(hub.decided, [])
        path = f"{APPS}/placements/p1"
        eventually(lambda: hub.condition(path, "PlacementSatisfied"), ("False", "NoManagedClusterMatched"))
        assert hub.get(path)["status"]["numberOfSelectedClusters"] == 0


def test_a_typo_is_shown_and_evicts_nobody(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.create(a_binding("global"), a_cluster("a"), a_placement("p1"))
        eventually(hub.decided, ["a"])
        bad = {"celSelector": {"celExpressions": ["managedCluster.metadata.nam.matchess('a')"]}}
        hub.patch(f"{APPS}/placements/p1", {"spec": {"predicates": [{"requiredClusterSelector": bad}]}})
        path = f"{APPS}/placements/p1"
        eventually(lambda: hub.condition(path, "PlacementMisconfigured"), ("True", "Misconfigured"))
        assert hub.condition(path, "PlacementSatisfied") == ("False", "NoManagedClusterMatched")
        assert hub.decided() == ["a"]
        hub.patch(path, {"spec": {"predicates": None}})
        eventually(lambda: hub.condition(path, "PlacementSatisfied"), ("True", "AllDecisionsScheduled"))


def test_a_restart_alone_writes_nothing(hub: Driver) -> None:
    hub.create(a_binding("global"), *(a_cluster(name) for name in "abc"), a_placement("p1", numberOfClusters=2))
    with controllers(hub.hub) as manager:
        eventually(hub.decided, ["a", "b"])
        eventually(lambda: hub.condition(f"{SETS}/global", "ClusterSetEmpty"), ("False", "ClustersSelected"))
        eventually(lambda: hub.condition(f"{SETS}/default", "ClusterSetEmpty") is not None, True)
        eventually(lambda: manager.idle, True)
    before = hub.hub.revision
    with controllers(hub.hub) as manager:
        eventually(lambda: manager.idle, True)
    assert hub.hub.revision == before


def test_a_cluster_that_stays_selected_is_in_a_decision_at_every_moment(hub: Driver) -> None:
    names = [f"c{number:03d}" for number in range(150)]
    hub.create(a_binding("global"), *(a_cluster(name) for name in names), a_placement("p1"))
    with controllers(hub.hub):
        eventually(lambda: len(hub.decided()), 150)
        revision = hub.get(f"{APPS}/placementdecisions")["metadata"]["resourceVersion"]
        pages = {
            page["metadata"]["name"]: {each["clusterName"] for each in page["status"]["decisions"]}
            for page in hub.get(f"{APPS}/placementdecisions")["items"]
        }
        staying = set(names[20:])
        missing: list[set[str]] = []

        def watch() -> None:
            path = f"{APPS}/placementdecisions?watch=true&resourceVersion={revision}&timeoutSeconds=4"
            _, _, answer = hub.hub.request("GET", path)
            for line in answer.splitlines():
                event = json.loads(line)
                name = event["object"]["metadata"]["name"]
                decisions = event["object"].get("status", {}).get("decisions", [])
                pages[name] = set() if event["type"] == "DELETED" else {each["clusterName"] for each in decisions}
                missing.append(staying - set().union(*pages.values()))

        watcher = threading.Thread(target=watch)
        watcher.start()
        for name in names[:20]:  # clusters of the second page move to the first
            hub.send("DELETE", f"{CLUSTERS}/{name}")
        eventually(lambda: len(hub.decided()), 130)
        watcher.join()
    assert missing
    assert not any(missing)


def test_sets_and_bindings_say_how_they_are(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.create(a_set("gpu", {"gpu": "yes"}), a_binding("gpu"), a_binding("nowhere"))
        path = f"{APPS.replace('v1beta1', 'v1beta2')}/managedclustersetbindings"
        eventually(lambda: hub.condition(f"{path}/gpu", "Bound"), ("True", "ClusterSetBound"))
        eventually(lambda: hub.condition(f"{path}/nowhere", "Bound"), ("False", "ClusterSetNotFound"))
        eventually(lambda: hub.condition(f"{SETS}/gpu", "ClusterSetEmpty"), ("True", "NoClusterMatched"))
        hub.create(a_cluster("a", {"gpu": "yes"}))
        eventually(lambda: hub.condition(f"{SETS}/gpu", "ClusterSetEmpty"), ("False", "ClustersSelected"))
        edited = {"spec": {"clusterSelector": {"selectorType": "LabelSelector", "labelSelector": {}}}}
        hub.patch(f"{SETS}/default", edited)
        eventually(
            lambda: hub.get(f"{SETS}/default")["spec"]["clusterSelector"],
            {"selectorType": "ExclusiveClusterSetLabel"},
        )


def test_a_cluster_that_is_not_available_is_tainted_until_it_is(hub: Driver) -> None:
    with controllers(hub.hub):
        hub.send("POST", CLUSTERS, a_cluster("a"))
        taints = lambda: [each["key"] for each in hub.get(f"{CLUSTERS}/a")["spec"].get("taints", [])]  # noqa: E731
        eventually(taints, ["cluster.open-cluster-management.io/unreachable"])
        condition = {"type": "ManagedClusterConditionAvailable", "status": "False", "reason": "x", "message": ""}
        when = {"lastTransitionTime": "2026-01-01T00:00:00Z"}
        hub.patch(f"{CLUSTERS}/a/status", {"status": {"conditions": [condition | when]}})
        eventually(taints, ["cluster.open-cluster-management.io/unavailable"])
        hub.patch(f"{CLUSTERS}/a/status", {"status": {"conditions": [condition | when | {"status": "True"}]}})
        eventually(taints, [])


@pytest.mark.parametrize("policy", ["Background", "Foreground", "Orphan"])
def test_decisions_go_with_their_placement_as_its_deletion_asks(hub: Driver, policy: str) -> None:
    with controllers(hub.hub):
        hub.create(a_binding("global"), a_cluster("a"), a_placement("p1"))
        eventually(hub.decided, ["a"])
        hub.send("DELETE", f"{APPS}/placements/p1", {"propagationPolicy": policy})
        eventually(lambda: hub.get(f"{APPS}/placements/p1"), None)
        page = f"{APPS}/placementdecisions/p1-decision-1"
        if policy == "Orphan":
            assert "ownerReferences" not in hub.get(page)["metadata"]
        else:
            eventually(lambda: hub.get(page), None)


def test_a_dependent_whose_owner_never_was_goes_too(hub: Driver) -> None:
    with controllers(hub.hub):
        owner = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "name": "ghost",
            "uid": "00000000-0000-0000-0000-000000000001",
        }
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "orphan", "ownerReferences": [owner]}}
        hub.send("POST", "/api/v1/namespaces/apps/configmaps", body)
        eventually(lambda: hub.get("/api/v1/namespaces/apps/configmaps/orphan"), None)


def test_an_owner_in_another_namespace_counts_as_none_and_an_event_says_so(hub: Driver) -> None:
    with controllers(hub.hub):
        owner = hub.send("POST", "/api/v1/namespaces/apps/configmaps", {"metadata": {"name": "owner"}})["metadata"]
        reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": owner["uid"]}
        body = {"metadata": {"name": "abroad", "ownerReferences": [reference]}}
        hub.send("POST", "/api/v1/namespaces/default/configmaps", body)
        eventually(lambda: hub.get("/api/v1/namespaces/default/configmaps/abroad"), None)
        told = (
            f"ownerRef [v1/ConfigMap, namespace: default, name: owner, uid: {owner['uid']}] "
            'does not exist in namespace "default"'
        )
        eventually(
            lambda: [
                (each["reason"], each["message"]) for each in hub.get("/api/v1/namespaces/default/events")["items"]
            ],
            [("OwnerRefInvalidNamespace", told)],
        )


def test_owners_named_like_requests_are_only_names(hub: Driver) -> None:
    with controllers(hub.hub):
        for number, name in enumerate(("?watch=true&x=", "?watch=true&x=", "x?limit=1", "a#b")):
            reference = {"apiVersion": "v1", "kind": "ConfigMap", "name": name, "uid": "never-existed"}
            body = {"metadata": {"name": f"c{number}", "ownerReferences": [reference]}}
            hub.send("POST", "/api/v1/namespaces/apps/configmaps", body)
        eventually(lambda: hub.get("/api/v1/namespaces/apps/configmaps")["items"], [])


def test_a_cluster_with_an_owner_that_never_was_stays_and_that_is_told(hub: Driver) -> None:
    version = "cluster.open-cluster-management.io/v1"
    ghost = {"apiVersion": version, "kind": "ManagedCluster", "name": "ghost", "uid": "never-existed"}
    with controllers(hub.hub):
        hub.create(a_cluster("a"))
        hub.patch(f"{CLUSTERS}/a", {"metadata": {"ownerReferences": [ghost]}})
        events = "/api/v1/namespaces/default/events"
        eventually(lambda: [each["reason"] for each in hub.get(events)["items"]], ["OwnerNeverSeen"])
        assert hub.get(f"{CLUSTERS}/a") is not None


def test_a_cluster_on_which_expressions_cost_too_much_is_not_selected_and_counted(hub: Driver) -> None:
    ten = "[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]"
    loops = f"{ten}.all(a, {ten}.all(b, {ten}.all(c, {ten}.all(d, {ten}.all(e, a + b + c + d + e >= NUMBER - 100)))))"
    # Each is within the limit of one expression; together they are beyond that of one cluster.
    expressions = [loops.replace("NUMBER", str(number)) for number in range(20)]
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": expressions}}}
    with controllers(hub.hub):
        hub.create(a_binding("global"), a_cluster("a"), a_placement("dear", predicates=[selector]))
        path = f"{APPS}/placements/dear"
        eventually(lambda: hub.condition(path, "PredicatesEvaluated"), ("False", "EvaluationErrors"))
        conditions = hub.get(path)["status"]["conditions"]
        (message,) = [each["message"] for each in conditions if each["type"] == "PredicatesEvaluated"]
        assert message.startswith("1 clusters are not selected because an expression failed: reasons: ")
        assert "budget exceeded: it costs too much" in message
        assert hub.decided("dear") == []
