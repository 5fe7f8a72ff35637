"""The example of selection by expressions, applied with kubectl to a hub as a user runs it."""

from __future__ import annotations

import json
import re
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
EXAMPLE = Path(__file__).parents[2] / "examples" / "01-cel-selection"
EXPECTED = {
    "exact-version": ["bravelion"],
    "label-pattern": ["bravelion", "calmotter"],
    "claim-pattern": ["bravelion", "calmotter"],
    "newer-than": ["bravelion", "calmotter"],
    "enough-room": ["bravelion"],
    "machine-types": ["bravelion"],
}
# As the specification prints it, without the values.
METRIC = """\
# HELP scheduling_cel_duration_seconds [ALPHA] How long in seconds it takes to schedule a placement.
# TYPE scheduling_cel_duration_seconds histogram
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="1e-06"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="9.999999999999999e-06"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="9.999999999999999e-05"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="0.001"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="0.01"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="0.1"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="1"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="10"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="100"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="1000"}
scheduling_cel_duration_seconds_bucket{name="placement_scheduling",le="+Inf"}
scheduling_cel_duration_seconds_count{name="placement_scheduling"}
scheduling_cel_duration_seconds_sum{name="placement_scheduling"}
"""


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with hub_process(tmp_path_factory.mktemp("hub")) as running:
        yield running


@pytest.fixture(scope="module")
def kubectl(hub: HubProcess, tmp_path_factory: pytest.TempPathFactory) -> Kubectl:
    ready = Kubectl(tmp_path_factory.mktemp("home"), hub.kubeconfig)
    ready("apply", "-f", str(EXAMPLE / "fleet.yaml"))
    ready("apply", "--server-side", "--subresource=status", "-f", str(EXAMPLE / "status.yaml"))
    ready("apply", "-f", str(EXAMPLE / "placements.yaml"))
    return ready


def eventually(question: Any, expected: Any) -> None:
    deadline = time.monotonic() + 30
    while (answer := question()) != expected:
        assert time.monotonic() < deadline, f"still {answer!r} instead of {expected!r}"
        time.sleep(0.2)


def test_every_placement_selects_what_its_comment_says(kubectl: Kubectl) -> None:
    def decided() -> dict[str, list[str]]:
        pages = json.loads(kubectl("get", "placementdecisions", "-o", "json"))["items"]
        return {
            page["metadata"]["name"].removesuffix("-decision-1"): [
                each["clusterName"] for each in page.get("status", {}).get("decisions", [])
            ]
            for page in pages
        }

    eventually(decided, EXPECTED)


def test_a_misspelt_expression_is_warned_of_and_shown_in_the_words_of_the_specification(kubectl: Kubectl) -> None:
    applied = kubectl.run("apply", "-f", str(EXAMPLE / "misspelt.yaml"))
    assert applied.returncode == 0
    assert "Warning: " in applied.stderr
    assert "undeclared reference to 'matchess'" in applied.stderr

    def condition() -> list[str]:
        found = json.loads(kubectl("get", "placement", "misspelt", "-o", "json")).get("status", {})
        return [
            f"{each['status']} {each['reason']} " + each["message"].splitlines()[0]
            for each in found.get("conditions", [])
            if each["type"] == "PlacementMisconfigured"
        ]

    expression = r"""managedCluster.metadata.labels["version"].matchess('^1\\.(14|15)\\.\\d+$')"""
    text = f"failed to compile CEL expression '{expression}': ERROR: <input>:1:51: undeclared reference to 'matchess'"
    eventually(condition, [f"True Misconfigured {text} (in container '')"])


def test_the_metric_has_the_shape_of_the_specification(kubectl: Kubectl) -> None:
    def shape() -> str:
        lines = kubectl("get", "--raw", "/metrics").splitlines()
        own = [line for line in lines if "scheduling_cel_duration_seconds" in line]
        return "".join(re.sub(r"(?<=\}) .*", "", line) + "\n" for line in own)

    eventually(shape, METRIC)
