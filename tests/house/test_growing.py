"""CONTRIBUTING.md says how to add a kind, a controller, a filter and a CEL function: followed to the letter."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SECTION = "## Add a kind, a controller, a filter, a CEL function\n"
BLOCK = re.compile(r"^```(?P<language>python|diff)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL)
FILE = re.compile(r"`(src/muster/[\w/]+\.py)`:\s*\Z")
GENERATED = {
    "docs/reference/kinds.md": "muster.api.reference",
    "docs/reference/reasons.md": "muster.cli.references.reasons",
}


def applied(text: str, diff: str) -> str:
    """A file with the lines of a diff in it: what it starts from must be there, once."""
    lines = diff.splitlines(keepends=True)
    before = "".join(line[1:] for line in lines if line[0] != "+")
    after = "".join(line[1:] for line in lines if line[0] != "-")
    assert text.count(before) == 1, f"not there, or more than once:\n{before}"
    return text.replace(before, after)


def follow(section: str, clone: Path) -> list[str]:
    """Write and change the files; the scripts that try them, in order."""
    scripts: list[str] = []
    file, end = "", 0
    for block in BLOCK.finditer(section):
        named = FILE.search(section[end : block.start()])
        if named is not None:
            file = named[1]
        path, text = clone / file, block["text"]
        if block["language"] == "diff":
            path.write_text(applied(path.read_text(encoding="utf-8"), text), encoding="utf-8")
        elif named is not None:
            assert not path.exists()
            path.write_text(text, encoding="utf-8")
        else:
            scripts.append(text)
        end = block.end()
    return scripts


@pytest.mark.slow
@pytest.mark.e2e
@pytest.mark.timeout(400)
def test_everything_that_the_page_adds_works(tmp_path: Path) -> None:
    for folder in ("src/muster", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    section = page.partition(SECTION)[2].partition("\n## ")[0]
    scripts = follow(section, tmp_path)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path / 'src'}:{tmp_path}"}
    assert len(scripts) == 3
    for script in scripts:
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr[-3000:]
    for module, page_of in ((module, Path(page)) for page, module in GENERATED.items()):
        assert f"python -m {module} > {page_of}" in section
        made = subprocess.run(
            [sys.executable, "-m", module], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        )
        assert "aintenance" in made.stdout
