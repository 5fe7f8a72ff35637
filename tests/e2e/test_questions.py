"""docs/reference/questions.md, typed: every question with the real kubectl, against `muster hub run --demo`."""

from __future__ import annotations

import os
import re
import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from muster.api.fleet_questions import QUESTIONS
from tests.controllers.processes import HubProcess, hub_process
from tests.e2e.test_kubectl import KUBECTL

if TYPE_CHECKING:
    from collections.abc import Iterator

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]
PAGE: Final = (Path(__file__).parents[2] / "docs/reference/questions.md").read_text()
FILES: Final = dict(re.findall(r"```yaml\n# (\S+)\n(.*?)```", PAGE, re.DOTALL))
CONSOLE: Final = "\n".join(re.findall(r"```console\n(.*?)```", PAGE, re.DOTALL))
COMMANDS: Final = re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", CONSOLE, re.MULTILINE)


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    with hub_process(tmp_path_factory.mktemp("hub"), "--demo") as running:
        yield running


def typed(hub: HubProcess, home: Path, command: str) -> subprocess.CompletedProcess[str]:
    for name, text in FILES.items():
        (home / name).write_text(text)
    environment = {**os.environ, "KUBECONFIG": str(hub.kubeconfig), "HOME": str(home)}
    return subprocess.run(
        command, shell=True, cwd=home, env=environment, capture_output=True, text=True, check=False, timeout=60
    )


def test_every_kind_has_a_chapter_with_an_example() -> None:
    chapters = re.split(r"^## ", PAGE, flags=re.MULTILINE)
    for kind in (each.kind for each in QUESTIONS):
        chapter = next(each for each in chapters if each.startswith(f"{kind}\n"))
        assert f"kind: {kind}\n" in chapter
        assert "$ kubectl create -f" in chapter
    assert len(COMMANDS) >= len(QUESTIONS)


@pytest.mark.parametrize(("command", "expected"), COMMANDS)
def test_the_page_says_what_kubectl_prints(hub: HubProcess, tmp_path: Path, command: str, expected: str) -> None:
    deadline = time.monotonic() + 60
    while (result := typed(hub, tmp_path, command)).returncode:
        assert "ServiceUnavailable" in result.stderr, result.stderr
        assert time.monotonic() < deadline, result.stderr
        time.sleep(0.2)

    assert result.stdout.strip() == expected.strip()


def test_kubectl_explains_and_prints_a_whole_answer(hub: HubProcess, tmp_path: Path) -> None:
    whole = typed(hub, tmp_path, "kubectl create -f evaluation.yaml -o yaml")
    explained = typed(hub, tmp_path, "kubectl explain fleetevaluation.spec.rows")

    assert (whole.returncode, "matched:" in whole.stdout) == (0, True), whole.stderr
    assert "sortBy" in explained.stdout, explained.stderr
