"""Resolved query to Python source. A producer is written around its consumer: `.disks[] | select(…)` is one plain loop.

`each` writes code that runs a consumer for every output; single_outputs.py has what needs no loop. Functions are
written into their callers. What cannot be written well (recursion, computed paths) is handed to the reference evaluator
with the variables it needs. The source holds only generated names; constants are data. inlined_builtins.py has builtins
that are worth code of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq.budgets import OBJECT_CELLS
from muster.jq.generating.cardinality import MANY, ONE
from muster.jq.generating.expressions import truth
from muster.jq.generating.inlined_builtins import inlined_outputs
from muster.jq.generating.scope import TOP, Scope
from muster.jq.generating.single_outputs import SingleOutputs
from muster.jq.resolving import resolved as r

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.jq.generating.base import Consumer


class Generator(SingleOutputs):
    """Writes one program."""

    def program(self, body: r.Node, variables: dict[str, int]) -> tuple[str, bool]:
        """The name of the main function, and whether it returns its one output instead of generating many."""
        value = self.writer.temporary()
        names = {slot: self.writer.temporary() for slot in variables.values()}
        scope = TOP.with_names(names)
        single = self.counts.of(body, scope) is ONE
        if single:
            self.writer.line(f"return {self.value(body, scope, value)}")
        else:
            self.each(body, scope, value, lambda output: self.writer.line(f"yield {output}"), cheap=True)
            self.writer.line("return")
            self.writer.line("yield")
        parameters = ", ".join(("b", value, *names.values()))
        text = "\n".join(self.writer.lines)
        self.module.functions.append(f"def {self.writer.name}({parameters}):\n{text}")
        return self.writer.name, single

    # ── many outputs ──

    def each(self, node: r.Node, scope: Scope, value: str, consume: Consumer, *, cheap: bool = False) -> None:
        """Write code that runs the consumer for every output. A cheap consumer may be written several times."""
        if isinstance(node, r.CallFunction | r.CallParameter):
            self.each_call(node, scope, value, consume, cheap=cheap)
            return
        if self.counts.of(node, scope) is ONE:
            consume(self.value(node, scope, value))
            return
        match node:
            case r.Empty():
                pass
            case r.Index() | r.Slice() | r.Native():
                self.each_combination(node, scope, value, consume)
            case r.Iterate(target=target):
                self.each(target, scope, value, lambda found: self.each_member(found, consume))
            case r.Pipe(parts=parts):
                self.each_stage(parts, 0, scope, value, consume, cheap=cheap)
            case r.Comma(parts=parts):
                if not cheap:
                    self.apart(node, scope, value, consume)
                    return
                for part in parts:
                    self.each(part, scope, value, consume, cheap=True)
            case r.Alternative():
                self.each_alternative(node, scope, value, consume, cheap=cheap)
            case r.Logic():
                self.each_logic(node, scope, value, consume, cheap=cheap)
            case r.If():
                self.each_if(node, scope, value, consume, cheap=cheap)
            case r.Try():
                self.each_try(node, scope, value, consume, cheap=cheap)
            case r.Bind():
                self.each_bind(node, scope, value, consume, cheap=cheap)
            case r.Reduce():
                self.each(node.start, scope, value, lambda start: consume(self.reduce(node, scope, value, start)))
            case r.Foreach():
                self.each_foreach(node, scope, value, consume, cheap=cheap)
            case r.Label(slot=slot, body=body):
                label = self.atom("object()")
                with self.writer.block("try:"):
                    self.each(body, scope.with_name(slot, label), value, consume, cheap=cheap)
                with self.writer.block("except Break as leaving:"):
                    self.writer.line(f"if leaving.label is not {label}: raise")
            case r.Break(slot=slot):
                self.writer.line(f"raise Break({scope.names[slot]})")
            case r.MakeObject(entries=entries):
                self.each_object(entries, [], scope, value, consume)
            case r.Range(start=start, end=end, step=step):
                bounds = [self.atom(self.value(bound, scope, value)) for bound in (start, end, step)]
                self.looped(f"range_values(b, {', '.join(bounds)})", consume)
            case r.Last(body=body):
                last = self.variable("MISSING")
                self.each(body, scope, value, lambda output: self.writer.line(f"{last} = {output}"), cheap=True)
                with self.writer.block(f"if {last} is not MISSING:"):
                    consume(last)
            case r.PathsOf(body=body):
                self.looped(f"evaluate_paths({self.handover(body, scope, value)})", consume)
            case r.Assign():
                self.looped(f"evaluate({self.handover(node, scope, value)})", consume)
            case _:
                raise AssertionError(f"no rule for {type(node).__name__}")

    def each_member(self, found: str, consume: Consumer, *, optional: bool = False) -> None:
        found = self.atom(found)
        members = "members_or_nothing" if optional else "members"
        items = self.atom(f"{found} if type({found}) is list else {members}(b, {found})")
        self.spend(f"len({items})")
        self.looped(items, consume)

    def each_stage(
        self, parts: tuple[r.Node, ...], at: int, scope: Scope, value: str, consume: Consumer, *, cheap: bool
    ) -> None:
        if at == len(parts) - 1:
            self.each(parts[at], scope, value, consume, cheap=cheap)
            return
        self.each(
            parts[at],
            scope,
            value,
            lambda output: self.each_stage(parts, at + 1, scope, self.atom(output), consume, cheap=cheap),
        )

    def each_combination(self, node: r.Index | r.Slice | r.Native, scope: Scope, value: str, consume: Consumer) -> None:
        """Operands in gojq's order: the last varies slowest."""
        match node:
            case r.Index(target=target, key=key):
                operands: tuple[r.Node, ...] = (target, key)
            case r.Slice(target=target, start=start, end=end):
                operands = (target, end, start)
            case r.Native(args=args):
                operands = args
        found: dict[int, str] = {}

        def operand(at: int) -> None:
            def got(output: str) -> None:
                found[at] = self.atom(output)
                if at:
                    operand(at - 1)
                else:
                    consume(self.combined(node, value, [found[i] for i in range(len(operands))]))

            self.each(operands[at], scope, value, got)

        operand(len(operands) - 1)

    def each_alternative(
        self, node: r.Alternative, scope: Scope, value: str, consume: Consumer, *, cheap: bool
    ) -> None:
        if not cheap:
            self.apart(node, scope, value, consume)
            return
        found = self.variable("False")

        def keep(output: str) -> None:
            output = self.atom(output)
            with self.writer.block(f"if {truth(output)}:"):
                self.writer.line(f"{found} = True")
                consume(output)

        self.each(node.left, scope, value, keep)
        with self.writer.block(f"if not {found}:"):
            self.each(node.right, scope, value, consume, cheap=True)

    def each_logic(self, node: r.Logic, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        if not cheap:
            self.apart(node, scope, value, consume)
            return

        def part(at: int) -> None:
            def decide(output: str) -> None:
                test = truth(self.atom(output))
                with self.writer.block(f"if {test if node.conjunction else f'not ({test})'}:"):
                    if at == len(node.parts) - 1:
                        consume(str(node.conjunction))
                    else:
                        part(at + 1)
                with self.writer.block("else:"):
                    consume(str(not node.conjunction))

            self.each(node.parts[at], scope, value, decide)

        part(0)

    def each_if(self, node: r.If, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        nothing = isinstance(node.otherwise, r.Empty)
        if not cheap and not nothing and not isinstance(node.then, r.Empty):
            self.apart(node, scope, value, consume)
            return

        def branch(test: str) -> None:
            with self.writer.block(f"if {test}:"):
                self.each(node.then, scope, value, consume, cheap=cheap)
            if not nothing:
                with self.writer.block("else:"):
                    self.each(node.otherwise, scope, value, consume, cheap=cheap)

        if self.counts.of(node.condition, scope) is ONE:
            branch(self.condition(node.condition, scope, value))
        else:
            self.each(node.condition, scope, value, lambda output: branch(truth(self.atom(output))))

    def each_try(self, node: r.Try, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        """The consumer stays outside the `try`: its errors are not this one's."""
        body, handler = node.body, node.handler
        if handler is None and isinstance(body, r.Iterate) and isinstance(body.target, r.Identity):
            self.each_member(value, consume, optional=True)
            return
        if handler is not None and not cheap:
            self.apart(node, scope, value, consume)
            return
        failed = self.variable("None")
        if self.counts.of(body, scope) is MANY:
            outputs = self.atom(self.generator(body, scope, value))
            with self.writer.block("while True:"):
                output = self.writer.temporary()
                with self.writer.block("try:"):
                    self.writer.line(f"{output} = next({outputs}, MISSING)")
                self.caught(failed, "break")
                self.writer.line(f"if {output} is MISSING: break")
                consume(output)
        else:
            output = self.variable("MISSING")
            with self.writer.block("try:"):
                self.each(body, scope, value, lambda found: self.writer.line(f"{output} = {found}"), cheap=True)
            self.caught(failed, "pass")
            with self.writer.block(f"if {output} is not MISSING:"):
                consume(output)
        if handler is not None:
            with self.writer.block(f"if {failed} is not None:"):
                self.each(handler, scope, self.atom(f"{failed}.value"), consume, cheap=True)

    def caught(self, failed: str, then: str) -> None:
        with self.writer.block("except JqError as error:"):
            self.writer.line(f"{failed} = error")
            self.writer.line(then)

    # ── variables ──

    def each_bind(self, node: r.Bind, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        if len(node.patterns) > 1:
            self.looped(f"evaluate({self.handover(node, scope, value)})", consume)
            return
        self.each(
            node.source,
            scope,
            value,
            lambda found: self.pattern(
                [(node.patterns[0], self.atom(found))],
                scope,
                lambda inner: self.each(node.body, inner, value, consume, cheap=cheap),
            ),
        )

    def pattern(self, work: list[tuple[r.Pattern, str]], scope: Scope, then: Callable[[Scope], None]) -> None:
        """Name the variables of the patterns, then go on in the scope that has them."""
        if not work:
            then(scope)
            return
        (pattern, value), rest = work[0], work[1:]
        match pattern:
            case r.SlotPattern(slot=slot):
                self.pattern(rest, scope.with_name(slot, value), then)
            case r.ItemsPattern(items=items):
                self.writer.line(f"array_or_null(b, {value})")
                parts = [(item, self.atom(f"index(b, {value}, {self.constant(at)})")) for at, item in enumerate(items)]
                self.pattern(parts + rest, scope, then)
            case r.FieldsPattern(entries=entries):
                (key, named, inner), others = entries[0], entries[1:]
                if others:
                    rest = [(r.FieldsPattern(others), value), *rest]

                def field(found: str) -> None:
                    item = self.atom(f"index(b, {value}, {found})")
                    bound = scope if named is None else scope.with_name(named, item)
                    self.pattern(rest if inner is None else [(inner, item), *rest], bound, then)

                self.each(key, scope, value, field)

    def reduce(self, node: r.Reduce, scope: Scope, value: str, start: str) -> str:
        total = self.variable(start)

        def update(inner: Scope) -> None:
            before = self.variable(total)
            self.each(node.update, inner, before, lambda output: self.writer.line(f"{total} = {output}"), cheap=True)

        self.each(
            node.source,
            scope,
            value,
            lambda found: self.pattern([(node.pattern, self.atom(found))], scope, update),
        )
        return self.variable(total)

    def each_foreach(self, node: r.Foreach, scope: Scope, value: str, consume: Consumer, *, cheap: bool) -> None:
        extract = node.extract

        def started(start: str) -> None:
            total = self.variable(start)

            def update(inner: Scope) -> None:
                def extracted(output: str) -> None:
                    now = self.variable(output)
                    self.writer.line(f"{total} = {now}")
                    if extract is None:
                        consume(now)
                    else:
                        self.each(extract, inner, now, consume, cheap=cheap)

                self.each(node.update, inner, self.variable(total), extracted)

            self.each(
                node.source,
                scope,
                value,
                lambda found: self.pattern([(node.pattern, self.atom(found))], scope, update),
            )

        self.each(node.start, scope, value, started)

    def each_object(
        self, entries: tuple[tuple[r.Node, r.Node | None], ...], made: list[str], scope: Scope, value: str,
        consume: Consumer,
    ) -> None:  # fmt: skip
        """All combinations, the first key varying slowest."""
        at = len(made) // 2
        if at == len(entries):
            self.grow(str(OBJECT_CELLS + 2 * at))
            checked = [f"string_key(b, {key})" for key in made[::2]]
            pairs = ", ".join(f"{key}: {item}" for key, item in zip(checked, made[1::2], strict=True))
            consume(f"{{{pairs}}}")
            return
        key_node, value_node = entries[at]

        def keyed(key: str) -> None:
            key = self.atom(key)
            if value_node is None:
                item = self.atom(f"index(b, {value}, {key})")
                self.each_object(entries, [*made, key, item], scope, value, consume)
            else:
                self.each(
                    value_node,
                    scope,
                    value,
                    lambda item: self.each_object(entries, [*made, key, self.atom(item)], scope, value, consume),
                )

        self.each(key_node, scope, value, keyed)

    # ── functions ──

    def each_call(
        self, node: r.CallFunction | r.CallParameter, scope: Scope, value: str, consume: Consumer, *, cheap: bool
    ) -> None:
        if isinstance(node, r.CallParameter):
            argument = scope.arguments[node.slot]
            self.each(argument.node, argument.scope, value, consume, cheap=cheap)
            return
        if inlined_outputs(self, node, scope, value, consume, cheap=cheap):
            return
        if self.counts.is_recursive(node.function):
            self.looped(f"evaluate({self.handover(node, scope, value)})", consume)
            return
        self.named_parameters(
            node,
            0,
            scope,
            scope.calling(node),
            value,
            lambda inner: self.each(node.function.body, inner, value, consume, cheap=cheap),
        )

    def named_parameters(
        self, node: r.CallFunction, at: int, scope: Scope, inner: Scope, value: str, then: Callable[[Scope], None]
    ) -> None:
        """`$parameters` become variables, the first varying slowest."""
        if at == len(node.args):
            then(inner)
            return
        slot = node.function.parameters[at].value_slot
        if slot is None:
            self.named_parameters(node, at + 1, scope, inner, value, then)
            return
        self.each(
            node.args[at],
            scope,
            value,
            lambda output: self.named_parameters(
                node, at + 1, scope, inner.with_name(slot, self.atom(output)), value, then
            ),
        )
