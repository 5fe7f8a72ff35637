"""Hosts that label themselves, over HTTP."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from muster.classification import Roster
from tests.builders import a_time
from tests.controllers.hosts.running import (
    BASE,
    PREFIX,
    add_agent,
    classify,
    counts,
    host_controllers,
    labels,
    message,
    report,
    requery,
)
from tests.controllers.running import Driver, controllers, driven_hub, eventually

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = pytest.mark.e2e

GIB = 1024**3
MEDIUM = ".cpu.count == 2 and .memory.physicalBytes >= 4294967296 and .memory.physicalBytes < 8589934592"
STORAGE = "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 5"


@pytest.fixture
def hub() -> Iterator[Driver]:
    with driven_hub() as driver:
        yield driver


def disks(count: int, size: int = 2 * 1024**4) -> list[dict[str, Any]]:
    return [{"id": f"d{number}", "sizeBytes": size} for number in range(count)]


def test_the_labels_of_the_proposal_come_and_go_with_inventories_and_classifications(hub: Driver) -> None:
    small = {"cpu": {"count": 2}, "memory": {"physicalBytes": 4 * GIB}, "disks": disks(6)}
    with host_controllers(hub.hub):
        classify(hub, "medium", "size", "medium", MEDIUM)
        classify(hub, "storage", "storage", "large", STORAGE)
        add_agent(hub, "a", small, rack="r1")
        add_agent(hub, "b", {"cpu": {"count": 64}, "memory": {"physicalBytes": 512 * GIB}, "disks": disks(2)})
        eventually(lambda: labels(hub, "a"), {"rack": "r1", "size": "medium", "storage": "large"})
        eventually(lambda: labels(hub, "b"), {})
        eventually(lambda: counts(hub, "medium"), (1, 0))
        selected = hub.get(f"{BASE}/agents?labelSelector={PREFIX.replace('/', '%2F')}size%3Dmedium")
        assert [each["metadata"]["name"] for each in selected["items"]] == ["a"]
        annotations = hub.get(f"{BASE}/agents/a")["metadata"]["annotations"]
        assert annotations[f"{PREFIX}updatedat"].endswith("Z")

        report(hub, "a", {**small, "cpu": {"count": 4}, "disks": None})
        eventually(lambda: labels(hub, "a"), {"rack": "r1", "storage": "QUERYERROR-large"})
        eventually(lambda: counts(hub, "storage"), (0, 1))
        path = f"{BASE}/agentclassifications/storage"
        assert hub.condition(path, "QueryErrors") == ("True", "HasQueryErrors")
        assert hub.condition(path, "QueryValid") == ("True", "QueryIsValid")
        told = "1 Agents failed to apply the classification: cannot iterate over: null (for example a)"
        assert message(hub, "storage", "QueryErrors") == told

        hub.send("DELETE", path)
        eventually(lambda: hub.get(path), None)
        assert labels(hub, "a") == {"rack": "r1"}
        assert f"{PREFIX}applied" not in hub.get(f"{BASE}/agents/a")["metadata"]["annotations"]


def test_a_classification_concerns_the_hosts_of_its_own_namespace_alone(hub: Driver) -> None:
    elsewhere = BASE.replace("/apps", "/elsewhere")
    namespace = {"kind": "Namespace", "apiVersion": "v1", "metadata": {"name": "elsewhere"}}
    hub.send("POST", "/api/v1/namespaces", namespace)
    with host_controllers(hub.hub):
        kinds = {"apiVersion": "agent-install.openshift.io/v1beta1"}
        for base in (BASE, elsewhere):
            agent = {"kind": "Agent", **kinds, "metadata": {"name": "a"}, "spec": {"approved": True, "role": "worker"}}
            hub.send("POST", f"{base}/agents", agent)
            hub.patch(f"{base}/agents/a/status", {"status": {"inventory": {"cpu": {"count": 2}}}})
        spec = {"labelKey": "size", "labelValue": "far", "query": ".cpu.count == 2"}
        body = {"kind": "AgentClassification", **kinds, "metadata": {"name": "far"}, "spec": spec}
        hub.send("POST", f"{elsewhere}/agentclassifications", body)
        classify(hub, "failing", "disk", "none", "[.disks[]] | length > 1")
        eventually(lambda: counts(hub, "failing"), (0, 1))
        far = f"{elsewhere}/agentclassifications/far"
        eventually(lambda: (hub.get(far).get("status") or {}).get("matchedCount"), 1)
        assert hub.get(far)["status"]["errorCount"] == 0
        assert labels(hub, "a") == {"disk": "QUERYERROR-none"}
        assert hub.get(f"{elsewhere}/agents/a")["metadata"]["labels"] == {f"{PREFIX}size": "far"}
        # One of the same key and value here does not keep the label there when that one goes.
        classify(hub, "near", "size", "far", ".cpu.count == 2")
        eventually(lambda: labels(hub, "a").get("size"), "far")
        hub.send("DELETE", far)
        eventually(lambda: hub.get(far), None)
        assert PREFIX + "size" not in (hub.get(f"{elsewhere}/agents/a")["metadata"].get("labels") or {})
        assert labels(hub, "a")["size"] == "far"


def test_updatedat_is_the_moment_at_which_the_labels_were_written(hub: Driver) -> None:
    def updated() -> datetime:
        return a_time(hub.get(f"{BASE}/agents/a")["metadata"]["annotations"][f"{PREFIX}updatedat"])

    with host_controllers(hub.hub):
        before = datetime.now(UTC).replace(microsecond=0)
        classify(hub, "c", "size", "small", ".cpu.count < 4")
        add_agent(hub, "a", {"cpu": {"count": 2}})
        eventually(lambda: labels(hub, "a"), {"size": "small"})
        first = updated()
        assert before <= first <= datetime.now(UTC)
        again = datetime.now(UTC).replace(microsecond=0)
        report(hub, "a", {"cpu": {"count": 8}})
        eventually(lambda: labels(hub, "a"), {})
        assert max(first, again) <= updated() <= datetime.now(UTC)


def test_a_query_that_does_not_compile_is_shown_until_it_is_mended(hub: Driver) -> None:
    with host_controllers(hub.hub):
        add_agent(hub, "a", {"cpu": {"count": 2}})
        classify(hub, "c", "size", "medium", ".cpu.count ==")
        eventually(lambda: labels(hub, "a"), {"size": "QUERYERROR-medium"})
        path = f"{BASE}/agentclassifications/c"
        eventually(lambda: hub.condition(path, "QueryValid"), ("False", "QueryIsNotValid"))
        assert "unexpected EOF\n | .cpu.count ==" in (message(hub, "c", "QueryValid") or "")
        eventually(lambda: counts(hub, "c"), (0, 1))
        requery(hub, "c", ".cpu.count == 2")
        eventually(lambda: labels(hub, "a"), {"size": "medium"})
        eventually(lambda: hub.condition(path, "QueryValid"), ("True", "QueryIsValid"))
        eventually(lambda: counts(hub, "c"), (1, 0))


def test_a_value_set_by_hand_stays_and_the_classification_says_so(hub: Driver) -> None:
    with host_controllers(hub.hub):
        add_agent(hub, "a", {"cpu": {"count": 2}}, __size="huge")
        classify(hub, "c", "size", "medium", "true")
        path = f"{BASE}/agentclassifications/c"
        eventually(lambda: hub.condition(path, "LabelsApplied"), ("False", "LabelTaken"))
        told = f"1 matching Agents carry another value of {PREFIX}size: a (huge, set by hand)"
        assert message(hub, "c", "LabelsApplied") == told
        assert labels(hub, "a") == {"size": "huge"}
        hub.patch(f"{BASE}/agents/a", {"metadata": {"labels": {f"{PREFIX}size": None}}})
        eventually(lambda: labels(hub, "a"), {"size": "medium"})
        eventually(lambda: hub.condition(path, "LabelsApplied"), None)
        eventually(lambda: counts(hub, "c"), (1, 0))


def test_deleting_one_of_two_twins_ends_and_the_label_stays(hub: Driver) -> None:
    with host_controllers(hub.hub):
        add_agent(hub, "a", {"cpu": {"count": 2}})
        classify(hub, "one", "size", "medium", "true")
        classify(hub, "two", "size", "medium", ".cpu.count == 2")
        eventually(lambda: counts(hub, "one"), (1, 0))
        eventually(lambda: counts(hub, "two"), (1, 0))
        hub.send("DELETE", f"{BASE}/agentclassifications/one")
        eventually(lambda: hub.get(f"{BASE}/agentclassifications/one"), None)
        assert labels(hub, "a") == {"size": "medium"}
        hub.send("DELETE", f"{BASE}/agentclassifications/two")
        eventually(lambda: hub.get(f"{BASE}/agentclassifications/two"), None)
        assert labels(hub, "a") == {}


def test_a_classification_that_vanishes_without_waiting_leaves_no_label(hub: Driver) -> None:
    path = f"{BASE}/agentclassifications/c"
    with host_controllers(hub.hub):
        add_agent(hub, "a", {"cpu": {"count": 2}})
        classify(hub, "c", "size", "medium", "true")
        eventually(lambda: counts(hub, "c"), (1, 0))
    hub.send("DELETE", path)
    hub.patch(path, {"metadata": {"finalizers": None}})
    assert hub.get(path) is None
    assert labels(hub, "a") == {"size": "medium"}
    with host_controllers(hub.hub):
        eventually(lambda: labels(hub, "a"), {})


def test_a_restart_alone_writes_nothing(hub: Driver) -> None:
    for name in "abc":
        add_agent(hub, name, {"cpu": {"count": ord(name)}})
    classify(hub, "c", "size", "medium", ".cpu.count < 99")
    classify(hub, "d", "odd", "yes", ".hostname - 1")
    with host_controllers(hub.hub):
        eventually(lambda: counts(hub, "c"), (2, 0))
        eventually(lambda: counts(hub, "d"), (0, 3))
        time.sleep(0.3)
    before = hub.hub.revision
    with host_controllers(hub.hub) as hosts:
        time.sleep(0.5)
        eventually(lambda: hosts.idle, True)
    assert hub.hub.revision == before


def test_runaways_cost_their_budget_a_few_times_and_hold_up_nobody(hub: Driver) -> None:
    for number in range(12):
        add_agent(hub, f"a{number:02}", {"hostname": f"h{number}", "cpu": {"count": number}})
    with host_controllers(hub.hub) as hosts:
        for number in range(10):
            classify(hub, f"evil-{number}", f"evil-{number}", "yes", f".cpu.count == {number} or (def f: f; . | f)")
        classify(hub, "good", "even", "yes", ".cpu.count % 2 == 0")
        begun = time.monotonic()
        assert hub.get(f"{BASE}/agents/a00") is not None
        answered = time.monotonic() - begun
        eventually(lambda: counts(hub, "good"), (6, 0))
        assert labels(hub, "a04")["even"] == "yes"
        for number in range(10):
            # mypy cannot infer a lambda that binds the loop's variable.
            eventually(lambda number=number: counts(hub, f"evil-{number}"), (0, 12))  # type: ignore[misc]
        path = f"{BASE}/agentclassifications/evil-3"
        eventually(lambda: hub.condition(path, "QueryPaused"), ("True", "BudgetExhausted"))
        eventually(lambda: hosts.idle, True)
        runs = hosts.world.roster("apps").work.runs
        report(hub, "a00", {"hostname": "changed", "cpu": {"count": 2}})
        eventually(lambda: labels(hub, "a00").get("evil-2"), "QUERYERROR-yes")
        time.sleep(0.2)
        assert hosts.world.roster("apps").work.runs - runs <= 1  # only the honest query
        requery(hub, "evil-2", ".cpu.count == 2")
        eventually(lambda: counts(hub, "evil-2"), (2, 0))
        eventually(lambda: hub.condition(f"{BASE}/agentclassifications/evil-2", "QueryPaused"), None)
    assert answered < 1.0


def test_the_work_is_measured(hub: Driver) -> None:
    with controllers(hub.hub) as manager:
        for number in range(3):
            add_agent(hub, f"a{number}", {"cpu": {"count": 2}, "hostname": f"h{number}"})
        classify(hub, "c", "size", "medium", ".cpu.count == 2")
        classify(hub, "d", "name", "odd", ".hostname - 1")
        eventually(lambda: (counts(hub, "c"), counts(hub, "d")), ((3, 0), (0, 3)))
        lines = manager.metrics.render().decode().splitlines()
    found = {name: float(value) for name, _, value in (each.rpartition(" ") for each in lines if each[0] != "#")}
    assert found["muster_classification_evaluation_errors_total"] >= 3
    assert found["muster_classification_evaluations_total"] >= 4
    assert found["muster_classification_cache_hits_total"] >= 2  # three hosts with as many cores
    assert found["muster_classification_pauses_total"] == 0
    assert found["muster_classification_duration_seconds_count"] >= 3
    assert (found["muster_agents"], found["muster_classifications"]) == (3, 2)
    assert {'workqueue_depth{name="agent"}', 'workqueue_depth{name="slow"}'} <= found.keys()
    assert 'workqueue_depth{name="classification"}' in found


def test_looking_at_everything_again_changes_nothing_and_runs_nothing(hub: Driver) -> None:
    loop = asyncio.new_event_loop()
    with controllers(hub.hub, loop=loop) as manager:
        add_agent(hub, "a", {"cpu": {"count": 2}})
        classify(hub, "c", "size", "medium", ".cpu.count == 2")
        eventually(lambda: counts(hub, "c"), (1, 0))
        eventually(lambda: manager.idle and manager.hosts.classifications.settled, True)
        before, work = hub.get(f"{BASE}/agents/a"), replace(manager.hosts.world.work)
        loop.call_soon_threadsafe(manager.wake_all)
        time.sleep(0.3)
        assert (hub.get(f"{BASE}/agents/a"), manager.hosts.world.work) == (before, work)


def test_an_agent_whose_labels_cannot_be_worked_out_holds_up_no_other(
    hub: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(self: Roster, name: str) -> Any:
        if name == "a0":
            raise ArithmeticError("a mistake of ours")
        return plan_so_far(self, name)

    plan_so_far = Roster.plan_so_far
    monkeypatch.setattr(Roster, "plan_so_far", fails)
    with host_controllers(hub.hub):
        for number in range(3):
            add_agent(hub, f"a{number}", {"cpu": {"count": 2}})
        classify(hub, "c", "size", "medium", "true")
        eventually(
            lambda: [labels(hub, f"a{number}") for number in range(3)], [{}, {"size": "medium"}, {"size": "medium"}]
        )
        monkeypatch.undo()
        eventually(lambda: labels(hub, "a0"), {"size": "medium"})
