"""From a tree to a plan: what cel-go does when it makes a program, including constant folding where it is asked for.

Checked trees bring the meaning of every name; for unchecked ones names are resolved here as far as possible and at run
time for the rest. Called by program.py and by the interpreter's users; does not evaluate anything but constants.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.cel.checking.types import Kind
from muster.cel.costs.compile_budget import WORK_PER_UNIT, CompileBudget, limited
from muster.cel.costs.runtime import SELECT
from muster.cel.libraries.patterns import compiled_ahead
from muster.cel.running import plan as p
from muster.cel.running.dispatch import SINGLETONS, Invocation, call_safely
from muster.cel.syntax.tree import (
    Call,
    CheckedTree,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Reference,
    Select,
    StructExpr,
    Tree,
)
from muster.cel.syntax.walking import Walk, finished, run
from muster.cel.values import make_map
from muster.cel.values.go_types import go_type
from muster.cel.values.messages import MESSAGES
from muster.errors import EvaluationError, InvalidExpressionError
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from muster.cel.checking.types import Type
    from muster.cel.costs.charging import Charging
    from muster.cel.environment import Env
    from muster.cel.values.messages import Message
    from muster.cel.values.value import Value
    from muster.source import Source

_CONVERSIONS = frozenset({"bool", "bytes", "double", "dyn", "duration", "int", "string", "timestamp", "type", "uint"})
_NOT_FALSE = frozenset({"@not_strictly_false", "__not_strictly_false__"})
_INDEXES = {"_[_]": False, "_?._": True, "_[?_]": True}
# Functions whose constant pattern is compiled when the program is made, and the prefix their errors have otherwise.
_PATTERN_FUNCTIONS = {"matches": "", "find": "Illegal regex: ", "findAll": "Illegal regex: "}
_WITH_PATTERN = frozenset({*_PATTERN_FUNCTIONS, "regex.extract", "regex.extractAll", "regex.replace"})
# Two-argument overloads that cel-go binds as functions of many arguments: they stop at the first error.
_VARIADIC = frozenset({"string_format"})
# Functions of several overloads that cel-go binds once, with two arguments: both are evaluated.
_BINARY = frozenset({"@sortByAssociatedKeys"})
_KEYS = (str, int, bool, float)


class InvalidProgramError(InvalidExpressionError):
    """A well-typed expression that cannot become a program, because a constant in it is wrong."""

    def __init__(self, source: Source, message: str, offset: int | None = None) -> None:
        self.message = message
        super().__init__(source, [Diagnostic(message, offset)])

    def __str__(self) -> str:
        return self.message


def candidate_names(container: str, abbreviations: Mapping[str, str], name: str) -> tuple[str, ...]:
    """The names that `name` may mean inside the container, most specific first."""
    if name.startswith("."):
        return (name[1:],)
    head, dot, rest = name.partition(".")
    if head in abbreviations:
        return (abbreviations[head] + dot + rest,)
    parts = container.split(".") if container else []
    return tuple(".".join([*parts[:count], name]) for count in range(len(parts), -1, -1))


def plan(
    tree: Tree | CheckedTree,
    env: Env,
    charging: Charging,
    optimize: bool = False,
    lenient: bool = False,
    budget: CompileBudget | None = None,
) -> p.Plan:
    """The plan of a tree. Raises InvalidProgramError when a constant is wrong.

    With `optimize` constants are folded, as Kubernetes does; with `lenient` one that cannot be folded is left to fail
    when it is evaluated, if it ever is.
    """
    budget = budget or CompileBudget()
    if isinstance(tree, CheckedTree):
        planner = _Planner(tree.tree, tree.types, tree.references, env, charging, optimize, lenient, budget)
    else:
        planner = _Planner(tree, {}, {}, env, charging, optimize, lenient, budget)
    with limited(budget, planner.tree.source):
        node = run(planner.node(planner.tree.expr))
    return p.Plan(node, planner.slot_count)


class _Planner:
    """The walk; its only state beside the tree is which names are local, and in which slot."""

    def __init__(
        self,
        tree: Tree,
        types: Mapping[int, Type],
        references: Mapping[int, Reference],
        env: Env,
        charging: Charging,
        optimize: bool,
        lenient: bool,
        budget: CompileBudget,
    ) -> None:
        self.tree = tree
        self.types = types
        self.references = references
        self.env = env
        self.charging = charging
        self.optimize = optimize
        self.lenient = lenient
        self.budget = budget
        self.strict = env.options.error_on_bad_presence_test
        self.slot_count = 0
        self.locals: dict[str, list[int]] = {}

    def node(self, expr: Expr) -> Walk[p.Node]:
        match expr:
            case Literal():
                return finished(p.Const(expr.id, expr.value))
            case Ident():
                return finished(self._ident(expr))
            case Select():
                return self._select(expr)
            case Call():
                return self._call(expr)
            case ListExpr():
                return self._list(expr)
            case MapExpr():
                return self._map(expr)
            case StructExpr():
                return self._message(expr)
            case Comprehension():
                return self._comprehension(expr)

    def _nodes(self, exprs: Iterable[Expr]) -> Walk[tuple[p.Node, ...]]:
        nodes: list[p.Node] = []
        for expr in exprs:
            node: p.Node = yield self.node(expr)
            nodes += [node]
        return tuple(nodes)

    def _invalid(self, message: str, node_id: int) -> InvalidProgramError:
        return InvalidProgramError(self.tree.source, message, self.tree.offsets.get(node_id))

    # --- names

    def _ident(self, expr: Ident) -> p.Node:
        reference = self.references.get(expr.id)
        if expr.name in self.locals and (reference is None or reference.name == expr.name):
            return p.Attribute(expr.id, p.Local(expr.id, self.locals[expr.name][-1], expr.name), (), SELECT)
        if reference is not None:
            return self._resolved(expr.id, reference)
        return p.Attribute(expr.id, p.Variable(expr.id, (self._alternative(expr.name),)), (), SELECT)

    def _alternative(self, name: str) -> p.Alternative:
        names = candidate_names(self.env.container, self.env.abbreviations, name)
        return p.Alternative(names, 0, name.startswith("."))

    def _resolved(self, node_id: int, reference: Reference) -> p.Node:
        if reference.is_constant:
            return p.Const(node_id, reference.value)
        name = reference.name.removeprefix(".")
        checked = self.types.get(node_id)
        if checked is not None and checked.kind is Kind.TYPE and name in self.env.constants:
            return p.Const(node_id, self.env.constants[name].value)
        if checked is not None and checked.kind is Kind.TYPE and name in MESSAGES and name not in self.env.variables:
            raise self._invalid(f"reference to undefined type: {name}", node_id)
        if name in self.locals and not reference.name.startswith("."):
            return p.Attribute(node_id, p.Local(node_id, self.locals[name][-1], name), (), SELECT)
        alternative = p.Alternative((name,), 0, reference.name.startswith("."))
        return p.Attribute(node_id, p.Variable(node_id, (alternative,)), (), SELECT)

    def _select(self, expr: Select) -> Walk[p.Node]:
        reference = self.references.get(expr.id)
        if reference is not None and not reference.overload_ids:
            return self._resolved(expr.id, reference)
        charge = self.charging.presence_test if expr.test_only else SELECT
        operand = yield self.node(expr.operand)
        return self._extended(
            operand, p.Qualifier(expr.id, expr.field, presence=expr.test_only, strict=self.strict), charge
        )

    def _extended(self, operand: p.Node, step: p.Qualifier, charge: int = SELECT) -> p.Attribute:
        """The operand with one more step behind it; whatever is no attribute becomes the root of one."""
        if not isinstance(operand, p.Attribute):
            return p.Attribute(step.id, p.Operand(operand.id, operand), (step,), charge)
        root = operand.root
        if isinstance(root, p.Variable) and not self.references:
            root = self._longer_names(root, operand.qualifiers, step)
        if isinstance(root, p.Choice):
            charge -= SELECT  # below zero for has() where that is free: cel-go gives back what it never took
        return p.Attribute(step.id, root, (*operand.qualifiers, step), charge)

    def _longer_names(self, root: p.Variable, before: tuple[p.Qualifier, ...], step: p.Qualifier) -> p.Variable:
        """`a.b` may be the variable `a.b` before it is field b of `a`: the longest name wins."""
        longest = root.alternatives[0]
        if not isinstance(step.key, str) or step.dynamic is not None or longest.consumed != len(before):
            return root
        longer = p.Alternative(
            tuple(f"{name}.{step.key}" for name in longest.names), longest.consumed + 1, longest.global_only
        )
        return p.Variable(root.id, (longer, *root.alternatives))

    # --- calls

    def _call(self, expr: Call) -> Walk[p.Node]:
        target, function, overload_id = self._resolve_function(expr)
        operands = expr.args if target is None else (target, *expr.args)
        if function == "cel.@block":
            return (yield from self._block(expr))
        args = yield self._nodes(operands)
        match function:
            case "_&&_" | "_||_":
                return p.Logic(expr.id, args, decisive=function == "_||_")
            case "_?_:_":
                condition, truthy, falsy = args
                choice = p.Choice(expr.id, condition, _uncharged(truthy), _uncharged(falsy))
                return p.Attribute(expr.id, choice, (), 0)
            case "_==_" | "_!=_":
                overload = "equals" if function == "_==_" else "not_equals"
                cost = self.charging.price(self.env.functions.get(function), overload)
                return p.Equality(expr.id, args[0], args[1], function == "_!=_", cost)
        if function in _INDEXES:
            return self._extended(args[0], self._index(expr, args[1], _INDEXES[function]))
        if function in _NOT_FALSE:
            return p.NotFalse(expr.id, args[0], 1)
        if function in {"or", "orValue"} and len(args) == 2 and overload_id in _OPTIONAL_ELSE:
            return p.OptionalElse(expr.id, args[0], args[1], unwrap=function == "orValue")
        return self._optimized(self._invoke(expr, function, overload_id, args))

    def _resolve_function(self, expr: Call) -> tuple[Expr | None, str, str]:
        """The receiver (if it is one), the function's full name, and its overload id if there is only one."""
        reference = self.references.get(expr.id)
        if reference is not None:
            only = reference.overload_ids[0] if len(reference.overload_ids) == 1 else ""
            return expr.target, expr.function, only
        if expr.target is None:
            return None, self._known_function(expr.function) or expr.function.removeprefix("."), ""
        prefix = self._qualified_name(expr.target)
        qualified = self._known_function(f"{prefix}.{expr.function}") if prefix else None
        return (None, qualified, "") if qualified else (expr.target, expr.function, "")

    def _known_function(self, name: str) -> str | None:
        names = candidate_names(self.env.container, self.env.abbreviations, name)
        return next((candidate for candidate in names if candidate in self.env.functions), None)

    def _qualified_name(self, expr: Expr) -> str:
        match expr:
            case Ident() if expr.id not in self.references:
                return expr.name
            case Select(test_only=False) if expr.id not in self.references:
                prefix = self._qualified_name(expr.operand)
                return f"{prefix}.{expr.field}" if prefix else ""
            case _:
                return ""

    def _index(self, expr: Call, index: p.Node, optional: bool) -> p.Qualifier:
        if isinstance(index, p.Const):
            if not isinstance(index.value, _KEYS):
                raise self._invalid(f"invalid qualifier type: {go_type(index.value)}", expr.id)
            return p.Qualifier(expr.id, index.value, optional=optional, strict=self.strict)
        return p.Qualifier(
            expr.id, None, dynamic=_uncharged(index), optional=optional, strict=self.strict, native=_is_input(index)
        )

    def _invoke(self, expr: Call, function: str, overload_id: str, args: tuple[p.Node, ...]) -> p.Invoke:
        declared = self.env.functions.get(function)
        overloads = declared.overloads if declared is not None else ()
        if not overloads and not args:
            raise self._invalid(f"no such overload: {function}()", expr.id)
        bound = tuple(overload for overload in overloads if overload.impl is not None)
        one = next((overload for overload in bound if overload.id == overload_id), None)
        if one is not None and function not in SINGLETONS:
            until_error = len(args) > 2 or overload_id in _VARIADIC
            invocation = Invocation(function, overload_id, (one,), until_error)
        else:
            several = function not in SINGLETONS and function not in _BINARY and len(bound) > 1
            invocation = Invocation(function, overload_id, bound, until_error=len(args) > 2 or several)
        return p.Invoke(expr.id, invocation, args, self.charging.price(declared, overload_id))

    # --- aggregates and comprehensions

    def _list(self, expr: ListExpr) -> Walk[p.Node]:
        elements = yield self._nodes(expr.elements)
        if self.optimize and not expr.optional_indices and all(isinstance(element, p.Const) for element in elements):
            return p.Const(expr.id, [element.value for element in elements if isinstance(element, p.Const)])
        return p.MakeList(expr.id, elements, expr.optional_indices)

    def _map(self, expr: MapExpr) -> Walk[p.Node]:
        keys = yield self._nodes(entry.key for entry in expr.entries)
        values = yield self._nodes(entry.value for entry in expr.entries)
        optional = frozenset(index for index, entry in enumerate(expr.entries) if entry.optional)
        if self.optimize and not optional and all(isinstance(node, p.Const) for node in (*keys, *values)):
            pairs = [
                (key.value, value.value)
                for key, value in zip(keys, values, strict=True)
                if isinstance(key, p.Const) and isinstance(value, p.Const)
            ]
            made = call_safely(make_map, (pairs,))
            if not isinstance(made, EvaluationError):
                return p.Const(expr.id, made)
        return p.MakeMap(expr.id, keys, values, optional)

    def _message(self, expr: StructExpr) -> Walk[p.Node]:
        message = self._known_message(expr.name)
        if message is None:
            raise self._invalid(f"unknown type: {expr.name}", expr.id)
        values = yield self._nodes(field.value for field in expr.fields)
        keys = tuple(p.Const(field.id, field.field) for field in expr.fields)
        optional = frozenset(index for index, field in enumerate(expr.fields) if field.optional)
        return p.MakeMap(expr.id, keys, values, optional, message)

    def _known_message(self, name: str) -> Message | None:
        names = candidate_names(self.env.container, self.env.abbreviations, name)
        return next((MESSAGES[candidate] for candidate in names if candidate in MESSAGES), None)

    def _comprehension(self, expr: Comprehension) -> Walk[p.Fold]:
        init = yield self.node(expr.accu_init)
        iter_range = yield self.node(expr.iter_range)
        grows = _is_empty(init)
        accumulator = self._push(expr.accu_var)
        first = self._push(expr.iter_var)
        second = self._push(expr.iter_var2) if expr.iter_var2 else None
        condition = yield self.node(expr.loop_condition)
        step = yield self.node(expr.loop_step)
        self._pop(expr.iter_var)
        if expr.iter_var2:
            self._pop(expr.iter_var2)
        result = yield self.node(expr.result)
        self._pop(expr.accu_var)
        return p.Fold(expr.id, iter_range, first, second, accumulator, init, condition, step, result, grows=grows)

    def _push(self, name: str) -> int:
        slot = self.slot_count
        self.slot_count += 1
        self.locals.setdefault(name, []).append(slot)
        return slot

    def _pop(self, name: str) -> None:
        self.locals[name].pop()
        if not self.locals[name]:
            del self.locals[name]

    def _block(self, expr: Call) -> Walk[p.Node]:
        listing, body = expr.args
        if not isinstance(listing, ListExpr):
            raise self._invalid("cel.@block expects a list constructor as the first argument", expr.id)
        names = [f"@index{index}" for index in range(len(listing.elements))]
        slots = [self._push(name) for name in names]
        nodes = yield self._nodes(listing.elements)
        result = yield self.node(body)
        for name in names:
            self._pop(name)
        return p.Block(expr.id, tuple(zip(slots, nodes, strict=True)), result)

    # --- constant folding

    def _optimized(self, call: p.Invoke) -> p.Node:
        function = call.invocation.function
        call = self._with_pattern(call)
        if not self.optimize:
            return call
        if call.invocation.overload_id == "in_list" and isinstance(call.args[1], p.Const):
            return self._membership(call, call.args[1].value)
        if function in _CONVERSIONS and len(call.args) == 1 and isinstance(call.args[0], p.Const):
            meter = self.budget.meter()
            value = call.invocation(meter, (call.args[0].value,))
            self.budget.settle(meter)
            if not isinstance(value, EvaluationError):
                return p.Const(call.id, value)
            if not self.lenient:
                raise self._invalid(str(value), call.id)
        return call

    def _with_pattern(self, call: p.Invoke) -> p.Invoke:
        """A constant pattern is compiled now, so that a wrong one is found now."""
        function = call.invocation.function
        self._charge_pattern(call)
        prefix = _PATTERN_FUNCTIONS.get(function)
        if prefix is None or len(call.args) < 2 or (function == "matches" and (self.lenient or not self.optimize)):
            return call
        pattern = call.args[1]
        if not isinstance(pattern, p.Const) or not isinstance(pattern.value, str):
            return call
        known = next((overload for overload in call.invocation.overloads if len(overload.args) >= 2), None)
        if known is not None and known.impl is not None:
            tried = call_safely(known.impl, (self.budget.meter(), "", pattern.value))
            if isinstance(tried, EvaluationError):
                raise self._invalid(str(tried).removeprefix(prefix), call.id)
        bound = call.invocation
        eager = Invocation(bound.function, bound.overload_id, bound.overloads, until_error=True, terse=True)
        return p.Invoke(call.id, eager, call.args, call.cost)

    def _charge_pattern(self, call: p.Invoke) -> None:
        """A constant pattern is compiled now whatever becomes of it, so that it is paid for here and not when run."""
        if call.invocation.function in _WITH_PATTERN and len(call.args) >= 2:
            pattern = call.args[1]
            if isinstance(pattern, p.Const) and isinstance(pattern.value, str):
                self.budget.spend(compiled_ahead(self.budget.meter(), pattern.value) // WORK_PER_UNIT + 1)

    def _membership(self, call: p.Invoke, values: list[Value]) -> p.Node:
        if not values:
            return p.Const(call.id, value=False)
        if not all(isinstance(value, _KEYS) for value in values):
            return call
        bools = frozenset(value for value in values if isinstance(value, bool))
        numbers = frozenset(
            value for value in values if isinstance(value, (int, float)) and not isinstance(value, bool)
        )
        others = frozenset(value for value in values if isinstance(value, str))
        return p.Membership(call.id, call.args[0], numbers, others, bools)


_OPTIONAL_ELSE = frozenset({"", "optional_or_optional", "optional_orValue_value"})


def _is_input(node: p.Node) -> bool:
    """Whether the value is a variable or a part of one: cel-go then sees what it was handed, not a value of its own."""
    match node:
        case p.Attribute(root=p.Variable()):
            return True
        case p.Attribute(root=p.Choice(truthy=truthy, falsy=falsy), qualifiers=()):
            return _is_input(truthy) and _is_input(falsy)
        case _:
            return False


def _uncharged(node: p.Node) -> p.Node:
    """In a branch or an index, cel-go resolves an attribute without charging for its root."""
    if isinstance(node, p.Attribute):
        return p.Attribute(node.id, node.root, node.qualifiers, 0)
    return node


def _is_empty(node: p.Node) -> bool:
    match node:
        case p.Const(value=[] | {}):
            return True
        case p.MakeList(elements=()) | p.MakeMap(keys=(), message=None):
            return True
        case _:
            return False
