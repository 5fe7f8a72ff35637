"""What guards say to a plan is what the controllers would do, whoever answers: the leader, a replica that stands by, or
the command itself where no server answers. All know the fleet's settings, what has gone lately and what is held."""

from __future__ import annotations

import asyncio
import contextlib
import json
import threading
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pytest

from muster.api.fleet_plan import PlanStatus
from muster.client import Candidate, Client, Connection, load_connection
from muster.client.asking import Asker, ServerAsker
from muster.controllers.manager import Options, run_controllers
from muster.controllers.permissions import CONTROLLERS, LEASE
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
from muster.errors import ApiError
from muster.hub.local_plans import planned_locally
from muster.questions.local import LocalAsker, utc_now
from muster.questions.local_fleet import LocalFleet
from muster.questions.observer import Observer
from muster.questions.plans.defaults import FoundDefaults, found_defaults
from tests.builders import a_binding, a_cluster, a_placement
from tests.controllers.placements.test_guards import PREFIX, PROD, TEN, held_names, relabel
from tests.controllers.running import PATIENCE, Driver, connection_of, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

MAPS = "/api/v1/namespaces/{}/configmaps"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/{}/leases"
PLACEMENT = "/apis/cluster.open-cluster-management.io/v1beta1/namespaces/apps/placements/p1"


@dataclass
class Planner:
    """Somebody who asks, and who answers."""

    hub: Driver
    kubeconfig: Path
    answers: str

    def plan(self, **spec: Any) -> tuple[bool, str]:
        """Of the placement with this spec: whether it is allowed, and what guards say."""
        return asyncio.run(self._asked(a_placement("p1", predicates=PROD, **spec)))

    async def _asked(self, placement: dict[str, Any]) -> tuple[bool, str]:
        async with Client(await load_connection(path=str(self.kubeconfig))) as client:
            asker: Asker = ServerAsker(client)
            if self.answers == "ourselves":
                asker = LocalAsker(LocalFleet(client, utc_now), planner=planned_locally)
            answer = await asker.ask("Plan", {"objects": [placement], "forceConflicts": True})
            assert answer.notes == ()
        status = answer.read(PlanStatus)
        return status.allowed, "; ".join(each.message for found in status.placements for each in found.guards)

    def set_defaults(self, namespace: str = "kube-system", **data: str) -> None:
        body = {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "muster-decisions", "namespace": namespace},
            "data": {name.replace("_", "-"): text for name, text in data.items()},
        }
        path = MAPS.format(namespace)
        if self.hub.get(f"{path}/muster-decisions") is None:
            self.hub.send("POST", path, body)
        else:
            self.hub.send("PUT", f"{path}/muster-decisions", body)


@contextlib.contextmanager
def standing_by(hub: Driver, address: Path) -> Iterator[None]:
    """Controllers that never lead, because the lease is somebody else's, and answer questions."""
    spec = {"holderIdentity": "somebody", "leaseDurationSeconds": 3600, "renewTime": "2126-01-01T00:00:00.000000Z"}
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE}, "spec": spec}
    hub.send("POST", LEASES.format("kube-system"), lease)
    options = Options(Candidate(LEASE, "another"), address=address, observer=Observer)
    loop = asyncio.new_event_loop()
    task = loop.create_task(run_controllers(connection_of(hub.hub, CONTROLLERS), lambda _: None, options))

    def main() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(task)

    thread = threading.Thread(target=main, name="standby")
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(PATIENCE)
        loop.close()


@pytest.fixture(params=["leader", "standby", "ourselves"])
def planner(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Planner]:
    """The placement p1 has ten clusters."""
    state = tmp_path / "hub"
    state.mkdir()
    address = state / CONTROLLERS_ADDRESS
    with contextlib.ExitStack() as stack:
        hub = stack.enter_context(driven_hub(state=state))
        leader = controllers(hub.hub, address=address if request.param == "leader" else None)
        stack.enter_context(leader)
        hub.create(a_binding("global"), *(a_cluster(name, {"env": "prod"}) for name in TEN))
        hub.create(a_placement("p1", predicates=PROD))
        eventually(lambda: hub.decided(), TEN)
        if request.param == "standby":
            stack.enter_context(standing_by(hub, address))
        found = Planner(hub, hub.hub.kubeconfig(tmp_path / "kubeconfig"), request.param)
        eventually(lambda: is_answered(found), True)
        yield found


def is_answered(planner: Planner) -> bool:
    with contextlib.suppress(ApiError):
        return planner.plan() == (True, "")
    return False


def test_a_plan_knows_the_fleets_settings_and_what_has_gone(planner: Planner) -> None:
    planner.set_defaults(max_removals="30%", removal_window="2h")
    eventually(lambda: planner.plan(numberOfClusters=6)[0], False)
    # Who asks the server may be there before the leader's first record, without which nothing goes.
    eventually(lambda: planner.plan(numberOfClusters=7), (True, ""))
    for name in TEN[:2]:
        relabel(planner.hub, [name], None)
    eventually(lambda: planner.hub.decided(), TEN[2:])
    words = "the fleet allows removing 30% within 2h, which is 2 clusters: 1 would go now, and 2 went"
    said = f"apps/p1: 1 of 8 clusters would stay for now: c9: {words}"
    eventually(lambda: planner.plan(numberOfClusters=7), (False, said))
    assert planner.plan(numberOfClusters=8) == (True, "")


