"""What is vendored is what the lock says: checksums always, and made anew where there is npm."""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

import muster.console

FOLDER: Final = Path(muster.console.__file__).parent / "third_party"
TOOLS: Final = Path(__file__).resolve().parents[2] / "tools" / "console"
MANIFEST: Final = json.loads((FOLDER / "manifest.json").read_text())


def test_every_vendored_file_has_its_checksum_its_versions_and_its_licence() -> None:
    vendored = {each.name for each in FOLDER.iterdir()}
    assert vendored == {"manifest.json", *MANIFEST, *(f"{name}.LICENSE" for name in MANIFEST)}
    for name, facts in MANIFEST.items():
        content = (FOLDER / name).read_bytes()
        assert (hashlib.sha256(content).hexdigest(), len(content)) == (facts["sha256"], facts["bytes"])
        licence = (FOLDER / f"{name}.LICENSE").read_text()
        for package in facts["packages"]:
            assert f"{package['name']} {package['version']}, {package['license']}" in licence
            assert package["license"] in ("MIT", "BSD-3-Clause")


def test_the_versions_are_those_of_the_lock() -> None:
    locked = json.loads((TOOLS / "package-lock.json").read_text())["packages"]
    for facts in MANIFEST.values():
        for package in facts["packages"]:
            found = locked[f"node_modules/{package['name']}"]
            assert (found["version"], "integrity" in found) == (package["version"], True)


def test_vendored_code_makes_no_code_of_text() -> None:
    for name in MANIFEST:
        text = (FOLDER / name).read_text()
        assert "eval(" not in text
        assert "new Function" not in text


@pytest.mark.slow
@pytest.mark.skipif(
    shutil.which("npm") is None, reason="no npm (Debian: apt install npm): not made anew, checksums only"
)
@pytest.mark.timeout(300)
def test_made_anew_from_the_lock_it_is_the_same_to_the_byte(tmp_path: Path) -> None:
    tools = tmp_path / "tools"
    shutil.copytree(TOOLS, tools, ignore=shutil.ignore_patterns("node_modules"))
    fetched = subprocess.run(
        ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
        cwd=tools,
        capture_output=True,
        text=True,
        check=False,
    )
    if fetched.returncode:
        pytest.skip(f"npm cannot fetch the locked packages here: {fetched.stderr[-300:]}")
    made = tmp_path / "made"
    subprocess.run(["node", "build.mjs", str(made)], cwd=tools, check=True)
    assert {each.name: each.read_bytes() for each in made.iterdir()} == {
        each.name: each.read_bytes() for each in FOLDER.iterdir()
    }
