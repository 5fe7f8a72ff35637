"""Tree -> CheckedTree: every node gets its type, every name its meaning, every call its overloads.

`check` is called after `parse`; `compile_expression` does both. Names are replaced by what they resolve to, so that
the back ends look nothing up. The rules, the overload ids and the words of the errors are cel-go's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from muster.cel.checking import types
from muster.cel.checking.names import Names, qualified_name
from muster.cel.checking.overloads import resolved
from muster.cel.checking.types import DYN, ERROR, Kind, Type
from muster.cel.checking.unification import Substitution, displayed, is_dyn, most_general, unwrapped_optional
from muster.cel.costs.compile_budget import CompileBudget, budget_of, limited
from muster.cel.environment import AN_ENVIRONMENT, Env
from muster.cel.syntax.nodes import reported
from muster.cel.syntax.parser import parse
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
from muster.cel.values import Uint
from muster.cel.values.messages import MESSAGES, instantiated
from muster.errors import InvalidExpressionError
from muster.source import Diagnostic
from muster.values.arguments import expected

if TYPE_CHECKING:
    from muster.cel.declarations import Function
    from muster.source import Source

_LITERALS: dict[type, Type] = {
    type(None): types.NULL,
    bool: types.BOOL,
    int: types.INT,
    Uint: types.UINT,
    float: types.DOUBLE,
    str: types.STRING,
    bytes: types.BYTES,
}


def compile_expression(text: str | Source, env: Env, budget: CompileBudget | None = None) -> CheckedTree:
    """Parse, check and validate. Raises InvalidExpressionError with all that the first failing stage found."""
    budget = budget_of(budget)
    return check(parse(text, env, budget), env, budget)


def check(tree: Tree, env: Env, budget: CompileBudget | None = None) -> CheckedTree:
    """The tree with types and references; the environment's validators have approved it."""
    expected(tree, Tree, "tree", "what parse gives")
    expected(env, Env, "env", AN_ENVIRONMENT)
    budget = budget_of(budget)
    with limited(budget, tree.source):
        return _checked(tree, env, budget)


def _checked(tree: Tree, env: Env, budget: CompileBudget) -> CheckedTree:
    checker = _Checker(tree, env, budget)
    expr = run(checker.walk(tree.expr))
    if checker.diagnostics:
        raise InvalidExpressionError(tree.source, reported(checker.diagnostics))
    checked = CheckedTree(
        tree if expr is tree.expr else Tree(tree.source, expr, tree.offsets, tree.macro_calls),
        checker.final_types(),
        checker.references,
    )
    problems = [problem for validator in env.validators for problem in validator(checked, env)]
    if problems:
        raise InvalidExpressionError(tree.source, reported(problems))
    return checked


