"""What the sources of hub, api and demo promise: small modules, no cycles, objects read through structs."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

import muster

ROOT = Path(muster.__file__).parent
SOURCES = sorted(file for part in ("api", "demo", "hub") for file in (ROOT / part).rglob("*.py"))
MOST_LINES = 400
DEFAULTED = re.compile(r"\.get\([^()]*\) or\b")
MOST_DEFAULTED = 10


def _module(file: Path) -> str:
    return ".".join(("muster", *file.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__")


MODULES = {_module(file): file for file in ROOT.rglob("*.py")}


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: str(file.relative_to(ROOT)))
def test_a_module_is_small_enough_for_one_idea(file: Path) -> None:
    assert len(file.read_text("utf-8").splitlines()) <= MOST_LINES


def test_fields_that_may_be_missing_are_read_through_structs_and_accessors() -> None:
    found = [
        f"{file.relative_to(ROOT)}: {line.strip()}"
        for file in SOURCES
        for line in file.read_text("utf-8").splitlines()
        if DEFAULTED.search(line)
    ]
    advice = "read the struct of api/, or through an accessor of api/metadata.py:"
    assert len(found) <= MOST_DEFAULTED, "\n".join((advice, *found))


def test_no_module_imports_itself_on_any_way() -> None:
    imports = {module: _imported(file) for module, file in MODULES.items()}
    for start in map(_module, SOURCES):
        reached: set[str] = set()
        waiting = list(imports[start])
        while waiting:
            module = waiting.pop()
            if module not in reached:
                reached.add(module)
                waiting.extend(imports[module])
        assert start not in reached, start


def _imported(file: Path) -> set[str]:
    """The modules of ours that a module needs to be loaded; what only type checkers see does not count."""
    found: set[str] = set()
    waiting: list[ast.stmt] = list(ast.parse(file.read_text("utf-8")).body)
    while waiting:
        match waiting.pop():
            case ast.If(test=ast.Name(id="TYPE_CHECKING"), orelse=otherwise):
                waiting.extend(otherwise)
            case ast.ImportFrom(module=str(name), names=names):
                found |= {f"{name}.{each.name}" if f"{name}.{each.name}" in MODULES else name for each in names}
            case ast.Import(names=names):
                found |= {each.name for each in names}
            case ast.If(body=body) | ast.With(body=body) | ast.Try(body=body):
                waiting.extend(body)
            case _:
                pass
    return found & MODULES.keys()
