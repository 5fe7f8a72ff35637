"""The guide to clusters that join, typed as it stands: every command prints what the page shows."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.e2e.pages import commands, shell_beside_a_hub, type_as_it_stands
from tests.e2e.test_kubectl import KUBECTL

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "joining-clusters.md"
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
    pytest.mark.skipif(shutil.which("openssl") is None, reason="no openssl on PATH"),
]


def test_every_command_of_the_guide_prints_what_the_page_shows(tmp_path: Path) -> None:
    assert len(list(commands(GUIDE))) > 10
    with shell_beside_a_hub(tmp_path) as shell:
        type_as_it_stands(GUIDE, shell, tmp_path)
