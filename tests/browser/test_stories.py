"""Every screen's main story, as a platform engineer would live it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import settled
from tests.browser.kube import PLACEMENT as KIND
from tests.browser.kube import PLACEMENTS, label, send

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page


def test_the_fleet_is_searched_by_words_and_by_facets_and_problems_come_first(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    expect(page.get_by_role("status").filter(has_text="48 clusters")).to_contain_text("1 needs attention")
    rows = page.get_by_role("grid", name="Clusters").get_by_role("row")
    expect(rows.nth(1)).to_contain_text("unreachable")

    page.get_by_label("Search the fleet").fill("cloud:Ama version:>=1.30")
    expect(page.get_by_role("status").filter(has_text="clusters")).to_contain_text("12 clusters")
    assert "q=cloud%3AAma+version" in page.url

    settled(page)  # facets come after rows, and others stand there then
    page.get_by_role("button", name="gold").click()
    expect(page.get_by_label("Search the fleet")).to_have_value("cloud:Ama version:>=1.30 tier=gold")
    expect(page.get_by_role("button", name="gold")).to_have_attribute("aria-pressed", "true")
    page.go_back()
    expect(page.get_by_label("Search the fleet")).to_have_value("cloud:Ama version:>=1.30")

    # The order is a part of the address, too.
    page.get_by_role("columnheader", name="version").get_by_role("button").click()
    expect(page).to_have_url(re.compile("sort=version"))
    page.reload()
    expect(page.get_by_role("columnheader", name="version")).to_have_attribute("aria-sort", "ascending")
    expect(page.get_by_label("Search the fleet")).to_have_value("cloud:Ama version:>=1.30")

    page.get_by_label("Search the fleet").fill("is:wrong")
    expect(page.get_by_text("is: knows problem")).to_be_visible()
    page.get_by_label("Search the fleet").fill("nobody-is-called-so")
    expect(page.get_by_role("status").filter(has_text="0 clusters")).to_be_visible()


def test_a_set_is_a_word_of_the_search_whatever_makes_its_members(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    for name, count in (("prod-clusters", 25), ("gpu", 6), ("payments", 7), ("global", 48)):
        page.get_by_label("Search the fleet").fill(f"set:{name}")
        expect(page.get_by_role("status").filter(has_text=f"{count} clusters").first).to_be_visible()


def test_a_row_opens_its_cluster_and_the_cluster_says_who_takes_it(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet?q=prod-eu-west-1-00020")
    page.get_by_role("grid").get_by_text("prod-eu-west-1-00020").click()
    expect(page.get_by_role("heading", name="prod-eu-west-1-00020")).to_be_visible()
    expect(page).to_have_title("prod-eu-west-1-00020 · Muster")
    takes = page.locator("section", has_text="Placements that take it")
    expect(takes.get_by_role("link", name="apps/checkout")).to_be_visible()
    others = page.locator("section", has_text="nearest first")
    expect(others.get_by_role("listitem").first).to_contain_text("Pick")
    page.get_by_role("link", name="Amazon").first.click()
    expect(page.get_by_label("Search the fleet")).to_have_value(re.compile("cloud="))


def test_a_cluster_says_how_many_placements_it_is_in_and_what_happened_to_it(
    open_at: Callable[[str], Page], kubeconfig: Path
) -> None:
    page = open_at("/fleet?q=prod-eu-west-1-00020")
    row = page.get_by_role("grid").get_by_role("row").nth(1)
    is_in = row.get_by_role("gridcell").nth(4)
    expect(is_in).to_have_text(re.compile(r"^\s*[1-9]\d*\s*$"))
    before = int(is_in.inner_text())

    predicate = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"canary": "yes"}}}}
    body = {**KIND, "metadata": {"name": "canaries"}, "spec": {"predicates": [predicate]}}
    send(kubeconfig, "POST", PLACEMENTS, body)
    try:
        label(kubeconfig, "prod-eu-west-1-00020", canary="yes")
        expect(is_in).to_have_text(str(before + 1))  # live
        row.get_by_text("prod-eu-west-1-00020").click()
        happened = page.locator("section", has=page.get_by_role("heading", name="What happened to it"))
        first = happened.get_by_role("list").first.get_by_role("listitem").first
        expect(first).to_contain_text("apps/canaries took it")
        expect(first).to_contain_text(re.compile('ManagedCluster prod-eu-west-1-00020 changed: .*canary.* → "yes"'))
        label(kubeconfig, "prod-eu-west-1-00020", canary=None)
        expect(first).to_contain_text("apps/canaries let it go")
        expect(happened).to_contain_text("became available")
        expect(happened).to_contain_text("was added")
    finally:
        label(kubeconfig, "prod-eu-west-1-00020", canary=None)
        send(kubeconfig, "DELETE", f"{PLACEMENTS}/canaries")


def test_the_fleet_is_live(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/fleet?q=wave%3D1")
    expect(page.get_by_role("status").filter(has_text="0 clusters")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("live"))).to_be_visible()
    label(kubeconfig, "dev-eastus-00047", wave="1")
    expect(page.get_by_role("status").filter(has_text="1 cluster")).to_be_visible()
    expect(page.get_by_role("grid")).to_contain_text("dev-eastus-00047")
    label(kubeconfig, "dev-eastus-00047", wave=None)
    expect(page.get_by_role("status").filter(has_text="0 clusters")).to_be_visible()


def test_the_playground_answers_while_one_types_and_completes_from_the_fleet(open_at: Callable[[str], Page]) -> None:
    page = open_at("/playground?text=")
    editor = page.get_by_role("textbox", name="CEL")
    editor.click()
    editor.press_sequentially("managedCluster.metadata.labels.ti")
    expect(page.get_by_role("option", name=re.compile("tier"))).to_be_visible()
    page.wait_for_timeout(150)  # the editor takes no key for the list before it has been seen
    editor.press("Enter")
    editor.press_sequentially(" == 'g")
    expect(page.get_by_role("option", name=re.compile("gold"))).to_contain_text("19")
    page.wait_for_timeout(150)
    editor.press("Enter")
    expect(page.get_by_role("button", name=re.compile("19.*fit"))).to_be_visible()
    expect(page.get_by_text(re.compile("cost \\d+ of 1.000.000"))).to_be_visible()

    page.get_by_role("button", name=re.compile("29.*do not")).click()
    grid = page.get_by_role("grid")
    expect(grid.get_by_role("row").nth(1)).to_contain_text("labels.tier =")
    page.reload()  # every view is a URL
    expect(page.get_by_role("button", name=re.compile("29.*do not"))).to_have_attribute("aria-pressed", "true")


def test_the_playground_says_where_it_is_wrong_and_offers_what_was_meant(open_at: Callable[[str], Page]) -> None:
    page = open_at("/playground?text=managedCluster.metadata.labels.clod%20%3D%3D%20'Amazon'")
    page.get_by_role("button", name="use cloud").click()
    expect(page.get_by_role("button", name=re.compile("16.*fit"))).to_be_visible()
    assert "labels.cloud" in page.url

    page.get_by_role("textbox", name="CEL").fill("managedCluster.metadata.labels.cloud == ")
    expect(page.get_by_text(re.compile("line 1"))).to_be_visible()
    expect(page.locator(".cm-lintRange-error, .cm-lintPoint-error").first).to_be_attached()


def test_labels_claims_and_whole_placements_are_asked_too_and_compared(open_at: Callable[[str], Page]) -> None:
    page = open_at("/playground")
    page.get_by_role("tab", name="labels").click()
    expect(page.get_by_role("button", name=re.compile("16.*fit"))).to_be_visible()
    page.get_by_role("tab", name="claims").click()
    expect(page.get_by_role("button", name=re.compile("16.*fit"))).to_be_visible()
    page.get_by_label("compare with").select_option("apps/checkout")
    expect(page.get_by_text(re.compile("It would select 3 clusters; 3 stay"))).to_be_visible()

    page = open_at("/playground?placement=apps/spread-over-regions")
    expect(page.get_by_text("ScheduleAnyway")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("6.*fit"))).to_be_visible()
    expect(page.get_by_text("36 → 32")).to_be_visible()
    page.get_by_role("textbox").click()
    page.keyboard.press("Control+a")
    page.keyboard.type("a: 1\n b: 2")
    expect(page.get_by_text(re.compile("line 2"))).to_be_visible()


def test_an_expression_becomes_a_placement(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/playground?text=managedCluster.metadata.labels.tier%20%3D%3D%20'gold'")
    page.get_by_role("button", name="Save as placement").click()
    page.get_by_label("Namespace").fill("apps")
    page.get_by_label("Name", exact=True).fill("golden")
    page.get_by_label("How many clusters").fill("2")
    page.get_by_role("button", name="Create the placement").click()
    expect(page.get_by_role("heading", name="apps/golden")).to_be_visible()
    expect(page.get_by_text("2 clusters of 2 wanted")).to_be_visible()
    expect(page.get_by_text("was created by muster-console")).to_be_visible()  # live, when it is decided
    stored = send(kubeconfig, "GET", f"{PLACEMENTS}/golden")
    assert stored["spec"]["numberOfClusters"] == 2

    page.goto(page.url.replace("/placements/apps/golden", "/playground"))
    page.get_by_role("button", name="Save as placement").click()
    page.get_by_label("Name", exact=True).fill("golden")
    page.get_by_label("Namespace").fill("apps")
    page.get_by_role("button", name="Create the placement").click()
    expect(page.get_by_role("alert")).to_contain_text("already exists")
    send(kubeconfig, "DELETE", f"{PLACEMENTS}/golden")


def test_why_shows_what_was_looked_at_with_values_and_the_nearest_way_in(open_at: Callable[[str], Page]) -> None:
    page = open_at("/placements/apps/checkout/why/dev-eastus-00047")
    expect(page.get_by_role("heading", name=re.compile("not selected, removed by ClusterSets"))).to_be_visible()
    expect(page.get_by_text("join prod-clusters, and label it cloud=Amazon")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="predicate 1").first).to_contain_text("Azure")
    expect(page.get_by_text("would fail too")).to_be_visible()
    page.get_by_role("link", name="All placements of this cluster").click()
    expect(page.get_by_role("heading", name="dev-eastus-00047")).to_be_visible()

    page = open_at("/placements/apps/checkout/why/prod-eu-west-1-00020")
    expect(page.get_by_role("heading", name=re.compile("selected.*rank 2"))).to_be_visible()


def test_a_placement_shows_ranks_cut_funnel_and_the_way_back(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/placements/apps/payments-anywhere")
    expect(page.get_by_text("2 clusters of 2 wanted")).to_be_visible()
    expect(page.get_by_text(re.compile("cut: \\d clusters below"))).to_be_visible()
    expect(page.get_by_text(re.compile("48 →"))).to_be_visible()
    send(kubeconfig, "PATCH", f"{PLACEMENTS}/payments-anywhere", {"spec": {"numberOfClusters": 4}})
    expect(page.get_by_text("4 clusters of 4 wanted")).to_be_visible()
    page.get_by_role("button", name="Undo to here").first.click()
    expect(page.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
    page.get_by_role("button", name="Apply 1 change, move 2 clusters").click()
    page.get_by_role("status").get_by_role("link", name="apps/payments-anywhere").click()
    expect(page.get_by_text("2 clusters of 2 wanted")).to_be_visible()
    assert send(kubeconfig, "GET", f"{PLACEMENTS}/payments-anywhere")["spec"]["numberOfClusters"] == 2


def test_placements_are_listed_and_lead_to_their_page(open_at: Callable[[str], Page]) -> None:
    page = open_at("/placements")
    page.get_by_label("Filter placements by name").fill("train")
    expect(page.get_by_role("row")).to_have_count(2)
    page.get_by_role("link", name="apps/training").click()
    expect(page.get_by_role("heading", name="apps/training")).to_be_visible()
    expect(page.get_by_text("Near misses")).to_be_visible()


def test_sets_stand_by_their_key_and_say_who_may_join(open_at: Callable[[str], Page]) -> None:
    page = open_at("/sets")
    team = page.locator("section", has=page.get_by_role("heading", name="team"))
    expect(team).to_contain_text("30 clusters")
    team.get_by_role("link", name=re.compile("payments")).click()
    expect(page.get_by_text("7 clusters")).to_be_visible()
    expect(page.get_by_text("system:masters").first).to_be_visible()


def test_every_view_is_a_command(open_at: Callable[[str], Page]) -> None:
    page = open_at("/placements/apps/checkout/why/dev-eastus-00047")
    for name, text in (
        ("muster", "muster explain placement checkout -n apps --cluster dev-eastus-00047"),
        ("link", "/placements/apps/checkout/why/dev-eastus-00047"),
        ("kubectl", "kubectl create --validate=false"),
        ("curl", "$SERVER/apis/fleet.muster.dev/v1alpha1/placementexplanations"),
    ):
        page.locator("m-copy-as button").first.click()  # while it still says what was copied before
        page.get_by_role("menuitem", name=re.compile(f"^{name}")).click()
        expect(page.get_by_text(f"Copied as {name}")).to_be_visible()
        assert text in page.evaluate("navigator.clipboard.readText()")


def test_the_palette_finds_everything_and_acts(open_at: Callable[[str], Page]) -> None:
    page = open_at("/fleet")
    page.keyboard.press("Control+k")
    box = page.get_by_role("combobox", name=re.compile("Search clusters"))
    box.fill("eastus-00047")
    expect(page.get_by_role("option", name=re.compile("dev-eastus-00047"))).to_be_visible()
    box.fill("gpu")
    expect(page.get_by_role("option", name=re.compile("set gpu in 1 placement"))).to_be_visible()
    box.fill("dark theme")
    box.press("Enter")
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"
    page.reload()
    assert page.evaluate("document.documentElement.dataset.theme") == "dark"


def test_an_address_that_is_none_says_so(open_at: Callable[[str], Page]) -> None:
    page = open_at("/nowhere/at/all")
    expect(page.get_by_role("heading", name="There is no such page")).to_be_visible()
    page.get_by_role("link", name="Go to the fleet").click()
    expect(page.get_by_role("grid", name="Clusters")).to_be_visible()
