"""Whatever a fleet holds is text: names, labels, messages and errors that look like markup run nothing."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

import pytest
from playwright.sync_api import expect

from tests.browser.conftest import SCREENS
from tests.browser.kube import CLUSTERS, send

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from playwright.sync_api import Page, Route

    from muster.values.json import Json

MARKUP: Final = (
    '<img src=x onerror="window.ran=1"></template><script>window.ran=2</script>${window.ran=3}{{window.ran=4}}'
)
#: What decides in a screen stays, so that every text has its place; everything else is hostile.
KEPT: Final = frozenset(
    {
        "apiVersion",
        "kind",
        "verdict",
        "status",
        "type",
        "code",
        "stage",
        "facet",
        "selectorType",
        "severity",
        "time",
        "uid",
    }
    | {
        "lastTransitionTime",
        "creationTimestamp",
        "resourceVersion",
        "continue",
        "deed",
        "operator",
        "timeAdded",
        "valid",
    }
)


def hostile(value: Json, key: str = "") -> Json:
    if isinstance(value, str) and key not in KEPT:
        return f"{value}{MARKUP}"
    if isinstance(value, list):
        return [hostile(each, key) for each in value]
    if isinstance(value, dict):
        return {(name if key != "labels" else f"{name}{MARKUP}"): hostile(each, name) for name, each in value.items()}
    return value


@pytest.mark.parametrize("screen", SCREENS)
def test_a_fleet_that_is_all_markup_is_shown_as_text(open_at: Callable[[str], Page], page: Page, screen: str) -> None:
    def answer(route: Route) -> None:
        if "watch=true" in route.request.url:
            route.continue_()
            return
        reply = route.fetch()
        try:
            body = json.loads(reply.text())
        except ValueError:
            route.fulfill(response=reply)
            return
        route.fulfill(response=reply, body=json.dumps(hostile(body)))

    page.route("**/apis/**", answer)
    page.route("**/session", answer)
    open_at(SCREENS[screen])
    expect(page.locator("main").get_by_text("window.ran=1").locator("visible=true").first).to_be_visible()
    page.keyboard.press("Control+k")
    page.keyboard.type("a")
    expect(page.get_by_role("dialog").get_by_role("option").filter(has_text="window.ran=1").first).to_be_visible()
    assert page.evaluate("window.ran") is None
    assert page.evaluate("document.querySelectorAll('img, script:not([src])').length") == 0
    assert page.locator("img:not(.cm-widgetBuffer)").count() == 0  # through every shadow root; the editor has its own
    page.unroute_all(behavior="ignoreErrors")


def test_what_the_server_really_lets_in_is_text_too(open_at: Callable[[str], Page], kubeconfig: Path) -> None:
    conditions = [
        {
            "type": "ManagedClusterConditionAvailable",
            "status": "False",
            "reason": "Broken",
            "message": MARKUP,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        }
    ]
    send(
        kubeconfig,
        "POST",
        CLUSTERS,
        {
            "apiVersion": "cluster.open-cluster-management.io/v1",
            "kind": "ManagedCluster",
            "metadata": {"name": "hostile", "annotations": {"a": MARKUP}},
            "spec": {"hubAcceptsClient": True},
        },
    )
    send(
        kubeconfig,
        "PATCH",
        f"{CLUSTERS}/hostile/status",
        {"status": {"conditions": conditions, "clusterClaims": [{"name": "x", "value": MARKUP}]}},
    )
    try:
        page = open_at("/clusters/hostile")
        expect(page.get_by_text("window.ran=1").first).to_be_visible()
        page.goto(page.url.replace("/clusters/hostile", f"/fleet?q={'%3Cimg%20src=x%20onerror=window.ran=5%3E'}"))
        expect(page.get_by_role("status").filter(has_text="0 clusters")).to_be_visible()
        page.goto(page.url.split("/fleet")[0] + "/clusters/%3Cscript%3Ewindow.ran=6%3C%2Fscript%3E")
        expect(page.get_by_role("alert").first).to_be_visible()
        assert page.evaluate("window.ran") is None
    finally:
        send(kubeconfig, "DELETE", f"{CLUSTERS}/hostile")
