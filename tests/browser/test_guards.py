"""Removals that a guard holds are seen with what holds them, and go when somebody who may has approved just these."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import Visitor, running_console
from tests.browser.kube import PLACEMENT, PLACEMENTS, kubeconfig_of, send

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

GUARDED: Final = f"{PLACEMENTS}/guarded"
DECISIONS: Final = PLACEMENTS.replace("/placements", "/placementdecisions")
OWNER: Final = "cluster.open-cluster-management.io/placement"
RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
RECORD: Final = "/apis/placement.muster.dev/v1alpha1/namespaces/apps/placementguardrecords/guarded"
_RBAC: Final = {"apiVersion": "rbac.authorization.k8s.io/v1"}
_NAMED: Final = {"metadata": {"name": "reader"}}
READER: Final = [
    {"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]},
    {"apiGroups": ["fleet.muster.dev"], "resources": ["*"], "verbs": ["create"]},
]


@pytest.fixture
def guarded(kubeconfig: Path) -> Iterator[str]:
    """A placement whose removals are frozen, and that wants fewer clusters than it has."""
    metadata = {"name": "guarded", "annotations": {"placement.muster.dev/freeze-removals": "true"}}
    send(kubeconfig, "POST", PLACEMENTS, {**PLACEMENT, "metadata": metadata, "spec": {"numberOfClusters": 3}})
    yield "/placements/apps/guarded"
    send(kubeconfig, "DELETE", GUARDED)


def decided(kubeconfig: Path) -> int:
    found = send(kubeconfig, "GET", DECISIONS)["items"]
    pages = [each for each in found if each["metadata"]["labels"][OWNER] == "guarded"]
    return sum(len(page["status"]["decisions"]) for page in pages)


def held_at(page: Page) -> None:
    expect(page.get_by_role("heading", name="2 removals held")).to_be_visible()


def test_what_a_guard_holds_is_approved_by_its_digest_and_goes(
    open_at: Callable[[str], Page], kubeconfig: Path, guarded: str
) -> None:
    page = open_at(guarded)
    expect(page.get_by_text("3 clusters of 3 wanted")).to_be_visible()
    guards = page.locator("section", has=page.get_by_role("heading", name="Guards"))
    expect(guards).to_contain_text("Removals frozen")
    expect(guards).to_contain_text("Nothing is held")

    send(kubeconfig, "PATCH", GUARDED, {"spec": {"numberOfClusters": 1}})
    held_at(page)
    record = send(kubeconfig, "GET", RECORD)["held"]
    waiting = page.locator("section", has=page.get_by_role("heading", name="2 removals held"))
    expect(waiting).to_contain_text(record["digest"])
    expect(waiting).to_contain_text("frozen")
    for cluster in record["clusters"]:
        expect(waiting.get_by_role("link", name=cluster)).to_be_visible()
    assert decided(kubeconfig) == 3, "they stay as long as nobody approves"
    page.get_by_role("link", name="Placements").click()
    expect(page.get_by_role("row").filter(has_text="apps/guarded")).to_contain_text("removals held")
    page.get_by_role("link", name="apps/guarded").click()

    waiting.get_by_role("button", name="Approve, remove 2 clusters").click()
    expect(page.get_by_role("heading", name="2 removals held")).to_be_hidden()
    expect(guards).to_contain_text("Nothing is held")
    expect(page.get_by_text("1 cluster of 1 wanted")).to_be_visible()
    expect(page.get_by_role("listitem").filter(has_text="3 → 1")).to_be_visible()
    assert decided(kubeconfig) == 1


def test_who_may_not_approve_is_given_the_rule_that_is_missing(
    browser: Browser, kubeconfig: Path, guarded: str, tmp_path: Path
) -> None:
    subject = {"kind": "ServiceAccount", "name": "reader", "namespace": "apps"}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "reader"}
    theirs = kubeconfig_of(kubeconfig, "reader", tmp_path / "kubeconfig")
    send(kubeconfig, "POST", f"{RBAC}/clusterroles", {**_RBAC, "kind": "ClusterRole", **_NAMED, "rules": READER})
    binding = {**_RBAC, "kind": "ClusterRoleBinding", **_NAMED, "roleRef": role, "subjects": [subject]}
    send(kubeconfig, "POST", f"{RBAC}/clusterrolebindings", binding)
    send(kubeconfig, "PATCH", GUARDED, {"spec": {"numberOfClusters": 1}})
    try:
        with running_console(theirs) as console:
            context = Visitor(browser, console).context()
            page = context.new_page()
            page.goto(f"{console.url}{guarded}")
            held_at(page)
            expect(page.get_by_role("button", name="Approve, remove 2 clusters")).to_be_disabled()
            expect(page.get_by_text('verbs: ["patch","approve"]')).to_be_visible()
            page.get_by_role("button", name="Copy the rule").click()
            assert 'resources: ["placements"]' in page.evaluate("navigator.clipboard.readText()")
            context.close()
    finally:
        send(kubeconfig, "DELETE", f"{RBAC}/clusterrolebindings/reader")
        send(kubeconfig, "DELETE", f"{RBAC}/clusterroles/reader")
        send(kubeconfig, "DELETE", "/api/v1/namespaces/apps/serviceaccounts/reader")
