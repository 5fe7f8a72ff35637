"""Guards must be readable, and loosening them or approving needs the permission to approve."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from muster.admission.placement_guards import permitted, readable
from tests.admission.writes import Nothing, a_write
from tests.builders import a_placement

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.admission import Asker

PREFIX = "placement.muster.dev/"


def annotated(**texts: str) -> dict[str, Any]:
    placement = a_placement()
    placement["metadata"]["annotations"] = {f"{PREFIX}{name.replace('_', '-')}": text for name, text in texts.items()}
    return placement


class Refusing(Nothing):
    """Nobody may approve; remembers what was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, tuple[str, ...], str]] = []

    async def missing(
        self, asker: Asker, verb: str, resource: str, names: Sequence[str], namespace: str = ""
    ) -> Sequence[str]:
        self.asked.append((verb, resource, tuple(names), namespace))
        return names


def test_a_guard_that_cannot_be_read_is_refused_where_it_is_written() -> None:
    finding = readable(a_write("placements", annotated(max_removals="many")))
    assert finding.refusal is not None
    assert [each.field for each in finding.refusal.causes] == [f"metadata.annotations[{PREFIX}max-removals]"]
    stored = annotated(max_removals="many")
    assert readable(a_write("placements", stored, stored)).refusal is None
    assert readable(a_write("placements", annotated(max_removals="3", removal_hours="09:00-10:00"))).refusal is None


def test_a_misspelt_guard_is_warned_of() -> None:
    finding = readable(a_write("placements", annotated(max_removal="3")))
    assert finding.warnings == (f"annotation {PREFIX}max-removal is no guard; did you mean max-removals?",)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (annotated(), annotated(approve_removals="abc")),
        (annotated(approve_removals="abc"), annotated(approve_removals="abd")),
        (annotated(max_removals="3"), annotated()),
        (annotated(max_removals="3"), annotated(max_removals="4")),
        (annotated(freeze_removals="true"), annotated(freeze_removals="false")),
        (None, annotated(approve_removals="abc")),
        # A window of its own may be shorter than the usual one.
        (annotated(max_removals="3"), annotated(max_removals="3", removal_window="1s")),
    ],
)
def test_approving_and_loosening_need_the_permission(old: dict[str, Any] | None, new: dict[str, Any]) -> None:
    world = Refusing()
    finding = asyncio.run(permitted(a_write("placements", new, old), world))
    assert finding.refusal is not None
    assert finding.refusal.code == 403
    assert 'permission to "approve"' in finding.refusal.message
    assert world.asked == [("approve", "placements.cluster.open-cluster-management.io", ("p1",), "apps")]
    assert asyncio.run(permitted(a_write("placements", new, old), Nothing())).refusal is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (None, annotated(max_removals="3")),
        (annotated(), annotated(freeze_removals="true")),
        (annotated(approve_removals="abc"), annotated()),
        (annotated(max_removals="3"), annotated(max_removals="3", min_clusters="2")),
        (annotated(), annotated(max_removals="3", removal_window="1s")),
        (annotated(max_removals="3"), None),
    ],
)
def test_setting_a_guard_and_taking_an_approval_back_are_free(
    old: dict[str, Any] | None, new: dict[str, Any] | None
) -> None:
    world = Refusing()
    assert asyncio.run(permitted(a_write("placements", new, old), world)).refusal is None
    assert world.asked == []
