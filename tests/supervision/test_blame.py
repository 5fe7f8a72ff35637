"""Which deaths an object is blamed for."""

from __future__ import annotations

import signal

import pytest

from muster.supervision import Blame, Death, Note, Subject
from muster.supervision.blame import Kill

PLACEMENT = Subject("Placement", "apps", "p1", "u", 3)
NOTE = Note(PLACEMENT.text(), 10.0)
OTHER = Note(Subject("Placement", "apps", "p2", "u", 3).text(), 10.0)
LIMIT = 1000
SIGKILL = -int(signal.SIGKILL)


def blamed(*deaths: Death) -> list[Subject | None]:
    blame = Blame()
    found = [blame.suspect(each) for each in deaths]
    return [None if each is None else each.subject for each in found]


@pytest.mark.parametrize(
    "death",
    [
        Death(SIGKILL, NOTE, kill=Kill.HANG, silent=20.0),
        Death(SIGKILL, NOTE, kill=Kill.MEMORY, grew=600, limit=LIMIT),
        Death(-int(signal.SIGSEGV), NOTE),
        Death(-int(signal.SIGABRT), NOTE),
    ],
)
def test_a_clear_death_is_blamed_at_once(death: Death) -> None:
    assert blamed(death) == [PLACEMENT]


def test_nobody_is_blamed_without_a_note() -> None:
    assert blamed(Death(SIGKILL, None, kill=Kill.HANG), Death(-int(signal.SIGSEGV), None)) == [None, None]


def test_a_kill_at_a_random_moment_is_nobodys_fault_however_often() -> None:
    assert blamed(*[Death(SIGKILL, NOTE, age=0.01)] * 5) == [None] * 5


def test_a_foreign_kill_in_a_long_evaluation_is_blamed_the_second_time_in_a_row() -> None:
    long = Death(SIGKILL, NOTE, age=30.0)
    assert blamed(long, long) == [None, PLACEMENT]
    assert blamed(long, Death(SIGKILL, OTHER, age=30.0), long) == [None, None, None]
    assert blamed(long, Death(SIGKILL, NOTE, age=0.01), long) == [None, None, None]


def test_a_memory_limit_that_somebody_else_has_used_up_is_not_blamed() -> None:
    assert blamed(*[Death(SIGKILL, NOTE, kill=Kill.MEMORY, grew=100, limit=LIMIT)] * 3) == [None] * 3


def test_an_out_of_memory_kill_of_the_system_is_blamed_the_second_time() -> None:
    killed = Death(SIGKILL, NOTE, grew=600, limit=LIMIT)
    assert blamed(killed, killed) == [None, PLACEMENT]


def test_beside_a_helper_thread_nothing_is_certain() -> None:
    hang = Death(SIGKILL, NOTE, helper=Note(b"a question", 1.0), kill=Kill.HANG)
    assert blamed(hang, hang) == [None, PLACEMENT]


def test_a_note_that_cannot_be_read_blames_nobody() -> None:
    assert blamed(Death(-int(signal.SIGSEGV), Note(b'{"kind":"Pla', 1.0))) == [None]
