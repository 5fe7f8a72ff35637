"""Hosts that label themselves, as a new user meets them: `muster hub run` and the real kubectl, nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers.processes import hub_process
from tests.e2e.test_kubectl import KUBECTL, Kubectl

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]
PREFIX = "inventoryclassification.agent-install.openshift.io/"
PATIENCE = 20.0
GIB = 1024**3
MEDIUM = ".cpu.count == 2 and .memory.physicalBytes >= 4294967296 and .memory.physicalBytes < 8589934592"
STORAGE = "[.disks[] | select(.sizeBytes > 1073741824000)] | length > 5"


class User:
    """Works in one namespace with kubectl."""

    def __init__(self, kubectl: Kubectl, namespace: str) -> None:
        self._kubectl = kubectl
        self.namespace = namespace
        kubectl("create", "namespace", namespace)

    def run(self, *args: str, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
        return self._kubectl.run("-n", self.namespace, *args, stdin=stdin)

    def do(self, *args: str, stdin: str | None = None) -> str:
        return self._kubectl("-n", self.namespace, *args, stdin=stdin)

    def classify(self, name: str, key: str, value: str, query: str) -> subprocess.CompletedProcess[str]:
        spec = {"labelKey": key, "labelValue": value, "query": query}
        return self.run("apply", "-f", "-", stdin=self._manifest("AgentClassification", name, spec))

    def discover(self, name: str, inventory: dict[str, Any]) -> None:
        """A host registers, and its agent reports what it is."""
        self.do("apply", "-f", "-", stdin=self._manifest("Agent", name, {"approved": True, "role": "worker"}))
        self.report(name, inventory)

    def report(self, name: str, inventory: dict[str, Any]) -> None:
        patch = json.dumps({"status": {"inventory": inventory}})
        self.do("patch", "agent", name, "--subresource=status", "--type=merge", "-p", patch)

    def labels(self, agent: str) -> dict[str, str]:
        found = json.loads(self.do("get", "agent", agent, "-o", "json"))["metadata"].get("labels") or {}
        return {key.removeprefix(PREFIX): value for key, value in found.items()}

    def selected(self, selector: str) -> list[str]:
        names = self.do("get", "agents", "-l", selector, "-o", "jsonpath={.items[*].metadata.name}")
        return names.split()

    def classification(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.do("get", "agentclassification", name, "-o", "json"))
        return found

    def counts(self, name: str) -> tuple[Any, Any]:
        status = self.classification(name).get("status") or {}
        return status.get("matchedCount"), status.get("errorCount")

    def condition(self, name: str, kind: str) -> tuple[str, str, str] | None:
        conditions = (self.classification(name).get("status") or {}).get("conditions", [])
        found = [each for each in conditions if each["type"] == kind]
        return (found[0]["status"], found[0]["reason"], found[0]["message"]) if found else None

    def _manifest(self, kind: str, name: str, spec: dict[str, Any]) -> str:
        metadata = {"name": name, "namespace": self.namespace}
        api = "agent-install.openshift.io/v1beta1"
        return json.dumps({"apiVersion": api, "kind": kind, "metadata": metadata, "spec": spec})


@pytest.fixture(scope="module")
def kubectl(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    with hub_process(tmp_path_factory.mktemp("hub")) as hub:
        yield Kubectl(tmp_path_factory.mktemp("home"), hub.kubeconfig)


def eventually(question: Callable[[], Any], expected: Any) -> None:
    deadline = time.monotonic() + PATIENCE
    while (answer := question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        time.sleep(0.05)


def disks(count: int) -> list[dict[str, Any]]:
    return [{"id": f"d{number}", "sizeBytes": 2 * 1024**4} for number in range(count)]


def test_labels_appear_change_with_the_inventory_turn_to_errors_and_vanish(kubectl: Kubectl) -> None:
    user = User(kubectl, "story")
    assert user.classify("size-medium", "size", "medium", MEDIUM).returncode == 0
    assert user.classify("storage-large", "storage", "large", STORAGE).returncode == 0
    medium = {"cpu": {"count": 2}, "memory": {"physicalBytes": 4 * GIB}, "disks": disks(6)}
    user.discover("a", medium)
    user.discover("b", {"cpu": {"count": 64}, "memory": {"physicalBytes": 512 * GIB}, "disks": disks(2)})
    eventually(lambda: user.labels("a"), {"size": "medium", "storage": "large"})
    assert user.labels("b") == {}
    assert user.selected(f"{PREFIX}size=medium") == ["a"]
    assert user.selected(f"{PREFIX}storage notin (large)") == ["b"]
    eventually(lambda: (user.counts("size-medium"), user.counts("storage-large")), ((1, 0), (1, 0)))
    assert user.condition("size-medium", "QueryValid") == ("True", "QueryIsValid", "The query is valid")
    annotations = json.loads(user.do("get", "agent", "a", "-o", "json"))["metadata"]["annotations"]
    assert annotations[f"{PREFIX}updatedat"].startswith("20")

    # More disks here, no disks there.
    user.report("b", {"disks": disks(7)})
    eventually(lambda: user.labels("b"), {"storage": "large"})
    assert user.selected(f"{PREFIX}storage=large") == ["a", "b"]
    user.report("a", {"disks": None})
    eventually(lambda: user.labels("a"), {"size": "medium", "storage": "QUERYERROR-large"})
    assert user.selected(f"{PREFIX}storage=QUERYERROR-large") == ["a"]
    eventually(lambda: user.counts("storage-large"), (1, 1))
    told = "1 Agents failed to apply the classification: cannot iterate over: null (for example a)"
    assert user.condition("storage-large", "QueryErrors") == ("True", "HasQueryErrors", told)

    # A better query mends it.
    user.classify("storage-large", "storage", "large", STORAGE.replace("[]", "[]?"))
    eventually(lambda: user.labels("a"), {"size": "medium"})
    eventually(lambda: user.counts("storage-large"), (1, 0))
    assert user.condition("storage-large", "QueryErrors") == (
        "False",
        "NoQueryErrors",
        "No Agents failed to apply the classification",
    )

    # kubectl waits for the finalizer, so that no label is left when it returns.
    user.do("delete", "agentclassification", "storage-large", "size-medium")
    assert (user.labels("a"), user.labels("b")) == ({}, {})
    assert user.do("get", "agentclassifications", "-o", "name") == ""


def test_a_bad_query_is_warned_of_and_marked_until_it_is_mended(kubectl: Kubectl) -> None:
    user = User(kubectl, "typo")
    user.discover("a", {"cpu": {"count": 2}})
    written = user.classify("c", "size", "medium", ".cpu.count ==")
    assert (written.returncode, written.stderr) == (
        0,
        "Warning: spec.query does not compile: ERROR: <input>:1:14: unexpected EOF | .cpu.count == | .............^\n",
    )
    eventually(lambda: user.labels("a"), {"size": "QUERYERROR-medium"})
    eventually(lambda: user.counts("c"), (0, 1))
    text = "ERROR: <input>:1:14: unexpected EOF\n | .cpu.count ==\n | .............^"
    assert user.condition("c", "QueryValid") == ("False", "QueryIsNotValid", text)
    assert "False" in user.do("get", "agentclassification", "c")  # the column VALID
    mended = user.classify("c", "size", "medium", ".cpu.count == 2")
    assert (mended.returncode, mended.stderr) == (0, "")
    eventually(lambda: user.labels("a"), {"size": "medium"})
    broken = user.run("patch", "agentclassification", "c", "--type=merge", "-p", '{"spec":{"query":"nosuch"}}')
    assert "Warning: spec.query does not compile" in broken.stderr
    eventually(lambda: (user.condition("c", "QueryValid") or ("",))[0], "False")
    assert user.labels("a") == {"size": "medium"}  # a mistake removes nothing
    user.do("delete", "agentclassification", "c")
    assert user.labels("a") == {}


def test_key_and_value_are_checked_and_cannot_change(kubectl: Kubectl) -> None:
    user = User(kubectl, "fixed")
    assert user.classify("c", "size", "m" * 52, "true").returncode == 0
    for field in ("labelKey", "labelValue"):
        refused = user.run("patch", "agentclassification", "c", "--type=merge", "-p", f'{{"spec":{{"{field}":"x"}}}}')
        assert refused.returncode == 1
        assert f'spec.{field}: Invalid value: "x": field is immutable' in refused.stderr
    for key, value, problem in (
        ("size", "", "must not be empty"),
        ("size", "m" * 53, "must be no more than 52 characters"),
        ("size", "QUERYERROR-x", "reserved"),
        ("size", "a b", "valid label"),
        ("a/b", "x", "spec.labelKey"),
        ("", "x", "spec.labelKey"),
        ("k" * 64, "x", "spec.labelKey"),
    ):
        refused = user.classify("d", key, value, "true")
        assert refused.returncode == 1
        assert problem in refused.stderr
    user.discover("a", {})
    eventually(lambda: user.labels("a"), {"size": "m" * 52})
    user.classify("c", "size", "m" * 52, "error")
    eventually(lambda: user.labels("a"), {"size": "QUERYERROR-" + "m" * 52})


def test_a_classification_counts_in_its_namespace_and_has_a_finalizer(kubectl: Kubectl) -> None:
    here, there = User(kubectl, "here"), User(kubectl, "there")
    here.discover("a", {"cpu": {"count": 2}})
    there.discover("a", {"cpu": {"count": 2}})
    here.classify("c", "size", "medium", "true")
    eventually(lambda: here.counts("c"), (1, 0))
    assert (here.labels("a"), there.labels("a")) == ({"size": "medium"}, {})
    assert here.classification("c")["metadata"]["finalizers"] == [f"{PREFIX}finalizer"]
    # A namespace that goes takes everything along.
    kubectl("delete", "namespace", "here", "--timeout=20s")


def test_a_value_set_by_hand_and_a_rival_are_told_of(kubectl: Kubectl) -> None:
    user = User(kubectl, "rivals")
    user.discover("a", {"cpu": {"count": 2}})
    user.do("label", "agent", "a", f"{PREFIX}rack=by-hand")
    user.classify("rack", "rack", "r1", "true")
    user.classify("size-1-large", "size", "large", "true")
    user.classify("size-2-medium", "size", "medium", "true")
    eventually(lambda: user.labels("a"), {"rack": "by-hand", "size": "large"})
    taken = f"1 matching Agents carry another value of {PREFIX}"
    by_hand = ("False", "LabelTaken", f"{taken}rack: a (by-hand, set by hand)")
    eventually(lambda: user.condition("rack", "LabelsApplied"), by_hand)
    by_rival = ("False", "LabelTaken", f"{taken}size: a (large, from AgentClassification size-1-large)")
    eventually(lambda: user.condition("size-2-medium", "LabelsApplied"), by_rival)
    user.do("delete", "agentclassification", "size-1-large")
    eventually(lambda: user.labels("a"), {"rack": "by-hand", "size": "medium"})
    user.do("label", "agent", "a", f"{PREFIX}rack-")
    eventually(lambda: user.labels("a"), {"rack": "r1", "size": "medium"})
    user.do("label", "agent", "a", f"{PREFIX}size-")  # by mistake
    eventually(lambda: user.labels("a"), {"rack": "r1", "size": "medium"})


def test_why_is_told_from_the_live_server(kubectl: Kubectl) -> None:
    user = User(kubectl, "why")
    user.discover("a", {"cpu": {"count": 2}})
    user.discover("b", {"cpu": {"count": 4}})
    user.classify("small", "size", "small", ".cpu.count < 4")

    def muster(*args: str) -> tuple[int, str]:
        command = [sys.executable, "-m", "muster", *args, "--kubeconfig", str(kubectl.kubeconfig)]
        result = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        return result.returncode, result.stdout + result.stderr

    assert muster("explain", "classification", "small", "-n", "why", "--agent", "b") == (
        1,
        "small in why sets size=small where .cpu.count < 4\n"
        "\n"
        "b: no match\n"
        '  .cpu            {"count":4}\n'
        "  .cpu.count      4\n"
        "  .cpu.count < 4  false\n",
    )
    code, out = muster("explain", "classification", "small", "-n", "why", "-o", "json")
    told = json.loads(out)
    assert (code, told["agents"]) == (0, 2)
    assert [(each["outcome"], each["count"], each["examples"]) for each in told["outcomes"]] == [
        ("match", 1, ["a"]),
        ("no match", 1, ["b"]),
    ]


def test_a_setting_refuses_a_bad_query(tmp_path: Path) -> None:
    with hub_process(tmp_path, "--classification-admission", "refuse") as hub:
        home = tmp_path / "home"
        home.mkdir()
        user = User(Kubectl(home, hub.kubeconfig), "strict")
        refused = user.classify("c", "size", "medium", ".cpu.count ==")
        assert refused.returncode == 1
        assert "spec.query" in refused.stderr
        assert "does not compile: ERROR: <input>:1:14: unexpected EOF" in refused.stderr
        assert user.do("get", "agentclassifications", "-o", "name") == ""
        assert user.classify("c", "size", "medium", ".cpu.count == 2").returncode == 0
        worse = user.run("patch", "agentclassification", "c", "--type=merge", "-p", '{"spec":{"query":"nosuch"}}')
        assert "does not compile" in worse.stderr
        assert user.classification("c")["spec"]["query"] == ".cpu.count == 2"
