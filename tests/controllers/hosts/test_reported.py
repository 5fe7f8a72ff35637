"""Hosts that metal3 and NFD report, on a hub: labelled in the controllers' own name, previewed, planned."""

from __future__ import annotations

import io
import json
from typing import TYPE_CHECKING, Any

import pytest

from muster.cli.main import run
from muster.controllers.questions.asking import CONTROLLERS_ADDRESS
from tests.contract.test_reported_hosts import DEFINITIONS, KINDS, LABEL, a_definition
from tests.controllers.hosts.running import add_agent, classify
from tests.controllers.running import controllers, driven_hub, eventually
from tests.importing.test_hosts import FEATURES, HARDWARE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.controllers.running import Driver

pytestmark = pytest.mark.e2e
METAL = "/apis/metal3.io/v1alpha1/namespaces/apps/hardwaredata"
NODES = "/apis/nfd.k8s-sigs.io/v1alpha1/namespaces/apps/nodefeatures"


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Driver]:
    with driven_hub(state=tmp_path) as driver:
        for each in KINDS:
            driver.send("POST", DEFINITIONS, a_definition(*each))
        driver.send("POST", METAL, HARDWARE)
        driver.send("POST", NODES, FEATURES)
        yield driver


def label(hub: Driver, path: str) -> str | None:
    found: dict[str, str] = hub.get(path)["metadata"].get("labels") or {}
    return found.get(LABEL)


@pytest.mark.parametrize("answering", [True, False], ids=["by the hub", "from lists"])
def test_commands_tell_of_them_as_of_agents(hub: Driver, tmp_path: Path, answering: bool) -> None:
    with controllers(hub.hub, address=tmp_path / CONTROLLERS_ADDRESS if answering else None):
        add_agent(hub, "a", {"cpu": {"count": 64}})
        classify(hub, "large", "size", "large", "(.cpu.count // 0) >= 32")
        eventually(lambda: label(hub, f"{METAL}/host-1"), "large")
        assert label(hub, f"{NODES}/worker-7") is None
        kubeconfig = str(hub.hub.kubeconfig(tmp_path / "kubeconfig"))

        def said(*command: str) -> tuple[int, str]:
            out, err = io.StringIO(), io.StringIO()
            code = run([*command, "--kubeconfig", kubeconfig], io.StringIO(), out, err)
            assert ("answered from lists" in err.getvalue()) is not answering
            return code, out.getvalue()

        assert said("classify", "-o", "name") == (0, "a\nhardwaredata/host-1\n")
        code, text = said("classify", "--why", "apps/hardwaredata/host-1")
        assert (code, text.splitlines()[0]) == (0, "hardwaredata/host-1: size=large")
        given = tmp_path / "new.json"
        spec = {"labelKey": "gpu", "labelValue": "yes", "query": "any(.gpus[]?; true)"}
        kind = {"apiVersion": "agent-install.openshift.io/v1beta1", "kind": "AgentClassification"}
        given.write_text(json.dumps({**kind, "metadata": {"name": "gpus", "namespace": "apps"}, "spec": spec}))
        code, text = said("plan", "-f", str(given))
        assert (code, text.splitlines()[:3]) == (
            0,
            [
                "apps/gpus: new, 0 → 1 agents",
                "apps: the labels of 1 agents change",
                "  + gpu=yes: nodefeatures/worker-7",
            ],
        )


def test_one_whose_owner_takes_labels_off_is_left_alone_after_a_while(hub: Driver) -> None:
    def rewritten() -> Any:
        """What NFD's worker does: it knows no labels but its own."""
        found = hub.get(f"{NODES}/worker-7")
        metadata = {key: found["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
        body = {**found, "metadata": {**metadata, "labels": FEATURES["metadata"]["labels"]}}
        return hub.send("PUT", f"{NODES}/worker-7", body)

    def warned() -> bool:
        events = hub.get("/api/v1/namespaces/apps/events")["items"]
        return any(
            each["reason"] == "LabelsTakenOff" and each["involvedObject"]["kind"] == "NodeFeature" for each in events
        )

    classify(hub, "gpus", "size", "gpu", "any(.gpus[]?; true)")
    with controllers(hub.hub):
        for _ in range(4):
            assert not warned()
            eventually(lambda: label(hub, f"{NODES}/worker-7"), "gpu")
            rewritten()
        eventually(warned, True)
        assert label(hub, f"{NODES}/worker-7") is None
        # Others are labelled meanwhile, and another label is no contest.
        more = {**FEATURES, "metadata": {"name": "worker-8", "namespace": "apps"}}
        hub.send("POST", NODES, more)
        eventually(lambda: label(hub, f"{NODES}/worker-8"), "gpu")


def test_what_cannot_be_read_keeps_its_labels(hub: Driver) -> None:
    with controllers(hub.hub):
        classify(hub, "large", "size", "large", "(.cpu.count // 0) >= 32")
        eventually(lambda: label(hub, f"{METAL}/host-1"), "large")
        hub.patch(f"{METAL}/host-1", {"spec": {"hardware": {"cpu": {"count": "many"}}}})
        hub.send("POST", METAL, {**HARDWARE, "metadata": {"name": "host-2", "namespace": "apps"}})
        eventually(lambda: label(hub, f"{METAL}/host-2"), "large")
        assert label(hub, f"{METAL}/host-1") == "large"
