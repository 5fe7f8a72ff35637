"""What the guide, the reference and the example state is so."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

import muster.resolution
from muster.api import find
from muster.api.reading import Reader
from muster.api.resolution import ResolutionSpec
from muster.api.validation import prepare, validate_object
from muster.cli.resolve.command import app
from muster.resolution import to_status as answered
from muster.resolution.from_object import spec_causes

ROOT = Path(__file__).resolve().parents[2]
GUIDE = (ROOT / "docs" / "guides" / "resolving-operators.md").read_text(encoding="utf-8")
REFERENCE = (ROOT / "docs" / "reference" / "resolve.md").read_text(encoding="utf-8")
EXAMPLE = ROOT / "examples" / "03-resolve-operators" / "catalog.yaml"


def test_the_python_example_of_the_guide_runs() -> None:
    (code,) = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)
    names: dict[str, Any] = {}
    exec(compile(code, "resolving-operators.md", "exec"), names)
    assert names["chosen"] == ["app.v1", "sushi.v1"]


def test_the_story_of_the_guide_is_told() -> None:
    (told,) = re.findall(r"```text\n(.*?)```", GUIDE, re.DOTALL)
    result = CliRunner().invoke(app, ["-c", str(EXAMPLE), "-w", "shop@>=2.0.0", "-w", "legacydb"])
    shortened = re.sub(r"(p\.type == \"certified\" && ).*?(, which is)", r"\1…\2", result.stdout)
    assert shortened == told


def test_the_example_resolves_and_falls_back() -> None:
    whole = CliRunner().invoke(app, ["-c", str(EXAMPLE), "-w", "shop"])
    assert [line.split()[1] for line in whole.stdout.splitlines() if line.lstrip().startswith("+")] == [
        "shop.v2.0.0",
        "database.v3.1.0",
        "monitoring.v1.4.0",
    ]
    fallen = CliRunner().invoke(app, ["-c", str(EXAMPLE), "-w", "shop", "-w", "legacydb"])
    assert "note: shop falls back from shop.v2.0.0 to shop.v1.0.0" in fallen.stdout


@pytest.mark.parametrize(
    "option",
    [
        "catalog",
        "priority",
        "want",
        "starting",
        "installed",
        "fact",
        "optional",
        "compat",
        "lock",
        "locked",
        "explain",
        "graph",
        "time-limit",
        "strict",
        "output",
    ],
)
def test_every_option_is_in_the_reference(option: str) -> None:
    assert f"--{option}" in REFERENCE
    assert f"--{option}" in CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout


def test_every_reason_of_a_resolution_is_in_the_guide() -> None:
    named = [value for name, value in vars(answered).items() if name.isupper() and isinstance(value, str)]
    assert len(named) == 9
    assert [value for value in named if f"`{value}`" not in GUIDE] == []


def test_the_resolution_of_the_guide_is_valid() -> None:
    shown = next(text for text in re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL) if "kind: Resolution" in text)
    obj = yaml.safe_load(shown)
    resource, version = find("resolution.muster.dev", "v1alpha1", "resolutions") or pytest.fail("no such kind")
    assert prepare(resource, version, obj) == []
    assert validate_object(resource, version, obj) == []
    assert spec_causes(Reader(ResolutionSpec).demanded(obj["spec"])) == []


def test_the_surface_is_what_it_says() -> None:
    assert sorted(muster.resolution.__all__) == muster.resolution.__all__
    assert all(hasattr(muster.resolution, name) for name in muster.resolution.__all__)
