"""Only traversals/ looks inside values, and everything there takes the meter: the sources are read here."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import pytest

import muster.cel
from muster.cel import NAMES, environment
from muster.cel.checking.types import Kind, Type

ROOT = Path(muster.cel.__file__).parent
# Modules that handle values at run time. The rest of the package works on trees and types, which compiling pays for.
RUNTIME = sorted(
    path
    for path in (
        *(ROOT / "values").glob("*.py"),
        *(ROOT / "libraries").rglob("*.py"),
        *(ROOT / "traversals").glob("*.py"),
        *(
            ROOT / f"{name}.py"
            for name in (
                *("running/accumulate", "running/dispatch", "running/qualify"),
                *("costs/meter", "costs/runtime", "costs/formulas"),
            )
        ),
        ROOT / "generating" / "support.py",
    )
    if path.name != "reference.py"  # makes a page of the documentation
)
# Functions that may call themselves: each says what bounds it.
BOUNDED_RECURSION = {
    ("packed", "fields_of"): "as deep as _DEEPEST, over bytes that the meter has charged",
    ("dispatch", "fits"): "looks at the first element only, as deep as the declared type",
}
# Modules that may quote a text as JSON or decode one; neither encodes a value.
JSON_USERS = {"encoders": {"dumps"}, "json_text": {"loads"}}
# Implementations that take lists, maps or anything at all, and look at none of what is inside.
CONSTANT_TIME = {
    *(
        "size",
        "_[_]",
        "_[?_]",
        "_?._",
        "type",
        "dyn",
        "optional.of",
        "optional.ofNonZeroValue",
        "value",
        "hasValue",
        "or",
    ),
    *("orValue", "first", "last", "scores", "hasConditions"),
}
# These walk over the elements of one list, whose length is charged before every call, and not into them.
SHALLOW = {
    *("slice", "reverse", "_+_", "sum", "min", "max", "isSorted", "optional.unwrap", "unwrapOpt", "cel.@mapInsert"),
    *("math.@max", "math.@min", "in_map"),
}


@pytest.mark.parametrize("path", RUNTIME, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_code_that_handles_values_recurses_copies_or_prints_them(path: Path) -> None:
    found = _Findings(path.stem)
    found.visit(ast.parse(path.read_text("utf-8")))
    assert found.faults == []


class _Findings(ast.NodeVisitor):
    """What a module must not do: recurse, copy deeply, print containers, encode values."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.faults: list[str] = []
        self._functions: list[str] = []

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._functions.append(node.name)
        self.generic_visit(node)
        self._functions.pop()

    def visit_Call(self, node: ast.Call) -> None:
        match node.func:
            case ast.Name(id=name):
                if name in self._functions and (self.module, name) not in BOUNDED_RECURSION:
                    self.faults.append(f"line {node.lineno}: {name} calls itself")
                if name in {"deepcopy", "eval", "vars"} or (name == "repr" and self.module not in {"numbers", "model"}):
                    self.faults.append(f"line {node.lineno}: {name}()")
            case ast.Attribute(value=ast.Name(id="json" | "copy" | "pickle" as used), attr=attribute):
                if attribute not in JSON_USERS.get(self.module, set()) or used != "json":
                    self.faults.append(f"line {node.lineno}: {used}.{attribute}()")
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            # map(f, …) and sorted(key=f) inside f recurse as well
            if isinstance(argument, ast.Name) and argument.id in self._functions[-1:]:
                self.faults.append(f"line {node.lineno}: {argument.id} is handed on to call itself")
        self.generic_visit(node)

    def visit_FormattedValue(self, node: ast.FormattedValue) -> None:
        if node.conversion == ord("r"):
            self.faults.append(f"line {node.lineno}: prints a value with !r")
        self.generic_visit(node)


def test_every_function_of_the_traversals_takes_the_meter_first() -> None:
    allowed = {"brief", "go_text", "no_such_key", "value_text"}  # these make a small meter of their own
    for name in muster.cel.traversals.__all__:
        item = getattr(muster.cel.traversals, name)
        if inspect.isfunction(item) and name not in allowed:
            assert next(iter(inspect.signature(item).parameters)) == "meter", name


@pytest.mark.parametrize("env_name", NAMES)
def test_a_function_that_can_be_given_a_container_is_metered_or_known_not_to_look_inside(env_name: str) -> None:
    for function in environment(env_name).functions.values():
        for overload in function.overloads:
            if overload.impl is None:
                continue
            first = next(iter(inspect.signature(overload.impl).parameters), "") if _is_ours(overload.impl) else ""
            assert overload.metered is (first == "meter"), overload.id
            if any(map(_may_be_container, overload.args)) and not overload.metered:
                assert {function.name, overload.id} & (CONSTANT_TIME | SHALLOW), overload.id


def _is_ours(implementation: object) -> bool:
    return getattr(implementation, "__module__", "").startswith("muster.")


def _may_be_container(wanted: Type) -> bool:
    if wanted.kind is Kind.OPAQUE and wanted.name == "optional_type":
        return False  # an optional is opened, never walked over, except by ==
    return wanted.kind in {Kind.LIST, Kind.MAP, Kind.DYN, Kind.ANY, Kind.TYPE_PARAM}
