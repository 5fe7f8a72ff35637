"""One Python function from a plan.

Every node becomes a few statements that leave its value, or its error, in a name. The straight way is written out for
the Python classes that the checked types lead to expect; everything else calls support.py. Sub-expressions that would
nest deeper than CPython allows become functions of their own.
"""

from __future__ import annotations

from functools import lru_cache
from types import CodeType, FunctionType
from typing import TYPE_CHECKING

from muster.cel.checking.types import Kind
from muster.cel.costs.compile_budget import CompileBudget
from muster.cel.costs.meter import FREE_LITERAL, WORK_LIMIT
from muster.cel.costs.runtime import LIST
from muster.cel.generating.attributes import AttributeWriter
from muster.cel.generating.calls import CallWriter
from muster.cel.generating.folds import FoldWriter
from muster.cel.generating.support import NAMESPACE
from muster.cel.generating.writer import OUTERMOST, Constants, Function, Val, Writer, constant_names
from muster.cel.running import plan as p
from muster.cel.syntax.walking import Walk, finished, run

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from muster.cel.checking.types import Type
    from muster.cel.values.value import Value

MAX_INDENT = 40  # CPython refuses more than 100 levels
MAX_LINES = 500  # longer functions are legal, but cost the compiler much memory
MAX_LOOPS = 8  # and more than 20 nested loops and try blocks

KIND_CLASSES = {
    Kind.BOOL: "bool",
    Kind.BYTES: "bytes",
    Kind.DOUBLE: "float",
    Kind.INT: "int",
    Kind.LIST: "list",
    Kind.MAP: "dict",
    Kind.STRING: "str",
}
_LONGEST_KEPT = 8192  # characters of a function
_CONSTANT_KINDS: dict[type, str] = {bool: "bool", int: "int", float: "float", str: "str", bytes: "bytes"}


def generate(
    plan: p.Plan, types: Mapping[int, Type], work_limit: int = WORK_LIMIT, budget: CompileBudget | None = None
) -> Callable[[Mapping[str, Value], int], tuple[Value, int]]:
    """A function of the variables and the cost limit, giving the value (or the error, as a value) and the cost."""
    functions, constants = functions_of(plan, types, work_limit, budget)
    namespace = {**NAMESPACE, **dict(zip(constant_names(len(constants)), constants, strict=True))}
    for text in functions:  # one by one: compiling a big text as a whole takes far more memory
        code = _kept_code(text) if len(text) <= _LONGEST_KEPT else _code(text)
        # A copy: CPython notes in code where its globals are, which programs that share it would dispute in turns.
        namespace[code.co_name] = FunctionType(code.replace(), namespace)
    made: Callable[[Mapping[str, Value], int], tuple[Value, int]] = namespace["run"]
    return made


def _code(text: str) -> CodeType:
    """The code of the one function in the text."""
    # Written by this package from fixed pieces; nothing in it comes from the expression.
    module = compile(text, "<cel>", "exec")
    return next(each for each in module.co_consts if isinstance(each, CodeType))


_kept_code = lru_cache(maxsize=256)(_code)
"""Expressions that differ only in their constants have one text, and the placements of a fleet mostly do."""


def functions_of(
    plan: p.Plan, types: Mapping[int, Type], work_limit: int = WORK_LIMIT, budget: CompileBudget | None = None
) -> tuple[list[str], list[Value]]:
    """The Python functions of a plan, `run` last, and the constants they know as k0, k1, …"""
    return Generator(types, work_limit, budget or CompileBudget()).program(plan)


def source_of(plan: p.Plan, types: Mapping[int, Type], work_limit: int = WORK_LIMIT) -> str:
    """The Python text of a plan, to look at."""
    return "\n".join(functions_of(plan, types, work_limit)[0])


