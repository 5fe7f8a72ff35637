"""Looking at every node of a tree, without recursion. Used by validators and the unparser's tests."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.syntax.tree import (
    Call,
    Comprehension,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel.syntax.tree import Expr


def children(node: Expr) -> tuple[Expr, ...]:
    """The nodes directly inside, in the order of evaluation."""
    match node:
        case Literal() | Ident():
            return ()
        case Select(operand=operand):
            return (operand,)
        case Call(args=args, target=target):
            return args if target is None else (target, *args)
        case ListExpr(elements=elements):
            return elements
        case MapExpr(entries=entries):
            return tuple(part for entry in entries for part in (entry.key, entry.value))
        case StructExpr(fields=fields):
            return tuple(field.value for field in fields)
        case Comprehension():
            return (node.iter_range, node.accu_init, node.loop_condition, node.loop_step, node.result)


def descendants(root: Expr) -> Iterator[Expr]:
    """The node itself and all inside it, parents before children, from left to right."""
    waiting = [root]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(reversed(children(node)))
