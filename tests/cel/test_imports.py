"""No module of the engine imports, by whatever way, one that imports it while it is being loaded."""

from __future__ import annotations

import ast
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

import muster.cel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

ROOT = Path(muster.cel.__file__).parent
MODULES = {
    ".".join(("muster", "cel", *path.relative_to(ROOT).with_suffix("").parts)).removesuffix(".__init__"): path
    for path in ROOT.rglob("*.py")
}


def imports(statements: Iterable[ast.stmt]) -> Iterator[str]:
    """What is imported at run time, functions included; imports for the type checker do not count."""
    for statement in statements:
        match statement:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                yield from imports(statement.orelse)
            case ast.Import(names=names):
                yield from (each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield module
                yield from (f"{module}.{each.name}" for each in names)
            case _:
                inner = (getattr(statement, field, []) for field in ("body", "orelse", "finalbody", "handlers"))
                yield from (found for block in inner for found in imports(block))


def test_there_is_no_runtime_import_cycle() -> None:
    graph = {
        name: {found for found in imports(ast.parse(path.read_text()).body) if found in MODULES and found != name}
        for name, path in MODULES.items()
    }
    assert len(graph) > 80
    assert any("muster.cel.costs.runtime" in found for found in graph.values())
    TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules
