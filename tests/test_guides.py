"""The guide to explanations, typed as it stands: every command and the Python example print what the page shows."""

from __future__ import annotations

import contextlib
import io
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from muster.cli.main import run
from tests.builders import a_binding, a_cluster, a_placement, a_set

ROOT = Path(__file__).resolve().parents[1]
EXAMPLE = ROOT / "examples" / "05-why-not"
GUIDE = (ROOT / "docs" / "guides" / "why-not.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"```console\n\$ (.*?)\n(.*?)```", GUIDE, re.DOTALL)


def printed(command: str) -> tuple[int, str]:
    """What a command prints, errors included, and its exit code."""
    out = io.StringIO()
    program, *args = shlex.split(command)
    assert program == "muster"
    return run(args, io.StringIO(), out, out), out.getvalue()


@pytest.mark.parametrize(("command", "shown"), COMMANDS, ids=[command for command, _ in COMMANDS])
def test_every_command_of_the_guide_prints_what_the_page_shows(
    command: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLE)
    assert printed(command)[1] == shown


@pytest.mark.parametrize("fixed", sorted(EXAMPLE.glob("fixed/*.yaml")), ids=lambda path: path.stem)
def test_what_the_guide_has_repaired_has_no_findings_and_selects_clusters(
    fixed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(EXAMPLE)
    broken = EXAMPLE / "broken" / fixed.name
    assert broken.read_text(encoding="utf-8") != fixed.read_text(encoding="utf-8")
    assert printed(f"muster lint -f {fixed} --fleet fleet.yaml --fail-on info")[0] == 0
    assert "nothing is selected" not in printed(f"muster explain placement -f {fixed} --fleet fleet.yaml")[1]
    for page in (broken, fixed):
        assert f"{page.parent.name}/{page.name}" in GUIDE


def test_the_python_example_prints_what_the_page_shows() -> None:
    code = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", GUIDE, re.DOTALL)
    ((example, shown),) = code
    amazon = {"requiredClusterSelector": {"labelSelector": {"matchLabels": {"cloud": "Amazon"}}}}
    names: dict[str, Any] = {
        "clusters": [a_cluster("a", {"cloud": "Amazon"}), a_cluster("b", {"cloud": "Azure"})],
        "sets": [a_set()],
        "bindings": [a_binding()],
        "placement": a_placement("web", predicates=[amazon]),
    }
    with contextlib.redirect_stdout(io.StringIO()) as out:
        exec(example, names)
    assert out.getvalue() == shown
