"""The guide to history, plan and undo, typed as it stands beside `muster hub run`, with the real kubectl."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.pages import commands, shell_beside_a_hub, type_as_it_stands

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "history-and-plan.md"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(shutil.which("kubectl") is None, reason="the page uses kubectl, and there is none here"),
]


def test_every_command_of_the_guide_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(list(commands(GUIDE))) > 15
    with shell_beside_a_hub(tmp_path) as shell:
        type_as_it_stands(GUIDE, shell, tmp_path)
