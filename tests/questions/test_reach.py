"""What was found of one cluster stands for others only as far as it depends on nothing but what was read."""

from __future__ import annotations

from typing import Any

import pytest

from muster.selectors.cel import CEL_LIMITS, CelLimits
from tests.builders import a_cluster
from tests.questions.observing import an_observer, evaluation

LIMIT = 4_000
CLAIMS = "managedCluster.status.clusterClaims"
CLAIM = f'{CLAIMS}.exists(c, c.name == "wanted" && c.value == "yes")'
NESTED = (
    f'{CLAIMS}.exists(c, c.name.startsWith("wanted") && {CLAIMS}.exists(d, d.name == "wanted" && d.value == "yes"))'
)
WANTED = f'{CLAIMS}.filter(c, c.name == "wanted")[0].value'
VALUE = f"{WANTED} + {WANTED}"


@pytest.fixture(autouse=True)
def limited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(CEL_LIMITS, "value", CelLimits(expression=LIMIT, cluster=LIMIT))


def claiming(name: str, others: int) -> dict[str, Any]:
    return a_cluster(name, {}, {**{f"o{number}": "x" for number in range(others)}, "wanted": "yes"})


@pytest.mark.parametrize("asked", [{"expression": CLAIM}, {"expression": NESTED}, {"expression": VALUE}])
@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_a_cheap_cluster_does_not_hide_that_another_exceeds_its_budget(
    asked: dict[str, Any], names: tuple[str, str]
) -> None:
    """Both look the same to the expression, and are smaller than 64 KiB: they differ in claims that it passes by."""
    small, large = names
    status = evaluation(an_observer(claiming(small, 2), claiming(large, 700)), rows={"show": "All"}, **asked)

    assert {row["name"]: row["verdict"] for row in status["rows"]} == {small: "Matched", large: "Failed"}


@pytest.mark.parametrize(
    "asked",
    [
        {"selector": {"celSelector": {"celExpressions": [CLAIM]}}},
        {"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": [CLAIM]}}}]},
    ],
)
def test_selectors_are_no_exception(asked: dict[str, Any]) -> None:
    status = evaluation(an_observer(claiming("a", 2), claiming("b", 700), claiming("c", 700)), **asked)

    assert (status["matched"], status["failed"]) == (1, 2)


def test_equal_clusters_of_any_size_share_what_depends_on_nothing_else() -> None:
    clusters = [a_cluster(f"c{number}", {"tier": "gold"}, {"big": "x" * 70_000}) for number in range(3)]
    observer = an_observer(*clusters)

    status = evaluation(observer, expression="managedCluster.metadata.labels.tier == 'gold'")

    assert status["matched"] == 3
