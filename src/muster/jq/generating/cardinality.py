"""How many outputs a node has: exactly one, at most one, or many. Decides which form the code generator writes.

The answer may be too large, never too small. It also says which functions call themselves: those are not written out.
"""

from __future__ import annotations

from enum import IntEnum
from typing import TYPE_CHECKING

from muster.jq.generating.writer import TooLargeError
from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from muster.jq.generating.scope import Scope


MAX_QUESTIONS = 40_000
"""Functions are followed into their bodies each time: those that call others twice, level by level, have no end."""


class Count(IntEnum):
    ONE = 0
    AT_MOST_ONE = 1
    MANY = 2


ONE, AT_MOST_ONE, MANY = Count.ONE, Count.AT_MOST_ONE, Count.MANY

ANSWERS = frozenset((("any", 2), ("all", 2), ("isempty", 1)))
"""Builtins that answer yes or no, whatever their arguments give."""


class Cardinality:
    """Counts for one program; remembers which functions are recursive."""

    def __init__(self) -> None:
        self._left = MAX_QUESTIONS
        self._recursive: dict[r.Function, bool] = {}
        self._calls: dict[r.Function, tuple[r.Function, ...]] = {}

    def ask(self, questions: int = 1) -> None:
        self._left -= questions
        if self._left < 0:
            raise TooLargeError

    def of(self, node: r.Node, scope: Scope) -> Count:
        self.ask()
        if node.simple:
            return ONE
        match node:
            case r.Identity() | r.Const() | r.Variable() | r.MakeArray() | r.Modify():
                return ONE
            case r.Empty() | r.Break() | r.Last():
                return AT_MOST_ONE
            case r.Iterate() | r.Comma() | r.Foreach() | r.Range() | r.PathsOf():
                return MANY
            case r.Index() | r.Slice() | r.Pipe() | r.Logic() | r.MakeObject() | r.Native():
                return max((self.of(child, scope) for child in r.children(node)), default=ONE)
            case r.Alternative(left=left, right=right):
                first = self.of(left, scope)
                return MANY if first is MANY else self.of(right, scope)
            case r.If(condition=condition, then=then, otherwise=otherwise):
                return max(self.of(condition, scope), self.of(then, scope), self.of(otherwise, scope))
            case r.Try(body=body, handler=handler):
                inner = self.of(body, scope)
                return max(inner, AT_MOST_ONE if handler is None else self.of(handler, scope))
            case r.Bind():
                return self._of_bind(node, scope)
            case r.Reduce(start=start):
                return self.of(start, scope)
            case r.Label(body=body):
                return max(AT_MOST_ONE, self.of(body, scope))
            case r.Assign(value=value):
                return self.of(value, scope)
            case r.CallFunction():
                return self._of_call(node, scope)
            case r.CallParameter(slot=slot):
                argument = scope.arguments[slot]
                return self.of(argument.node, argument.scope)

    def _of_bind(self, node: r.Bind, scope: Scope) -> Count:
        if len(node.patterns) > 1:
            return MANY
        keys = max((self.of(key, scope) for key in r.pattern_keys(node.patterns[0])), default=ONE)
        return max(self.of(node.source, scope), keys, self.of(node.body, scope))

    def _of_call(self, node: r.CallFunction, scope: Scope) -> Count:
        function = node.function
        if function.builtin:
            key = (function.name, function.arity)
            if key in ANSWERS:
                return ONE
            if key == ("first", 1):
                return AT_MOST_ONE
            if key in (("until", 2), ("walk", 1)) and all(self.of(arg, scope) is ONE for arg in node.args):
                return ONE
        if self.is_recursive(function):
            return MANY
        inner = scope.calling(node)
        values = [
            self.of(argument, scope)
            for argument, parameter in zip(node.args, function.parameters, strict=True)
            if parameter.value_slot is not None
        ]
        return max(self.of(function.body, inner), *values, ONE)

    def is_recursive(self, function: r.Function) -> bool:
        """Whether the function can come back to itself through the functions it names."""
        known = self._recursive.get(function)
        if known is None:
            seen: set[r.Function] = set()
            work = list(self.called(function))
            while work:
                following = work.pop()
                self.ask()
                if following not in seen:
                    seen.add(following)
                    work.extend(self.called(following))
            known = self._recursive[function] = function in seen
        return known

    def called(self, function: r.Function) -> tuple[r.Function, ...]:
        known = self._calls.get(function)
        if known is None:
            found: list[r.Function] = []
            work = [function.body]
            while work:
                node = work.pop()
                self.ask()
                if isinstance(node, r.CallFunction):
                    found.append(node.function)
                work.extend(r.children(node))
            known = self._calls[function] = tuple(found)
        return known
