"""What a look means: who is lost and when, whose lease is renewed, when the next look comes."""

from __future__ import annotations

import pytest

from muster.collecting.troubles import Trouble, TroubleError
from muster.controllers.syncing.verdicts import NONE, Failures, Patience, of_failure, of_heartbeat, pause_after
from muster.importing.sources import AVAILABLE

PATIENCE = Patience(2, 20.0)


def after(trouble: Trouble, *moments: float) -> tuple[str | None, str | None, bool]:
    """Available and Synced after looks that failed at these moments, and whether the lease is renewed."""
    failures = NONE
    for moment in moments:
        failures = failures.another(moment)
    found = of_failure(TroubleError(trouble, "text"), failures, moments[-1], PATIENCE)
    states = [found.conditions.get(kind) for kind in (AVAILABLE, "Synced")]
    return (*(None if each is None else each[0] for each in states), found.is_alive)  # type: ignore[return-value]


def test_a_cluster_is_lost_after_two_looks_and_some_seconds_and_not_before() -> None:
    assert after(Trouble.UNREACHABLE, 0.0) == (None, None, False)
    assert after(Trouble.UNREACHABLE, 0.0, 5.0) == (None, None, False)
    assert after(Trouble.UNREACHABLE, 0.0, 5.0, 20.0) == ("Unknown", "False", False)
    assert after(Trouble.UNHEALTHY, 0.0, 21.0) == ("False", "False", False)


@pytest.mark.parametrize("trouble", list(Trouble))
def test_every_trouble_is_one_of_three(trouble: Trouble) -> None:
    available, synced, alive = after(trouble, 0.0, 60.0)
    assert synced == "False"
    assert alive == trouble.is_alive
    if trouble.is_lost:
        assert available == "Unknown"
    elif trouble is not Trouble.UNHEALTHY:
        assert available is None, "what is ours to mend moves no decision"


def test_looks_come_soon_after_a_failure_and_never_more_seldom_than_usual() -> None:
    assert [pause_after(Failures(count), 60.0) for count in (0, 1, 2, 3, 4, 5, 1000)] == [60, 5, 10, 20, 40, 60, 60]


def test_a_heartbeat_ends_a_trouble_and_says_nothing_otherwise() -> None:
    assert "Synced" not in of_heartbeat(("True", "PartlySynced", "x")).conditions
    assert of_heartbeat(("False", "TimedOut", "x")).conditions["Synced"][:2] == ("True", "Synced")
