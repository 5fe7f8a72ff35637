"""The wheel in an empty environment, the sdist as a source of the same wheel; and what they say of themselves."""

from __future__ import annotations

import email
import os
import re
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from tests.release.made import needs_release, one

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = """
import muster, importlib.metadata as m, pathlib
assert pathlib.Path(muster.__file__).parent.joinpath("py.typed").exists()
assert muster.__version__ == m.version("muster-hub")
fleet = [{"kind": "ManagedCluster", "metadata": {"name": "a", "labels": {"cloud": "Amazon"}}}]
print(muster.select(fleet, "managedCluster.metadata.labels.cloud == 'Amazon'").names)
print(muster.resolve({"c": "examples/03-resolve-operators/catalog.yaml"}, "shop").versions)
"""


def test_the_metadata_is_complete_and_names_no_place_that_does_not_exist() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert {
        "name",
        "version",
        "description",
        "readme",
        "requires-python",
        "license",
        "authors",
        "keywords",
        "classifiers",
    } <= set(project)
    assert "urls" not in project  # nothing is published anywhere yet
    for name in ("LICENSE", "NOTICE", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md"):
        assert (ROOT / name).exists()
    least = re.fullmatch(r">=3\.(\d+)", project["requires-python"])
    assert least is not None
    named = [each for each in project["classifiers"] if each.startswith("Programming Language :: Python :: 3.")]
    assert named == [f"Programming Language :: Python :: 3.{least[1]}"]  # what the tests run with
    assert sys.version_info[:2] == (3, int(least[1]))


@needs_release
def test_the_wheel_says_what_it_is_and_holds_what_it_needs() -> None:
    with zipfile.ZipFile(one("*.whl")) as wheel:
        names = set(wheel.namelist())
        (metadata,) = [name for name in names if name.endswith(".dist-info/METADATA")]
        told = email.message_from_bytes(wheel.read(metadata))
    assert told["License-Expression"] == "Apache-2.0"
    assert any(name.endswith("licenses/NOTICE") for name in names)
    assert {"muster/py.typed", "muster/console/static/index.html", "muster/console/third_party/lit.js"} <= names
    assert [name for name in names if name.startswith(("tests/", "release/"))] == []
    assert not any("python-sat==" in requirement for requirement in told.get_all("Requires-Dist", []))


@needs_release
@pytest.mark.timeout(900)
def test_the_wheel_works_in_an_empty_environment_with_exactly_what_the_lock_names(tmp_path: Path) -> None:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}
    subprocess.run([sys.executable, "-m", "venv", tmp_path], env=clean, check=True)
    pip = [str(tmp_path / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "--require-hashes", "-r", ROOT / "requirements.lock"], env=clean, check=True)
    subprocess.run([*pip, "--no-deps", one("*.whl")], env=clean, check=True)
    checked = subprocess.run(
        [tmp_path / "bin" / "python", "-m", "pip", "check"], env=clean, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout
    done = subprocess.run(
        [tmp_path / "bin" / "python", "-I", "-c", SCRIPT],
        cwd=ROOT,
        env=clean,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines()[0] == "('a',)"
    assert "'shop': '2.0.0'" in done.stdout
    said = subprocess.run(
        [tmp_path / "bin" / "muster", "--help"], env=clean, capture_output=True, text=True, check=True
    )
    assert "Which of my clusters" in said.stdout or "Usage: muster" in said.stdout


@needs_release
def test_the_sdist_makes_the_same_wheel(tmp_path: Path) -> None:
    with tarfile.open(one("muster_hub-*.tar.gz")) as tar:
        epoch = max(member.mtime for member in tar)
        tar.extractall(tmp_path, filter="data")
    (source,) = tmp_path.iterdir()
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)],
        cwd=source,
        env={**os.environ, "SOURCE_DATE_EPOCH": str(int(epoch)), "PYTHONHASHSEED": "0"},
        capture_output=True,
        check=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    assert wheel.read_bytes() == one("*.whl").read_bytes()
