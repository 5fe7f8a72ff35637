"""A demo hub, a console over it, and a browser. `make browser` runs these tests; `make test` leaves them alone.

`MUSTER_CHROMIUM` names the browser, else `chromium` on PATH. `MUSTER_BROWSER_KUBECONFIG` tells the stories on the
server of that kubeconfig instead of a hub of our own; it must have the demo's objects.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal
from urllib.parse import quote

import pytest

from tests.controllers.processes import hub_process

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page

WANTED: Final = bool(os.environ.get("MUSTER_BROWSER"))
collect_ignore_glob = [] if WANTED else ["test_*.py"]
CHROMIUM: Final = os.environ.get("MUSTER_CHROMIUM") or shutil.which("chromium") or ""
_OCM: Final = "cluster.open-cluster-management.io"
SCHEMES: Final[tuple[Literal["light", "dark"], ...]] = ("light", "dark")
SIZE: Final = {"width": 1360, "height": 850}
EXPRESSION: Final = """semver(managedCluster.status.version.kubernetes, true)
  .isGreaterThan(semver("v1.30.0", true))"""
EDIT: Final = json.dumps(
    [{"name": "dev-eastus-00047", "labels": {"cloud": "Amazon", f"{_OCM}/clusterset": "prod-clusters"}}]
)
SCREENS: Final = {
    "fleet": "/fleet",
    "cluster": "/clusters/prod-eu-west-1-00020",
    "playground": f"/playground?text={quote(EXPRESSION)}",
    "placements": "/placements",
    "placement": "/placements/apps/checkout",
    "why": "/placements/apps/checkout/why/dev-eastus-00047",
    "plan": f"/plan#labels={quote(EDIT)}",
    "sets": "/sets?cluster=dev-eastus-00047",
    "set": "/sets/prod-clusters",
    "hosts": f"/hosts?namespace=hosts&query={quote('.cpu.count >= 64')}&key=size&value=huge&host=0488b27de189e059",
    "operators": "/operators",
    "resolution": "/operators/operators/shop-with-legacydb",
}


@dataclass
class RunningConsole:
    """A console that runs in a process of its own."""

    url: str
    link: str
    process: subprocess.Popen[str]


@contextlib.contextmanager
def running_console(kubeconfig: Path, *options: str) -> Iterator[RunningConsole]:
    process = subprocess.Popen(
        [sys.executable, "-m", "muster", "console", "--kubeconfig", str(kubeconfig), "--supervised", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("\n")  # as a supervisor whose server is ready
        process.stdin.flush()
        said = json.loads(process.stdout.readline())
        yield RunningConsole(said["url"], said["link"], process)
    finally:
        process.terminate()
        process.communicate(timeout=20)


@pytest.fixture(scope="session")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    if given := os.environ.get("MUSTER_BROWSER_KUBECONFIG"):
        yield Path(given)
        return
    with hub_process(tmp_path_factory.mktemp("hub"), "--demo", "--no-console") as hub:
        yield hub.kubeconfig


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    from playwright.sync_api import expect, sync_playwright

    expect.set_options(timeout=20_000)  # milliseconds; nothing here is slow, but machines may be busy
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=["--js-flags=--expose-gc"])
        yield running
        running.close()


@dataclass
class Visitor:
    """A browser that is in, and opens windows."""

    browser: Browser
    console: RunningConsole
    state: Any = None

    def context(self, **options: Any) -> BrowserContext:
        if self.state is None:
            first = self.browser.new_context()
            page = first.new_page()
            page.goto(self.console.link)
            page.get_by_role("navigation").wait_for()
            self.state = first.storage_state()
            first.close()
        given = {"viewport": SIZE, "storage_state": self.state, "permissions": ["clipboard-read", "clipboard-write"]}
        return self.browser.new_context(**{**given, **options})


@pytest.fixture(scope="session")
def console(kubeconfig: Path) -> Iterator[RunningConsole]:
    with running_console(kubeconfig) as running:
        yield running


@pytest.fixture(scope="session")
def visitor(browser: Browser, console: RunningConsole) -> Visitor:
    return Visitor(browser, console)


def watched(page: Page) -> list[str]:
    """What went wrong in a page: errors, and what the content security policy refused."""
    problems: list[str] = []
    page.on("pageerror", lambda error: problems.append(str(error)))
    refused = "Failed to load resource"  # an answer with a code is an answer; screens show it

    def heard(said: ConsoleMessage) -> None:
        if said.type in ("error", "warning") and refused not in said.text:
            problems.append(said.text)

    page.on("console", heard)
    page.set_default_timeout(15_000)
    return problems


@pytest.fixture
def page(visitor: Visitor) -> Iterator[Page]:
    """A window in which nothing may go wrong beside what a test expects."""
    context = visitor.context()
    opened = context.new_page()
    problems = watched(opened)
    yield opened
    context.close()
    assert problems == []


@pytest.fixture
def open_at(page: Page, console: RunningConsole) -> Callable[[str], Page]:
    def opened(path: str) -> Page:
        page.goto(f"{console.url}{path}")
        return page

    return opened


QUIET: Final = 200  # milliseconds; one answer may lead to another question


def settled(page: Page) -> None:
    """Until nothing is being fetched that ends, and what came is drawn. A watch never ends and does not count."""
    script = """(quiet) => {
      const busy = (root) => [...root.querySelectorAll('*')].some((each) => each.shadowRoot && busy(each.shadowRoot))
        || root.querySelector('.bone, [aria-label=Loading]') !== null;
      const shown = document.querySelector('m-shell')?.shadowRoot?.querySelector('.screen')?.firstElementChild;
      const still = !busy(document) && shown?.shadowRoot?.textContent.trim().length > 40
        && !shown.tasks.some((each) => each.pending);
      if (!still) window.stillSince = undefined;
      else window.stillSince ??= performance.now();
      return still && performance.now() - window.stillSince >= quiet;
    }"""
    page.evaluate("window.stillSince = undefined")
    page.wait_for_function(script, arg=QUIET, timeout=60_000)
