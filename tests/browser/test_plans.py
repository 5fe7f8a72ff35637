"""Changes are planned first: from a why, an edit, a file, a drag; and written only while the plan is what was seen."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from playwright.sync_api import expect

from tests.browser.kube import CLUSTERS, PLACEMENTS, label, send

if TYPE_CHECKING:
    from collections.abc import Callable

    from playwright.sync_api import Page

SET: Final = "cluster.open-cluster-management.io/clusterset"
PLACEMENT: Final = """apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata:
  name: planned
  namespace: apps
spec:
  numberOfClusters: 2
"""


def labels_of(kubeconfig: Path, cluster: str) -> dict[str, str]:
    return dict(send(kubeconfig, "GET", f"{CLUSTERS}/{cluster}")["metadata"]["labels"])


def test_the_nearest_way_in_is_planned_applied_and_taken_back(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/placements/apps/checkout/why/dev-eastus-00047")
    page.get_by_role("link", name="Plan this").click()
    checkout = page.get_by_role("region", name="apps/checkout")
    expect(checkout).to_contain_text("3 → 3")
    expect(checkout.get_by_role("link", name="dev-eastus-00047")).to_be_visible()
    expect(checkout).to_contain_text("it fits, but 3 of 9 fitting clusters are wanted")
    expect(page.get_by_role("region", name="Sets that change")).to_contain_text("prod-clusters")

    # The same in a terminal.
    page.get_by_role("button", name="copy as").click()
    page.get_by_role("menuitem", name=re.compile("^muster")).click()
    environment = {
        **os.environ,
        "KUBECONFIG": str(kubeconfig),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    command = ["bash", "-c", page.evaluate("navigator.clipboard.readText()")]
    told = subprocess.run(command, env=environment, capture_output=True, text=True, check=True).stdout
    assert re.search(r"apps/checkout.*\n(.*\n)*.*dev-eastus-00047", told), told

    # A guard of the reviewer's own: it is held, and cannot be applied.
    page.get_by_label("How many clusters may not leave a placement").fill("1")
    expect(checkout).to_contain_text("held: apps/checkout would lose 1 of 3 clusters")
    apply = page.get_by_role("button", name=re.compile("Apply 1 change, move [24] clusters"))
    expect(apply).to_be_disabled()
    page.get_by_label("How many clusters may not leave a placement").fill("")
    apply.click()
    expect(page.get_by_role("status").filter(has_text="Written")).to_contain_text("dev-eastus-00047")
    assert labels_of(kubeconfig, "dev-eastus-00047")[SET] == "prod-clusters"
    label(kubeconfig, "dev-eastus-00047", **{SET: "dev-clusters", "cloud": "Azure"})


def test_a_plan_that_is_no_longer_true_is_not_applied(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    page = open_at("/plan")
    page.get_by_label("Cluster", exact=True).fill("prod-eu-central-1-00023")
    page.get_by_label("Label", exact=True).fill("cloud")
    page.get_by_label("Value; none").fill("Azure")
    page.get_by_role("button", name="Add").click()
    expect(page.get_by_role("region", name="apps/checkout")).to_contain_text("lost")
    apply = page.get_by_role("button", name=re.compile("Apply 1 change"))
    expect(apply).to_be_enabled()
    send(kubeconfig, "PATCH", f"{PLACEMENTS}/checkout", {"spec": {"numberOfClusters": 4}})
    try:
        expect(page.get_by_role("alert")).to_contain_text("This is not what would happen any more")
        expect(apply).to_be_disabled()
        page.get_by_role("button", name="Plan again").click()
        expect(page.get_by_role("region", name="apps/checkout")).to_contain_text("4 → 4")
        expect(apply).to_be_enabled()
    finally:
        send(kubeconfig, "PATCH", f"{PLACEMENTS}/checkout", {"spec": {"numberOfClusters": 3}})


def test_objects_are_dropped_edited_and_written_and_the_address_has_it_all(
    open_at: Callable[[str], Page], kubeconfig: Path
) -> None:
    page = open_at("/plan")
    page.locator("input[type=file]").set_input_files(
        {"name": "planned.yaml", "mimeType": "application/yaml", "buffer": PLACEMENT.encode()}
    )
    planned = page.get_by_role("region", name="apps/planned")
    expect(planned).to_contain_text("0 → 2")
    expect(planned).to_contain_text("new")
    page.reload()
    expect(planned).to_contain_text("0 → 2")  # every view is a URL, this one too

    page.get_by_role("textbox", name="Objects as YAML").click()
    page.keyboard.press("Control+End")
    page.keyboard.type("  predicats: []")
    expect(page.get_by_text("The server would refuse 1 object")).to_be_visible()
    for _ in "  predicats: []":
        page.keyboard.press("Backspace")
    page.get_by_role("button", name="Apply 1 change, move 2 clusters").click()
    page.get_by_role("status").get_by_role("link", name="apps/planned").click()
    expect(page.get_by_text("2 clusters of 2 wanted")).to_be_visible()

    # An edit of what is there; the console deletes nothing, and says who does.
    page.get_by_role("link", name="Edit and plan").click()
    expect(page.get_by_role("textbox", name="Objects as YAML")).to_contain_text("numberOfClusters: 2")
    expect(page.get_by_text("No decision would change")).to_be_visible()
    page.get_by_role("button", name="delete", exact=True).click()
    expect(page.get_by_role("region", name="apps/planned")).to_contain_text("2 → 0")
    page.get_by_role("button", name="Copy as muster delete").click()
    assert page.evaluate("navigator.clipboard.readText()").startswith("muster delete -f - <<'EOF'\n")
    send(kubeconfig, "DELETE", f"{PLACEMENTS}/planned")


def test_text_that_is_no_yaml_says_where(open_at: Callable[[str], Page]) -> None:
    page = open_at("/plan#yaml=a%3A%201%0A%20b%3A%202")
    expect(page.get_by_text("line 2")).to_be_visible()
    expect(page.get_by_text("Not readable yet")).to_be_visible()
    page = open_at("/plan#labels=%5B%7B%22name%22%3A1%7D%2C%22x%22%5D")
    expect(page.get_by_text("Nothing is planned yet")).to_be_visible()


def test_a_cluster_is_dragged_onto_a_set_and_that_is_a_plan(open_at: Callable[[str], Page]) -> None:
    page = open_at("/sets")
    page.get_by_label("Find a cluster").fill("eastus-00047")
    cluster = page.get_by_role("button", name="dev-eastus-00047")
    cluster.click()
    expect(page.get_by_text("is in dev-clusters, global")).to_be_visible()
    cluster.drag_to(page.get_by_role("link", name=re.compile("^prod-clusters")))
    expect(page.get_by_role("heading", name="Plan", exact=True)).to_be_visible()
    expect(page.get_by_text("clusterset=prod-clusters")).to_be_visible()
    page.go_back()
    page.get_by_label("Plan to move it to").select_option("gpu")
    expect(page.get_by_text("accelerator=nvidia-h100")).to_be_visible()
