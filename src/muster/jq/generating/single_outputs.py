"""Code for nodes with exactly one output: a Python expression, after whatever statements it needs.

`value` gives the output, `condition` whether it counts as true. generator.py adds the nodes with many outputs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

from muster.jq.budgets import OBJECT_CELLS
from muster.jq.generating.base import GeneratorBase
from muster.jq.generating.cardinality import MANY
from muster.jq.generating.expressions import BOOLEAN, asks_only_length, comparison, is_name, operator_call, truth
from muster.jq.generating.inlined_builtins import inlined_value, modify_constant_path, modify_members
from muster.jq.generating.short_forms import native_call
from muster.jq.generating.writer import MAX_PARENTHESES, TooLargeError
from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from muster.jq.generating.base import Consumer
    from muster.jq.generating.scope import Scope


class SingleOutputs(GeneratorBase):
    """Writes nodes that have one output."""

    def value(self, node: r.Node, scope: Scope, value: str) -> str:
        """An expression for the one output of a node that has exactly one."""
        match node:
            case r.Identity():
                return value
            case r.Const(value=constant):
                return self.constant(constant)
            case r.Variable(slot=slot):
                return scope.names[slot]
            case r.Index():
                return self.value_index(node, scope, value)
            case r.Slice() | r.Native():
                return self.value_combination(node, scope, value)
            case r.Pipe(parts=parts):
                return self.value(parts[-1], scope, self.piped(parts, scope, value))
            case r.Logic():
                return self.condition(node, scope, value)
            case r.MakeArray(body=body):
                return self.value_array(body, scope, value)
            case r.MakeObject(entries=entries):
                return self.value_object(entries, scope, value)
            case r.Modify():
                return self.value_modify(node, scope, value)
            case r.CallFunction() | r.CallParameter():
                return self.value_call(node, scope, value)
            case r.Reduce():
                return self.reduce(node, scope, value, self.value(node.start, scope, value))
            case r.If():
                return self.value_if(node, scope, value)
            case r.Alternative():
                return self.value_alternative(node, scope, value)
            case r.Bind():
                found: list[str] = []
                self.each_bind(node, scope, value, lambda output: found.append(self.atom(output)), cheap=False)
                return found[0]
            case _:
                return self.assigned(node, scope, value)

    def assigned(self, node: r.Node, scope: Scope, value: str) -> str:
        """By way of a variable, for nodes whose code is a statement."""
        result = self.writer.temporary()
        if isinstance(node, r.Try):
            assert node.handler is not None  # noqa: S101 - without a handler it could have no output
            with self.writer.block("try:"):
                self.writer.line(f"{result} = {self.value(node.body, scope, value)}")
            with self.writer.block("except JqError as error:"):
                caught = self.atom("error.value")
                self.writer.line(f"{result} = {self.value(node.handler, scope, caught)}")
            return result
        self.looped(
            f"evaluate({self.handover(node, scope, value)})", lambda item: self.writer.line(f"{result} = {item}")
        )
        return result

    def piped(self, parts: tuple[r.Node, ...], scope: Scope, value: str) -> str:
        """A name for what the last part of a pipe gets."""
        for part, following in pairwise(parts):
            if isinstance(part, r.MakeArray) and asks_only_length(following):
                value = self.counted(part.body, scope, value)
            else:
                value = self.atom(self.value(part, scope, value))
        return value

    def counted(self, body: r.Node, scope: Scope, value: str) -> str:
        """An array that nobody looks into is not made; it is charged for as if it were."""
        count = self.variable("0")
        self.counters.add(count)

        def add(output: str) -> None:
            self.atom(output)  # it may be an error
            self.writer.line(f"{count} += 1")

        self.each_charged(body, scope, value, add)
        return count

    def value_index(self, node: r.Index, scope: Scope, value: str) -> str:
        key = node.key.value if isinstance(node.key, r.Const) else None
        if type(key) is not str:
            return self.value_combination(node, scope, value)
        target = self.value(node.target, scope, value)
        constant = self.constant(key)
        if is_name(target):
            return f"({target}.get({constant}) if type({target}) is dict else index(b, {target}, {constant}))"
        if target.count("(") > MAX_PARENTHESES:
            return self.value_index(node, scope, self.atom(target))
        name = self.writer.temporary()
        return f"({name}.get({constant}) if type({name} := {target}) is dict else index(b, {name}, {constant}))"

    def value_combination(self, node: r.Index | r.Slice | r.Native, scope: Scope, value: str) -> str:
        match node:
            case r.Index(target=target, key=key):
                operands: tuple[r.Node, ...] = (target, key)
            case r.Slice(target=target, start=start, end=end):
                operands = (target, end, start)
            case r.Native(args=args):
                operands = args
        if isinstance(node, r.Native) and len(operands) == 2 and isinstance(operands[1], r.Const):
            known = comparison(self, node.name, self.value(operands[0], scope, value), operands[1].value)
            if known is not None:
                return known
        found: list[str] = []
        for operand in reversed(operands):
            written = self.value(operand, scope, value)
            found.append(self.atom(written))
        return self.combined(node, value, found[::-1])

    def value_array(self, body: r.Node, scope: Scope, value: str) -> str:
        items = self.writer.temporary()
        self.writer.line(f"{items} = []")
        append = self.atom(f"{items}.append")
        self.each_charged(body, scope, value, lambda output: self.writer.line(f"{append}({output})"))
        return items

    def each_charged(self, body: r.Node, scope: Scope, value: str, add: Consumer) -> None:
        """The elements of an array, each charged before it is there."""
        many = self.counts.of(body, scope) is MANY
        if not many:
            self.grow("2")

        def keep(output: str) -> None:
            if many:
                self.grow("1")
            add(output)

        self.each(body, scope, value, keep, cheap=True)

    def value_object(self, entries: tuple[tuple[r.Node, r.Node | None], ...], scope: Scope, value: str) -> str:
        self.grow(str(OBJECT_CELLS + 2 * len(entries)))
        pairs: list[str] = []
        for key_node, value_node in entries:
            if isinstance(key_node, r.Const) and type(key_node.value) is str:
                key = self.constant(key_node.value)
            else:
                key = self.atom(self.value(key_node, scope, value))
            if value_node is None:
                item = self.atom(f"index(b, {value}, {key})")
            else:
                item = self.atom(self.value(value_node, scope, value))
            fixed = isinstance(key_node, r.Const) and type(key_node.value) is str
            pairs.append(f"{key if fixed else f'string_key(b, {key})'}: {item}")
        return f"{{{', '.join(pairs)}}}"

    def value_modify(self, node: r.Modify, scope: Scope, value: str) -> str:
        if isinstance(node.target, r.Iterate) and isinstance(node.target.target, r.Identity):
            return modify_members(self, node.update, scope, value)
        known = modify_constant_path(self, node, scope, value)
        return known if known is not None else self.assigned(node, scope, value)

    def value_call(self, node: r.CallFunction | r.CallParameter, scope: Scope, value: str) -> str:
        if isinstance(node, r.CallParameter):
            argument = scope.arguments[node.slot]
            return self.value(argument.node, argument.scope, value)
        known = inlined_value(self, node, scope, value)
        if known is not None:
            return known
        found: list[str] = []
        self.named_parameters(
            node,
            0,
            scope,
            scope.calling(node),
            value,
            lambda inner: found.append(self.value(node.function.body, inner, value)),
        )
        return found[0]

    def value_if(self, node: r.If, scope: Scope, value: str) -> str:
        result = self.writer.temporary()
        with self.writer.block(f"if {self.condition(node.condition, scope, value)}:"):
            self.writer.line(f"{result} = {self.value(node.then, scope, value)}")
        with self.writer.block("else:"):
            self.writer.line(f"{result} = {self.value(node.otherwise, scope, value)}")
        return result

    def value_alternative(self, node: r.Alternative, scope: Scope, value: str) -> str:
        result = self.writer.temporary()
        self.writer.line(f"{result} = None")
        self.each(node.left, scope, value, lambda output: self.writer.line(f"{result} = {output}"))
        with self.writer.block(f"if not ({truth(result)}):"):
            self.writer.line(f"{result} = {self.value(node.right, scope, value)}")
        return result

    # ── conditions ──

    def condition(self, node: r.Node, scope: Scope, value: str) -> str:
        """A Python condition, for a node with exactly one output."""
        match node:
            case r.Logic():
                return self.condition_logic(node, scope, value)
            case r.Const(value=constant):
                return str(constant is not None and constant is not False)
            case r.Native(name=name) if name in BOOLEAN:
                return self.value(node, scope, value)
            case r.Pipe(parts=parts):
                return self.condition(parts[-1], scope, self.piped(parts, scope, value))
            case r.CallParameter(slot=slot):
                argument = scope.arguments[slot]
                return self.condition(argument.node, argument.scope, value)
            case _:
                return truth(self.atom(self.value(node, scope, value)))

    def condition_logic(self, node: r.Logic, scope: Scope, value: str) -> str:
        """`a and b` as long as b needs no statement of its own, else b is written below a test of a."""
        word = " and " if node.conjunction else " or "
        tests = [self.condition(node.parts[0], scope, value)]
        for at in range(1, len(node.parts)):
            before = len(self.writer.lines)
            indent = self.writer.indent
            self.writer.indent = indent + 1
            test = self.condition(node.parts[at], scope, value)
            self.writer.indent = indent
            written = self.writer.lines[before:]
            if not written:
                tests.append(test)
                if sum(map(len, tests)) > 4000:
                    raise TooLargeError
                continue
            del self.writer.lines[before:]
            result = self.writer.temporary()
            self.writer.line(f"{result} = {self.joined(tests, word)}")
            self.writer.line(f"if {result if node.conjunction else f'not {result}'}:")
            self.writer.lines.extend(written)
            self.writer.lines.append("    " * (indent + 1) + f"{result} = {test}")
            tests = [result]
        return self.joined(tests, word)

    def joined(self, tests: list[str], word: str) -> str:
        return tests[0] if len(tests) == 1 else f"({word.join(tests)})"

    def combined(self, node: r.Index | r.Slice | r.Native, value: str, operands: list[str]) -> str:
        match node:
            case r.Index():
                return f"index(b, {operands[0]}, {operands[1]})"
            case r.Slice():
                return f"slice_of(b, {operands[0]}, {operands[2]}, {operands[1]})"
            case r.Native(name="length") if value in self.counters:
                return value
            case r.Native(name=name):
                return operator_call(name, operands) or native_call(self, node, value, operands)
