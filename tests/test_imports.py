"""Who imports whom while the program starts: no module needs itself, over however many others."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import TYPE_CHECKING

import muster

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

SOURCES = Path(muster.__file__).parent


def modules(folder: Path, package: str) -> dict[str, Path]:
    """Every module below a folder by its dotted name; a package is its `__init__`."""
    found = {}
    for path in sorted(folder.rglob("*.py")):
        parts = path.relative_to(folder).with_suffix("").parts
        names = parts[:-1] if parts[-1] == "__init__" else parts
        found[".".join((package, *names))] = path
    return found


def statements(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """What runs when a module is imported: not the bodies of functions, nor what only a type checker reads."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            yield from statements(node.orelse)
            continue
        yield node
        for field in ("body", "orelse", "finalbody"):
            yield from statements(getattr(node, field, []))
        for handler in getattr(node, "handlers", []):
            yield from statements(handler.body)


def imported(name: str, tree: ast.Module, known: Mapping[str, Path]) -> set[str]:
    """The modules that a module imports while it is imported itself. Importing one of a package runs the package."""
    package = name if known[name].name == "__init__.py" else name.rpartition(".")[0]
    found: set[str] = set()
    for node in statements(tree.body):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            above = package.split(".")[: len(package.split(".")) - node.level + 1] if node.level else []
            base = ".".join((*above, *([node.module] if node.module else [])))
            found.add(base)
            found.update(f"{base}.{alias.name}" for alias in node.names)
    # A package that is being imported may be named by what is in it: `a.b` waits for `a` only from outside of it.
    parents = {each.rpartition(".")[0] for each in found}
    return {each for each in found | parents if each in known and each != name and not name.startswith(f"{each}.")}


def cycles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The groups of modules that need each other (Tarjan's strongly connected components of more than one)."""
    number: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []
    for start in graph:
        work: list[tuple[str, Iterator[str]]] = []
        if start not in number:
            number[start] = low[start] = len(number)
            stack.append(start)
            work.append((start, iter(sorted(graph[start]))))
        while work:
            name, others = work[-1]
            following = next(others, None)
            if following is None:
                work.pop()
                if work:
                    low[work[-1][0]] = min(low[work[-1][0]], low[name])
                if low[name] == number[name]:
                    group = stack[stack.index(name) :]
                    del stack[stack.index(name) :]
                    if len(group) > 1:
                        found.append(sorted(group))
            elif following not in number:
                number[following] = low[following] = len(number)
                stack.append(following)
                work.append((following, iter(sorted(graph[following]))))
            elif following in stack:
                low[name] = min(low[name], number[following])
    return found


def import_graph(folder: Path, package: str) -> dict[str, set[str]]:
    known = modules(folder, package)
    return {name: imported(name, ast.parse(path.read_text()), known) for name, path in known.items()}


def test_no_module_imports_itself_over_others() -> None:
    graph = import_graph(SOURCES, "muster")
    assert len(graph) > 400  # the check looks at the program, and not past it
    assert cycles(graph) == []


def written(folder: Path, files: Mapping[str, str]) -> dict[str, set[str]]:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return import_graph(folder, "p")


def test_a_circle_is_found_and_what_only_type_checkers_or_functions_import_is_none(tmp_path: Path) -> None:
    circle = {"a.py": "from p import b", "b.py": "import p.c", "c.py": "from p.a import x", "d.py": "from p import a"}
    assert cycles(written(tmp_path / "circle", circle)) == [["p.a", "p.b", "p.c"]]
    checked = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from p import b\n"
    late = "def f():\n    from p import a\n"
    assert cycles(written(tmp_path / "none", {"a.py": checked, "b.py": late})) == []
    inside = {
        "a.py": "class X:\n    from p.b import y\n",
        "b.py": "try:\n    import p.a\nexcept ImportError:\n    pass\n",
    }
    assert cycles(written(tmp_path / "inside", inside)) == [["p.a", "p.b"]]


def test_a_package_and_its_modules_are_a_circle_only_over_one_from_outside(tmp_path: Path) -> None:
    files = {"q/__init__.py": "from p.q.one import x", "q/one.py": "from p.q.two import x", "q/two.py": ""}
    assert cycles(written(tmp_path, files)) == []
    outside = {"r.py": "from p.q.one import x", "q/two.py": "import p.r"}
    assert cycles(written(tmp_path, outside)) == [["p.q", "p.q.one", "p.q.two", "p.r"]]
