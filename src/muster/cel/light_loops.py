"""Loops of which it is certain, without running them, that an element more costs little: what `reads` asks about loops
that look at other things before they ask for the field that decides.

    clusterClaims.exists(c, c.value.startsWith("eu-") && c.name == "region")

A light expression asks fields of inputs and of elements for constants, and builds, walks and compares nothing else, so
that work (costs/meter.py) is bounded by the size of its input. Whatever is not known to be light is not.
"""

from __future__ import annotations

from muster.cel.costs.runtime import size_of, traversal
from muster.cel.running import plan as p

_AFFIXES = frozenset({"startsWith", "endsWith"})
_ORDERS = frozenset({"_<_", "_<=_", "_>_", "_>=_"})
_MOST_CALLS = 15  # each may walk over a value of a wrong type before it refuses it
MOST_ELEMENTS = 8192  # of an input of 64 KiB; all calls together then stay below half of the limit of work


def is_light(node: p.Node) -> bool:
    """Whether the whole of an expression is light, and has no loop inside of another one."""
    calls = 0
    pending: list[tuple[p.Node | p.Root | p.Qualifier, int]] = [(node, 0)]
    while pending:
        part, loops = pending.pop()
        match part:
            case p.Fold(second=None, grows=False) if not loops:
                loops += 1
            case p.Attribute(root=p.Variable() | p.Local()) | p.Variable() | p.Local() | p.Const():
                pass
            case p.Logic() | p.NotFalse() | p.Membership() | p.Qualifier(dynamic=None):
                pass
            case p.Equality(left=left, right=right) if isinstance(left, p.Const) or isinstance(right, p.Const):
                pass
            case p.Invoke() if _cost_of_call(part) is not None:
                calls += 1
            case _:
                return False
        pending.extend((child, loops) for child in p.children(part))
    return calls <= _MOST_CALLS


def most_cost(node: p.Node) -> int | None:
    """What it costs at most to ask that of one element, if it is light.

    Where a price grows with a text, that text is part of the input: bytes are paid for by as many elements as they
    could have been.
    """
    match node:
        case p.Const():
            return 0
        case p.Attribute(root=p.Variable() | p.Local(), qualifiers=steps) if all(
            step.dynamic is None for step in steps
        ):
            return 1 + len(steps)
        case p.Equality(left=left, right=right):
            constant = left if isinstance(left, p.Const) else right
            return (
                _sum((left, right), 1 + traversal(size_of(constant.value))) if isinstance(constant, p.Const) else None
            )
        case p.Logic(terms=terms):
            return _sum(terms, 0)
        case p.NotFalse(arg=arg):
            return _sum((arg,), 1)
        case p.Membership(arg=arg):
            return _sum((arg,), 2 + len(node.numbers) + len(node.others) + len(node.bools))
        case p.Invoke(args=args):
            cost = _cost_of_call(node)
            return None if cost is None else _sum(args, cost)
        case _:
            return None


def _sum(parts: tuple[p.Node, ...], cost: int) -> int | None:
    for part in parts:
        more = most_cost(part)
        if more is None:
            return None
        cost += more
    return cost


def _cost_of_call(call: p.Invoke) -> int | None:
    function, args = call.invocation.function, call.args
    if function in {"!_", "size"} and len(args) == 1:
        return 1
    if len(args) != 2:
        return None
    constants = [arg.value for arg in args if isinstance(arg, p.Const)]
    if function in _ORDERS and constants:
        return 1 + max(traversal(size_of(each)) for each in constants)
    given = args[1].value if isinstance(args[1], p.Const) else None
    if not isinstance(given, str):
        return None
    if function in _AFFIXES:
        return 1 + traversal(len(given))
    # A tenth of the text times a tenth of the part, both rounded up; a text of n characters could have been n / 8
    # elements, and has at most one of them for every ten that are charged.
    return 1 + 2 * traversal(len(given)) if function == "contains" else None
