"""Signs of life: what a process writes, others see, and what it was doing stays when it is gone."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

from muster.supervision import Notes, ProcessStatus, Subject, SupervisorFacts, Vitals, VitalSigns

if TYPE_CHECKING:
    from pathlib import Path

PLACEMENT = Subject("Placement", "apps", "p1", "u", 3)
SET = Subject("ManagedClusterSet", "", "prod")


def test_what_one_writes_another_sees(tmp_path: Path) -> None:
    supervisor, path = Vitals.create(tmp_path / "vitals")
    process = Vitals.open(path)
    process.begin()
    process.beat(ProcessStatus("leading"))
    process.note(PLACEMENT.text())
    supervisor.supervise(SupervisorFacts(last="x"))
    signs = Vitals.open(path).signs()
    assert (signs.pid, signs.beats, signs.status, signs.supervision) == (
        os.getpid(),
        2,
        ProcessStatus("leading"),
        SupervisorFacts(last="x"),
    )
    assert signs.note is not None
    assert signs.note.text == PLACEMENT.text()
    process.clear()
    assert supervisor.signs().note is None
    supervisor.reset()
    assert supervisor.signs() == VitalSigns(supervision=SupervisorFacts(last="x"))


def test_a_directory_that_cannot_be_written_is_no_obstacle(tmp_path: Path) -> None:
    vitals, path = Vitals.create(tmp_path / "missing" / "vitals")
    vitals.note(b"x")
    assert Vitals.open(path).signs().note is not None
    path.unlink()


def test_the_note_of_a_process_that_died_is_still_there(tmp_path: Path) -> None:
    supervisor, path = Vitals.create(tmp_path / "vitals")
    program = (
        "import os, sys; from pathlib import Path; from muster.supervision import *\n"
        "notes = Notes(Vitals.open(Path(sys.argv[1])))\n"
        "with notes.evaluating(Subject('Placement', 'apps', 'p1', 'u', 3).text()): os._exit(3)"
    )
    subprocess.run([sys.executable, "-c", program, str(path)], check=False)
    note = supervisor.signs().note
    assert note is not None
    assert note.text == PLACEMENT.text()


def noted(notes: Notes) -> bytes | None:
    note = notes.vitals.signs().note
    return None if note is None else note.text


def test_the_innermost_evaluation_is_noted() -> None:
    notes = Notes()
    with notes.evaluating(PLACEMENT.text()):
        with notes.evaluating(SET.text()):
            assert noted(notes) == SET.text()
        assert noted(notes) == PLACEMENT.text()
        notes.refine(SET.text())
        assert noted(notes) == SET.text()
    assert noted(notes) is None
    notes.refine(SET.text())
    assert noted(notes) is None


def test_running_out_of_memory_is_told_with_whom_it_was_evaluated_for() -> None:
    notes, told = Notes(), list[Subject]()
    notes.exhausted = told.append

    def evaluate() -> None:
        with notes.evaluating(PLACEMENT.text()):
            notes.refine(SET.text())
            raise MemoryError

    with pytest.raises(MemoryError):
        evaluate()
    with pytest.raises(KeyError), notes.evaluating(PLACEMENT.text()):
        raise KeyError
    assert told == [SET]


def test_a_note_costs_little() -> None:
    notes, text = Notes(), PLACEMENT.text()
    started = time.process_time()
    for _ in range(20_000):
        with notes.evaluating(text):
            pass
    # About three microseconds; the margin is for slow machines.
    assert time.process_time() - started < 20_000 * 30e-6
