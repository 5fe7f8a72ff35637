"""A short run of the hostile programs; `python -m tests.hostile.cel_programs` runs as many as one likes."""

from __future__ import annotations

from collections import Counter

from tests.hostile.cel_programs import ENVIRONMENTS, programs, run


def test_three_hundred_hostile_programs_end_with_a_value_an_error_or_a_refusal() -> None:
    verdicts = Counter(
        run(text, ENVIRONMENTS[index % len(ENVIRONMENTS)]) for index, text in enumerate(programs(seed=16, count=300))
    )
    assert set(verdicts) == {"value", "error", "refused"}
    assert verdicts["value"] + verdicts["error"] > verdicts["refused"]


def test_the_programs_of_a_seed_are_always_the_same() -> None:
    assert list(programs(3, 20)) == list(programs(3, 20))
    assert list(programs(3, 20)) != list(programs(4, 20))
