"""Attributes in generated code: a variable and the steps from it, and choices between two values."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from muster.cel.costs.runtime import SELECT
from muster.cel.generating.support import follow, walk
from muster.cel.generating.writer import Function, Val, Writer
from muster.cel.running import plan as p

if TYPE_CHECKING:
    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.generating.writer import Constants
    from muster.cel.syntax.walking import Walk
    from muster.cel.values.value import Value


MAX_STEPS = 12  # of one function; they nest, and CPython refuses more than 100 levels


class AttributeWriter:
    """The part of the generator that reads inputs. A run of constant field names is one Python expression."""

    writer: Writer
    constants: Constants
    functions: list[Function]
    budget: CompileBudget
    lazy: dict[int, str]
    unread: dict[int, tuple[str, int]]
    steady: set[int]
    strict: bool  # of all steps, as it is an option of the environment

    if TYPE_CHECKING:

        def node(self, node: p.Node) -> Walk[Val]: ...
        def named(self, value: Val) -> str: ...
        def _parameters(self) -> tuple[str, ...]: ...
        def _arguments(self) -> str: ...

    def attribute(self, node: p.Attribute) -> Walk[Val]:
        fields, rest = _leading_fields(node.qualifiers)
        self.strict = self.strict or any(step.strict for step in node.qualifiers)
        root = node.root
        match root:
            case p.Variable():
                if len(root.alternatives) != 1 or len(root.alternatives[0].names) != 1:
                    return (yield from self._ambiguous(node, root))
                value = self._from_variable(root.alternatives[0].names[0], fields)
            case p.Local():
                start = self._local(root)
                value = self._fields(start, fields)
            case p.Operand():
                start = yield self.node(root.node)
                value = self._fields(start, fields)
            case p.Choice():
                start = yield self._choice(root)
                value = self._fields(start, fields)
        if rest:
            value = yield self._steps(value, rest)
        self.writer.charge(node.charge)
        return value

    def _local(self, root: p.Local) -> Val:
        name = f"s{root.slot}"
        filler = self.lazy.get(root.slot)
        if root.slot in self.unread:
            empty, cost = self.unread[root.slot]
            self.writer.line(f"if {name} is UNSET: {name} = {empty}; c += {cost}")
        if filler is None:
            return Val(name, fails=root.slot not in self.steady)
        self.writer.flush()
        self.writer.line(f"if {name}[0] is UNSET: {name}[0], c = {filler}")
        target = self.writer.temporary()
        self.writer.line(f"{target} = {name}[0]")
        return Val(target)

    def _from_variable(self, name: str, fields: list[str]) -> Val:
        writer = self.writer
        target = writer.temporary()
        key = self.constants.add(name)
        path = "".join(f"[{self.constants.add(field)}]" for field in fields)
        writer.line(f"try: {target} = v[{key}]{path}")
        if fields:
            following = self.constants.add(partial(follow, name, tuple(fields), self.strict))
            writer.line(f"except LOOKUP: {target}, c = {following}(c, v)")
        else:
            writer.line(f"except LOOKUP: {target} = missing_variable({key})")
        writer.charge(SELECT * len(fields))
        return Val(target)

    def _fields(self, start: Val, fields: list[str]) -> Val:
        if not fields:
            return start
        writer = self.writer
        base = self.named(start)
        target = writer.temporary()
        path = "".join(f"[{self.constants.add(field)}]" for field in fields)
        walking = self.constants.add(partial(walk, tuple(fields), self.strict))
        writer.line(f"try: {target} = {base}{path}")
        writer.line(f"except LOOKUP: {target}, c = {walking}(c, {base})")
        writer.charge(SELECT * len(fields))
        return Val(target)

    def _ambiguous(self, node: p.Attribute, root: p.Variable) -> Walk[Val]:
        """An unchecked name: the first alternative that is a variable takes its share of the steps."""
        writer = self.writer
        target = writer.temporary()
        writer.flush()
        opened = False
        for alternative in root.alternatives:
            for name in alternative.names:
                key = self.constants.add(name)
                with writer.block(f"{'elif' if opened else 'if'} {key} in v:"):
                    opened = True
                    start = writer.temporary()
                    writer.line(f"{start} = v[{key}]")
                    value = yield self._steps(Val(start, fails=False), node.qualifiers[alternative.consumed :])
                    writer.line(f"{target} = {value.code}")
        missing = self.constants.add(", ".join(root.alternatives[0].names))
        with writer.block("else:"):
            writer.line(f"{target} = missing_variable({missing})")
        writer.joined()
        writer.charge(node.charge)
        return Val(target)

    def _choice(self, root: p.Choice) -> Walk[Val]:
        writer = self.writer
        condition = yield self.node(root.condition)
        certain = condition.kind == "bool" and not condition.fails
        name = self.named(condition)
        target = writer.temporary()
        with writer.block(f"if {name}:" if certain else f"if {name} is True:"):
            truthy = yield self.node(root.truthy)
            writer.line(f"{target} = {truthy.code}")
        with writer.block("else:" if certain else f"elif {name} is False:"):
            falsy = yield self.node(root.falsy)
            writer.line(f"{target} = {falsy.code}")
        if not certain:
            with writer.block("else:"):
                writer.line(f"{target} = bool_error({name})")
        writer.joined()
        kind = truthy.kind if truthy.kind == falsy.kind else None
        return Val(target, kind, fails=not certain or truthy.fails or falsy.fails)

    def _steps(self, value: Val, steps: tuple[p.Qualifier, ...]) -> Walk[Val]:
        """Steps one by one, each only if the one before did not fail. From an optional step on, all are optional."""
        writer = self.writer
        if not steps:
            return value
        target = writer.temporary()
        writer.line(f"{target} = {value.code}")
        depth = 0
        kind: str | None = None
        for index, step in enumerate(steps):
            if step.optional:
                yield self._optional_steps(target, steps[index:])
                kind = None
                break
            if index == MAX_STEPS:
                yield self._outlined_steps(target, steps[index:], optional=False)
                kind = None
                break
            writer.flush()
            writer.line(f"if {target}.__class__ is not E:")
            writer.indent += 1
            depth += 1
            kind = yield self._step(target, step)
            writer.charge(SELECT)
        for _ in range(depth):
            writer.flush()
            writer.indent -= 1
        return Val(target, kind)

    def _step(self, target: str, step: p.Qualifier) -> Walk[str | None]:
        writer = self.writer
        if step.presence:
            key = self._key(step.key)
            fast = f"{target} = {key} in {target}" if isinstance(step.key, str) else None
            self._adjusted(target, "dict", fast, f"presence({target}, {key}, {step.strict})")
            return "bool"
        if step.dynamic is None:
            self._constant_step(target, step.key)
            return None
        if _is_free(step.dynamic):
            yield self._dynamic_step(target, step.dynamic, step.native)
            return None
        with writer.block(f"if {target}.__class__ is Optional and not {target}.present:"):
            writer.line("c -= 1")  # the key is not even looked at
        with writer.block("else:"):
            yield self._dynamic_step(target, step.dynamic, step.native)
        writer.joined()
        return None

    def _dynamic_step(self, target: str, dynamic: p.Node, native: bool) -> Walk[None]:
        writer = self.writer
        key = self.named((yield self.node(dynamic)))
        writer.line(f"if {key}.__class__ is str and {target}.__class__ is dict:")
        writer.line(" try:")
        writer.line(f"  {target} = {target}[{key}]")
        writer.line(" except KeyError:")
        writer.line(f"  {target} = no_such_key({key})")
        writer.line("else:")
        writer.line(f" {target}, n = dynamic_step({target}, {key}, {native}, {self.strict})")
        writer.line(" c += n")

    def _adjusted(self, target: str, kind: str, fast: str | None, slow: str) -> None:
        """The fast statement for the class, otherwise the slow way, which may take back the cost of the step."""
        writer = self.writer
        if fast is None:
            writer.line(f"{target}, n = {slow}")
            writer.line("c += n")
            return
        writer.line(f"if {target}.__class__ is {kind}: {fast}")
        writer.line("else:")
        writer.line(f" {target}, n = {slow}")
        writer.line(" c += n")

    def _constant_step(self, target: str, value: Value) -> None:
        writer = self.writer
        key = self._key(value)
        if type(value) is str:
            writer.line(f"try: {target} = {target}[{key}]")
            writer.line(f"except LOOKUP: {target}, n = step({target}, {key}, {self.strict}); c += n")
        elif type(value) is int and value >= 0:
            fast = f"{target} = {target}[{key}]"
            self._adjusted(target, f"list and len({target}) > {key}", fast, f"step({target}, {key}, {self.strict})")
        else:
            self._adjusted(target, "", None, f"step({target}, {key}, {self.strict})")

    def _key(self, value: Value) -> str:
        return repr(value) if value is True or value is False else self.constants.add(value)

    def _optional_steps(self, target: str, steps: tuple[p.Qualifier, ...]) -> Walk[None]:
        writer = self.writer
        writer.flush()
        writer.line(f"if {target}.__class__ is Optional: {target} = {target}.content if {target}.present else NONE")
        writer.line(f"if {target}.__class__ is not E and {target} is not NONE:")
        writer.indent += 1
        depth = 1
        wrapped = False
        for index, step in enumerate(steps):
            if index == MAX_STEPS:
                yield self._outlined_steps(target, steps[index:], optional=True)
                wrapped = True
                break
            key = self.named((yield self.node(step.dynamic))) if step.dynamic is not None else self._key(step.key)
            if step.presence:
                writer.line(f"{target} = opt_presence({target}, {key}, {step.strict})")
            else:
                writer.line(f"{target} = opt_step({target}, {key}, {step.strict}, {step.native})")
            writer.flush()
            writer.line(f"if {target} is MISSING: {target} = NONE")
            writer.line(f"elif {target}.__class__ is not E:")
            writer.indent += 1
            depth += 1
            writer.charge(SELECT)
            if step is not steps[-1]:
                writer.flush()
                writer.line(
                    f"if {target}.__class__ is Optional: {target} = {target}.content if {target}.present else NONE"
                )
                writer.line(f"if {target} is not NONE:")
                writer.indent += 1
                depth += 1
        if not wrapped:
            writer.line(f"{target} = {'True' if steps[-1].presence else f'optional({target})'}")
        for _ in range(depth):
            writer.flush()
            writer.indent -= 1
        if steps[-1].presence:
            writer.line(f"if {target} is NONE: {target} = False")

    def _outlined_steps(self, target: str, steps: tuple[p.Qualifier, ...], optional: bool) -> Walk[None]:
        """The rest of a long run of steps, in a function of its own: every step nests one level deeper."""
        outer = self.writer
        function = Function(f"f{len(self.functions)}", (*self._parameters(), "x"), [])
        self.functions.append(function)
        self.writer = Writer(function, self.budget)
        if optional:
            yield self._optional_steps("x", steps)
            result = "x"
        else:
            stepped: Val = yield self._steps(Val("x"), steps)
            result = stepped.code
        self.writer.flush()
        self.writer.line(f"return {result}, c")
        self.writer = outer
        outer.flush()
        outer.line(f"{target}, c = {function.name}({self._arguments()}, {target})")


def _is_free(node: p.Node) -> bool:
    """A variable as it is: reading it costs nothing here, and does nothing."""
    match node:
        case p.Attribute(root=p.Variable() | p.Local(), qualifiers=(), charge=0):
            return True
        case _:
            return False


def _leading_fields(steps: tuple[p.Qualifier, ...]) -> tuple[list[str], tuple[p.Qualifier, ...]]:
    """The fields by constant name that come first, and the steps after them."""
    fields: list[str] = []
    for step in steps:
        if step.dynamic is not None or step.optional or step.presence or type(step.key) is not str:
            break
        fields.append(step.key)
    return fields, steps[len(fields) :]
