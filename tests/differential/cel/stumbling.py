"""Rules about what makes the Go program stumble over itself, and about keys of maps, over some of which it does."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from muster.cel.checking.checker import compile_expression
from muster.cel.checking.types import Kind
from muster.cel.syntax.tree import Call, ListExpr, MapExpr
from muster.errors import EvaluationError
from tests.differential.cel.cases import absorbs, nodes, seen
from tests.differential.cel.twins import bytes_keys_hidden
from tests.differential.cel.world import declared

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.syntax.tree import Expr
    from tests.differential.cel.cases import Case


def map_fails(text: str) -> Callable[[Case], bool]:
    """A map literal whose keys we refuse with this text. The error is what comes out, unless something absorbs it."""

    def concerns(case: Case) -> bool:
        program = case.program()
        if case.ours.creation is not None:
            return _bytes_hidden(case)
        if program is None or not case.alike("type", "estimate"):
            return False
        refused = any(
            isinstance(node, MapExpr) and isinstance(value, EvaluationError) and str(value) == text
            for node, value in seen(case, program)
        )
        if not refused:
            return _bytes_hidden(case)
        ends_alike = case.ours.error is not None and case.ours.error == case.theirs.error  # another part failed first
        return case.ours.error == text or ends_alike or absorbs(program)

    return concerns


def _bytes_hidden(case: Case) -> bool:
    """Upstream looks at constant keys even if the map is never made, and panics if they are bytes; with other keys both
    say what ours says."""
    if not case.theirs.panic:
        return False
    checked = compile_expression(case.text, declared(case.environment))
    twin = case.twin(bytes_keys_hidden(checked))
    return twin is not None and replace(twin, cost=None, estimate=None, type="") == replace(
        case.ours, cost=None, estimate=None, type=""
    )


_STUMBLING: Final = frozenset({"sort", "@sortByAssociatedKeys", "distinct", "flatten", "scores"})


def panics(case: Case) -> bool:
    """A function that takes an operand for what it should be got one that failed, or of another type. Our error is the
    operand's own, or that there is no such overload; cel-go's cost ends where it stumbled."""
    if case.theirs.panic and not case.theirs.type:
        return _optional_of_anything(case)
    program = case.program()
    stumbled = case.theirs.panic or (case.theirs.error or "").startswith("internal error: ")
    if program is None or not stumbled or not case.alike("type", "estimate"):
        return False
    failures: dict[int, set[str]] = {}
    for node, value in seen(case, program):
        if isinstance(value, EvaluationError):
            failures.setdefault(node.id, set()).add(str(value))
    wanted: set[str] = set()
    for node in nodes(program.tree.expr):
        if isinstance(node, Call) and node.function in _STUMBLING:
            operands = (failures.get(each.id, set()) for each in (node.target, *node.args) if each is not None)
            inherited = set().union(*operands)
            own = failures.get(node.id, set())
            wanted |= {text for text in own if text in inherited or text.startswith("no such overload")}
    counted = case.theirs.cost is None or (case.ours.cost or 0) >= case.theirs.cost
    return counted and bool(wanted) and (case.ours.error in wanted or absorbs(program))


_OPTIONAL: Final = re.compile(r"[\[{,]\s*\?")


def _optional_of_anything(case: Case) -> bool:
    """An optional element of which nothing is known before it runs (`[?dyn(x)]`): the checker stumbles over it. In ours
    it has to be an optional when it runs."""
    program = case.program()
    if program is None:
        return case.ours.issues is not None and _OPTIONAL.search(case.text) is not None
    elements: list[Expr] = []
    for node in nodes(program.tree.expr):
        if isinstance(node, ListExpr):
            elements += [node.elements[place] for place in node.optional_indices]
        elif isinstance(node, MapExpr):
            elements += [entry.value for entry in node.entries if entry.optional]
    refused = {
        str(value)
        for _, value in seen(case, program)
        if isinstance(value, EvaluationError) and str(value).startswith("cannot initialize optional ")
    }
    return any(program.tree.types[each.id].kind in (Kind.DYN, Kind.ANY) for each in elements) and (
        not refused or case.ours.error in refused or absorbs(program)
    )
