"""The documentation as a site, of docs/, the papers beside it and the examples: `python -m release.website FOLDER`.

Small and our own, because what is needed is small: Markdown that renders on any forge stays as it is, and becomes pages
with one frame, a list of all pages and a search that runs in the browser over an index beside it. markdown-it and
Pygments come with the package's own dependencies. Nothing is fetched from anywhere, and no script but ours runs.
"""

from __future__ import annotations

import html
import json
import posixpath
import re
import shutil
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

from markdown_it import MarkdownIt
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import get_lexer_by_name
from pygments.util import ClassNotFound

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

ROOT: Final = Path(__file__).resolve().parents[1]
ASSETS: Final = Path(__file__).with_name("website_assets")
FIRST: Final = "docs/index.md"
_PAPERS: Final = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "CODE_OF_CONDUCT.md")
_SECTIONS: Final = (
    ("Start", ("docs/index.md", "README.md", "docs/tutorial.md")),
    ("Guides", ("docs/guides/",)),
    ("Reference", ("docs/reference/",)),
    ("Background", ("docs/",)),
    ("Examples", ("examples/",)),
    ("Project", _PAPERS),
    ("Decisions", ("docs/decisions/",)),
)
_FENCE: Final = {"console": "console", "pycon": "pycon"}


@dataclass(slots=True)
class Page:
    """A Markdown file, its place in the site, and what is in it."""

    source: str  # relative to the root of the clone
    title: str = ""
    body: str = ""
    anchors: list[str] = field(default_factory=list)
    headings: list[tuple[int, str, str]] = field(default_factory=list)  # level, anchor, text
    links: list[str] = field(default_factory=list)  # as they are written
    words: str = ""

    @property
    def place(self) -> str:
        if self.source == FIRST:
            return "index.html"
        return self.source.removesuffix(".md").replace("README", "readme") + ".html"


def sources(root: Path = ROOT) -> list[str]:
    """Every page, by its path in the clone."""
    found = [*_PAPERS]
    for folder in ("docs", "examples"):
        found += [path.relative_to(root).as_posix() for path in sorted((root / folder).rglob("*.md"))]
    return [name for name in found if (root / name).exists()]


def rendered(name: str, root: Path = ROOT) -> Page:
    """One page. Raw HTML in the Markdown is shown as text."""
    page = Page(name)
    parser = MarkdownIt("commonmark", {"html": False, "highlight": _highlighted}).enable(["table", "strikethrough"])
    text = re.sub(r"<!--.*?-->\n?", "", (root / name).read_text(encoding="utf-8"), flags=re.DOTALL)
    tokens = parser.parse(text)
    _number_headings(tokens, page)
    for token in _flat(tokens):
        if token.type == "link_open":
            target = str(token.attrs["href"])
            page.links.append(target)
            token.attrs["href"] = moved(target, page, root)
        elif token.type == "image":
            page.links.append(str(token.attrs["src"]))
            token.attrs["src"] = moved(str(token.attrs["src"]), page, root)
    page.body = parser.renderer.render(tokens, parser.options, {})
    page.title = page.headings[0][2] if page.headings else name
    page.words = " ".join(re.sub(r"<[^>]+>", " ", page.body).split())
    return page


