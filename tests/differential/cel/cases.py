"""A program on which a peer and ours differ, and what rules ask of it: its parts, the values they had, its twins."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from muster.cel import make_program
from muster.cel.syntax.traversal import children
from muster.cel.syntax.tree import Call, Comprehension
from muster.errors import InvalidExpressionError
from tests.differential.cel.comparing import aspects
from tests.differential.cel.ours import COST_LIMIT, Answer, ask
from tests.differential.cel.world import SETS, declared

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from muster.cel import Program
    from muster.cel.syntax.tree import Expr


@dataclass(frozen=True, slots=True)
class Case:
    """A program on which the two sides differ. `ask` has the peer answer one over the same values, so many times."""

    environment: str
    text: str
    chosen: int
    ours: Answer
    theirs: Answer
    ask: Callable[[str, int], list[Answer]]

    def rule(self, rules: Mapping[str, Callable[[Case], bool]]) -> str:
        """The heading under which the difference is documented, or nothing."""
        return next((heading for heading, concerns in rules.items() if concerns(self)), "")

    def program(self) -> Program | None:
        try:
            return make_program(self.text, declared(self.environment))
        except InvalidExpressionError:
            return None

    def twin(self, text: str) -> Answer | None:
        """Our answer to another program, if the peer gives the very same."""
        ours, faults = ask(text, declared(self.environment), self.chosen)
        theirs = self.ask(text, 1)
        return ours if theirs and not faults and not aspects(ours, theirs[0]) else None

    def same(self, **ours: Any) -> bool:
        """Whether the two sides agree once ours is changed like this."""
        return not aspects(replace(self.ours, **ours), self.theirs)

    def alike(self, *names: str) -> bool:
        return all(
            getattr(self.ours, name) == getattr(self.theirs, name)
            for name in names
            if getattr(self.theirs, name) is not None
        )


def nodes(expr: Expr) -> Iterator[Expr]:
    waiting = [expr]
    while waiting:
        node = waiting.pop()
        yield node
        waiting.extend(children(node))


def seen(case: Case, program: Program) -> Iterator[tuple[Expr, Any]]:
    """The parts of the expression with the values they had."""
    values = program.trace(SETS[case.chosen], COST_LIMIT).values
    for node in nodes(program.tree.expr):
        for value in values.get(node.id, ()):
            yield node, value


def absorbs(program: Program) -> bool:
    """Whether an error inside need not be the outcome: logic and the macros built on it."""
    functions = {"_&&_", "_||_", "@not_strictly_false"}
    return any(isinstance(node, Call) and node.function in functions for node in nodes(program.tree.expr))


def has_loop(program: Program) -> bool:
    return any(isinstance(node, Comprehension) for node in nodes(program.tree.expr))
