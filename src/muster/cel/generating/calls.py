"""Calls in generated code: Python's own operators where the classes fit, the implementation otherwise."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from muster.cel.checking.types import Kind
from muster.cel.costs.meter import PARSING, PARSING_UNITS, new_meter
from muster.cel.costs.runtime import EQUALITY, LIST
from muster.cel.generating.comparisons import ComparisonWriter, is_small, is_surely
from muster.cel.generating.memos import MEMO_TEXT, QUICK_TEXT, Question, costs_by_length, memo_of, quick_of
from muster.cel.generating.support import call
from muster.cel.generating.writer import Val
from muster.cel.running import plan as p
from muster.cel.values import type_of
from muster.errors import BudgetExceededError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.compile_budget import CompileBudget
    from muster.cel.costs.meter import Meter
    from muster.cel.declarations import Overload
    from muster.cel.syntax.walking import Walk
    from muster.cel.values.value import Value

MAX_FOLDED = 100  # calls of constants that cost more are left to run time
MAX_FOLDING = 10_000  # and so are those that take more work
_BIG = 256  # characters or elements; less is not counted as work


class Template(NamedTuple):
    """A call in Python, for operands of the given classes. `checked` results must fit into 64 bits."""

    classes: tuple[str, ...]
    code: str
    kind: str
    checked: bool = False


def _relations() -> dict[str, Template]:
    operators = {"less": "<", "less_equals": "<=", "greater": ">", "greater_equals": ">="}
    return {
        f"{name}_{suffix}": Template((kind, kind), f"{{0}} {operator} {{1}}", "bool")
        for name, operator in operators.items()
        for suffix, kind in (("int64", "int"), ("string", "str"))
    }


TEMPLATES: dict[str, Template] = {
    "add_int64": Template(("int", "int"), "{0} + {1}", "int", checked=True),
    "subtract_int64": Template(("int", "int"), "{0} - {1}", "int", checked=True),
    "multiply_int64": Template(("int", "int"), "{0} * {1}", "int", checked=True),
    "add_string": Template(("str", "str"), "{0} + {1}", "str"),
    **_relations(),
    **dict.fromkeys(("size_string", "string_size"), Template(("str",), "len({0})", "int")),
    **dict.fromkeys(("size_list", "list_size"), Template(("list",), "len({0})", "int")),
    **dict.fromkeys(("size_map", "map_size"), Template(("dict",), "len({0})", "int")),
    "starts_with_string": Template(("str", "str"), "{0}.startswith({1})", "bool"),
    "ends_with_string": Template(("str", "str"), "{0}.endswith({1})", "bool"),
    "contains_string": Template(("str", "str"), "{1} in {0}", "bool"),
    "in_map": Template(("str", "dict"), "{0} in {1}", "bool"),
}
# Operators that give whatever their operands are, should those not be what was declared.
_VARYING = frozenset({"_+_", "_-_", "_*_", "_/_", "_%_", "-_"})
# Of the comparisons of dynamic values, those with a constant are worth writing out.
_DYNAMIC = {"_<_": "<", "_<=_": "<=", "_>_": ">", "_>=_": ">="}
# Functions that parse a text: their results for short texts are remembered, within bounds.
_REMEMBERED = frozenset(
    {"matches", "find", "semver", "isSemver", "quantity", "isQuantity", "parseJSON", "url", "isURL", "ip", "isIP"}
    | {"cidr", "isCIDR", "timestamp", "duration"}
)
_ANYTHING = frozenset({Kind.DYN, Kind.ANY, Kind.TYPE_PARAM})
_NAMED = frozenset({Kind.OPAQUE, Kind.STRUCT, Kind.TIMESTAMP, Kind.DURATION})
_SCALARS = frozenset({Kind.BOOL, Kind.INT})
_SIZED = frozenset({Kind.STRING, Kind.BYTES, Kind.LIST, Kind.MAP})
_CLASSES = {Kind.BOOL: "bool", Kind.BYTES: "bytes", Kind.DOUBLE: "float", Kind.INT: "int", Kind.STRING: "str"}
_RESULT_KINDS = {Kind.BOOL: "bool", Kind.INT: "int", Kind.STRING: "str", Kind.DOUBLE: "float"}


class CallWriter(ComparisonWriter):
    """The part of the generator that writes calls."""

    growing: set[int]
    budget: CompileBudget
    types: Mapping[int, Type]

    if TYPE_CHECKING:

        def constant(self, value: Value) -> Val: ...

    def invoke(self, node: p.Invoke) -> Walk[Val]:
        function = node.invocation.function
        if all(isinstance(arg, p.Const) for arg in node.args):
            folded = self._folded(node)
            if folded is not None:
                return folded
        if function == "!_":
            return (yield from self._not(node))
        if self._is_growth(node):
            return (yield from self._growth(node))
        if node.invocation.until_error and len(node.args) > 1:
            return (yield from self._until_error(node))
        asked = self._asked(node)
        if asked is not None:
            read, question = asked
            varying: Val = yield self.node(read.args[0])
            return self._looked_up(node, read, question, self.named(varying))
        values: list[Val] = []
        for arg in node.args:
            value = yield self.node(arg)
            values.append(value if value.constant else Val(self.named(value), value.kind, value.fails))
        return self._called(node, values)

    def _until_error(self, node: p.Invoke) -> Walk[Val]:
        """Arguments one after the other; the first error is the result, and then the call costs nothing."""
        writer = self.writer
        target = writer.temporary()
        values: list[Val] = []
        depth = 0
        for index, arg in enumerate(node.args):
            value = yield self.node(arg)
            if not value.constant:
                value = Val(self.named(value), value.kind, value.fails)
            if value.fails and index + 1 < len(node.args):
                with writer.block(f"if {value.code}.__class__ is E:"):
                    writer.line(f"{target} = {value.code}")
                writer.line("else:")
                writer.indent += 1
                depth += 1
                value = Val(value.code, value.kind, fails=False)
            values.append(value)
        result = self._called(node, values)
        writer.line(f"{target} = {result.code}")
        for _ in range(depth):
            writer.flush()
            writer.indent -= 1
        if depth:
            writer.joined()
        return Val(target, result.kind, fails=result.fails or depth > 0)

    def _folded(self, node: p.Invoke) -> Val | None:
        """Functions are pure, so a call of constants is one; it costs what it costs, every time."""
        found = self._folding(node)
        if found is None:
            return None
        result, cost = found
        self.writer.charge(cost)
        value = self.constant(result)
        return Val(value.code, value.kind, fails=isinstance(result, Exception), constant=False)

    def _folding(self, node: p.Invoke) -> tuple[Value, int] | None:
        args = tuple(arg.value for arg in node.args if isinstance(arg, p.Const))
        meter = new_meter(MAX_FOLDING)
        try:
            return self._folded_within(node, args, meter)
        except BudgetExceededError:
            return None  # it is left to run time, where it is metered again
        finally:
            self.budget.settle(meter)

    def _folded_within(self, node: p.Invoke, args: tuple[Value, ...], meter: Meter) -> tuple[Value, int] | None:
        if not node.args or (not node.cost.needs_result and node.cost(meter, args, None) > MAX_FOLDED):
            return None
        if any(isinstance(arg, (list, dict)) for arg in args) or node.invocation.function in {"lists.range", "replace"}:
            return None
        result = node.invocation(meter, args)
        cost = node.cost(meter, args, result)
        if cost > MAX_FOLDED or isinstance(result, (list, dict)):
            return None
        return result, cost

    def _not(self, node: p.Invoke) -> Walk[Val]:
        writer = self.writer
        value = yield self.node(node.args[0])
        writer.charge(node.cost.fixed or 0)
        if value.kind == "bool" and not value.fails:
            return Val(f"(not {value.code})", "bool", fails=False)
        name = self.named(value)
        target = writer.temporary()
        writer.line(f"{target} = False if {name} is True else True if {name} is False else bool_error({name})")
        return Val(target, "bool")

    def _called(self, node: p.Invoke, values: list[Val]) -> Val:
        writer = self.writer
        overload = self._only_overload(node)
        template = TEMPLATES.get(node.invocation.overload_id) or self._dynamic_template(node, values)
        if self._is_remembered(node, overload):
            return self._looked_up(node, node, None, values[0].code)
        target = writer.temporary()
        kind: str | None = None
        if template is not None and len(template.classes) == len(values):
            guards = _guards(values, template.classes)
            if node.invocation.overload_id == "" and template.classes == ("int", "int"):
                # A dynamic number may as well be a double, such as all numbers in JSON; NaN has no order.
                names = [guard.partition(".")[0] for guard in guards]
                guards = [
                    f"({name}.__class__ is int or {name}.__class__ is float and {name} == {name})" for name in names
                ]
            if not guards and not template.checked and node.cost.fixed is not None:
                writer.charge(node.cost.fixed)
                writer.line(f"{target} = {template.code.format(*(value.code for value in values))}")
                return Val(target, template.kind, fails=False)
            with writer.block(f"if {' and '.join(guards) or 'True'}:"):
                self._templated(node, template, values, target)
            kind = None if node.invocation.function in _VARYING else template.kind
        else:
            return self._general(node, overload, values, target)
        with writer.block("else:"):
            self._slow_call(node, values, target)
        writer.joined()
        return Val(target, kind)

    def _templated(self, node: p.Invoke, template: Template, values: list[Val], target: str) -> None:
        writer = self.writer
        codes = [value.code for value in values]
        self._charge_before(node, codes)
        overload = self._only_overload(node)
        if overload is not None and overload.id == "add_string":
            self._spend_on_sizes(node, overload, values)
        writer.line(f"{target} = {template.code.format(*codes)}")
        if template.checked:
            invocation = self.constants.add(node.invocation)
            writer.line(f"if not -9223372036854775808 <= {target} <= 9223372036854775807:")
            writer.line(f" {target} = {invocation}({writer.meter}, ({', '.join(codes)},))")

    def _general(self, node: p.Invoke, overload: Overload | None, values: list[Val], target: str) -> Val:
        """The implementation itself where the classes of all arguments are right, otherwise the slow way."""
        writer = self.writer
        if overload is None or overload.impl is None or len(overload.args) != len(values):
            self._slow_call(node, values, target)
            return Val(target)
        kind = None if node.invocation.function in _VARYING else _result_kind(overload)
        guards = self._argument_guards(node, overload, values)
        if guards is None:
            self._slow_call(node, values, target)
            return Val(target, kind)
        implementation = self.constants.add(overload.impl)
        codes = [value.code for value in values]
        with writer.block(f"if {' and '.join(guards) or 'True'}:"):
            self._spend_on_parsing(node)
            self._spend_on_sizes(node, overload, values)
            if not node.cost.needs_result:
                self._charge_before(node, codes)
            arguments = (writer.meter, *codes) if overload.metered else codes
            writer.line(f"try: {target} = {implementation}({', '.join(arguments)})")
            writer.line(f"except E: {target} = failed()")
            if node.cost.needs_result:
                price = f"{self.constants.add(node.cost)}({writer.meter}, ({', '.join(codes)},), {target})"
                writer.charge_now(node.cost.inline.format(*codes, result=target, otherwise=price) or price)
        with writer.block("else:"):
            self._slow_call(node, values, target)
        writer.joined()
        return Val(target, kind)

    def _argument_guards(self, node: p.Invoke, overload: Overload, values: list[Val]) -> list[str] | None:
        """What has to be true for the implementation to be called directly; None when that cannot be told quickly."""
        guards: list[str] = []
        for arg, value, wanted in zip(node.args, values, overload.args, strict=True):
            kind = _class_of(wanted.kind)
            if kind is not None:
                if not is_surely(value, kind):
                    guards.append(f"{value.code}.__class__ is {kind}")
            elif wanted.kind in _ANYTHING or (wanted.kind in _NAMED and self.types.get(arg.id) == wanted):
                if value.fails:
                    guards.append(f"{value.code}.__class__ is not E")
            elif wanted.kind in {Kind.LIST, Kind.MAP} and all(param.kind in _ANYTHING for param in wanted.params):
                guards.append(f"{value.code}.__class__ is {'list' if wanted.kind is Kind.LIST else 'dict'}")
            else:
                return None
        return guards

    def _charge_before(self, node: p.Invoke, codes: list[str]) -> None:
        writer = self.writer
        price = node.cost
        if price.fixed is not None:
            writer.charge(price.fixed)
        elif price is EQUALITY:
            writer.line(f"n = len({codes[0]})")
            writer.line(f"if len({codes[1]}) < n: n = len({codes[1]})")
            writer.charge_now("ceil(n * 0.1)")
        elif price.inline:
            writer.charge_now(price.inline.format(*codes))
        else:
            writer.charge_now(f"{self.constants.add(price)}({writer.meter}, ({', '.join(codes)},), None)")

    def _spend_on_parsing(self, node: p.Invoke) -> None:
        """Only in loops: outside of them the length of the expression bounds how many calls there are."""
        if self.writer.loops and node.invocation.function in PARSING:
            self.writer.spend(PARSING_UNITS)

    def _spend_on_sizes(self, node: p.Invoke, overload: Overload, values: list[Val]) -> None:
        sizes = [
            f"len({value.code})"
            for value, wanted in zip(values, overload.args, strict=True)
            if wanted.kind in _SIZED and not value.constant
        ]
        if sizes:
            function = self.constants.add(node.invocation.function)
            codes = ", ".join(value.code for value in values)
            spend = f"spend_on_call({self.writer.meter}, {function}, ({codes},))"
            self.writer.line(f"if {' + '.join(sizes)} > {_BIG}: {spend}")

    def _slow_call(self, node: p.Invoke, values: list[Val], target: str) -> None:
        writer = self.writer
        calling = self.constants.add(partial(call, node.invocation, node.cost, writer.taken()))
        codes = ", ".join(["c", "limit", writer.meter, *[value.code for value in values]])
        writer.line(f"{target}, c = {calling}({codes})")

    def _only_overload(self, node: p.Invoke) -> Overload | None:
        wanted = node.invocation.overload_id
        return next((overload for overload in node.invocation.overloads if overload.id == wanted), None)

    def _dynamic_template(self, node: p.Invoke, values: list[Val]) -> Template | None:
        operator = _DYNAMIC.get(node.invocation.function)
        if operator is None or node.cost.fixed is None:
            return None
        kind = next((value.kind for value in values if value.constant), None)
        if kind == "int" and not any(is_small(arg) for arg in node.args):
            return None
        return Template((kind, kind), f"{{0}} {operator} {{1}}", "bool") if kind in {"int", "str"} else None

    # --- results that are remembered

    def _is_remembered(self, node: p.Invoke, overload: Overload | None) -> bool:
        """Whether the call parses a text that varies, and nothing else of it varies."""
        if overload is None or overload.impl is None or node.invocation.function not in _REMEMBERED:
            return False
        varying = [index for index, arg in enumerate(node.args) if not isinstance(arg, p.Const)]
        # A pattern that varies is not remembered: compiling it would not be counted.
        if varying != [0] or overload.args[0].kind is not Kind.STRING:
            return False
        return all(map(_fits_class, node.args, (wanted.kind for wanted in overload.args)))

    def _asked(self, node: p.Invoke) -> tuple[p.Invoke, Question] | None:
        """The call that parses and what is asked about its result, such as semver(x).isGreaterThan(semver("1.2.3"))."""
        overload = self._only_overload(node)
        if overload is None or overload.impl is None or overload.metered or overload.result.kind not in _SCALARS:
            return None
        first, *rest = node.args or (None,)
        if not isinstance(first, p.Invoke) or overload.args[0].kind not in _NAMED or node.cost.fixed is None:
            return None
        if node.invocation.until_error or self.types.get(first.id) != overload.args[0]:
            return None
        if len(overload.args) != len(node.args) or not self._is_remembered(first, self._only_overload(first)):
            return None
        constants: list[Value] = []
        cost = node.cost.fixed
        for arg, wanted in zip(rest, overload.args[1:], strict=True):
            known = self._known(arg)
            # Nothing whose length would be work, and no error, which has no type.
            if known is None or isinstance(known[0], Exception) or wanted.kind not in _NAMED:
                return None
            if type_of(known[0]) != wanted:
                return None
            constants.append(known[0])
            cost += known[1]
        return first, Question(overload, tuple(constants), cost)

    def _known(self, node: p.Node) -> tuple[Value, int] | None:
        """The value of a constant or of a call of constants, and its cost."""
        match node:
            case p.Const(value=value):
                return value, 0
            case p.Invoke(args=args) if all(isinstance(arg, p.Const) for arg in args):
                return self._folding(node)
            case _:
                return None

    def _looked_up(self, node: p.Invoke, read: p.Invoke, question: Question | None, text: str) -> Val:
        """A text in the memo of the call that reads it; with a question, `node` is what asks it."""
        writer = self.writer
        overload = self._only_overload(read)
        assert overload is not None  # noqa: S101 - see _is_remembered
        constants = [arg.value for arg in read.args[1:] if isinstance(arg, p.Const)]
        target = writer.temporary()
        is_text = f"{text}.__class__ is str and len({text})"
        asking, pending = "", 0  # what is asked where it is certain to be answered; what the cost has in it
        quick = quick_of(overload, read.cost, constants, question)
        if quick is not None:
            longest = min(quick.longest, QUICK_TEXT)
            pending, writer.pending = writer.pending, 0
            table = tuple([pending + cost for cost in costs_by_length(read.cost, constants, question, longest)])
            asked = quick.code.format(text, *map(self.constants.add, (quick.function, *quick.constants)))
            answered, cost = f"{target} is not None", f"{self.constants.add(table)}[len({text})]"
            if quick.where:
                answered, asking = f"{is_text} <= {longest} and {quick.where.format(text)}", f"{target} = {asked}"
            else:
                writer.line(f"{target} = {asked} if {is_text} <= {longest} else None")
        else:
            memo = memo_of(overload, read.cost, constants, question)
            pair = f"{self.constants.add(memo.known)}({text}) or {self.constants.add(memo.learn)}({text})"
            writer.line(f"{target}, n = {pair} if {is_text} < {MEMO_TEXT} else NOT_REMEMBERED")
            answered, cost = f"{target} is not TOO_MUCH", "n"
        with writer.block(f"if {answered}:"):
            if asking:
                writer.line(asking)
            self._spend_on_parsing(read)
            writer.charge_now(cost)
        writer.pending += pending
        with writer.block("else:"):
            self._slow_call(read, [Val(text), *map(self.constant, constants)], target)
            if question is not None:
                writer.charge(question.cost - (node.cost.fixed or 0))  # of its constants
                self._slow_call(node, [Val(target), *map(self.constant, question.constants)], target)
        writer.joined()
        return Val(target, _result_kind(self._only_overload(node)))

    # --- loops that collect

    def _is_growth(self, node: p.Invoke) -> bool:
        match node.invocation.function, node.args:
            case "_+_", (p.Attribute(root=p.Local(slot=slot), qualifiers=()), p.MakeList(optional=optional)):
                return slot in self.growing and not optional
            case "cel.@mapInsert", (p.Attribute(root=p.Local(slot=slot), qualifiers=()), *_):
                return slot in self.growing
            case _:
                return False

    def _growth(self, node: p.Invoke) -> Walk[Val]:
        """`accumulator + [elements]` and `@mapInsert(accumulator, …)`, in place; an earlier error stays."""
        writer = self.writer
        accumulator = yield self.node(node.args[0])
        name = accumulator.code
        more = node.args[1:]
        if node.invocation.function == "_+_":
            match more[0]:
                case p.MakeList(elements=(element,)):  # the list is charged for, and not made
                    added: Val = yield self.node(element)
                    writer.charge(LIST)
                    grow = "append"
                case several:
                    added = yield self.node(several)
                    grow = "extend"
            made = self.named(added)
            writer.charge(node.cost.fixed or 0)
            if added.fails:
                writer.line(f"if {made}.__class__ is E: {name} = {name} if {name}.__class__ is E else {made}")
            writer.line(f"{'el' if added.fails else ''}if {name}.__class__ is not E: {name}.{grow}({made})")
            return Val(name)
        target = writer.temporary()
        if node.invocation.until_error:
            writer.flush()
            writer.line(f"{target} = {name}")
            depth = 0
            codes: list[str] = []
            for arg in more:
                writer.flush()
                writer.line(f"if {target}.__class__ is not E:")
                writer.indent += 1
                depth += 1
                code = self.named((yield self.node(arg)))
                codes.append(code)
                if arg is not more[-1]:
                    writer.line(f"if {code}.__class__ is E: {target} = {code}")
            writer.charge(node.cost.fixed or 0)
            inserted = f"insert({writer.meter}, {name}, {', '.join(codes)})"
            writer.line(f"{target} = {codes[-1]} if {codes[-1]}.__class__ is E else {inserted}")
            for _ in range(depth):
                writer.flush()
                writer.indent -= 1
            return Val(target)
        code = self.named((yield self.node(more[0])))
        writer.charge(node.cost.fixed or 0)
        inserted = f"{code} if {code}.__class__ is E else insert({writer.meter}, {name}, {code})"
        writer.line(f"{target} = {name} if {name}.__class__ is E else {inserted}")
        return Val(target)


def _guards(values: list[Val], classes: tuple[str, ...]) -> list[str]:
    return [
        f"{value.code}.__class__ is {kind}"
        for value, kind in zip(values, classes, strict=True)
        if not is_surely(value, kind)
    ]


def _class_of(kind: Kind) -> str | None:
    return _CLASSES.get(kind)


def _result_kind(overload: Overload | None) -> str | None:
    return _RESULT_KINDS.get(overload.result.kind) if overload is not None else None


def _fits_class(arg: p.Node, kind: Kind) -> bool:
    if not isinstance(arg, p.Const):
        return True
    return type(arg.value).__name__ == _class_of(kind)
