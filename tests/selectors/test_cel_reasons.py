"""The parts of an expression that decided, with the values they looked at."""

from __future__ import annotations

from typing import Any

import pytest

from muster.cel.environments import environment
from muster.cel.program import compile_program
from muster.selectors.cel_reasons import conjuncts, observations, shortened
from tests.builders import a_cluster

CLUSTER = a_cluster(
    "a",
    {"version": "1.28.4", "cloud": "Amazon"},
    {"platform": "AWS", "id": "7"},
    version={"kubernetes": "v1.28.4"},
)


def seen(text: str, cluster: dict[str, Any] = CLUSTER) -> list[str]:
    program = compile_program(text, environment("muster"))
    return [str(each) for each in observations(program, {"managedCluster": cluster})]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            r"managedCluster.metadata.labels['version'].matches('^1\\.(30|31)')",
            ['labels["version"] = "1.28.4"', r'matches("^1\\.(30|31)") = false'],
        ),
        (
            "managedCluster.metadata.labels.cloud == 'Azure' && managedCluster.metadata.name == 'a'",
            ['labels.cloud = "Amazon"', 'labels.cloud == "Azure" is false'],
        ),
        (
            "managedCluster.metadata.labels.cloud == 'Azure' || managedCluster.metadata.name == 'b'",
            [
                'labels.cloud = "Amazon"',
                'labels.cloud == "Azure" is false',
                'name = "a"',
                'name == "b" is false',
            ],
        ),
        (
            "managedCluster.status.clusterClaims.exists(c, c.name == 'platform' && c.value == 'GCP')",
            [
                'clusterClaims[name="platform"].value = "AWS"',
                'clusterClaims.exists(c, c.name == "platform" && c.value == "GCP") is false',
            ],
        ),
        (
            "managedCluster.status.clusterClaims.exists(c, c.name == 'region')",
            ['clusterClaims[name="region"] = missing', 'clusterClaims.exists(c, c.name == "region") is false'],
        ),
        (
            'semver(managedCluster.status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true))',
            [
                'status.version.kubernetes = "v1.28.4"',
                'semver(status.version.kubernetes, true).isGreaterThan(semver("v1.30.0", true)) is false',
            ],
        ),
        ("has(managedCluster.metadata.labels.tier)", ["has(labels.tier) = false"]),
        ("!has(managedCluster.metadata.labels.cloud)", ["has(labels.cloud) = true"]),
        (
            'managedCluster.metadata.?labels[?"tier"].orValue("") == "gold"',
            [
                'metadata.?labels[?"tier"] = optional.none()',
                'metadata.?labels[?"tier"].orValue("") == "gold" is false',
            ],
        ),
        ("managedCluster.metadata.labels.tier == 'gold'", ["labels.tier failed: no such key: tier"]),
        (
            "managedCluster.metadata.name == 'b' ? true : managedCluster.metadata.labels.cloud == 'Azure'",
            ['name = "a"', 'name == "b" is false', 'labels.cloud = "Amazon"', 'labels.cloud == "Azure" is false'],
        ),
    ],
)
def test_a_no_is_told_by_the_part_that_decided_and_its_values(text: str, expected: list[str]) -> None:
    assert seen(text) == expected


def test_what_stands_in_quotes_is_never_shortened() -> None:
    assert shortened('managedCluster.metadata.labels["managedCluster.x"]') == 'labels["managedCluster.x"]'


def test_conjuncts_are_what_must_all_be_true() -> None:
    program = compile_program("true && (false || true) && [1].all(x, x > 0 && x < 2)", environment("muster"))
    assert conjuncts(program) == ("true", "false || true", "[1].all(x, x > 0 && x < 2)")
    assert conjuncts(compile_program("true || false", environment("muster"))) == ("true || false",)
