"""Every question gets the same answer from the hub, from an observer that lists and from one that watches.

`tests/kubernetes/test_same_answers.py` asks a Kubernetes server the same. The hub has the demo fleet, decided by its
controllers. Homes are asked as their administrator.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any, Final

import msgspec
import pytest

from muster.api.fleet_questions import QUESTIONS
from muster.client import Client, load_connection
from muster.client.asking import LOCAL, SERVER, Answer, Asker, ServerAsker
from muster.errors import ApiError
from muster.hub.local_plans import planned_locally
from muster.questions.asked import served
from muster.questions.local import LocalAsker, utc_now, watching
from muster.questions.local_fleet import LocalFleet
from muster.questions.local_previews import ResolvedHere
from tests.controllers.processes import hub_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

pytestmark = pytest.mark.slow
LABELS: Final = "managedCluster.metadata.labels"
CLUSTER: Final = "dev-eastus-00047"
CHECKOUT: Final = {"namespace": "apps", "name": "checkout"}
AMAZON: Final = {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}
UNSAVED: Final = {
    "metadata": {"name": "unsaved", "namespace": "apps"},
    "spec": {
        "numberOfClusters": 4,
        "predicates": [{"requiredClusterSelector": AMAZON}],
        "prioritizerPolicy": {
            "configurations": [{"scoreCoordinate": {"builtIn": "ResourceAllocatableCPU"}, "weight": 2}]
        },
    },
}
PLANNED: Final = {"apiVersion": "cluster.open-cluster-management.io/v1beta1", "kind": "Placement", **UNSAVED} | {
    "metadata": {"name": "checkout", "namespace": "apps"}
}
CLUSTER_KIND: Final = {"apiVersion": "cluster.open-cluster-management.io/v1", "kind": "ManagedCluster"}
SET_LABEL: Final = "cluster.open-cluster-management.io/clusterset"
CLASSIFYING: Final = {
    "apiVersion": "agent-install.openshift.io/v1beta1",
    "kind": "AgentClassification",
    "metadata": {"name": "size-huge", "namespace": "hosts"},
    "spec": {"labelKey": "size", "labelValue": "huge", "query": ".cpu.count >= 64"},
}
ABSENT: Final = {"name": "nobodys", "configMap": {"name": "nowhere"}}
ROWS: Final = {"fields": [{"name": "region", "expression": f"{LABELS}.region"}], "limit": 7, "offset": 2}
ASKED: Final[list[tuple[str, dict[str, Any]]]] = [
    ("FleetEvaluation", {"expression": f"{LABELS}.cloud == 'Amazon'", "rows": ROWS, "distinct": f"{LABELS}.tier"}),
    ("FleetEvaluation", {"expression": f"{LABELS}.nothing == 'x'", "rows": {"show": "Failed", "limit": 3}}),
    ("FleetEvaluation", {"expression": f"{LABELS}.cloud =="}),
    ("FleetEvaluation", {"expression": "managedCluster.scores('resource-usage')", "rows": {"show": "All"}}),
    ("FleetEvaluation", {"predicates": [{"requiredClusterSelector": AMAZON}], "rows": {"sortBy": f"{LABELS}.region"}}),
    ("FleetEvaluation", {"placement": UNSAVED, "rows": {"show": "All", "limit": 100}}),
    ("FleetEvaluation", {"selector": {"matchLabels": {"tier": "gold"}}, "namespace": "apps"}),
    ("FleetEvaluation", {"resource": "clusterprofiles", "rows": {"show": "All"}}),
    ("FleetEvaluation", {"resource": "clusters", "expression": "object.metadata.name.startsWith('c')"}),
    ("FleetEvaluation", {"resource": "clusterrequests", "selector": {"matchPurposes": []}}),
    ("FleetFacets", {}),
    ("FleetFacets", {"expression": f"{LABELS}.cloud == 'Amazon'", "facets": ["label", "set", "condition"]}),
    ("Completion", {"expression": f"{LABELS}.tier == '"}),
    ("Completion", {"expression": "managedCluster.status.cl"}),
    ("PlacementExplanation", CHECKOUT),
    ("PlacementExplanation", {**CHECKOUT, "cluster": CLUSTER, "limit": 1}),
    ("PlacementExplanation", {"placement": UNSAVED, "limit": 2}),
    ("PlacementExplanation", {"namespace": "apps", "name": "training"}),
    ("ClusterExplanation", {"name": CLUSTER}),
    ("ClusterExplanation", {"name": CLUSTER, "namespace": "apps", "offset": 1, "limit": 2}),
    ("SetExplanation", {"name": "prod-clusters", "limit": 3}),
    ("SetExplanation", {"name": "global", "offset": 5}),
    ("Plan", {"objects": [PLANNED], "forceConflicts": True, "guards": {"failIfRemoves": 1, "failIfEmpty": True}}),
    ("Plan", {"labels": [{**CLUSTER_KIND, "name": CLUSTER, "labels": {SET_LABEL: "prod-clusters", "tier": None}}]}),
    ("Plan", {"delete": [{**CLUSTER_KIND, "name": "prod-eu-central-1-00023"}, {**CLUSTER_KIND, "name": "nowhere"}]}),
    ("Plan", {"objects": [CLASSIFYING, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "new"}}]}),
    ("Plan", {"objects": [{**PLANNED, "spec": {"numberOfClusters": -1}}], "forceConflicts": True, "token": "p1.x.y"}),
    ("ClassificationPreview", {"namespace": "hosts"}),
    ("ClassificationPreview", {"classification": CLASSIFYING, "rows": {"show": "Changed", "limit": 5}}),
    ("ClassificationPreview", {"namespace": "hosts", "query": ".cpu.count / 0", "explain": True}),
    ("ClassificationPreview", {"query": "1 +"}),
    ("ClassificationPreview", {"among": [CLASSIFYING], "rows": {"offset": 3}}),
    ("ResolutionPreview", {"namespace": "operators", "name": "shop-with-legacydb"}),
    ("ResolutionPreview", {"namespace": "operators", "resolution": {"spec": {"wants": [], "catalogs": [ABSENT]}}}),
    ("JoinReview", {}),
    ("JoinReview", {"set": "prod-clusters", "cluster": CLUSTER}),
    ("JoinReview", {"user": "dora", "set": "prod-clusters", "cluster": CLUSTER}),
    ("JoinReview", {"user": "dora", "groups": ["system:masters"], "set": "dev-clusters", "cluster": CLUSTER}),
]
REFUSED: Final[list[tuple[str, dict[str, Any]]]] = [
    ("ClusterExplanation", {"name": "nowhere"}),
    ("ClusterExplanation", {}),
    ("SetExplanation", {"name": "nowhere"}),
    ("PlacementExplanation", {"namespace": "apps", "name": "nowhere"}),
    ("PlacementExplanation", {**CHECKOUT, "cluster": "nowhere"}),
    ("PlacementExplanation", {**CHECKOUT, "continue": "x"}),
    ("PlacementExplanation", {"placement": {"metadata": {"name": "p"}}}),
    ("PlacementExplanation", {"placement": {"metadata": {"name": "p", "namespace": "apps"}, "spec": {"unknown": 1}}}),
    ("PlacementExplanation", {"placement": {**UNSAVED, "spec": {"numberOfClusters": -1}}}),
    ("FleetEvaluation", {"placement": UNSAVED, "namespace": "elsewhere"}),
    ("FleetEvaluation", {"expression": "true", "selector": {"matchLabels": {}}}),
    ("FleetEvaluation", {"rows": {"limit": 10_000}}),
    ("JoinReview", {"cluster": CLUSTER}),
    ("JoinReview", {"set": "nowhere"}),
    ("Plan", {}),
    ("Plan", {"objects": [{"kind": "Placement"}]}),
    ("ClassificationPreview", {"namespace": "hosts", "name": "nowhere"}),
    ("ClassificationPreview", {"namespace": "hosts", "host": "nowhere"}),
    ("ClassificationPreview", {"namespace": "elsewhere", "classification": CLASSIFYING}),
    ("ResolutionPreview", {"name": "shop-with-legacydb"}),
    ("ResolutionPreview", {"namespace": "operators", "name": "nowhere"}),
    ("ResolutionPreview", {"namespace": "elsewhere", "resolution": {"metadata": {"namespace": "operators"}}}),
]


class Homes:
    """Where the fleet is: the hub, an observer that lists for each question, and one that watches."""

    def __init__(self, runner: asyncio.Runner, client: Client, watcher: Asker) -> None:
        self._runner = runner
        self._client = client
        self._watcher = watcher

    def ask(self, home: str, kind: str, spec: Mapping[str, Any]) -> Answer:
        """The answer of one of the homes."""
        return self._runner.run(self._asker(home).ask(kind, spec))

    def _asker(self, home: str) -> Asker:
        match home:
            case "local":
                fleet = LocalFleet(self._client, utc_now)
                fleet.observer.previews.pool = ResolvedHere()
                return LocalAsker(fleet, planner=planned_locally)
            case "watching":
                return self._watcher
            case _:
                return ServerAsker(self._client)


@pytest.fixture(scope="module")
def homes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Homes]:
    with hub_process(tmp_path_factory.mktemp("hub"), "--demo") as running, asyncio.Runner() as runner:
        stack = contextlib.AsyncExitStack()

        async def opened() -> Homes:
            connection = await load_connection(path=str(running.kubeconfig))
            client = await stack.enter_async_context(Client(connection))
            await _wait_for_decisions(client)
            watcher = await stack.enter_async_context(watching(client, planner=planned_locally))
            return Homes(runner, client, watcher)

        async def closed() -> None:
            await stack.aclose()
            await asyncio.sleep(0.1)  # transports of closed connections want another round of the loop

        yield runner.run(opened())
        runner.run(closed())


async def _wait_for_decisions(client: Client) -> None:
    """A fleet that is still being decided would answer differently a moment later."""
    deadline = time.monotonic() + 120
    before: list[Any] = []
    equal = 0
    while equal < 3:
        now = [
            (await client.request("GET", served(each).path())).json()["items"]
            for each in ("placements", "placementdecisions", "managedclusters", "managedclustersets")
        ]
        decided = bool(now[0]) and all("conditions" in each.get("status", {}) for each in now[0])
        equal = equal + 1 if decided and now == before else 0
        before = now
        assert time.monotonic() < deadline
        await asyncio.sleep(0.3)


def _answer(homes: Homes, home: str, kind: str, spec: dict[str, Any]) -> Any:
    return msgspec.json.decode(homes.ask(home, kind, spec).status)


@pytest.mark.parametrize("home", [LOCAL, "watching"])
@pytest.mark.parametrize(("kind", "spec"), ASKED, ids=lambda each: each if isinstance(each, str) else str(each)[:60])
def test_every_home_gives_the_answer_of_the_hub(homes: Homes, home: str, kind: str, spec: dict[str, Any]) -> None:
    expected = _answer(homes, SERVER, kind, spec)

    assert _answer(homes, home, kind, spec) == expected


@pytest.mark.parametrize(("kind", "spec"), REFUSED, ids=lambda each: each if isinstance(each, str) else str(each)[:60])
def test_every_home_refuses_what_the_hub_refuses(homes: Homes, kind: str, spec: dict[str, Any]) -> None:
    def refusal(home: str) -> tuple[int, str, str]:
        with pytest.raises(ApiError) as found:
            _answer(homes, home, kind, spec)
        return found.value.code, found.value.reason, found.value.message

    assert refusal(LOCAL) == refusal(SERVER)


def test_every_kind_is_asked() -> None:
    assert {kind for kind, _ in ASKED} >= {each.kind for each in QUESTIONS}
