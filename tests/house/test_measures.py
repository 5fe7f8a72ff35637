"""Two habits that hurt, counted: types that stop at the border, and defaults where a struct should have been read."""

from __future__ import annotations

import re

from tests.house.tracing import SOURCE

MOST_ANY = 700
MOST_DEFAULTED = 60
MOST_LINES = 500
TEXTS = {file.relative_to(SOURCE): file.read_text(encoding="utf-8") for file in sorted(SOURCE.rglob("*.py"))}


def found(pattern: str) -> int:
    return sum(len(re.findall(pattern, text)) for text in TEXTS.values())


def test_any_is_rare() -> None:
    assert 0 < found(r"\bAny\b") < MOST_ANY


def test_objects_are_read_and_not_asked_with_defaults() -> None:
    assert 0 < found(r"\.get\([^()]*\) or\b") < MOST_DEFAULTED


def test_a_module_has_one_idea() -> None:
    assert [str(file) for file, text in TEXTS.items() if len(text.splitlines()) > MOST_LINES] == []
