"""The documentation as a site: every page is there, every link leads somewhere, nothing comes from elsewhere."""

from __future__ import annotations

import json
import posixpath
import re
from html import unescape
from typing import TYPE_CHECKING

import pytest

from release import website as site

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[site.Page]]:
    folder = tmp_path_factory.mktemp("site")
    return folder, site.make(folder)


def test_every_document_is_a_page_and_is_in_the_list(made: tuple[Path, list[site.Page]]) -> None:
    folder, pages = made
    sources = {path.relative_to(site.ROOT).as_posix() for path in (site.ROOT / "docs").rglob("*.md")}
    assert sources <= {page.source for page in pages}
    listed = set(re.findall(r'<li><a href="\./([^"]+)"', (folder / "index.html").read_text(encoding="utf-8")))
    assert {page.place for page in pages} - {"folders.html"} <= listed


def test_every_link_and_anchor_leads_somewhere(made: tuple[Path, list[site.Page]]) -> None:
    folder, pages = made
    anchors = {page.place: {*page.anchors, "content"} for page in pages}
    broken = []
    for page in pages:
        text = (folder / page.place).read_text(encoding="utf-8")
        for link in map(
            unescape, re.findall(r'(?:href|src)="?([^" >]+)', re.sub(r"<pre>.*?</pre>", "", text, flags=re.DOTALL))
        ):
            if "://" in link or link.startswith("mailto:"):
                continue
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(page.place), path)) if path else page.place
            if not (folder / target).is_file() or (anchor and anchor not in anchors.get(target, ())):
                broken.append(f"{page.source}: {link}")
    assert broken == []


def test_markup_in_a_document_is_shown_and_not_obeyed(tmp_path: Path) -> None:
    (tmp_path / "x.md").write_text("# Title\n\n<script>alert(1)</script> and <b>bold</b>\n", encoding="utf-8")
    page = site.rendered("x.md", tmp_path)
    assert (page.title, "<script" in page.body, "&lt;b&gt;" in page.body) == ("Title", False, True)


def test_nothing_is_loaded_from_elsewhere(
    made: tuple[Path, list[site.Page]],
) -> None:
    folder, pages = made
    for page in pages:
        text = (folder / page.place).read_text(encoding="utf-8")
        loaded = re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="([^"]+)"', text)
        assert [each for each in loaded if "://" in each] == []
        assert text.count("<script") == 1


def test_search_knows_every_page_by_title_headings_and_words(made: tuple[Path, list[site.Page]]) -> None:
    folder, pages = made
    text = (folder / "search_index.js").read_text(encoding="utf-8")
    index = json.loads(text.removeprefix("globalThis.searchIndex = ").removesuffix(";\n"))
    assert {entry[0] for entry in index} == {page.place for page in pages}
    (why,) = [entry for entry in index if entry[0] == "docs/guides/why-not.html"]
    assert why[1]
    assert "predicate" in why[3]


def test_two_sites_are_equal(made: tuple[Path, list[site.Page]], tmp_path: Path) -> None:
    folder, _ = made
    site.make(tmp_path)
    files = sorted(path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    assert [each for each in files if (folder / each).read_bytes() != (tmp_path / each).read_bytes()] == []