class _Checker:
    """The state of one check. `walk` returns the node, rewritten where a name was resolved."""

    def __init__(self, tree: Tree, env: Env, budget: CompileBudget) -> None:
        self.diagnostics: list[Diagnostic] = []
        self.references: dict[int, Reference] = {}
        self._types: dict[int, Type] = {}
        self._tree = tree
        self._env = env
        self._names = Names(env)
        self._substitution = Substitution(budget)
        self._variables = 0
        # cel-go forgets which overloads are hidden as soon as it has entered a macro's scope.
        self._hide_cross_type = not env.options.cross_type_comparisons

    def final_types(self) -> dict[int, Type]:
        apply, parameter = self._substitution.apply, Kind.TYPE_PARAM
        return {
            node_id: apply(found, unbound_to_dyn=True) if found.params or found.kind is parameter else found
            for node_id, found in self._types.items()
        }

    def _error(self, node_id: int, message: str) -> None:
        self.diagnostics.append(Diagnostic(message, self._tree.offsets.get(node_id, 0)))

    def _undeclared(self, node_id: int, name: str) -> None:
        message = f"undeclared reference to '{name}' (in container '{self._env.container}')"
        self.diagnostics.append(Diagnostic(message, self._tree.offsets.get(node_id, 0), undeclared=name))

    def _mismatch(self, node_id: int, wanted: Type, found: Type) -> None:
        self._error(node_id, f"expected type '{displayed(wanted)}' but found '{displayed(found)}'")

    def fresh_variable(self) -> Type:
        number = self._variables
        self._variables += 1
        return Type(Kind.TYPE_PARAM, f"_var{number}")

    def walk(self, node: Expr) -> Walk[Expr]:
        match node:
            case Literal(id=node_id, value=value):
                self._types[node_id] = _LITERALS[type(value)]
                return finished(node)
            case Ident():
                return finished(self._ident(node))
            case Select():
                return self._select(node)
            case Call(function="_?._"):
                return self._optional_select(node)
            case Call():
                return self._call(node)
            case ListExpr():
                return self._list(node)
            case MapExpr():
                return self._map(node)
            case StructExpr():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)

    def _ident(self, node: Ident) -> Expr:
        meaning = self._names.variable(node.name)
        if meaning is None:
            self._types[node.id] = ERROR
            self._undeclared(node.id, node.name)
            return node
        self._types[node.id] = meaning.type
        self.references[node.id] = meaning.reference
        return node if meaning.reference.name == node.name else Ident(node.id, meaning.reference.name)

    def _select(self, node: Select) -> Walk[Expr]:
        name = None if node.test_only else qualified_name(node)
        meaning = None if name is None else self._names.variable(name)
        if meaning is not None:
            self._types[node.id] = meaning.type
            self.references[node.id] = meaning.reference
            return Ident(node.id, meaning.reference.name)
        operand = yield self.walk(node.operand)
        found = self._selected(node.id, operand, node.field)
        self._types[node.id] = types.BOOL if node.test_only else self._substitution.apply(found)
        return node if operand is node.operand else replace(node, operand=operand)

    def _selected(self, node_id: int, operand: Expr, field: str, *, optional: bool = False) -> Type:
        """The type of a field of an operand that has been checked."""
        target, was_optional = unwrapped_optional(self._substitution.apply(self._types[operand.id]))
        found = DYN
        match target.kind:
            case Kind.MAP:
                found = target.params[1]
            case Kind.STRUCT:
                found = self._field(node_id, target.name, field)
            case Kind.TYPE_PARAM:
                self._substitution.assignable(DYN, target)
            case Kind.DYN | Kind.ANY | Kind.ERROR:
                pass
            case _:
                self._error(node_id, f"type '{displayed(target)}' does not support field selection")
        return types.optional_of(found) if optional or was_optional else found

    def _field(self, node_id: int, struct: str, field: str) -> Type:
        message = MESSAGES.get(struct)
        if message is None and self._env.types.find_struct(struct) is None:
            self._error(node_id, f"unexpected failed resolution of '{struct}'")
            return ERROR
        if message is None:
            found = self._env.types.find_field(struct, field)
        else:
            found = message.fields[field].type if field in message.fields else None
        if found is None:
            self._error(node_id, f"undefined field '{field}'")
            return ERROR
        return found

    def _call(self, node: Call) -> Walk[Expr]:
        args = yield self._all(node.args)
        target = node.target
        function: Function | None
        if target is None:
            function = self._names.function(node.function)
            if function is None:
                self._types[node.id] = ERROR
                self._undeclared(node.id, node.function)
                return node
            self._resolve(node.id, function, None, args)
            return node if args is node.args and function.name == node.function else Call(node.id, function.name, args)
        prefix = qualified_name(target)
        function = None if prefix is None else self._names.function(f"{prefix}.{node.function}")
        if function is not None:  # a function of a namespace: what stands before the dot is part of its name
            self._resolve(node.id, function, None, args)
            return Call(node.id, function.name, args)
        target = yield self.walk(target)
        function = self._names.function(node.function)
        if function is None:
            self._types[node.id] = ERROR
            self._undeclared(node.id, node.function)
        else:
            self._resolve(node.id, function, target, args)
        return node if args is node.args and target is node.target else replace(node, args=args, target=target)

    def _all(self, nodes: tuple[Expr, ...]) -> Walk[tuple[Expr, ...]]:
        checked = []
        changed = False
        for node in nodes:
            new = yield self.walk(node)
            changed = changed or new is not node
            checked.append(new)
        return tuple(checked) if changed else nodes

    def _optional_select(self, node: Call) -> Walk[Expr]:
        operand, field = node.args
        new = yield self.walk(operand)
        self._types[field.id] = types.STRING
        name = field.value if isinstance(field, Literal) else ""
        found = self._selected(node.id, new, name, optional=True)
        self._types[node.id] = self._substitution.apply(found)
        self.references[node.id] = Reference(overload_ids=("select_optional_field",))
        return node if new is operand else replace(node, args=(new, field))

    def _resolve(self, node_id: int, function: Function, target: Expr | None, args: tuple[Expr, ...]) -> None:
        operands = args if target is None else (target, *args)
        given = [self._types[operand.id] for operand in operands]
        self._types[node_id] = ERROR
        if function.name in {"_&&_", "_||_"}:
            self._resolve_logic(node_id, function, operands, given)
            return
        resolution = resolved(
            function,
            given,
            self._substitution,
            self.fresh_variable,
            member=target is not None,
            hide_cross_type=self._hide_cross_type,
        )
        if resolution is None:
            shown = [displayed(self._substitution.apply(item, unbound_to_dyn=True)) for item in given]
            receiver = "" if target is None else shown.pop(0) + "."
            signature = f"{receiver}({', '.join(shown)})"
            self._error(node_id, f"found no matching overload for '{function.name}' applied to '{signature}'")
            return
        self._types[node_id] = resolution.type
        self.references[node_id] = Reference(overload_ids=resolution.overload_ids)

    def _resolve_logic(self, node_id: int, function: Function, operands: tuple[Expr, ...], given: list[Type]) -> None:
        good = True
        for operand, found in zip(operands, given, strict=True):
            if not self._substitution.assignable(found, types.BOOL):
                self._mismatch(operand.id, types.BOOL, found)
                good = False
        if good:
            self._types[node_id] = types.BOOL
            self.references[node_id] = Reference(overload_ids=(function.overloads[0].id,))

    def _joined(self, node: Expr, previous: Type | None, current: Type) -> Type:
        """The type of elements that include one more."""
        if previous is None:
            return current
        if self._substitution.assignable(previous, current):
            return most_general(previous, current)
        if not self._env.options.homogeneous_literals:
            return DYN
        self._mismatch(node.id, previous, current)
        return ERROR

    def _unwrapped(self, node: Expr) -> Type:
        """What the optional behind a `?` holds."""
        found, was_optional = unwrapped_optional(self._types[node.id])
        if not was_optional and not is_dyn(found):
            self._mismatch(node.id, types.optional_of(found), found)
        return found

    def _list(self, node: ListExpr) -> Walk[Expr]:
        joined: Type | None = None
        elements = []
        changed = False
        for index, element in enumerate(node.elements):
            new = yield self.walk(element)
            changed = changed or new is not element
            elements.append(new)
            found = self._unwrapped(new) if index in node.optional_indices else self._types[new.id]
            joined = self._joined(new, joined, found)
        self._types[node.id] = types.list_of(self.fresh_variable() if joined is None else joined)
        return replace(node, elements=tuple(elements)) if changed else node

    def _map(self, node: MapExpr) -> Walk[Expr]:
        keys: Type | None = None
        values: Type | None = None
        entries = []
        changed = False
        for entry in node.entries:
            key = yield self.walk(entry.key)
            keys = self._joined(key, keys, self._types[key.id])
            value = yield self.walk(entry.value)
            found = self._unwrapped(value) if entry.optional else self._types[value.id]
            values = self._joined(value, values, found)
            if key is not entry.key or value is not entry.value:
                changed = True
                entry = replace(entry, key=key, value=value)
            entries.append(entry)
        if keys is None or values is None:
            keys, values = self.fresh_variable(), self.fresh_variable()
        self._types[node.id] = types.map_of(keys, values)
        return replace(node, entries=tuple(entries)) if changed else node

    def _struct(self, node: StructExpr) -> Walk[Expr]:
        meaning = self._names.type_name(node.name)
        self._types[node.id] = ERROR
        if meaning is None:
            self._undeclared(node.id, node.name)
            return node
        name = struct = meaning.reference.name
        self.references[node.id] = Reference(name)
        described = meaning.type.params[0] if meaning.type.params else meaning.type
        if name in MESSAGES or described.kind is Kind.STRUCT:
            self._types[node.id] = described
        elif (standing_for := instantiated(described)) is not None:
            self._types[node.id] = self._substitution.apply(described, unbound_to_dyn=True)
            struct = standing_for
        else:
            self._error(node.id, f"'{described.name}' is not a message type")
        fields = []
        for item in node.fields:
            value = yield self.walk(item.value)
            wanted = self._field(item.id, struct, item.field)
            found = self._unwrapped(value) if item.optional else self._types[value.id]
            if not self._substitution.assignable(wanted, found):
                self._error(
                    item.id,
                    f"expected type of field '{item.field}' is '{displayed(wanted)}' "
                    f"but provided type is '{displayed(found)}'",
                )
            fields.append(item if value is item.value else replace(item, value=value))
        return replace(node, name=name, fields=tuple(fields))

    def _comprehension(self, node: Comprehension) -> Walk[Expr]:
        iter_range = yield self.walk(node.iter_range)
        accu_init = yield self.walk(node.accu_init)
        accumulated = self._types[accu_init.id]
        self._names.declare({node.accu_var: accumulated})
        self._names.declare(self._iteration_variables(node, iter_range))
        self._hide_cross_type = False
        condition = yield self.walk(node.loop_condition)
        self._assert_type(condition, types.BOOL)
        step = yield self.walk(node.loop_step)
        self._assert_type(step, accumulated)
        self._names.leave()
        result = yield self.walk(node.result)
        self._names.leave()
        self._types[node.id] = self._substitution.apply(self._types[result.id])
        return replace(
            node,
            iter_range=iter_range,
            accu_init=accu_init,
            loop_condition=condition,
            loop_step=step,
            result=result,
        )

    def _iteration_variables(self, node: Comprehension, iter_range: Expr) -> dict[str, Type]:
        ranged = self._substitution.apply(self._types[iter_range.id])
        first, second = DYN, DYN
        match ranged.kind:
            case Kind.LIST:
                first, second = (types.INT, ranged.params[0]) if node.iter_var2 else (ranged.params[0], DYN)
            case Kind.MAP:
                first, second = ranged.params
            case Kind.DYN | Kind.ERROR | Kind.TYPE_PARAM:
                self._substitution.assignable(DYN, ranged)
            case _:
                self._error(
                    iter_range.id,
                    f"expression of type '{displayed(ranged)}' cannot be range of a comprehension "
                    "(must be list, map, or dynamic)",
                )
                first = second = ERROR
        return {node.iter_var: first, node.iter_var2: second} if node.iter_var2 else {node.iter_var: first}

    def _assert_type(self, node: Expr, wanted: Type) -> None:
        found = self._types[node.id]
        if not self._substitution.assignable(wanted, found):
            self._mismatch(node.id, wanted, found)
