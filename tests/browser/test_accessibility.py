"""axe finds nothing, on any screen, in either theme: WCAG 2.2 AA."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import expect

from tests.browser.conftest import SCHEMES, SCREENS, settled

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

RULES = {
    "runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
}


def violations(page: Page) -> list[str]:
    found = Axe().run(page, options=RULES).response["violations"]
    return [
        f"{each['id']}: {node['target']} {node.get('failureSummary', '')}"
        for each in found
        for node in each["nodes"][:3]
    ]


@pytest.mark.parametrize("screen", SCREENS)
def test_axe_finds_nothing_and_the_screen_fits_narrow_and_wide_windows(
    open_at: Callable[[str], Page], screen: str
) -> None:
    """One visit for all of it: a page is loaded once, and then looked at in every way."""
    page = open_at(SCREENS[screen])
    for scheme in SCHEMES:
        page.emulate_media(color_scheme=scheme)
        settled(page)
        assert (scheme, violations(page)) == (scheme, [])
    for width in (360, 2560):
        page.set_viewport_size({"width": width, "height": 800})
        settled(page)
        assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_axe_finds_nothing_in_what_opens(open_at: Callable[[str], Page]) -> None:
    page = open_at("/playground")
    settled(page)
    page.get_by_role("button", name="copy as").click()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.keyboard.press("Control+k")
    expect(page.get_by_role("dialog").get_by_role("option").first).to_be_visible()
    assert violations(page) == []
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Save as placement").click()
    assert violations(page) == []
