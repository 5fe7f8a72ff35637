"""Pages that show commands without what they print: every command ends well beside a running hub."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Final

import pytest

from tests.e2e.pages import shell_beside_a_hub
from tests.e2e.test_kubectl import KUBECTL

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).resolve().parents[2]
pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.skipif(KUBECTL is None, reason="no kubectl on PATH (Debian: apt install kubernetes-client)"),
]

# The pages, and what their readers have before they begin.
BEFORE: Final = {
    "docs/guides/classifying-hosts.md": "cp -r $ROOT/examples . && kubectl create namespace hosts"
    " && muster apply -f examples/02-classify-hosts/agents.yaml",
    "docs/guides/users-and-roles.md": "kubectl create namespace apps",
    "examples/03-resolve-operators/README.md": "cp $ROOT/examples/03-resolve-operators/* .",
}
# What a page cannot know: the id of a token that was made above.
KNOWN: Final = {"q4zv6k2m7a": "$(muster hub token list | awk 'NR == 2 {print $1}')"}
# Beginnings of commands that are not typed here, and why.
LEFT_OUT: Final = {
    "muster hub run": "a hub runs beside this shell; tests/e2e/test_resolutions.py starts one with catalogs",
    "kubectl get hardwaredata": "a kind of other programs: tests/contract/test_reported_hosts.py has its definition",
}
IMPOSSIBLE: Final = (
    "-w 'shop@>=2.0.0' -w legacydb"  # there is no plan: that is what the page shows, and exit code 1 says it
)


def commands(page: str) -> list[str]:
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = re.findall(r"```sh\n(.*?)```", text, re.DOTALL)
    return [line for block in blocks for line in block.splitlines() if line and not line.startswith("#")]


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    with shell_beside_a_hub(tmp_path_factory.mktemp("hub")) as environment:
        yield environment


@pytest.mark.parametrize("page", BEFORE)
def test_every_command_of_the_page_ends_well(page: str, shell: dict[str, str], tmp_path: Path) -> None:
    lines = [line for line in commands(page) if not line.startswith(tuple(LEFT_OUT))]
    assert lines
    told = _typed(BEFORE[page], tmp_path, shell)
    assert told.returncode == 0, told.stdout
    directory = tmp_path
    for line in lines:
        if line.startswith("cd "):
            directory = directory / line.removeprefix("cd ")
            continue
        done = _typed(line, directory, shell)
        wanted = 1 if line.endswith(IMPOSSIBLE) else 0
        assert done.returncode == wanted, f"$ {line}\n{done.stdout}"
        assert "Traceback" not in done.stdout


def _typed(line: str, directory: Path, shell: dict[str, str]) -> subprocess.CompletedProcess[str]:
    for shown, meant in KNOWN.items():
        line = line.replace(shown, meant)
    return subprocess.run(
        ["bash", "-c", line],
        env={**shell, "ROOT": str(ROOT)},
        cwd=directory,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
        check=False,
    )
