"""Whose a placement is, and which controllers run in which mode."""

from __future__ import annotations

import pytest

from muster.controllers.duties import ALONE, BESIDE, DISABLED, INSTEAD, SCHEDULER, Duties


@pytest.mark.parametrize(
    ("duties", "annotations", "expected"),
    [
        (ALONE, {}, None),
        (ALONE, {DISABLED: "true"}, DISABLED),
        (ALONE, {DISABLED: "false"}, None),
        (ALONE, {DISABLED: "true", SCHEDULER: "muster"}, None),
        (ALONE, {SCHEDULER: "other"}, SCHEDULER),
        (INSTEAD, {}, None),
        (INSTEAD, {DISABLED: "true"}, DISABLED),
        (BESIDE, {}, SCHEDULER),
        (BESIDE, {DISABLED: "true"}, SCHEDULER),
        (BESIDE, {DISABLED: "true", SCHEDULER: "muster"}, None),
        (BESIDE, {SCHEDULER: "muster"}, None),
        (BESIDE, {SCHEDULER: "Muster"}, SCHEDULER),
        (BESIDE, {SCHEDULER: ""}, SCHEDULER),
    ],
)
def test_a_placement_is_ours_or_it_says_by_which_annotation_it_is_not(
    duties: Duties, annotations: dict[str, str], expected: str | None
) -> None:
    assert duties.keeps_away(annotations) == expected
