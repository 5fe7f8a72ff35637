"""How far a verdict holds: for which other objects that look the same to the selector."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from muster.selectors.cel import CelLimits, cel_compiler
from muster.selectors.match import ANY_SIZE, failed, yes
from muster.selectors.specs import AllOf, CelSelectorSpec, compile_selector
from tests.builders import a_cluster

if TYPE_CHECKING:
    from muster.selectors import Match
    from muster.selectors.paths import Path
    from muster.values.json import JsonMapping

LABEL = "managedCluster.metadata.labels.env == 'prod'"
CLAIM = "managedCluster.status.clusterClaims.exists(c, c.name == 'id' && c.value == '7')"
LATE = "managedCluster.status.clusterClaims.exists(c, c.value.matches('7') && c.name == 'id')"
CLUSTER = a_cluster("a", {"env": "prod"}, claims={"id": "7"})


def up_to(*expressions: str, limit: int = 1_000_000, cluster: int = 10_000_000) -> int:
    limits = CelLimits(expression=limit, cluster=cluster)
    found = compile_selector(CelSelectorSpec(expressions), limits=limits).match(CLUSTER)
    assert found
    return found.up_to


def test_a_verdict_on_what_is_read_as_a_whole_holds_for_objects_of_any_size() -> None:
    assert up_to(LABEL) == ANY_SIZE
    assert up_to() == ANY_SIZE


def test_a_verdict_on_a_list_that_is_read_in_part_holds_while_the_rest_cannot_exceed_the_limit() -> None:
    assert 500_000 < up_to(CLAIM) < ANY_SIZE
    assert up_to(CLAIM, limit=100) < up_to(CLAIM, limit=1_000) < up_to(CLAIM)
    assert up_to(CLAIM, cluster=1_000) == up_to(CLAIM, limit=1_000)


def test_several_expressions_share_the_limit_of_a_cluster() -> None:
    assert up_to(CLAIM, CLAIM, limit=1_000, cluster=1_500) < up_to(CLAIM, limit=1_000)
    assert up_to(LABEL, CLAIM, limit=1_000, cluster=10_000) == up_to(CLAIM, limit=1_000)


def test_a_verdict_holds_for_no_other_object_where_nobody_knows_what_the_rest_costs() -> None:
    assert up_to(LATE) == 0


@pytest.mark.parametrize(("parts", "least"), [((3, 5), 3), ((5, 3), 3), ((5, ANY_SIZE), 5), ((), ANY_SIZE)])
def test_several_parts_hold_as_far_as_each_of_them(parts: tuple[int, ...], least: int) -> None:
    class Part:
        is_empty = False
        reads: frozenset[Path] = frozenset()

        def __init__(self, up_to: int, good: bool) -> None:
            self.up_to, self.good = up_to, good

        def match(self, obj: JsonMapping) -> Match:
            return yes("fits", up_to=self.up_to) if self.good else failed("fails", up_to=self.up_to)

    assert AllOf(tuple(Part(each, True) for each in parts)).match({}).up_to == least
    last = AllOf((*(Part(each, True) for each in parts), Part(ANY_SIZE, False))).match({})
    assert (last.up_to, last.reason) == (least, failed("fails").reason)


def test_a_budget_that_was_exhausted_is_said_of_one_object_alone() -> None:
    (selector,) = cel_compiler(limits=CelLimits(expression=5, cluster=5))([CLAIM])
    found = selector.match(CLUSTER)
    assert (found.alone, found.up_to) == (True, 0)
