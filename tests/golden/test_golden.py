"""Nothing that people or machines are told has changed by a byte."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from tests.golden.recording import recordings

FILES = Path(__file__).parent / "files"


@cache
def recorded() -> dict[str, str]:
    return dict(recordings())


def test_every_recorded_file_is_still_made() -> None:
    assert sorted(recorded()) == sorted(path.name for path in FILES.iterdir())


@pytest.mark.parametrize("name", sorted(path.name for path in FILES.iterdir()))
def test_what_is_said_is_what_was_recorded(name: str) -> None:
    assert recorded()[name] == (FILES / name).read_text(encoding="utf-8"), "record anew: python -m tests.golden"
