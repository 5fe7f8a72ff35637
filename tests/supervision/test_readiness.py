"""When /readyz says that the controllers make no progress, and when a restart is only ordinary."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from muster.supervision import Note, ProcessStatus, Subject, SupervisorFacts, VitalSigns, progress_problem

NOW = 1000.0
FACTS = SupervisorFacts(idle_since=NOW - 500, silence=10.0)
NOTE = Note(Subject("Placement", "secret", "name").text(), NOW - 12)


def signs(beat_ago: float = 0.2, pid: int = 7, note: Note | None = None, **status: Any) -> VitalSigns:
    return VitalSigns(pid, 5, NOW - beat_ago, note, None, ProcessStatus(**{"state": "leading", **status}), FACTS)


@pytest.mark.parametrize("good", [signs(), signs(state="standby", waited=400), signs(waited=5.0), signs(unrenewed=2)])
def test_who_works_or_stands_by_is_ready(good: VitalSigns) -> None:
    assert progress_problem(good, NOW) is None


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (signs(beat_ago=12, note=NOTE), "no progress for 12 s while evaluating a Placement"),
        (signs(beat_ago=12), "no progress for 12 s"),
        (signs(pid=0), "not running for 500 s"),
        (signs(state="reading", unsynced=("agents",)), "reading (agents not read yet) for 500 s"),
        (signs(state="waiting for the lease"), "waiting for the lease for 500 s"),
        (signs(queue="placement", waited=75.2), "a key has waited in the queue placement for 75 s"),
        (signs(unrenewed=31), "nothing is written: the lease has not been renewed for 31 s"),
    ],
)
def test_what_keeps_the_controllers_from_their_work_is_told(bad: VitalSigns, words: str) -> None:
    assert progress_problem(bad, NOW) == words


def supervised(**facts: Any) -> VitalSigns:
    return VitalSigns(supervision=msgspec.structs.replace(FACTS, **facts))


def test_a_short_restart_is_ordinary() -> None:
    assert progress_problem(supervised(deaths=(NOW - 5,), idle_since=NOW - 5, last="it died"), NOW) is None


def test_a_crash_loop_is_told_however_short_each_restart_is() -> None:
    facts = msgspec.structs.replace(FACTS, deaths=(NOW - 40, NOW - 20, NOW - 1), last="it died")
    looping = VitalSigns(7, 5, NOW, None, None, ProcessStatus("leading"), facts)
    assert progress_problem(looping, NOW) == "they died 3 times within 60 s; the last time it died"
    assert progress_problem(looping, NOW + 50) is not None  # no beat since
    assert progress_problem(supervised(deaths=(NOW - 200, NOW - 100, NOW - 3), idle_since=NOW - 3), NOW) is None
