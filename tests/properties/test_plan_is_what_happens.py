"""What `muster plan` says is what applying does: over random changes, with the real hub, controllers and commands.

The server answers, and what a command without one computes is the same, to the token.
"""

from __future__ import annotations

import io
import json
import os
import time
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from muster.cli.inputs.options import with_client
from muster.cli.main import run
from muster.cli.plan import asking
from muster.client.questions import plan_objects
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
from muster.errors import ApiError
from muster.hub.local_plans import planned_locally
from muster.questions.local import LocalAsker, utc_now
from muster.questions.local_fleet import LocalFleet
from tests.builders import a_binding, a_cluster, a_placement, a_score, a_set, a_taint
from tests.controllers.running import (
    APPS,
    CLUSTERS,
    GROUP,
    SETS,
    Driver,
    available,
    controllers,
    driven_hub,
    eventually,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from muster.api.fleet_plan import PlanSpec, PlanStatus
    from muster.client import Client
    from muster.controllers.manager import Manager

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
# A few are tried always; with MUSTER_PLAN_EXAMPLES=200 as many as that.
EXAMPLES = int(os.environ.get("MUSTER_PLAN_EXAMPLES", "5"))
PLACEMENTS = ("p1", "p2")
CLOUDS = st.sampled_from(["Amazon", "Azure"])
CLUSTER_NAMES = st.sampled_from(["a", "b", "c", "new"])
Object = dict[str, Any]
WATCHED = (
    "managedclusters",
    "managedclustersets",
    "managedclustersetbindings",
    "placements",
    "placementdecisions",
    "addonplacementscores",
)


# ------------------------------------------------------------------------------------------------ what may be applied


@st.composite
def partial_clusters(draw: st.DrawFn) -> Object:
    """A file that speaks of some fields: what it leaves out stays where others own it, else it goes."""
    labels = draw(st.dictionaries(st.sampled_from(["cloud", "tier"]), CLOUDS, max_size=2))
    taints = draw(st.lists(st.sampled_from(["NoSelect", "NoSelectIfNew", "PreferNoSelect"]), max_size=1))
    cluster = a_cluster(draw(CLUSTER_NAMES), labels, taints=[a_taint("t", effect) for effect in taints])
    claims = draw(st.none() | st.just([{"name": "gpu", "value": "yes"}]))
    cluster["status"] = {**available(cluster), "clusterClaims": claims or []}
    return cluster


@st.composite
def placements(draw: st.DrawFn) -> Object:
    spec: Object = {}
    match draw(st.sampled_from(["all", "labels", "claims", "scores"])):
        case "labels":
            selector: Object = {"labelSelector": {"matchLabels": {"cloud": draw(CLOUDS)}}}
            spec["predicates"] = [{"requiredClusterSelector": selector}]
        case "claims":
            expression = {"key": "gpu", "operator": "Exists"}
            selector = {"claimSelector": {"matchExpressions": [expression]}}
            spec["predicates"] = [{"requiredClusterSelector": selector}]
        case "scores":
            text = 'managedCluster.scores("usage").exists(s, s.name == "free" && s.value > 50)'
            spec["predicates"] = [{"requiredClusterSelector": {"celSelector": {"celExpressions": [text]}}}]
    if number := draw(st.sampled_from([None, 1, 2])):
        spec["numberOfClusters"] = number
    if draw(st.booleans()):
        spec["tolerations"] = [{"key": "t", "operator": "Exists"}]
    if draw(st.booleans()):
        spec["clusterSets"] = ["tier"]
    return a_placement(draw(st.sampled_from(PLACEMENTS)), **spec)


def _with_status_of_others() -> Object:
    """Its spec is taken, its status refused: the claims are somebody else's."""
    cluster = a_cluster("a", {}, taints=[a_taint("t", "NoSelect")])
    cluster["status"] = {**available(cluster), "clusterClaims": [{"name": "gpu", "value": "yes"}]}
    return cluster


STATUS_OF_OTHERS = _with_status_of_others()
SET_FILES = st.builds(lambda cloud: a_set("tier", {"tier": cloud}), CLOUDS)
BINDINGS = st.sampled_from([a_binding("global"), a_binding("tier")])
SCORES = st.builds(
    lambda cluster, value: a_score(cluster, {"free": value}), st.sampled_from("ab"), st.sampled_from([10, 90])
)
FILES = st.one_of(partial_clusters(), partial_clusters(), placements(), SET_FILES, BINDINGS, SCORES)
CHANGES = st.tuples(st.lists(FILES, min_size=1, max_size=1), st.booleans(), st.booleans(), st.booleans())


# ------------------------------------------------------------------------------------------------------- a hub to try


class Trial:
    """A hub with controllers, emptied for every example."""

    def __init__(self, hub: Driver, manager: Manager, directory: Path) -> None:
        self.hub = hub
        self.manager = manager
        self.file = directory / "change.json"
        self.kubeconfig = str(hub.hub.kubeconfig(directory / "kubeconfig"))
        self.answers: list[tuple[PlanSpec, PlanStatus]] = []  # of the last plan that was asked for

    def begin(self) -> None:
        for path in (f"{APPS}/placements", f"{GROUP}/v1beta2/namespaces/apps/managedclustersetbindings"):
            self.hub.send("DELETE", path)
        for namespace in "ab":
            self.hub.send("DELETE", f"{GROUP}/v1alpha1/namespaces/{namespace}/addonplacementscores")
        self.hub.send("DELETE", CLUSTERS)
        self.hub.hub.request("DELETE", f"{SETS}/tier")
        world = self.manager.world
        eventually(lambda: (len(world.placements), len(world.fleet), "tier" in world.sets), (0, 0, False))
        eventually(lambda: (world.bindings.get("apps") or {}, world.decisions.by_place), ({}, {}))
        self.hub.create(a_set("tier", {"tier": "Amazon"}), a_binding("global"), a_binding("tier"))
        clouds = {"a": "Amazon", "b": "Azure", "c": "Amazon"}
        self.hub.create(*(a_cluster(name, {"cloud": cloud, "tier": cloud}) for name, cloud in clouds.items()))
        self.hub.create(a_placement("p1"), a_placement("p2", numberOfClusters=1))
        self.settle()

    def settle(self) -> None:
        """Until everything in the hub has been seen and nothing is left to do."""
        deadline = time.monotonic() + 20
        quiet = 0
        while quiet < 3:
            quiet = quiet + 1 if self._seen() and self.manager.idle else 0
            assert time.monotonic() < deadline, "the controllers do not settle"
            time.sleep(0.004)

    def _seen(self) -> bool:
        async def newest() -> dict[str, int]:
            scan = self.hub.hub.store.scan
            return {
                plural: max((each.revision for each in scan(f"{plural}.cluster.open-cluster-management.io")), default=0)
                for plural in WATCHED
            }

        seen = {each.kind: int(each.revision or 0) for each in self.manager.reflectors}
        return all(seen[plural] >= at for plural, at in self.hub.hub.call(newest()).items())

    def forgotten(self, objects: list[Object]) -> bool:
        """Whether the controllers have seen that these are gone."""
        world = self.manager.world
        there: dict[str, Callable[[str, str], bool]] = {
            "ManagedCluster": lambda name, _: name in world.fleet,
            "ManagedClusterSet": lambda name, _: name in world.sets,
            "ManagedClusterSetBinding": lambda name, _: name in (world.bindings.get("apps") or {}),
            "Placement": lambda name, _: any(key.name == name for key in world.placements),
            "AddOnPlacementScore": lambda name, cluster: world.fleet.scores.get(cluster, name) is not None,
        }
        places = [(obj["kind"], obj["metadata"]["name"], obj["metadata"].get("namespace", "")) for obj in objects]
        return not any(there[kind](name, namespace) for kind, name, namespace in places)

    def decided(self) -> dict[str, set[str]]:
        return {name: set(self.hub.decided(name)) for name in PLACEMENTS}

    def computed(self) -> PlanStatus:
        """What a command says that no server answers: the same spec, with objects that it reads itself."""
        ((spec, _),) = self.answers

        async def ask(client: Client) -> PlanStatus:
            asker = LocalAsker(LocalFleet(client, utc_now), planner=planned_locally)
            return await plan_objects(asker, spec)

        return with_client(ask, None, self.kubeconfig)

    def called(self, *args: str) -> tuple[int, str]:
        out, err = io.StringIO(), io.StringIO()
        code = run([*args, "-f", str(self.file), "--kubeconfig", self.kubeconfig], io.StringIO(), out, err)
        assert code in (0, 1), err.getvalue()
        return code, out.getvalue()


def _kept(trial: Trial) -> Callable[..., Any]:
    async def ask(client: Client, spec: PlanSpec) -> PlanStatus:
        try:
            answer = await plan_objects(client, spec)
            trial.answers[:] = [(spec, answer)]
            return answer
        except ApiError as error:
            raise AssertionError("the server does not answer, and a command would compute it itself") from error

    return ask


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Trial]:
    state = tmp_path_factory.mktemp("hub")
    with driven_hub(state=state) as driver, controllers(driver.hub, address=state / CONTROLLERS_ADDRESS) as manager:
        for name in "ab":
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            driver.send("POST", "/api/v1/namespaces", body)
        found = Trial(driver, manager, tmp_path_factory.mktemp("trial"))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(asking, "_asked", _kept(found))
            yield found


