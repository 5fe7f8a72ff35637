"""Why an expression came out as it did: the part that decided, with the values it looked at.

Follows the tracing interpreter's record from the top: through `&&` to what was false, through `||` to everything that
was, through a conditional to the branch that was taken, down to a part that only computes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from muster.cel.traversal import children
from muster.cel.tree import Call, Comprehension, Literal
from muster.cel.unparser import unparse
from muster.errors import EvaluationError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from muster.cel.interpreter import Trace
    from muster.cel.program import Program
    from muster.cel.tree import Expr

_LONGEST = 80
_MOST = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """A part of an expression and what it came to; an error is its text."""

    text: str
    value: str
    is_error: bool = False

    def __str__(self) -> str:
        return f"{self.text} {'failed:' if self.is_error else '='} {self.value}"


def findings(program: Program, variables: Mapping[str, Any]) -> tuple[Finding, ...]:
    """The deciding parts of an evaluation, each after the operands that it was computed from."""
    trace = program.trace(variables)
    found: dict[str, Finding] = {}
    for node in _deciding(program.tree.expr, trace):
        for part in (*_operands(node), node):
            value = _value(trace, part)
            if value is not _UNKNOWN:
                text = unparse(program.tree, part)
                found[text] = Finding(text, _shown(value), isinstance(value, EvaluationError))
    return tuple(found.values())[:_MOST]


_UNKNOWN = object()


def _value(trace: Trace, node: Expr) -> Any:
    values = trace.values.get(node.id)
    return values[0] if values else _UNKNOWN


def _deciding(node: Expr, trace: Trace) -> Iterator[Expr]:
    """The parts that made the node what it is."""
    stack = [node]
    while stack:
        node = stack.pop()
        match node:
            case Call(function="_&&_" | "_||_", args=args):
                outcome = _value(trace, node)
                same = [arg for arg in args if _agrees(_value(trace, arg), outcome)]
                stack.extend(reversed(same or list(args)))
            case Call(function="!_", args=(inner,)):
                stack.append(inner)
            case Call(function="_?_:_", args=(condition, positive, negative)):
                stack.append(positive if _value(trace, condition) is True else negative)
                yield condition
            case _:
                yield node


def _agrees(value: Any, outcome: Any) -> bool:
    if value is _UNKNOWN:
        return False
    if isinstance(outcome, EvaluationError):
        return isinstance(value, EvaluationError)
    return value is outcome


def _operands(node: Expr) -> list[Expr]:
    """What a part was computed from, as far as it says something: not constants, and not the inside of a macro."""
    if isinstance(node, Comprehension):
        return [node.iter_range]
    return [child for child in children(node) if not isinstance(child, Literal)] if isinstance(node, Call) else []


def _shown(value: Any) -> str:
    if isinstance(value, EvaluationError):
        return str(value)
    text = str(value).lower() if isinstance(value, bool) else repr(value)
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
