"""Hosts are asked with jq, and classified by a plan; a resolution is a story with ways out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final
from urllib.parse import unquote_plus

from playwright.sync_api import expect

from tests.browser.kube import send

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page, Route

CLASSIFICATIONS: Final = "/apis/agent-install.openshift.io/v1beta1/namespaces/hosts/agentclassifications"
RESOLUTIONS: Final = "/apis/resolution.muster.dev/v1alpha1/namespaces/operators/resolutions"


def test_a_query_is_answered_while_it_is_typed_and_values_write_their_path(open_at: Callable[[str], Page]) -> None:
    page = open_at("/hosts")
    expect(page.get_by_role("region", name="Classifications")).to_contain_text("size-large")
    page.get_by_role("grid", name="Hosts").get_by_text("0488b27de189e059").click()
    page.get_by_role("button", name="Use .cpu.count").click()
    editor = page.get_by_role("textbox", name="jq query")
    expect(editor).to_contain_text(".cpu.count == 64")
    expect(page.get_by_role("button", name=re.compile("4.*match"))).to_be_visible()

    editor.click()
    page.keyboard.press("Control+End")
    page.keyboard.type(" and ")
    page.get_by_role("button", name="Use .memory.physicalBytes").click()
    expect(page.get_by_text(re.compile("expected true or false|cannot"))).not_to_be_visible()
    page.keyboard.type(" > 1")
    expect(page.get_by_role("group", name="Parts of the query")).to_contain_text(".memory.physicalBytes > 1")
    page.reload()
    expect(editor).to_contain_text(".cpu.count == 64 and .memory.physicalBytes > 1")


def test_what_is_wrong_with_a_query_is_said_where_it_is(open_at: Callable[[str], Page]) -> None:
    page = open_at("/hosts?namespace=hosts&query=.disks%5B")
    expect(page.get_by_text("line 1, column 8")).to_be_visible()
    page = open_at("/hosts?namespace=hosts&query=.disks%5B0%5D.sizeBytes")
    expect(page.get_by_role("heading", name="Query errors")).to_be_visible()
    expect(page.get_by_text(re.compile("expected true or false, found the number")).first).to_be_visible()
    page.get_by_role("button", name=re.compile("24.*fail")).click()
    expect(page.get_by_role("grid", name="Hosts")).to_have_attribute("aria-rowcount", "25")


def test_a_classification_shows_its_conflicts_and_is_saved_by_a_plan(
    open_at: Callable[[str], Page], kubeconfig: Path
) -> None:
    page = open_at("/hosts?namespace=hosts&query=.cpu.count%20%3E%3D%2064")
    page.get_by_label("Label", exact=True).fill("size")
    page.get_by_label("Value", exact=True).fill("huge")
    expect(page.get_by_text("size-large also matches 6 hosts")).to_be_visible()
    expect(page.get_by_text("labels 6 changed")).to_be_visible()
    page.get_by_role("button", name="Plan this").click()
    expect(page.get_by_role("region", name="Labels of hosts that change")).to_contain_text("large → huge")
    page.get_by_role("button", name="Apply 1 change").click()
    page.get_by_role("status").get_by_role("link", name="hosts/size-huge").click()
    expect(page.get_by_role("textbox", name="jq query")).to_contain_text(".cpu.count >= 64")
    assert send(kubeconfig, "GET", f"{CLASSIFICATIONS}/size-huge")["spec"]["labelValue"] == "huge"
    send(kubeconfig, "DELETE", f"{CLASSIFICATIONS}/size-huge")


def test_what_is_typed_while_classifications_come_stays(page: Page, open_at: Callable[[str], Page]) -> None:
    held: list[Route] = []
    listed = re.compile(r"/agentclassifications(\?(?!.*watch)|$)")

    def hold(route: Route) -> None:
        held.append(route)

    page.route(listed, hold)
    open_at("/hosts?namespace=hosts&query=.cpu.count%20%3E%3D%2064")
    page.get_by_label("Label", exact=True).fill("size")
    while not held:
        page.wait_for_timeout(20)
    page.get_by_label("Value", exact=True).fill("huge")
    for each in held:
        each.continue_()
    page.unroute(listed)
    expect(page.get_by_text("size-large also matches 6 hosts")).to_be_visible()
    expect(page.get_by_label("Label", exact=True)).to_have_value("size")


def test_a_conflict_is_told_drawn_and_every_way_out_has_its_plan(open_at: Callable[[str], Page]) -> None:
    page = open_at("/operators")
    expect(page.get_by_role("row", name=re.compile("shop-with-legacydb"))).to_contain_text("impossible")
    page.get_by_role("link", name="operators/shop-with-legacydb").click()
    expect(page.get_by_role("status").filter(has_text="No set of operators meets all of this")).to_be_visible()
    drawn = page.get_by_role("img", name=re.compile("certdb requires Database"))
    expect(drawn.get_by_text("only one provides")).to_be_visible()
    page.get_by_role("button", name="allow shop 1.0.0").click()
    steps = page.get_by_role("region", name="Operators of the plan")
    expect(steps.get_by_role("row", name=re.compile("legacydb install 1.4.0"))).to_be_visible()
    page.get_by_role("button", name="Plan this change").click()
    expect(page.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
    assert ">=2.0.0 || 1.0.0" in unquote_plus(page.url)


def test_wants_are_tried_without_saving_and_saved_by_a_plan(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/operators/operators/shop-with-legacydb")
    page.get_by_role("button", name="Without legacydb").click()
    expect(page.get_by_role("status").filter(has_text="These operators work together")).to_be_visible()
    assert "want=shop" in page.url
    expect(page.get_by_text("Tried, not saved")).to_be_visible()
    page.get_by_label("Want one more").fill("nothing-is-called-so")
    page.get_by_label("Want one more").press("Enter")
    expect(page.get_by_role("status").filter(has_text="No set of operators")).to_be_visible()
    page.get_by_role("button", name="Back to what is saved").click()
    expect(page.get_by_role("button", name="Without legacydb")).to_be_visible()
    assert len(send(kubeconfig, "GET", f"{RESOLUTIONS}/shop-with-legacydb")["spec"]["wants"]) == 2
