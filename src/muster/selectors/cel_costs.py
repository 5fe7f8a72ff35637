"""Where the cost of an expression comes from: the part to look at first when it may cost too much."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from muster.cel.libraries.ocm_sizes import managed_cluster_sizes
from muster.cel.syntax.tree import Call
from muster.cel.syntax.unparser import unparse

if TYPE_CHECKING:
    from muster.cel.program import Program
    from muster.cel.syntax.tree import Expr

_MOST_OF_IT: Final = 0.6
_SHOWN: Final = 120  # characters


def costliest_part(program: Program) -> str:
    """The text of that part, as far as it is short."""
    text = unparse(program.tree, costliest_node(program))
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"


def costliest_node(program: Program) -> Expr:
    """The innermost part that has most of the cost at worst. A macro is such a part, whatever is inside it."""
    estimates = program.part_estimates(managed_cluster_sizes)
    node = program.tree.expr
    while isinstance(node, Call):
        parts = [*node.args, *(() if node.target is None else (node.target,))]
        enough = _MOST_OF_IT * estimates[node.id].max
        heavy = next((each for each in parts if estimates[each.id].max >= enough), None)
        if heavy is None:
            break
        node = heavy
    return node
