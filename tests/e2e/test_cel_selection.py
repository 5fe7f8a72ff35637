"""The example of selection by expressions, applied with kubectl to a hub as a user runs it."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from muster.cel.libraries.ocm_sizes import STATIC_COST_LIMIT
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
DEAR = (
    "managedCluster.status.clusterClaims.all(a, managedCluster.status.clusterClaims.all(b, a.value.contains(b.value)))"
)
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


def test_an_expression_that_may_cost_too_much_is_refused_with_what_makes_it_dear(
    kubectl: Kubectl, tmp_path: Path
) -> None:
    refused = kubectl.run("apply", "-f", str(written(tmp_path, f"true && {DEAR}")))
    assert refused.returncode == 1
    assert re.search(
        r"celExpressions\[0\]: Invalid value: .*may cost up to \d{7,}, more than the limit of "
        + re.escape(f"{STATIC_COST_LIMIT}: most of it is {DEAR}"),
        refused.stderr,
    )


def test_clusters_on_which_an_expression_fails_are_counted_and_not_named(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", str(written(tmp_path, "managedCluster.metadata.labels['nobody-has-it'] == 'x'")))

    def condition() -> list[str]:
        found = json.loads(kubectl("get", "placement", "written", "-o", "json")).get("status", {})
        return [
            f"{each['status']} {each['reason']} {each['message']}"
            for each in found.get("conditions", [])
            if each["type"] == "PredicatesEvaluated"
        ]

    eventually(lambda: [text[:23] for text in condition()], ["False EvaluationErrors "])
    (text,) = condition()
    assert re.match(
        r"False EvaluationErrors 3 clusters are not selected because an expression failed: reasons: .*no such key", text
    )


@pytest.mark.parametrize("expression", ["managedCluster.metadata.nam.matchess('a')", "1 + 1"])
def test_where_it_is_so_set_what_cannot_be_scheduled_is_refused(
    strict: Kubectl, tmp_path: Path, expression: str
) -> None:
    refused = strict.run("apply", "-f", str(written(tmp_path, expression)))
    assert refused.returncode == 1
    assert "failed to compile CEL expression" in refused.stderr


@pytest.fixture(scope="module")
def strict(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Kubectl]:
    """A hub that refuses what it would warn of."""
    with hub_process(tmp_path_factory.mktemp("strict"), "--placement-admission", "refuse") as running:
        yield Kubectl(tmp_path_factory.mktemp("strict-home"), running.kubeconfig)


def written(folder: Path, expression: str) -> Path:
    """A placement with one expression, in a file."""
    path = folder / "placement.json"
    selector = {"requiredClusterSelector": {"celSelector": {"celExpressions": [expression]}}}
    placement = {
        "apiVersion": "cluster.open-cluster-management.io/v1beta1",
        "kind": "Placement",
        "metadata": {"name": "written"},
        "spec": {"predicates": [selector]},
    }
    path.write_text(json.dumps(placement))
    return path


def test_the_metric_has_the_shape_of_the_specification(kubectl: Kubectl) -> None:
    def shape() -> str:
        lines = kubectl("get", "--raw", "/metrics").splitlines()
        own = [line for line in lines if "scheduling_cel_duration_seconds" in line]
        return "".join(re.sub(r"(?<=\}) .*", "", line) + "\n" for line in own)

    eventually(shape, METRIC)


def test_the_controllers_measure_their_work(kubectl: Kubectl) -> None:
    def series(name: str) -> set[str]:
        lines = kubectl("get", "--raw", "/metrics").splitlines()
        return {line.rpartition(" ")[0].removeprefix(name) for line in lines if re.match(rf"{name}[{{ ]", line)}

    queues = {f'{{name="{name}"}}' for name in ("placement", "clusterset", "cluster", "garbage")}
    eventually(lambda: series("workqueue_depth") >= queues, True)
    failures = {text.replace("name=", "controller=") for text in queues}
    assert series("muster_controller_errors_total") >= failures
    assert series("muster_controller_conflicts_total") >= failures
    scheduling = {'{name="placement_scheduling"}'}
    eventually(lambda: series("scheduling_bind_duration_seconds_count"), scheduling)
    assert series("scheduling_scheduling_duration_seconds_count") == scheduling
    plugins = series("scheduling_plugin_duration_seconds_count")
    assert {'{name="placement_scheduling",plugin_name="TaintToleration",plugin_type="filter"}'} <= plugins
    assert series("muster_placement_decision_writes_total") >= {'{deed="create"}'}
    for name in ("muster_cel_evaluations_total", "muster_mask_flips_total"):
        assert series(name) == {""}
