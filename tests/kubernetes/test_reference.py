"""docs/reference/kubernetes.md is what the code says."""

from __future__ import annotations

from pathlib import Path

from muster.kubernetes.reference import page

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "kubernetes.md"


def test_the_page_is_up_to_date() -> None:
    told = "run `python -m muster.kubernetes.reference > docs/reference/kubernetes.md`"
    assert PAGE.read_text(encoding="utf-8") == page(), told
