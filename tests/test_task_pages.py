"""Pages by task: their commands run, and print what the page shows where it shows something."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

from muster.cli.main import run

ROOT = Path(__file__).resolve().parents[1]
EXAMPLES = ROOT / "examples"
PAGES = {
    "guides/recipes.md": EXAMPLES / "05-why-not",
    "guides/coming-from-others.md": EXAMPLES / "09-coming-from-others",
    "comparisons.md": EXAMPLES / "05-why-not",
}


def commands(page: str) -> list[tuple[str, str]]:
    """The commands of a page with what is shown below each; nothing where a page only names them."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    found = []
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        found += [
            (command, shown) for command, shown in re.findall(r"^\$ (.*?)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE)
        ]
    return found


CASES = [(page, *case) for page in PAGES for case in commands(page)]


@pytest.mark.parametrize(("page", "command", "shown"), CASES, ids=[f"{page}: {command}" for page, command, _ in CASES])
def test_every_command_of_the_page_does_what_it_shows(
    page: str, command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(PAGES[page])
    out, err = io.StringIO(), io.StringIO()
    program, *arguments = shlex.split(command)
    assert program == "muster"
    code = run(arguments, io.StringIO(), out, err)
    assert code in (0, 1), err.getvalue()
    if shown:
        assert out.getvalue() == shown
    assert out.getvalue()


def test_pages_have_commands() -> None:
    assert all(commands(page) for page in PAGES)


def test_every_page_of_the_documents_is_named_on_the_page_of_tasks_or_on_one_that_it_names() -> None:
    docs = ROOT / "docs"
    seen, todo = set(), [docs / "index.md"]
    while todo:
        page = todo.pop()
        if page in seen or not page.is_file():
            continue
        seen.add(page)
        targets = re.findall(r"\]\(([^)\s#]+)[^)]*\)", page.read_text(encoding="utf-8"))
        todo += [(page.parent / each).resolve() for each in targets if each.endswith(".md") and "://" not in each]
    lost = {page for page in docs.rglob("*.md") if page not in seen and "decisions" not in page.parts}
    assert lost == set()
