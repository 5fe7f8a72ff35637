"""Tools that all parts of the code generator share: names, budgets, constants, functions, and the way to the reference
evaluator. single_outputs.py and generator.py build on it; what they offer each other is declared here."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

from muster.jq.generating.cardinality import Cardinality
from muster.jq.generating.expressions import is_name
from muster.jq.generating.writer import Module, TooLargeError, Writer
from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from muster.jq.generating.scope import Scope
    from muster.jq.values.value import Value

Consumer: TypeAlias = Callable[[str], None]


class GeneratorBase(ABC):
    """Writes into the current function."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.counts = Cardinality()
        self.writer = Writer(module)
        self.counters: set[str] = set()  # names that stand for an array and hold its length

    @abstractmethod
    def each(self, node: r.Node, scope: Scope, value: str, consume: Consumer, *, cheap: bool = False) -> None:
        """Write code that runs the consumer for every output. A cheap consumer may be written several times."""

    @abstractmethod
    def each_bind(self, node: r.Bind, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        """The outputs of `source as pattern | body`."""

    @abstractmethod
    def reduce(self, node: r.Reduce, scope: Scope, value: str, start: str) -> str:
        """The name of the result, for one start."""

    @abstractmethod
    def named_parameters(
        self, node: r.CallFunction, at: int, scope: Scope, inner: Scope, value: str, then: Callable[[Scope], None]
    ) -> None:
        """`$parameters` become variables, the first varying slowest."""

    def atom(self, expression: str) -> str:
        """A name for the expression's value."""
        if is_name(expression):
            return expression
        return self.variable(expression)

    def variable(self, expression: str) -> str:
        """A name of its own, to be assigned again."""
        name = self.writer.temporary()
        self.writer.line(f"{name} = {expression}")
        return name

    def spend(self, steps: str) -> None:
        self.writer.line(f"b.steps -= {steps}")
        self.writer.line("if b.steps < 0: b.refill()")

    def grow(self, cells: str) -> None:
        self.writer.line(f"b.cells -= {cells}")
        self.writer.line('if b.cells < 0: b.exceeded("cells")')

    def constant(self, value: Value) -> str:
        if value is None or value is True or value is False:
            return str(value)
        return self.module.constant(value)

    def function(self, write: Callable[[str], None], value: str) -> str:
        """A function of its own; the result is a call of it on `value`."""
        outer = self.writer
        self.writer = Writer(self.module)
        inner_value = self.writer.temporary()
        characters = self.module.characters
        write(inner_value)
        self.writer.charge(0, self.module.characters - characters)
        captured = self.writer.finish(inner_value)
        name = self.writer.name
        self.writer = outer
        return f"{name}({', '.join(('b', value, *captured))})"

    def generator(self, node: r.Node, scope: Scope, value: str) -> str:
        """A call that generates the outputs of the node."""

        def write(inner: str) -> None:
            self.each(node, scope, inner, lambda output: self.writer.line(f"yield {output}"), cheap=True)
            self.writer.line("return")
            self.writer.line("yield")

        return self.function(write, value)

    def looped(self, iterable: str, consume: Consumer) -> None:
        item = self.writer.temporary()
        with self.writer.block(f"for {item} in {iterable}:"):
            consume(item)

    def apart(self, node: r.Node, scope: Scope, value: str, consume: Consumer) -> None:
        """Through a generator, because the consumer must be written only once."""
        self.looped(self.generator(node, scope, value), consume)

    def handover(self, node: r.Node, scope: Scope, value: str) -> str:
        """Arguments for the reference evaluator: the node, the environment it needs, the input."""
        return f"b, {self.constant(node)}, {self.environment(node, scope)}, {value}"

    def environment(self, node: r.Node, scope: Scope) -> str:
        entries: list[str] = []
        for slot in sorted(self._free(node)):
            if slot in scope.names:
                entries.append(f"{slot}: {scope.names[slot]}")
            elif slot in scope.arguments:
                argument = scope.arguments[slot]
                inner = self.environment(argument.node, argument.scope)
                entries.append(f"{slot}: Closure({self.constant(argument.node)}, {inner})")
        text = f"{{{', '.join(entries)}}}"
        if len(text) > 20_000:
            raise TooLargeError
        return text

    def _free(self, node: r.Node) -> set[int]:
        """Every slot that the node or a function it calls mentions."""
        found: set[int] = set()
        seen: set[r.Function] = set()
        work: list[r.Node] = [node]
        while work:
            at = work.pop()
            self.counts.ask()
            if isinstance(at, r.Variable | r.CallParameter | r.Break):
                found.add(at.slot)
            elif isinstance(at, r.CallFunction) and at.function not in seen:
                seen.add(at.function)
                work.append(at.function.body)
            work.extend(r.children(at))
        return found
