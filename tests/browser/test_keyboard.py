"""Once through the console without a pointer: every step is a key."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

FOCUSED = """() => {
  let at = document.activeElement;
  while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
  const name = at?.getAttribute('aria-label') ?? at?.textContent?.trim() ?? '';
  return `${at?.getAttribute('role') ?? at?.localName}:${name}`;
}"""


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until the focus is where a name fits, as somebody who cannot point would."""
    for _ in range(80):
        page.keyboard.press("Tab")
        if re.search(wanted, page.evaluate(FOCUSED)):
            return
    raise AssertionError(f"Tab never reaches {wanted}")


def test_from_the_fleet_to_a_saved_answer_without_a_pointer(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    expect(page.get_by_role("grid", name="Clusters")).to_be_visible()

    # 1. Search, and walk through the rows.
    tab_to(page, "Search the fleet")
    page.keyboard.type("region=eastus set:dev-clusters")
    expect(page.get_by_role("status").filter(has_text="1 cluster").first).to_be_visible()
    tab_to(page, "^grid:Clusters")
    page.keyboard.press("ArrowDown")
    expect(page.get_by_role("grid").locator("[aria-selected=true]")).to_contain_text("dev-eastus-00047")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="dev-eastus-00047")).to_be_visible()

    # 2. Why not?
    tab_to(page, "a:apps/checkout")
    page.keyboard.press("Enter")
    expect(page.get_by_text("join prod-clusters")).to_be_visible()

    # 3. The palette, to the playground; the editor is no trap.
    page.keyboard.press("Control+k")
    page.keyboard.type("playground")
    page.keyboard.press("Enter")
    tab_to(page, "textbox:CEL")
    page.keyboard.press("Control+a")
    page.keyboard.type("managedCluster.metadata.labels.tier == 'gold'")
    expect(page.get_by_role("button", name=re.compile("19.*fit"))).to_be_visible()
    page.keyboard.press("Escape")
    tab_to(page, "button:Save as placement")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog", name="Save as placement")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Save as placement")).to_be_hidden()

    # 4. The same as a command.
    page.keyboard.press("Shift+Tab")
    tab_to(page, "button:copy as")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_text("Copied as muster")).to_be_visible()
    assert page.evaluate("navigator.clipboard.readText()").startswith("muster select ")


def test_from_a_why_to_a_plan_to_hosts_and_operators_without_a_pointer(open_at: Callable[[str], Page]) -> None:
    page = open_at("/placements/apps/checkout/why/dev-eastus-00047")
    expect(page.get_by_role("link", name="Plan this")).to_be_visible()

    # 1. A plan: what would be written, what it comes to, and the button.
    tab_to(page, "a:Plan this")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="apps/checkout")).to_be_visible()
    tab_to(page, "button:Do not change cloud")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Apply 1 change")).to_be_enabled()
    tab_to(page, "button:Apply 1 change")

    # 2. A cluster is moved without dragging it.
    page.keyboard.press("Control+k")
    page.keyboard.type("sets")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="dev-eastus-00047")).to_be_visible()
    tab_to(page, "button:dev-eastus-00047")
    page.keyboard.press("Enter")
    tab_to(page, "select:")
    page.keyboard.type("stage")
    page.keyboard.press("Tab")
    expect(page.get_by_text("clusterset=stage-clusters")).to_be_visible()

    # 3. A query over hosts, written by their own values.
    page.keyboard.press("Control+k")
    page.keyboard.type("0488b27de189e059")
    expect(page.get_by_role("option", name="host hosts/0488b27de189e059")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="Use .cpu.count")).to_be_visible()
    tab_to(page, "Use .cpu.count")
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name=re.compile("4.*match"))).to_be_visible()

    # 4. A way out of a conflict.
    page.keyboard.press("Control+k")
    page.keyboard.type("legacydb")
    expect(page.get_by_role("option", name="resolution operators/shop-with-legacydb")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_role("button", name="drop legacydb")).to_be_visible()
    tab_to(page, "drop legacydb")
    page.keyboard.press("Enter")
    expect(page.get_by_role("region", name="Operators of the plan")).to_contain_text("certdb")


def test_the_focus_can_be_seen_wherever_it_is(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    expect(page.get_by_role("grid", name="Clusters")).to_be_visible()
    seen = """() => {
      let at = document.activeElement;
      while (at?.shadowRoot?.activeElement) at = at.shadowRoot.activeElement;
      const style = getComputedStyle(at);
      return style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) >= 2;
    }"""
    for _ in range(25):
        page.keyboard.press("Tab")
        assert page.evaluate(seen), page.evaluate(FOCUSED)


def test_nothing_moves_for_who_wants_no_motion(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    page.emulate_media(reduced_motion="reduce")
    assert page.evaluate("getComputedStyle(document.documentElement).getPropertyValue('--fade').trim()") == "0s"
