"""`muster hub run --demo`, which is `make run`, has the console: its link is printed first, and works."""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from typing import TYPE_CHECKING

import aiohttp
import pytest

from muster.console.entrance import SECRET_HEADER

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
QUESTION = "/apis/fleet.muster.dev/v1alpha1/fleetevaluations"


async def asked(link: str) -> tuple[int, int]:
    """How many clusters the console says that there are, and what it says when its link is used again."""
    url, _, key = link.partition("/#enter=")
    jar = aiohttp.CookieJar(unsafe=True)  # cookies of addresses, which browsers keep too
    async with aiohttp.ClientSession(cookie_jar=jar, headers={"Origin": url}) as session:
        async with session.post(f"{url}/session", json={"link": key}) as answer:
            secret = (await answer.json())["secret"]
        body = {"apiVersion": "fleet.muster.dev/v1alpha1", "kind": "FleetEvaluation", "spec": {"rows": {"limit": 0}}}
        async with session.post(f"{url}{QUESTION}", json=body, headers={SECRET_HEADER: secret}) as answer:
            found = await answer.json()
        async with session.post(f"{url}/session", json={"link": key}) as answer:
            return found["status"]["matched"], answer.status


def test_the_link_is_printed_first_and_leads_to_the_fleet(tmp_path: Path) -> None:
    hub = subprocess.Popen(
        [sys.executable, "-m", "muster", "hub", "run", "--demo", "--data", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert hub.stdout is not None
        lines: list[str] = []
        while "export KUBECONFIG=" not in (line := hub.stdout.readline()):
            assert line, lines
            lines.append(line)
        told = next(at for at, each in enumerate(lines) if "http://" in each)
        assert "muster hub at" in lines[told + 1]
        found = re.search(r"http://127\.0\.0\.1:\d+/#enter=\S+", lines[told])
        assert found is not None
        assert asyncio.run(asked(found[0])) == (48, 403)
    finally:
        hub.terminate()
        hub.communicate(timeout=60)
    assert hub.returncode == 0


def test_a_demo_without_a_console_has_none(tmp_path: Path) -> None:
    hub = subprocess.Popen(
        [sys.executable, "-m", "muster", "hub", "run", "--demo", "--no-console", "--data", str(tmp_path)],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert hub.stdout is not None
        lines: list[str] = []
        while "export KUBECONFIG=" not in (line := hub.stdout.readline()):
            assert line, lines
            lines.append(line)
        assert [each for each in lines if "#enter" in each] == []
    finally:
        hub.terminate()
        hub.communicate(timeout=60)
