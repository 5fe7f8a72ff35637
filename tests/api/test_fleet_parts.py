"""Questions, one at a time."""

from __future__ import annotations

from muster.api.fleet_parts import question_of
from muster.api.fleet_questions import QUESTIONS


def test_every_question_is_found_alone() -> None:
    assert [question_of(each.kind) for each in QUESTIONS] == list(QUESTIONS)
    assert question_of("Nothing") is None
