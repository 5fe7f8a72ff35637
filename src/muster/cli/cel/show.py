"""CEL values and evaluations as text for people. Used by `muster cel`; knows no commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel import unparse
from muster.cel.syntax.traversal import children
from muster.cel.syntax.tree import Ident, Literal
from muster.cel.traversals import value_text as shown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Trace
    from muster.cel.syntax.tree import CheckedTree, Expr

__all__ = ["explained", "shown"]

MAX_WIDTH = 100


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 1]}…"


def explained(tree: CheckedTree, trace: Trace) -> Iterator[str]:
    """Every part of the expression as it was written, indented below what it is part of, with what it gave."""
    pending: list[tuple[Expr, int]] = [(tree.expr, 0)]
    while pending:
        node, depth = pending.pop()
        written = tree.tree.macro_calls.get(node.id, node)
        if isinstance(written, Literal) or (isinstance(written, Ident) and node.id not in trace.values):
            continue  # a literal says itself what it is, and the variable of a macro is only its name
        indent = "  " * depth
        yield f"{indent}{_cut(unparse(tree, node))}"
        yield f"{indent}  → {_outcome(node, trace)}"
        pending.extend((child, depth + 1) for child in reversed(children(written)))


def _outcome(node: Expr, trace: Trace) -> str:
    values = trace.values.get(node.id)
    if not values:
        return "not evaluated"
    count = trace.counts[node.id]
    if count == 1:
        return _cut(shown(values[0]))
    rest = f", … ({count} times)" if count > len(values) else ""
    return _cut(" | ".join(map(shown, values))) + rest
