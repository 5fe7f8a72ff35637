"""Counters for who waits: on a terminal only, and gone afterwards."""

from __future__ import annotations

import io
from contextlib import redirect_stderr

import pytest

from muster.cli.terminal import progress
from muster.cli.terminal.progress import Progress, under_way


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture(autouse=True)
def _at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_EVERY", 0.0)


def test_a_counter_counts_and_disappears() -> None:
    with redirect_stderr(Terminal()) as terminal, Progress("read") as counter:
        counter.advance(12_000)
    assert "read 12,000 (" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_long_work_without_steps_says_what_it_is() -> None:
    with redirect_stderr(Terminal()) as terminal, under_way("selecting among 100,000 objects", 100_000):
        assert terminal.getvalue() == "selecting among 100,000 objects …"
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_short_work_says_nothing() -> None:
    with redirect_stderr(Terminal()) as terminal, under_way("selecting among 10 objects", 10):
        pass
    assert terminal.getvalue() == ""


def test_a_pipe_sees_neither() -> None:
    with redirect_stderr(io.StringIO()) as pipe, Progress("read") as counter, under_way("selecting", 100_000):
        counter.advance(100_000)
    assert pipe.getvalue() == ""