class Generator(AttributeWriter, CallWriter, FoldWriter):
    """Walks a plan and writes functions. Attributes, calls and loops are in modules of their own."""

    def __init__(self, types: Mapping[int, Type], work_limit: int, budget: CompileBudget) -> None:
        self.budget = budget
        self.types = types
        self.constants = Constants()
        self.functions: list[Function] = []
        self.scope: list[str] = []  # names of the locals that are visible here
        self.lazy: dict[int, str] = {}  # slots that are filled on first use -> the function that fills them
        self.unread: dict[int, tuple[str, int]] = {}  # slots of lists and maps that are made when first read
        self.growing: set[int] = set()
        self.strict = False
        self.steady: set[int] = set()  # slots that never hold an error
        self.writer = Writer(Function("run", (), []), budget, f"[{work_limit}, {work_limit}]")

    def program(self, plan: p.Plan) -> tuple[list[str], list[Value]]:
        writer = self.writer
        writer.indent = OUTERMOST
        result = run(self.node(plan.node))
        writer.flush()
        writer.line("if c > limit: raise Limit")
        writer.line(f"return {result.code}, c")
        meter = writer.new_meter if writer.begins_with_meter else "None"
        head = ["def run(v, limit):", " c = 0", f" w = {meter}", " try:"]
        tail = [" except Budget: return over_budget(limit)"]
        last = "\n".join((*head, *writer.function.lines, *tail))
        texts = [
            "\n".join((f"def {function.name}({', '.join(function.parameters)}):", *function.lines))
            for function in self.functions
        ]
        return [f"{text}\n" for text in (*texts, last)], self.constants.values

    def node(self, node: p.Node) -> Walk[Val]:
        writer = self.writer
        if not isinstance(node, p.Const) and (
            writer.indent > MAX_INDENT or writer.loops > MAX_LOOPS or len(writer.function.lines) > MAX_LINES
        ):
            return self.outlined(node)
        match node:
            case p.Const():
                return finished(self.constant(node.value))
            case p.Attribute():
                return self.attribute(node)
            case p.Logic():
                return self._logic(node)
            case p.Equality():
                return self.equality(node)
            case p.Invoke():
                return self.invoke(node)
            case p.NotFalse():
                return self._not_false(node)
            case p.OptionalElse():
                return self._optional_else(node)
            case p.Membership():
                return self._membership(node)
            case p.MakeList():
                return self._make_list(node)
            case p.MakeMap():
                return self._make_map(node)
            case p.Fold():
                return self.fold(node)
            case p.Block():
                return self._block(node)

    def _not_false(self, node: p.NotFalse) -> Walk[Val]:
        arg = yield self.node(node.arg)
        self.writer.charge(node.cost)
        return Val(f"({arg.code} is not False)", "bool", fails=False)

    def _block(self, node: p.Block) -> Walk[Val]:
        for slot, part in node.slots:
            yield self.deferred(slot, part)
        result: Val = yield self.node(node.result)
        return result

    def constant(self, value: Value) -> Val:
        if value is True or value is False or value is None:
            return Val(repr(value), "bool" if value is not None else None, fails=False, constant=True)
        return Val(self.constants.add(value), _CONSTANT_KINDS.get(type(value)), fails=False, constant=True)

    def expected(self, node_id: int) -> str | None:
        """The Python class that the checked type leads to expect."""
        checked = self.types.get(node_id)
        return KIND_CLASSES.get(checked.kind) if checked is not None else None

    # --- functions of their own

    def _parameters(self) -> tuple[str, ...]:
        return ("v", "limit", "c", "w", *self.scope)

    def _arguments(self) -> str:
        """What a function of the program is called with."""
        return ", ".join(("v", "limit", "c", self.writer.meter, *self.scope))

    def function_of(self, node: p.Node) -> Walk[str]:
        """A function that evaluates the node and gives its value and the cost so far; its name."""
        outer = self.writer
        function = Function(f"f{len(self.functions)}", self._parameters(), [])
        self.functions.append(function)
        self.writer = Writer(function, self.budget)
        result = yield self.node(node)
        self.writer.flush()
        self.writer.line(f"return {result.code}, c")
        self.writer = outer
        # What it calls was added after it: Python needs no order, as all of them are defined before any runs.
        return function.name

    def outlined(self, node: p.Node) -> Walk[Val]:
        name = yield self.function_of(node)
        self.writer.flush()
        target = self.writer.temporary()
        self.writer.line(f"{target}, c = {name}({self._arguments()})")
        return Val(target)

    def deferred(self, slot: int, node: p.Node) -> Walk[None]:
        """A slot that is filled when it is first read. It is a cell, as functions may read it too."""
        name = yield self.function_of(node)
        self.writer.line(f"s{slot} = [UNSET]")
        self.lazy[slot] = f"{name}({self._arguments()})"
        self.scope.append(f"s{slot}")

    # --- operators

    def _logic(self, node: p.Logic) -> Walk[Val]:
        """The first decisive operand decides; otherwise the first error, otherwise the opposite."""
        writer = self.writer
        target = writer.temporary()
        decisive = repr(node.decisive)
        first, *rest = node.terms
        value = yield self.node(first)
        certain = value.kind == "bool" and not value.fails
        current = value.code
        if not current.isidentifier():
            current = writer.temporary()
            writer.line(f"{current} = {value.code}")
        depth = 0
        errors = None if certain else current  # the first error so far, if this is not a bool
        for term in rest:
            with_block = writer.block(f"if {current} is {decisive}:")
            with with_block:
                writer.line(f"{target} = {decisive}")
            writer.line("else:")
            writer.indent += 1
            depth += 1
            value = yield self.node(term)
            code = value.code
            if not code.isidentifier():
                code = writer.temporary()
                writer.line(f"{code} = {value.code}")
            sure = value.kind == "bool" and not value.fails
            if errors is None and sure:
                current = code
                continue
            merged = writer.temporary()
            opposite = repr(not node.decisive)
            own = code if sure else f"({code} if {code}.__class__ is bool else bool_error({code}))"
            if errors is None:
                writer.line(f"{merged} = {own}")
            else:
                writer.line(
                    f"{merged} = {decisive} if {code} is {decisive} else "
                    f"{own} if {errors} is {opposite} else bool_error({errors})"
                )
            certain = False
            current = errors = merged
        writer.line(f"{target} = {current}")
        for _ in range(depth):
            writer.flush()
            writer.indent -= 1
        writer.joined()
        return Val(target, "bool", fails=not certain)

    def _optional_else(self, node: p.OptionalElse) -> Walk[Val]:
        writer = self.writer
        left = yield self.node(node.left)
        name = self.named(left)
        target = writer.temporary()
        with writer.block(f"if {name}.__class__ is not Optional:"):
            writer.line(f"{target} = bool_error({name})")
        with writer.block(f"elif {name}.present:"):
            writer.line(f"{target} = {name}{'.content' if node.unwrap else ''}")
        with writer.block("else:"):
            right = yield self.node(node.right)
            writer.line(f"{target} = {right.code}")
        writer.joined()
        return Val(target)

    def _membership(self, node: p.Membership) -> Walk[Val]:
        writer = self.writer
        arg = self.named((yield self.node(node.arg)))
        target = writer.temporary()
        members = self.constants.add(node)
        texts = self.constants.add(node.others)
        writer.line(
            f"{target} = {arg} in {texts} if {arg}.__class__ is str else "
            f"{arg} if {arg}.__class__ is E else is_member({members}, {arg})"
        )
        return Val(target, "bool")

    def named(self, value: Val) -> str:
        """The value under a name, so that it can be used more than once."""
        if value.code.isidentifier() and value.code not in {"True", "False", "None"}:  # Python warns of True["x"]
            return value.code
        name = self.writer.temporary()
        self.writer.line(f"{name} = {value.code}")
        return name

    # --- aggregates

    def _spend_literal(self, size: int) -> None:
        if size > FREE_LITERAL:
            self.writer.spend(size)

    def _make_list(self, node: p.MakeList) -> Walk[Val]:
        """Elements in order; the first error ends it, and the list is charged for all the same."""
        writer = self.writer
        self._spend_literal(len(node.elements))
        if not node.elements:
            writer.charge(LIST)
            target = writer.temporary()
            writer.line(f"{target} = []")
            return Val(target, "list", fails=False)
        parts: list[str] = []
        target = writer.temporary()
        depth = 0
        fails = False
        for index, element in enumerate(node.elements):
            value = yield self.node(element)
            code = self.named(value)
            if index in node.optional:
                opened = writer.temporary()
                writer.line(f"{opened} = {code} if {code}.__class__ is E else optional_element({code})")
                code = opened
            if value.fails or index in node.optional:
                fails = True
                with writer.block(f"if {code}.__class__ is E:"):
                    writer.charge(LIST)
                    writer.line(f"{target} = {code}")
                writer.line("else:")
                writer.indent += 1
                depth += 1
            parts.append(f"*(() if {code} is MISSING else ({code},))" if index in node.optional else code)
            if writer.indent > MAX_INDENT and index + 1 < len(node.elements):
                rest = p.MakeList(node.id, node.elements[index + 1 :], _shifted(node.optional, index + 1))
                tail = self.named((yield self.outlined(rest)))  # charges for the list
                writer.line(f"{target} = {tail} if {tail}.__class__ is E else [{', '.join(parts)}, *{tail}]")
                break
        else:
            writer.charge(LIST)
            writer.line(f"{target} = [{', '.join(parts)}]")
        for _ in range(depth):
            writer.flush()
            writer.indent -= 1
        if depth:
            writer.joined()
        return Val(target, "list", fails=fails)

    def _make_map(self, node: p.MakeMap) -> Walk[Val]:
        """Entries in order; the first error ends it. Keys that are texts and constant need no check at run time."""
        writer = self.writer
        self._spend_literal(len(node.keys))
        target = writer.temporary()
        entries = writer.temporary()
        failed = writer.temporary()
        writer.line(f"{entries} = []")
        writer.line(f"{failed} = None")
        for index, (key_node, value_node) in enumerate(zip(node.keys, node.values, strict=True)):
            writer.flush()
            with writer.block(f"if {failed} is None:"):
                key = self.named((yield self.node(key_node)))
                with writer.block(f"if {key}.__class__ is E:"):
                    writer.line(f"{failed} = {key}")
                with writer.block("else:"):
                    value = self.named((yield self.node(value_node)))
                    if index in node.optional:
                        opened = writer.temporary()
                        writer.line(f"{opened} = {value} if {value}.__class__ is E else optional_entry({key}, {value})")
                        value = opened
                    writer.flush()
                    writer.line(f"if {value}.__class__ is E: {failed} = {value}")
                    writer.line(f"elif {value} is not MISSING: {entries}.append(({key}, {value}))")
                writer.joined()
            writer.joined()
        writer.charge(node.charge)
        made = (
            f"new_map({entries})"
            if node.message is None
            else f"new_message({self.constants.add(node)}, {writer.meter}, {entries})"
        )
        writer.line(f"{target} = {made} if {failed} is None else {failed}")
        return Val(target)


def _shifted(indexes: frozenset[int], by: int) -> frozenset[int]:
    return frozenset(index - by for index in indexes if index >= by)
