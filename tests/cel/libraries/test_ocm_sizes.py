"""The bounds of ManagedCluster fields make estimates mean something: every documented example stays below the limit."""

from __future__ import annotations

import pytest

from muster.cel import compile_program, environment
from muster.cel.libraries.ocm_sizes import STATIC_COST_LIMIT, managed_cluster_sizes

EXAMPLES = (
    'managedCluster.status.version.kubernetes == "v1.30.0"',
    r"managedCluster.metadata.labels['version'].matches('^1\\.(30|31)\\.\\d+$')",
    "managedCluster.status.clusterClaims.exists(c, c.name == 'kubeversion.open-cluster-management.io'"
    r" && c.value.matches('^1\\.(30|31)\\.\\d+$'))",
    'semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))',
    "managedCluster.scores('default').filter(s, s.name == 'cpuAvailable').all(e, e.quantity > 4)",
    "managedCluster.scores('default').filter(s, s.name == 'memAvailable')"
    ".all(e, quantity(e.quantity).isGreaterThan(quantity('100Mi')))",
    "managedCluster.status.properties.exists(c, c.name == 'sku.node.k8s.io'"
    " && c.value.split(',').exists(e, e == 'g6.xlarge'))",
    "managedCluster.status.properties.exists(c, c.name == 'sku.gpu.kubernetes-fleet.io'"
    " && c.value.parseJSON().H100.exists(e, e.Standard_NC96ads_H100_v4 == 2))",
)


@pytest.mark.parametrize("text", EXAMPLES)
def test_documented_examples_are_estimated_below_the_static_limit(text: str) -> None:
    least, greatest = compile_program(text, environment("muster")).estimate(managed_cluster_sizes)
    assert 0 < least <= greatest < STATIC_COST_LIMIT


def test_loops_within_loops_over_all_claims_are_estimated_above_it() -> None:
    claims = "managedCluster.status.clusterClaims"
    text = f"{claims}.all(a, {claims}.all(b, {claims}.all(c, a.value + b.value != c.value)))"
    assert compile_program(text, environment("muster")).estimate(managed_cluster_sizes).max > STATIC_COST_LIMIT