def _flat(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _flat(token.children or ())


def _number_headings(tokens: Sequence[Token], page: Page) -> None:
    """Anchors as forges make them, so that links work in both."""
    for at, token in enumerate(tokens):
        if token.type != "heading_open":
            continue
        inline = tokens[at + 1]
        text = "".join(each.content for each in inline.children or () if each.type in ("text", "code_inline"))
        base = slug(text)
        anchor, number = base, 0
        while anchor in page.anchors:
            number += 1
            anchor = f"{base}-{number}"
        page.anchors.append(anchor)
        page.headings.append((int(token.tag[1]), anchor, text))
        token.attrs["id"] = anchor


def slug(text: str) -> str:
    """The anchor of a heading, as forges make it."""
    return re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")


def _highlighted(code: str, language: str, _: str) -> str:
    try:
        lexer = get_lexer_by_name(_FENCE.get(language, language or "text"))
    except ClassNotFound:
        return ""
    return str(highlight(code, lexer, HtmlFormatter(nowrap=True)))


def target_of(link: str, page: Page) -> str:
    """The path in the clone that a link of a page leads to, without its anchor."""
    path = link.partition("#")[0]
    return posixpath.normpath(posixpath.join(posixpath.dirname(page.source), path)) if path else page.source


def moved(link: str, page: Page, root: Path = ROOT) -> str:
    """The same link in the site. Files that are no pages come along as they are; folders lead to their page, if any."""
    if "://" in link or link.startswith(("mailto:", "#")):
        return link
    target, anchor = target_of(link, page), link.partition("#")[2]
    if (root / target).is_dir():
        inside = f"{target}/README.md"
        target = inside if (root / inside).exists() else f"{target}/"
    if target.endswith("/"):
        found = f"folders.html#{slug(target)}"
        return posixpath.relpath(found, posixpath.dirname(page.place) or ".")
    place = Page(target).place if target.endswith(".md") else target
    found = posixpath.relpath(place, posixpath.dirname(page.place) or ".")
    return f"{found}#{anchor}" if anchor else found


def make(folder: Path, root: Path = ROOT) -> list[Page]:
    """The whole site in a folder, and its pages."""
    folder.mkdir(parents=True, exist_ok=True)
    pages = [rendered(name, root) for name in sources(root)]
    sections = _sections(pages)
    others = {
        target for page in pages for link in page.links if "://" not in link for target in [target_of(link, page)]
    }
    for target in sorted(others):
        if (root / target).is_file() and not target.endswith(".md"):
            (folder / target).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(root / target, folder / target)
    folders = sorted(target for target in others if (root / target).is_dir())
    pages.append(_folders(folders, root))
    for page in pages:
        (folder / page.place).parent.mkdir(parents=True, exist_ok=True)
        (folder / page.place).write_text(_framed(page, sections), encoding="utf-8")
    index = [[page.place, page.title, [text for _, _, text in page.headings[1:]], page.words[:20000]] for page in pages]
    # A script and not data: from a folder on a disk, where nobody serves it, browsers fetch nothing else.
    text = json.dumps(index, ensure_ascii=False, separators=(",", ":"))
    (folder / "search_index.js").write_text(f"globalThis.searchIndex = {text};\n", encoding="utf-8")
    for asset in sorted(ASSETS.iterdir()):
        shutil.copyfile(asset, folder / asset.name)
    colours = HtmlFormatter(style="default").get_style_defs("pre code")
    dark = HtmlFormatter(style="github-dark").get_style_defs("pre code")
    text = f"{colours}\n@media (prefers-color-scheme: dark) {{\n{dark}\n}}\n"
    (folder / "code.css").write_text(text, encoding="utf-8")
    return pages


def _folders(folders: Sequence[str], root: Path) -> Page:
    """What is in folders that pages speak of: a site cannot show a folder as a forge does."""
    page = Page("folders.md", "Folders")
    page.headings.append((1, "folders", "Folders"))
    parts = ["<h1>Folders</h1>"]
    for name in folders:
        anchor = slug(f"{name}/")
        page.anchors.append(anchor)
        inside = sorted(path.relative_to(root).as_posix() for path in (root / name).iterdir() if path.is_file())
        parts.append(f'<h2 id="{anchor}"><code>{html.escape(name)}/</code></h2><ul>')
        for each in inside:
            place = Page(each).place if each.endswith(".md") else ""
            shown = html.escape(each)
            parts.append(
                f'<li><a href="{html.escape(place)}">{shown}</a></li>' if place else f"<li><code>{shown}</code></li>"
            )
        parts.append("</ul>")
    page.body = "\n".join(parts)
    return page


def _sections(pages: Sequence[Page]) -> list[tuple[str, list[Page]]]:
    """Which page belongs where; each is in the first section that takes it, and folders before what is above them."""
    taken: set[str] = set()
    order = [*_SECTIONS]
    found: dict[str, list[Page]] = {}
    for title, wanted in sorted(order, key=lambda each: -max(map(len, each[1]))):
        found[title] = []
        for prefix in wanted:
            for page in pages:
                matches = page.source.startswith(prefix) if prefix.endswith("/") else page.source == prefix
                if matches and page.source not in taken:
                    taken.add(page.source)
                    found[title].append(page)
    return [(title, found[title]) for title, _ in order]


def _framed(page: Page, sections: Sequence[tuple[str, list[Page]]]) -> str:
    up = posixpath.relpath(".", posixpath.dirname(page.place) or ".")
    listed = []
    for title, pages in sections:
        is_open = " open" if page in pages or title in ("Start", "Guides", "Reference") else ""
        items = "".join(
            f'<li><a href="{up}/{html.escape(each.place)}"{" aria-current=page" if each is page else ""}>'
            f"{html.escape(each.title)}</a></li>"
            for each in pages
        )
        listed.append(f"<details{is_open}><summary>{html.escape(title)}</summary><ul>{items}</ul></details>")
    inside = "".join(
        f'<li class="level{level}"><a href="#{html.escape(anchor)}">{html.escape(text)}</a></li>'
        for level, anchor, text in page.headings
        if level in (2, 3)
    )
    template = (ASSETS / "page.html").read_text(encoding="utf-8")
    parts = {
        "title": html.escape(page.title),
        "up": up,
        "pages": "".join(listed),
        "inside": f"<nav class=inside aria-label='On this page'><ul>{inside}</ul></nav>"
        if inside.count("<li") > 2
        else "",
        "body": page.body.replace("<table>", "<div class=wide><table>").replace("</table>", "</table></div>"),
        "source": html.escape(page.source),
    }
    return re.sub(r"\{\{(\w+)\}\}", lambda found: parts[found[1]], template)


if __name__ == "__main__":
    made = make(Path(sys.argv[1]), Path.cwd())
    sys.stdout.write(f"{len(made)} pages\n")
