"""The documents: links lead somewhere, and what the code calls things is explained."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from muster.placement.schedule import conditions
from muster.placement.schedule.filters import FILTERS
from muster.placement.schedule.scorers import BUILT_IN

ROOT = Path(__file__).resolve().parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "examples").rglob("*.md")])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere(page: Path) -> None:
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    targets = [target.partition("#")[0] for target in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [target for target in targets if target and "://" not in target]
    assert [target for target in local if not (page.parent / target).exists()] == []


def test_every_decision_has_a_number_of_its_own() -> None:
    numbers = [page.name[:4] for page in (ROOT / "docs" / "decisions").glob("*.md")]
    assert sorted(numbers) == sorted(set(numbers))


def test_filters_scorers_and_conditions_are_explained() -> None:
    page = (ROOT / "docs" / "reference" / "placement.md").read_text(encoding="utf-8")
    names = [
        *FILTERS,
        *BUILT_IN,
        conditions.SATISFIED,
        conditions.MISCONFIGURED,
        conditions.SETS_USABLE,
        conditions.EVALUATED,
    ]
    assert [name for name in names if name not in page] == []
