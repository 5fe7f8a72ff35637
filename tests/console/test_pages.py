"""The pages as they are sent: small, cached, under a strict policy, and without a way for text to become markup."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest

import muster.console
from muster.console.files import INDEX, POLICY, load_files
from muster.console.server import ConsoleSettings
from tests.console.stage import PUBLIC, ApiServer, Browser, run

ROOT: Final = Path(muster.console.__file__).parent
OURS: Final = sorted((ROOT / "static").rglob("*.*"))
FILES: Final = load_files()
DANGEROUS: Final = (
    r"unsafeHTML|unsafeSVG|unsafeStatic|innerHTML|outerHTML|insertAdjacentHTML|document\.write|srcdoc|DOMParser"
    r"|createContextualFragment|\beval\(|new Function|javascript:|setTimeout\(['\"`]"
)
FIRST_LOAD: Final = 60_000  # bytes, compressed, without the editor


def loaded(path: str, seen: set[str]) -> set[str]:
    """What a browser fetches for a file: itself, and what it imports before it runs."""
    if path not in seen:
        seen.add(path)
        for target in re.findall(
            r"""^\s*(?:import|export)\b[^'"()]*['"](\.[^'"]+)['"]""", FILES[path].plain.decode(), re.MULTILINE
        ):
            loaded(_resolved(path, target), seen)
    return seen


def _resolved(path: str, target: str) -> str:
    parts = path.split("/")[:-1]
    for step in target.split("/"):
        if step == "..":
            parts.pop()
        elif step != ".":
            parts.append(step)
    return "/".join(parts)


def first_load() -> set[str]:
    page = FILES[INDEX].plain.decode()
    found: set[str] = {INDEX}
    for path in re.findall(r'(?:src|href)="(/[^"]+)"', page):
        loaded(path, found)
    return loaded("/static/screens/fleet.js", found)  # the screen that one sees first


def test_the_first_load_is_small() -> None:
    assert "/third_party/lit.js" in first_load()
    size = sum(len(FILES[each].compressed) for each in first_load())
    assert size < FIRST_LOAD, size


def test_the_editor_is_loaded_only_where_there_is_one() -> None:
    everything = first_load()
    for screen in (each for each in FILES if each.startswith("/static/screens/")):
        loaded(screen, everything)
    assert "/third_party/codemirror.js" not in everything
    users = [each.name for each in OURS if each.suffix == ".js" and "codemirror.js" in each.read_text()]
    assert users == ["editor.js"]


def test_every_import_leads_to_a_file() -> None:
    for path in (each for each in FILES if each.startswith("/static/") and each.endswith(".js")):
        text = FILES[path].plain.decode()
        targets = re.findall(r"""(?:from|import|import\()\s*['"]([^'"]+)['"]""", text)
        assert [each for each in targets if not each.startswith(".")] == []  # relative, so no import map is needed
        assert [each for each in targets if _resolved(path, each) not in FILES] == []


@pytest.mark.parametrize("file", OURS, ids=lambda file: file.name)
def test_text_never_becomes_markup_or_code(file: Path) -> None:
    text = file.read_text()
    assert re.findall(DANGEROUS, text) == []
    assert (
        re.findall(r"https?://(?!www\.w3\.org/2000/svg|fleet\.example)[^\s'\"`]+", text) == []
    )  # nothing from elsewhere
    if file.suffix == ".html":
        assert re.findall(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=", text) == []
    assert re.findall(r"""\sstyle=["'$]""", text) == []  # the policy would refuse it


def test_every_page_is_sent_under_a_strict_policy_and_cached_by_its_content() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        for path in (
            "/",
            "/fleet",
            "/placements/apps/checkout",
            "/static/main.js",
            "/third_party/lit.js",
            "/static/theme.css",
        ):
            status, headers, _ = await browser.send("GET", path, secrets=False)
            assert (status, headers["Content-Security-Policy"]) == (200, POLICY)
            assert headers["X-Content-Type-Options"] == "nosniff"
            assert headers["Referrer-Policy"] == "no-referrer"
            assert headers["Cross-Origin-Opener-Policy"] == "same-origin"
            assert "Server" not in headers
            assert headers["Content-Encoding"] == "gzip"
            known: dict[str, str | None] = {"If-None-Match": headers["ETag"]}
            assert (await browser.send("GET", path, headers=known))[::2] == (304, "")
            plain: dict[str, str | None] = {"Accept-Encoding": "identity"}
            assert "Content-Encoding" not in (await browser.send("GET", path, headers=plain))[1]
        assert await browser.code("GET", "/static/nothing.js") == 404
        assert await browser.code("GET", "/static/../server.py") in (200, 404)
        assert "run_console" not in (await browser.send("GET", "/static/%2e%2e/server.py"))[2]

    run(story)


def test_the_policy_allows_no_inline_and_no_other_place() -> None:
    parts = dict(each.split(" ", 1) for each in POLICY.split("; "))
    assert parts["default-src"] == "'none'"
    assert parts["script-src"] == parts["style-src"] == parts["connect-src"] == "'self'"
    assert parts["require-trusted-types-for"] == "'script'"
    assert parts["trusted-types"] == "lit-html"
    assert parts["frame-ancestors"] == parts["base-uri"] == "'none'"
    assert "unsafe" not in POLICY


def test_answers_of_the_api_carry_the_same_rules_and_are_not_kept() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        _, headers, _ = await browser.send("GET", "/version")
        assert (headers["Content-Security-Policy"], headers["Cache-Control"]) == (POLICY, "no-store")

    run(story)


def test_a_page_behind_an_ingress_is_the_same() -> None:
    async def story(__: ApiServer, browser: Browser) -> None:
        status, _, text = await browser.send("GET", "/fleet")
        assert (status, "<m-shell>" in text) == (200, True)

    run(story, ConsoleSettings(public=PUBLIC))
