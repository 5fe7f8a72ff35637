"""The page about commands tells the truth."""

from __future__ import annotations

from pathlib import Path

from muster.cli.main import COMMANDS
from muster.cli.references.commands import reference

PAGE = Path(__file__).resolve().parents[3] / "docs" / "reference" / "cli.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "run: python -m muster.cli.references.commands > docs/reference/cli.md"
    )


def test_every_command_is_on_the_page() -> None:
    page = reference()
    assert all(f"## `muster {name}`" in page for name in COMMANDS)