@settings(max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(CHANGES, min_size=1, max_size=5))
@example(changes=[([STATUS_OF_OTHERS], True, False, False)])
def test_the_plan_is_what_happens(trial: Trial, changes: list[tuple[list[Object], bool, bool, bool]]) -> None:
    trial.begin()
    for objects, with_status, force, delete in changes:
        trial.file.write_text("\n".join(json.dumps(obj) for obj in objects))
        options = [*(["--with-status"] if with_status else []), *(["--force-conflicts"] if force else [])]
        before = trial.decided()
        refused, text = trial.called("plan", "-o", "json", *(["--delete"] if delete else options))
        plan = json.loads(text)
        assert trial.computed() == trial.answers[0][1], (objects, options, delete)
        if delete:
            trial.called("delete", "--ignore-not-found")
            eventually(lambda: trial.forgotten(objects), True)  # noqa: B023 - it is asked at once
        else:
            assert trial.called("apply", *options)[0] == refused
        trial.settle()
        after = trial.decided()
        said = {each["name"]: (set(each["gained"]), set(each["lost"])) for each in plan["placements"]}
        happened = {name: (after[name] - before[name], before[name] - after[name]) for name in PLACEMENTS}
        assert {name: said.get(name, (set(), set())) for name in PLACEMENTS} == happened, (objects, options, delete)
        assert bool(plan["refused"]) == bool(refused)
