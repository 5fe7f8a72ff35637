"""The tutorial, typed as it stands: every command runs, and prints what the page shows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.pages import commands, shell_beside_a_hub, type_as_it_stands

TUTORIAL = Path(__file__).resolve().parents[2] / "docs" / "tutorial.md"
pytestmark = [pytest.mark.e2e, pytest.mark.slow]


def test_every_command_of_the_tutorial_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(list(commands(TUTORIAL))) > 15
    with shell_beside_a_hub(tmp_path) as shell:
        type_as_it_stands(TUTORIAL, shell, tmp_path)
