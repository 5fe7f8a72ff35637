"""Which parts of an expression have come out true and which false, over all cases.

A branch is an outcome of a part that decides something: an operand of `&&` and `||`, the condition of `? :`, the body
of a macro over a list, and the expression itself where it says yes or no.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from muster.cel import unparse
from muster.cel.checking.types import BOOL
from muster.cel.syntax.traversal import descendants
from muster.cel.syntax.tree import Call, Comprehension

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.cel import Program, Trace
    from muster.cel.syntax.tree import Expr

_LOGIC: Final = ("_&&_", "_||_")
_CONDITIONAL: Final = "_?_:_"
_HIDDEN: Final = "@"  # in names of what macros make
_MOST_TEXT: Final = 60


@dataclass(slots=True)
class Seen:
    """By the id of a node: the truth values that it has had, and whether it was evaluated at all."""

    outcomes: dict[int, set[bool]] = field(default_factory=dict)
    evaluated: set[int] = field(default_factory=set)

    def add(self, trace: Trace) -> None:
        for node, values in trace.values.items():
            self.evaluated.add(node)
            found = {value for value in values if isinstance(value, bool)}
            if found:
                self.outcomes.setdefault(node, set()).update(found)


@dataclass(frozen=True, slots=True)
class Branch:
    """A part of an expression, and an outcome of it."""

    text: str
    outcome: bool
    taken: bool


def branches(program: Program, seen: Seen) -> list[Branch]:
    """Every branch of an expression, in the order in which it is written."""
    found = []
    for node in dict.fromkeys(_deciding(program)):
        text = unparse(program.tree, node)
        short = text if len(text) <= _MOST_TEXT else f"{text[: _MOST_TEXT - 1]}…"
        had = seen.outcomes.get(node.id, set())
        found += [Branch(short, outcome, outcome in had) for outcome in (True, False)]
    return found


def _deciding(program: Program) -> Iterator[Expr]:
    tree = program.tree
    written = {node.id for call in tree.tree.macro_calls.values() for node in descendants(call)}
    written |= {node.id for node in descendants(tree.expr)}
    if tree.result_type == BOOL:
        yield from _parts(tree.expr)
    for node in descendants(tree.expr):
        if isinstance(node, Comprehension):
            # What the user wrote as the body stands in the call of the macro.
            call = tree.tree.macro_calls.get(node.id)
            if isinstance(call, Call) and call.args and tree.types.get(call.args[-1].id) == BOOL:
                yield from _parts(call.args[-1])
        elif isinstance(node, Call) and node.function == _CONDITIONAL:
            yield from _parts(node.args[0])
        elif isinstance(node, Call) and node.function in _LOGIC and not _made(node):
            for each in node.args:
                yield from _parts(each)


def _made(node: Call) -> bool:
    """Whether a macro has made it, around the variable in which it gathers."""
    return any(getattr(each, "name", "").startswith(_HIDDEN) for each in node.args)


def _parts(node: Expr) -> Iterator[Expr]:
    """The conditions that a condition is made of; one that is no combination is its own."""
    if isinstance(node, Call) and node.function in _LOGIC:
        for each in node.args:
            yield from _parts(each)
    elif isinstance(node, Call) and node.function == "!_":
        yield from _parts(node.args[0])
    elif not (isinstance(node, Call) and node.function == _CONDITIONAL):
        yield node
