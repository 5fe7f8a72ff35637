"""The page about the library tells the truth: it is current, and every example on it does what it shows."""

from __future__ import annotations

import doctest
import inspect
import re
from importlib import import_module
from pathlib import Path

import pytest

from muster.cli.references.python import MODULES, public, reference

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python.md"


def test_the_page_is_current() -> None:
    assert PAGE.read_text(encoding="utf-8") == reference(), (
        "run: python -m muster.cli.references.python > docs/reference/python.md"
    )


def test_every_example_of_the_page_does_what_it_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    text = re.sub(r"^```.*$", "", PAGE.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, "python.md", str(PAGE), 0)
    assert len(examples.examples) > 45  # the page has examples, and they are found
    results = doctest.DocTestRunner(verbose=False).run(examples)
    assert results.failed == 0


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_is_on_the_page_and_says_what_it_is(module: str) -> None:
    page = PAGE.read_text(encoding="utf-8").partition(f"\n## `{module}`\n")[2].partition("\n## `muster")[0]
    found = import_module(module)
    for name in public(found):
        value = getattr(found, name)
        if not isinstance(value, type(found)):
            assert f"`{name}`" in page
        if inspect.isclass(value) or inspect.isfunction(value):
            assert value.__doc__, f"{module}.{name} has no docstring"
