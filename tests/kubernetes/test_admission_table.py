"""Every row of the table of admission rules, on the hub and on a real kube-apiserver, by kubectl.

On Kubernetes every row is tried with our Pods, and those of definitions and policies once more without any program of
ours: that they hold while our Pods are down is what these show. What becomes of the others then is in
`test_without_pods`.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from muster.kubernetes.policies import policies
from muster.kubernetes.rules import RULES, Layer, table
from muster.kubernetes.settings import DEFAULTS
from tests.e2e.test_kubectl import KUBECTL
from tests.kubernetes.homes import WITHOUT_PODS
from tests.kubernetes.scenarios import NAMESPACE, SCENARIOS, Stage

if TYPE_CHECKING:
    from muster.kubernetes.rules import AdmissionRule
    from tests.kubernetes.homes import Home

NEEDS_DEFAULT_LABEL = ("default-set", "join-by-default-key")  # a webhook sets it before Kubernetes 1.36
PAGE = Path(__file__).parents[2] / "docs" / "reference" / "admission.md"


def test_every_row_has_a_scenario() -> None:
    assert sorted(SCENARIOS) == sorted(each.id for each in RULES)


def test_the_page_has_the_table() -> None:
    assert table() in PAGE.read_text(), (
        "`python -m muster.kubernetes.rules` prints the table of docs/reference/admission.md"
    )


def test_every_policy_is_in_the_table() -> None:
    installed = {each["metadata"]["name"] for each in policies(DEFAULTS)}
    assert {each.by for each in RULES if each.layer is Layer.POLICY} == installed


@pytest.mark.e2e
@pytest.mark.slow
@pytest.mark.timeout(400)  # the first one installs
@pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)")
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.id)
def test_a_rule_holds_on_both_homes(rule: AdmissionRule, home: Home) -> None:
    if home.name == WITHOUT_PODS:
        if rule.layer is Layer.WEBHOOK:
            pytest.skip("its answer comes from our Pods; test_without_pods says what happens without them")
        if rule.id in NEEDS_DEFAULT_LABEL and not home.labels_clusters:
            pytest.skip("before Kubernetes 1.36, which `make interop` runs, our Pods set the default label")
    home.admin.send("POST", "/api/v1/namespaces", {"kind": "Namespace", "metadata": {"name": NAMESPACE}})
    SCENARIOS[rule.id](Stage(home, rule.kubernetes if home.is_kubernetes else rule.hub))
