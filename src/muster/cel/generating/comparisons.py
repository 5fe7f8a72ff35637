"""Equality in generated code: Python's own where both classes are known, with cel-go's price of a comparison."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.cel.costs.runtime import traversal
from muster.cel.generating.support import equal, equal_to
from muster.cel.generating.writer import Val
from muster.cel.running import plan as p

if TYPE_CHECKING:
    from muster.cel.generating.writer import Constants, Writer
    from muster.cel.syntax.walking import Walk

_LARGEST_TABLE = 4096  # the cost of comparing with a constant text up to this length is looked up
_EXACT_IN_FLOATS = 2**53  # ints up to here compare with doubles as the doubles they are


class ComparisonWriter:
    """The part of the generator that writes comparisons."""

    writer: Writer
    constants: Constants

    if TYPE_CHECKING:

        def node(self, node: p.Node) -> Walk[Val]: ...
        def named(self, value: Val) -> str: ...
        def expected(self, node_id: int) -> str | None: ...

    def equality(self, node: p.Equality) -> Walk[Val]:
        left: Val = yield self.node(node.left)
        right: Val = yield self.node(node.right)
        writer = self.writer
        target = writer.temporary()
        operator = "!=" if node.negated else "=="
        kind = self._compared_class(node, left, right)
        left_name, right_name = self.named(left), self.named(right)
        sides = ((left_name, left), (right_name, right))
        also_doubles = kind == "int" and any(is_small(side) for side in (node.left, node.right))
        guards = [
            f"({name}.__class__ is int or {name}.__class__ is float)" if also_doubles else f"{name}.__class__ is {kind}"
            for name, value in sides
            if not is_surely(value, kind)
        ]
        if kind is None:
            self.slow_equality(node, left_name, right_name, target)
            return Val(target, "bool")
        if not guards:
            writer.line(f"{target} = {left_name} {operator} {right_name}")
            self.charge_comparison(kind, node.left, node.right, left_name, right_name)
            return Val(target, "bool", fails=False)
        with writer.block(f"if {' and '.join(guards)}:"):
            writer.line(f"{target} = {left_name} {operator} {right_name}")
            self.charge_comparison(kind, node.left, node.right, left_name, right_name)
        with writer.block("else:"):
            self.slow_equality(node, left_name, right_name, target)
        writer.joined()
        return Val(target, "bool")

    def _compared_class(self, node: p.Equality, left: Val, right: Val) -> str | None:
        """The class that both operands probably have: a constant's, or what the checked types say."""
        for value in (left, right):
            if value.constant:
                return value.kind if value.kind in {"str", "int", "bool", "float"} else None
        for side in (node.left, node.right):
            expected = self.expected(side.id)
            if expected is not None:
                return expected if expected in {"str", "int", "bool", "float"} else None
        return "str"

    def charge_comparison(self, kind: str, left: p.Node, right: p.Node, left_name: str, right_name: str) -> None:
        """A tenth of the shorter text, rounded up; 1 for everything that has no length."""
        writer = self.writer
        if kind != "str":
            writer.charge(1)
            return
        for side, other in ((left, right_name), (right, left_name)):
            if isinstance(side, p.Const) and isinstance(side.value, str):
                size = len(side.value)
                if size == 0:
                    return
                before, writer.pending = writer.pending, 0
                if size <= 10:
                    writer.line(f"c += {before + 1} if {other} else {before}")
                    return
                if size <= _LARGEST_TABLE:
                    table = self.constants.add(tuple(before + traversal(length) for length in range(size)))
                    writer.line(f"n = len({other})")
                    writer.line(f"c += {table}[n] if n < {size} else {before + traversal(size)}")
                    return
                writer.pending = before
        writer.line(f"n = len({left_name})")
        writer.line(f"if len({right_name}) < n: n = len({right_name})")
        writer.charge_now("ceil(n * 0.1)")

    def slow_equality(self, node: p.Equality, left: str, right: str, target: str) -> None:
        writer = self.writer
        if isinstance(node.right, p.Const):
            comparing = partial(equal_to, node.negated, node.cost, writer.taken(), node.right.value)
            operands = left
        else:
            comparing = partial(equal, node.negated, node.cost, writer.taken())
            operands = f"{left}, {right}"
        writer.line(f"{target}, c = {self.constants.add(comparing)}(c, limit, {writer.meter}, {operands})")


def is_small(node: p.Node) -> bool:
    """An int constant that compares with doubles exactly."""
    return isinstance(node, p.Const) and type(node.value) is int and abs(node.value) <= _EXACT_IN_FLOATS


def is_surely(value: Val, kind: str | None) -> bool:
    return value.kind == kind and not value.fails
