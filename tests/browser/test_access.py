"""Who may not, and who is not in: each is told what is missing, and how to get it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
import yaml
from playwright.sync_api import expect

from tests.browser.conftest import RunningConsole, Visitor, running_console, watched
from tests.browser.kube import kubeconfig_of, send

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page

ACCOUNT = "/api/v1/namespaces/apps/serviceaccounts"


@pytest.fixture(scope="module")
def nobodys(kubeconfig: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The kubeconfig of somebody who may do nothing."""
    yield kubeconfig_of(kubeconfig, "nobody", tmp_path_factory.mktemp("nobody") / "kubeconfig")
    send(kubeconfig, "DELETE", f"{ACCOUNT}/nobody")


def test_who_may_not_ask_is_given_the_rule_that_is_missing(browser: Browser, nobodys: Path) -> None:
    with running_console(nobodys) as console:
        context = Visitor(browser, console).context()
        page = context.new_page()
        problems = watched(page)
        page.goto(f"{console.url}/fleet")
        expect(page.get_by_role("heading", name="You may not create fleetevaluations").first).to_be_visible()
        expect(page.get_by_text('resources: ["fleetevaluations"]').first).to_be_visible()
        page.get_by_role("button", name="Copy the rule").first.click()
        assert 'apiGroups: ["fleet.muster.dev"]' in page.evaluate("navigator.clipboard.readText()")
        page.get_by_role("button", name="muster").click()
        expect(page.get_by_text("system:serviceaccount:apps:nobody").first).to_be_visible()
        page.goto(f"{console.url}/placements")
        expect(page.get_by_role("heading", name="You may not list placements")).to_be_visible()
        assert problems == []
        page.unroute_all(behavior="ignoreErrors")
        context.close()


def stranger(browser: Browser) -> Page:
    return browser.new_context().new_page()


def test_a_browser_that_has_no_session_is_told_how_to_get_in(browser: Browser, visitor: Visitor) -> None:
    visitor.context().close()  # the link is used
    page = stranger(browser)
    page.goto(f"{visitor.console.url}/fleet")
    expect(page.get_by_role("heading", name="This browser is not let in yet")).to_be_visible()
    page.goto(visitor.console.link)
    page.reload()
    expect(page.get_by_text("not let in yet")).to_be_visible()
    page.context.close()


def test_the_link_leaves_no_trace_in_the_address_or_in_pages(visitor: Visitor) -> None:
    context = visitor.context()
    page = context.new_page()
    page.goto(f"{visitor.console.url}/fleet")
    expect(page.get_by_role("grid")).to_be_visible()
    assert "enter" not in page.url
    assert page.evaluate("document.cookie") == ""
    context.close()


def test_behind_an_ingress_one_logs_in_with_a_token(browser: Browser, kubeconfig: Path) -> None:
    # The browser takes the console's own address for the ingress, so that no certificate is needed for the story.
    token = yaml.safe_load(kubeconfig.read_text())["users"][0]["user"]["token"]
    with running_console(kubeconfig, "--behind-ingress", "https://fleet.example.com", "--port", "18181") as console:
        assert isinstance(console, RunningConsole)
        context = browser.new_context(ignore_https_errors=True)
        page = context.new_page()

        # TLS ends at the ingress: here, in the test.
        def ingress(route: object) -> None:
            request = route.request  # type: ignore[attr-defined]
            url = request.url.replace("https://fleet.example.com", "http://127.0.0.1:18181")
            reply = context.request.fetch(
                url,
                method=request.method,
                data=request.post_data_buffer,
                max_redirects=0,
                headers={**request.all_headers(), "host": "fleet.example.com"},
            )
            route.fulfill(response=reply)  # type: ignore[attr-defined]

        page.route("https://fleet.example.com/**", ingress)
        page.goto("https://fleet.example.com/fleet")
        page.get_by_label("Token").fill("wrong")
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("alert")).to_contain_text("does not know this token")
        page.get_by_label("Token").fill(token)
        page.get_by_role("button", name="Log in").click()
        expect(page.get_by_role("navigation")).to_be_visible()
        assert token not in page.evaluate("JSON.stringify(localStorage) + document.cookie")
        page.unroute_all(behavior="ignoreErrors")
        context.close()
