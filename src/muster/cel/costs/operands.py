"""What the estimate of a call is made from: its operands with what is known of their sizes, and what comes out.

Libraries write their formulas with these; estimate.py applies them. Nothing here knows a function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from muster.cel.checking.types import Type
from muster.cel.costs.ranges import UNKNOWN, Range
from muster.cel.syntax.tree import Literal

if TYPE_CHECKING:
    from muster.cel.syntax.tree import Expr

SizePath: TypeAlias = tuple[str, ...]  # of types, not of values: all elements of a list are one place
SizeHints: TypeAlias = Callable[["SizePath", Type], "Range | None"]
"""(path, type) -> the size of what is there. Steps of a path are field names, @items, @keys, @values and @indices."""


def no_hints(_: SizePath, __: Type) -> Range | None:
    """Nothing is known of any size."""
    return None


class CallEstimate(NamedTuple):
    """The cost of a call itself and, where it is known, the size of its result."""

    cost: Range
    size: Range | None = None


@dataclass(frozen=True, slots=True)
class Operand:
    """An argument as call formulas see it."""

    path: SizePath
    type: Type
    size: Range | None
    expr: Expr | None
    hints: SizeHints

    def size_or_hint(self) -> Range:
        """The size known from the expression, else from the hints, else anything."""
        if self.size is not None:
            return self.size
        return self.hints(self.path, self.type) or UNKNOWN

    def known_size(self) -> Range:
        """The size known from the expression, else anything: cel-go's own formulas ask for no hint."""
        return self.size or UNKNOWN

    def literal_int(self, otherwise: int) -> int:
        """The value of an int literal, 0 for a negative one; `otherwise` for anything else."""
        match self.expr:
            case Literal(value=int(number)) if type(number) is int:
                return max(number, 0)
            case _:
                return otherwise


Arguments: TypeAlias = tuple[Operand, ...]
CallFormula: TypeAlias = Callable[["Operand | None", Arguments], "CallEstimate | None"]
"""(receiver, arguments) -> estimate; None leaves it to the next in line."""
