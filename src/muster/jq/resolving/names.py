"""Names in a query: who is meant by one, how many there may be, and what is reported of those that mean nothing."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING

from muster.errors import InvalidExpressionError
from muster.jq.syntax import tree
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterator

    from muster.jq.values.value import Value
    from muster.source import Source, Span

MAX_SLOTS = 2_000
"""Each step of the plain evaluator may copy them."""
MAX_LOOKS = 500_000
MAX_DIAGNOSTICS = 20
_LONGEST_MESSAGE = 300


@dataclass(frozen=True, slots=True)
class Scope:
    """One name and the scope around it."""

    kind: str  # function, parameter, variable or label
    name: str
    arity: int
    target: Value
    outer: Scope | None


class Names:
    """Finds names, counts what that takes, and collects what is wrong."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.counter: Iterator[int] = itertools.count()
        self.looks = 0

    def slot(self) -> int:
        number = next(self.counter)
        if number > MAX_SLOTS:
            raise self.too_large(f"query has more than {MAX_SLOTS:,} variables and parameters")
        return number

    def look(self) -> None:
        """One name on the way to the one that is meant: definitions by the thousand make that long."""
        self.looks += 1
        if self.looks > MAX_LOOKS:
            raise self.too_large("query has too many names")

    def too_large(self, message: str) -> InvalidExpressionError:
        return InvalidExpressionError(self.source, [Diagnostic(message)])

    def report(self, message: str, span: Span) -> None:
        if len(message) > _LONGEST_MESSAGE:
            message = message[:_LONGEST_MESSAGE] + "…"
        if len(self.diagnostics) < MAX_DIAGNOSTICS:
            self.diagnostics.append(Diagnostic(message, span.start, max(span.end - span.start, 1)))

    def find(self, kind: str, name: str, arity: int, scope: Scope | None) -> Scope | None:
        while scope is not None:
            self.look()
            if scope.name == name and scope.arity == arity and scope.kind == kind:
                return scope
            scope = scope.outer
        return None


def names_of(pattern: tree.Pattern) -> Iterator[str]:
    match pattern:
        case tree.VariablePattern(name=name):
            yield name
        case tree.ArrayPattern(items=items):
            for item in items:
                yield from names_of(item)
        case tree.ObjectPattern(entries=entries):
            for entry in entries:
                if isinstance(entry.key, tree.Variable):
                    yield entry.key.name
                if entry.value is not None:
                    yield from names_of(entry.value)