def test_a_plan_knows_what_is_held_already(planner: Planner) -> None:
    planner.set_defaults(freeze_removals="true")
    frozen = "removals are frozen by the fleet"
    said = f"apps/p1: 2 of 10 clusters would stay for now: c8, c9: {frozen}"
    eventually(lambda: planner.plan(numberOfClusters=8), (False, said))
    planner.hub.patch(PLACEMENT, {"spec": {"numberOfClusters": 8}})
    eventually(lambda: held_names(planner.hub), TEN[8:])
    # The same once more is no objection; a cluster more is.
    already = f"apps/p1: 2 of 10 clusters are held already: c8, c9: {frozen}"
    eventually(lambda: planner.plan(numberOfClusters=8), (True, already))
    said = f"apps/p1: 3 of 10 clusters would stay for now: c7, c8, c9: {frozen}"
    eventually(lambda: planner.plan(numberOfClusters=7), (False, said))


def test_a_plan_knows_the_brake_with_what_went_everywhere(planner: Planner) -> None:
    planner.set_defaults(brake="30%", brake_window="1h")
    planner.hub.create(a_placement("p2", predicates=PROD))
    eventually(lambda: planner.hub.decided("p2"), TEN)
    eventually(lambda: planner.plan(numberOfClusters=3)[0], False)
    planner.hub.patch(PLACEMENT.replace("p1", "p2"), {"spec": {"numberOfClusters": 5}})
    eventually(lambda: len(planner.hub.decided("p2")), 5)
    words = "the brake of the fleet is on: 30% of 15 decisions may go within 1h, which is 4; 1 would go now, and 5 went"
    eventually(lambda: planner.plan(numberOfClusters=9)[1].endswith(words), True)
    assert planner.plan(numberOfClusters=9)[0] is False


def test_annotations_tighten_what_the_fleet_has(planner: Planner) -> None:
    planner.set_defaults(min_clusters="2")
    planner.hub.patch(PLACEMENT, {"metadata": {"annotations": {f"{PREFIX}/min-clusters": "9"}}})
    own = "the placement wants at least 9 clusters left, and {} would be"
    said = f"apps/p1: 2 of 10 clusters would stay for now: c8, c9: {own.format(8)}"
    eventually(lambda: planner.plan(numberOfClusters=8), (False, said))
    words = f"the fleet wants at least 2 clusters left, and 1 would be; {own.format(1)}"
    eventually(lambda: planner.plan(numberOfClusters=1)[1].endswith(words), True)
    assert planner.plan(numberOfClusters=9) == (True, "")


def test_a_config_map_that_cannot_be_read_holds_everything(planner: Planner) -> None:
    planner.set_defaults(max_removal="3")
    words = (
        "a guard of the fleet cannot be read, and lets nothing go: max-removal: is no guard; did you mean max-removals?"
    )
    said = f"apps/p1: 1 of 10 clusters would stay for now: c9: {words}"
    eventually(lambda: planner.plan(numberOfClusters=9), (False, said))


# ------------------------------------------------------------------------- where a command finds the fleet's settings


@pytest.fixture
def lone_hub() -> Iterator[Driver]:
    """Nobody leads here."""
    with driven_hub() as hub:
        for name in ("muster-system", "team"):
            namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
            hub.send("POST", "/api/v1/namespaces", namespace)
        yield hub


def put_defaults(hub: Driver, *namespaces: str) -> None:
    for each in namespaces:
        metadata = {"name": "muster-decisions", "namespace": each}
        body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"min-clusters": "2"}}
        hub.send("POST", MAPS.format(each), body)


def found(hub: Driver, user: str = "") -> tuple[str, str]:
    """The namespace of the ConfigMap, and what is said."""

    async def asked() -> FoundDefaults:
        headers = {"Authorization": f"Bearer {hub.hub.token}"} | ({"Impersonate-User": user} if user else {})
        async with Client(Connection(hub.hub.url, "default", headers)) as client:
            return await found_defaults(client, ["team"])

    answer = asyncio.run(asked())
    namespace = "" if answer.encoded is None else json.loads(answer.encoded)["metadata"]["namespace"]
    return namespace, answer.remark


def test_the_settings_are_found_wherever_they_are(lone_hub: Driver) -> None:
    assert found(lone_hub) == ("", "")
    put_defaults(lone_hub, "default")
    assert found(lone_hub) == ("default", "")


def test_of_several_those_beside_the_lease_count(lone_hub: Driver) -> None:
    put_defaults(lone_hub, "default", "team")
    lease = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": {"name": LEASE}, "spec": {}}
    lone_hub.send("POST", LEASES.format("team"), lease)
    assert found(lone_hub) == ("team", "")


def test_of_several_that_nothing_tells_apart_the_usual_place_counts_and_it_is_said(lone_hub: Driver) -> None:
    put_defaults(lone_hub, "default", "muster-system")
    words = "the guards of the fleet are taken from the ConfigMap muster-decisions in {}, not from that in {}"
    assert found(lone_hub) == ("muster-system", words.format("muster-system", "default"))


def test_who_may_not_look_everywhere_looks_in_the_usual_places_or_is_told(lone_hub: Driver) -> None:
    put_defaults(lone_hub, "team")
    namespace, said = found(lone_hub, "dora")
    assert namespace == ""
    assert said.startswith("the guards of the fleet are not known, only those of placements: ")
    assert 'User "dora" cannot list resource "configmaps"' in said
    path = "/apis/rbac.authorization.k8s.io/v1/namespaces/team"
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"]}]
    role = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "metadata": {"name": "reader"}}
    lone_hub.send("POST", f"{path}/roles", {**role, "rules": rules})
    subject = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "dora"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "reader"}
    binding = {**role, "kind": "RoleBinding", "roleRef": reference, "subjects": [subject]}
    lone_hub.send("POST", f"{path}/rolebindings", binding)
    assert found(lone_hub, "dora") == ("team", "")
