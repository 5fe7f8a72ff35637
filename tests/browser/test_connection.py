"""A connection that is lost is seen, the last answer stays, and everything is live again by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from playwright.sync_api import expect

from tests.browser.conftest import Visitor, running_console
from tests.browser.kube import label
from tests.controllers.processes import hub_process

if TYPE_CHECKING:
    from pathlib import Path

    from playwright.sync_api import Browser


def test_a_server_that_dies_is_noticed_and_found_again(browser: Browser, tmp_path: Path) -> None:
    with hub_process(tmp_path, "--demo", "--no-console") as hub, running_console(hub.kubeconfig) as console:
        context = Visitor(browser, console).context()
        page = context.new_page()
        page.goto(f"{console.url}/fleet?q=wave%3D1")
        expect(page.get_by_role("status").filter(has_text="0 clusters")).to_be_visible()
        expect(page.get_by_role("button", name="live")).to_be_visible()
        assert hub.kill("serve")
        expect(page.get_by_text("Connection lost")).to_be_visible()
        expect(page.get_by_role("grid")).to_be_visible()  # what was there stays
        expect(page.get_by_text("Connection lost")).to_be_hidden(timeout=60_000)
        label(hub.kubeconfig, "dev-eastus-00047", wave="1")
        expect(page.get_by_role("grid")).to_contain_text("dev-eastus-00047", timeout=60_000)
        context.close()


def test_a_console_that_is_gone_is_told_as_such(browser: Browser, kubeconfig: Path) -> None:
    with running_console(kubeconfig) as console:
        context = Visitor(browser, console).context()
        page = context.new_page()
        page.goto(f"{console.url}/placements")
        expect(page.get_by_role("link", name="apps/checkout")).to_be_visible()
        console.process.kill()
        console.process.wait()
        expect(page.get_by_text("Connection lost")).to_be_visible()
        expect(page.get_by_role("link", name="apps/checkout")).to_be_visible()
        context.close()
