"""The example of resolving operators, applied with kubectl to a hub as a user runs it."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.controllers.processes import HubProcess, hub_process
from tests.e2e.test_kubectl import KUBECTL, Kubectl

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]
EXAMPLE = Path(__file__).parents[2] / "examples" / "03-resolve-operators"
CATALOG = EXAMPLE / "catalog.yaml"


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with hub_process(tmp_path_factory.mktemp("hub"), "--catalog", f"community={CATALOG}") as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(hub: HubProcess, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    ready = Kubectl(tmp_path_factory.mktemp("home"), hub.kubeconfig)
    ready("create", "configmap", "shop-catalog", f"--from-file={CATALOG}")
    ready("label", "configmap", "shop-catalog", "resolution.muster.dev/catalog=true")
    ready("apply", "-f", str(EXAMPLE / "resolutions.yaml"))
    return ready


def eventually(question: Any, expected: Any) -> None:
    deadline = time.monotonic() + 30
    while (answer := question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        time.sleep(0.2)


def test_the_three_resolutions_of_the_example_are_answered(kubectl: Kubectl) -> None:
    def table() -> list[list[str]]:
        return [line.split()[:4] for line in kubectl("get", "resolutions").splitlines()]

    eventually(
        table,
        [
            ["NAME", "RESOLVED", "REASON", "CHANGES"],
            ["app", "True", "Resolved", "1"],
            ["impossible", "False", "Unsatisfiable", "0"],
            ["shop", "True", "Resolved", "3"],
        ],
    )
    story = kubectl("get", "resolution", "impossible", "-o", "jsonpath={.status.message}")
    assert "only one operator can provide Database (db.example.com/v1)" in story
    fixes = kubectl("get", "resolution", "impossible", "-o", "jsonpath={.status.fixes[*]}")
    assert fixes == "allow shop 1.0.0 drop legacydb drop shop@>=2.0.0"


def test_a_changed_config_map_gives_another_plan(kubectl: Kubectl) -> None:
    def planned() -> str:
        return kubectl("get", "resolution", "shop", "-o", "jsonpath={.status.plan[*].name}")

    eventually(planned, "shop.v2.0.0 database.v3.1.0 monitoring.v1.4.0")
    certified = "type: certified\n  value: "
    text = CATALOG.read_text(encoding="utf-8").replace(f"{certified}true", f"{certified}false")
    patch = json.dumps({"data": {"catalog.yaml": text}})
    kubectl("patch", "configmap", "shop-catalog", "--type=merge", "-p", patch)
    eventually(planned, "shop.v1.0.0")
    kubectl("wait", "resolution/shop", "--for=condition=Resolved", "--timeout=10s")


def test_a_bad_constraint_is_refused_with_its_place(kubectl: Kubectl) -> None:
    text = (EXAMPLE / "resolutions.yaml").read_text(encoding="utf-8").partition("---")[0]
    refused = kubectl("apply", "-f", "-", stdin=text.replace("semver_compare(", "semver_compared("), fails=True)
    assert "spec.catalogs[0].inline[1].properties[1].value.rule: Invalid value: ERROR" in refused
    assert "undeclared reference to 'semver_compared'" in refused


def test_kubectl_explains_the_fields(kubectl: Kubectl) -> None:
    assert "FIELD: configMap" in kubectl("explain", "resolution.spec.catalogs.configMap")
