"""Tree to resolved tree: every name becomes the function, parameter, variable or builtin that it means.

Builtins that are defined in jq come from builtins/definitions.py and are resolved the first time a program needs them.
Undefined names are reported together, twenty at most. Follows gojq in what `?` covers and in which assignments are
`setpath`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, assert_never

from muster.errors import InvalidExpressionError
from muster.jq.builtins import NATIVES, all_names, definition_of
from muster.jq.builtins.strings import to_string
from muster.jq.resolving import resolved as r
from muster.jq.resolving.constant_paths import constant_path
from muster.jq.resolving.names import Names, Scope, names_of
from muster.jq.resolving.operators import OPERATORS, UNARY
from muster.jq.syntax import tree
from muster.jq.values.encoding import encode_string
from muster.jq.values.formats import FORMATS, apply_format
from muster.jq.values.numbers import is_number
from muster.source import Diagnostic

if TYPE_CHECKING:
    from collections.abc import Sequence

    from muster.source import Source, Span


@dataclass(frozen=True, slots=True)
class ResolvedQuery:
    """A whole program; `globals` gives the slot of every variable that the caller must bind."""

    body: r.Node
    globals: dict[str, int]
    slots: int


def resolve(program: tree.Program, source: Source, variables: Sequence[str] = ()) -> ResolvedQuery:
    """Raises InvalidExpressionError with every name that means nothing."""
    resolver = _Resolver(source)
    scope: Scope | None = None
    slots: dict[str, int] = {}
    for name in variables:
        slots[name] = resolver.slot()
        scope = Scope("variable", name, 0, slots[name], scope)
    for module in program.imports:
        resolver.report(f"cannot load module: {encode_string(module.path)}", module.span)
    try:
        body = resolver.node(program.body, scope)
    except RecursionError:
        raise InvalidExpressionError(source, [Diagnostic("query is nested too deeply")]) from None
    if resolver.diagnostics:
        raise InvalidExpressionError(source, resolver.diagnostics)
    return ResolvedQuery(body, slots, resolver.slot())


def _simple(*nodes: r.Node) -> bool:
    return all(node.simple for node in nodes)


class _Resolver(Names):
    """One query: its nodes, in which nothing is left to look up."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.builtins: dict[tuple[str, int], r.Function] = {}
        self.in_builtin = False

    # ── nodes ──

    def node(self, query: tree.Query, scope: Scope | None) -> r.Node:
        span = query.span
        match query:
            case tree.Identity():
                return r.Identity(span)
            case tree.RecurseAll():
                return self.call("recurse", (), scope, span, builtin=True)
            case tree.Literal(value=value):
                return r.Const(value, span)
            case tree.Text():
                return self.text(query, scope)
            case tree.Format(name=name):
                return self.format(name, (), span)
            case tree.Index(target=target, key=key):
                on, by = self.node(target, scope), self.node(key, scope)
                return r.Index(on, by, span, _simple(on, by))
            case tree.Slice():
                return self.slice(query, scope)
            case tree.Iterate(target=target):
                return r.Iterate(self.node(target, scope), span)
            case tree.Optional(target=target):
                return self.optional(target, scope, span)
            case tree.Call(name=name, args=args):
                return self.call(name, args, scope, span)
            case tree.Variable(name=name):
                return self.variable(name, scope, span)
            case tree.Object():
                return self.object(query, scope)
            case tree.Array(body=body):
                return r.Const([], span) if body is None else r.MakeArray(self.node(body, scope), span)
            case tree.Unary():
                return self.unary(query, scope)
            case tree.Binary():
                return self.binary(query, scope)
            case tree.Pipe(parts=parts):
                stages = tuple(self.node(part, scope) for part in parts)
                return r.Pipe(stages, span, _simple(*stages))
            case tree.Comma(parts=parts):
                return r.Comma(tuple(self.node(part, scope) for part in parts), span)
            case tree.If(branches=branches, otherwise=otherwise):
                result = r.Identity(span) if otherwise is None else self.node(otherwise, scope)
                for condition, then in reversed(branches):
                    test, chosen = self.node(condition, scope), self.node(then, scope)
                    result = r.If(test, chosen, result, span, _simple(test, chosen, result))
                return result
            case tree.Try(body=body, handler=handler):
                caught = None if handler is None else self.node(handler, scope)
                return r.Try(self.node(body, scope), caught, span)
            case tree.Bind():
                return self.bind(query, scope)
            case tree.Reduce() | tree.Foreach():
                return self.fold(query, scope)
            case tree.Label(name=name, body=body):
                slot = self.slot()
                return r.Label(slot, self.node(body, Scope("label", name, 0, slot, scope)), span)
            case tree.Break(name=name):
                found = self.find("label", name, 0, scope)
                if found is None:
                    self.report(f"label not defined: ${name}", span)
                    return r.Empty(span)
                return r.Break(found.target, span)
            case tree.Define():
                return self.define(query, scope)
            case _:
                assert_never(query)

    def slice(self, query: tree.Slice, scope: Scope | None) -> r.Node:
        target = self.node(query.target, scope)
        start = r.Const(None) if query.start is None else self.node(query.start, scope)
        end = r.Const(None) if query.end is None else self.node(query.end, scope)
        return r.Slice(target, start, end, query.span, _simple(target, start, end))

    def optional(self, target: tree.Query, scope: Scope | None, span: Span) -> r.Node:
        """`a.b?` protects the last step alone: its errors are dropped, those of `a` are not."""
        if isinstance(target, tree.Index | tree.Slice | tree.Iterate) and not isinstance(target.target, tree.Identity):
            step = replace(target, target=tree.Identity(target.span))
            parts = (self.node(target.target, scope), r.Try(self.node(step, scope), None, span))
            return r.Pipe(parts, span, simple=False)
        return r.Try(self.node(target, scope), None, span)

    def text(self, query: tree.Text, scope: Scope | None) -> r.Node:
        constant = query.constant
        if constant is not None:
            return r.Const(constant, query.span)
        result: r.Node | None = None
        for part in query.parts:
            piece: r.Node
            if isinstance(part, str):
                piece = r.Const(part, query.span)
            else:
                value = self.node(part, scope)
                shown = self.format(query.format if query.format is not None else "@text", (), part.span)
                piece = r.Pipe((value, shown), part.span, _simple(value, shown))
            result = piece if result is None else self.native("+", (result, piece), query.span)
        return result if result is not None else r.Const("", query.span)

    def format(self, name: str, args: tuple[r.Node, ...], span: Span) -> r.Node:
        if name == "@text":
            return r.Native("tostring", to_string, args, span, simple=True)
        known = FORMATS.get(name)
        if known is not None:
            return r.Native(name, known, args, span, simple=True)
        return r.Native("format", apply_format, (r.Const(name[1:], span),), span, simple=True)

    def native(self, operator: str, args: tuple[r.Node, ...], span: Span) -> r.Node:
        name, function = OPERATORS[operator]
        return r.Native(name, function, args, span, _simple(*args))

    def unary(self, query: tree.Unary, scope: Scope | None) -> r.Node:
        if isinstance(query.operand, tree.Literal) and is_number(query.operand.value):
            value = query.operand.value
            return r.Const(-value if query.operator == "-" else value, query.span)
        operand = self.node(query.operand, scope)
        name, function = UNARY[query.operator]
        step = r.Native(name, function, (), query.span, simple=True)
        return r.Pipe((operand, step), query.span, _simple(operand))

    def binary(self, query: tree.Binary, scope: Scope | None) -> r.Node:
        span = query.span
        match query.operator:
            case "and" | "or":
                return self.logic(query, scope)
            case "//":
                return r.Alternative(self.node(query.left, scope), self.node(query.right, scope), span)
            case "=":
                return self.assign(query, scope)
            case "|=":
                return r.Modify(self.node(query.left, scope), self.node(query.right, scope), span)
            case "+=" | "-=" | "*=" | "/=" | "%=" | "//=":
                slot = self.slot()
                operator = query.operator if query.operator == "//=" else query.operator[:-1]
                update = self.native(operator, (r.Identity(span), r.Variable(slot, span)), span)
                modify = r.Modify(self.node(query.left, scope), update, span)
                source = self.node(query.right, scope)
                return r.Bind(source, (r.SlotPattern(slot),), (slot,), modify, span, in_path=True)
            case operator:
                return self.native(operator, (self.node(query.left, scope), self.node(query.right, scope)), span)

    def logic(self, query: tree.Binary, scope: Scope | None) -> r.Node:
        """A chain of one operator is one node, however long."""
        parts: list[r.Node] = []
        at: tree.Query = query
        while isinstance(at, tree.Binary) and at.operator == query.operator:
            parts.append(self.node(at.right, scope))
            at = at.left
        parts.append(self.node(at, scope))
        parts.reverse()
        return r.Logic(tuple(parts), query.operator == "and", query.span, _simple(*parts))

    def assign(self, query: tree.Binary, scope: Scope | None) -> r.Node:
        value = self.node(query.right, scope)
        path = constant_path(query.left)
        if path is not None:
            args = (r.Const(path, query.left.span), value)
            return r.Native("setpath", NATIVES["setpath", 2], args, query.span, _simple(value))
        return r.Assign(self.node(query.left, scope), value, query.span)

    def object(self, query: tree.Object, scope: Scope | None) -> r.Node:
        if not query.entries:
            return r.Const({}, query.span)
        entries: list[tuple[r.Node, r.Node | None]] = []
        for entry in query.entries:
            if isinstance(entry.key, tree.Variable) and entry.value is None:
                value = self.variable(entry.key.name, scope, entry.key.span)
                entries.append((r.Const(entry.key.name, query.span), value))
            else:
                key = self.node(entry.key, scope)
                entries.append((key, None if entry.value is None else self.node(entry.value, scope)))
        simple = all(key.simple and (value is None or value.simple) for key, value in entries)
        return r.MakeObject(tuple(entries), query.span, simple)

    # ── binding ──

    def bind(self, query: tree.Bind, scope: Scope | None) -> r.Node:
        source = self.node(query.source, scope)
        slots: dict[str, int] = {}
        for pattern in query.patterns:
            for name in names_of(pattern):
                if name not in slots:
                    slots[name] = self.slot()
        inner = self.with_variables(slots, scope)
        patterns = tuple(self.pattern(pattern, slots, inner) for pattern in query.patterns)
        return r.Bind(source, patterns, tuple(slots.values()), self.node(query.body, inner), query.span)

    def with_variables(self, slots: dict[str, int], scope: Scope | None) -> Scope | None:
        for name, slot in slots.items():
            scope = Scope("variable", name, 0, slot, scope)
        return scope

    def pattern(self, pattern: tree.Pattern, slots: dict[str, int], scope: Scope | None) -> r.Pattern:
        match pattern:
            case tree.VariablePattern(name=name):
                return r.SlotPattern(slots[name])
            case tree.ArrayPattern(items=items):
                return r.ItemsPattern(tuple(self.pattern(item, slots, scope) for item in items))
            case tree.ObjectPattern(entries=entries):
                found: list[tuple[r.Node, int | None, r.Pattern | None]] = []
                for entry in entries:
                    inner = None if entry.value is None else self.pattern(entry.value, slots, scope)
                    if isinstance(entry.key, tree.Variable):
                        found.append((r.Const(entry.key.name), slots[entry.key.name], inner))
                    else:
                        found.append((self.node(entry.key, scope), None, inner))
                return r.FieldsPattern(tuple(found))

    def fold(self, query: tree.Reduce | tree.Foreach, scope: Scope | None) -> r.Node:
        source = self.node(query.source, scope)
        slots = {name: self.slot() for name in names_of(query.pattern)}
        inner = self.with_variables(slots, scope)
        pattern = self.pattern(query.pattern, slots, inner)
        start = self.node(query.start, scope)
        update = self.node(query.update, inner)
        if isinstance(query, tree.Reduce):
            return r.Reduce(source, pattern, start, update, query.span)
        extract = None if query.extract is None else self.node(query.extract, inner)
        return r.Foreach(source, pattern, start, update, extract, query.span)

    # ── functions ──

    def define(self, query: tree.Define, scope: Scope | None) -> r.Node:
        for definition in query.definitions:
            scope = self.function(definition, scope)
        if query.body is None:
            self.report('missing query (try ".")', query.span)
            return r.Empty(query.span)
        return self.node(query.body, scope)

    def function(self, definition: tree.Definition, scope: Scope | None, *, builtin: bool = False) -> Scope:
        parameters = tuple(
            r.Parameter(self.slot(), self.slot() if name.startswith("$") else None) for name in definition.parameters
        )
        function = r.Function(definition.name, parameters, builtin)
        named = Scope("function", definition.name, len(parameters), function, scope)
        if builtin:
            self.builtins[definition.name, len(parameters)] = function
        inner: Scope = named
        for name, parameter in zip(definition.parameters, parameters, strict=True):
            inner = Scope("parameter", name.lstrip("$"), 0, parameter.slot, inner)
            if parameter.value_slot is not None:
                inner = Scope("variable", name[1:], 0, parameter.value_slot, inner)
        function.body = self.node(definition.body, inner)
        return named

    def variable(self, name: str, scope: Scope | None, span: Span) -> r.Node:
        found = self.find("variable", name, 0, scope)
        if found is not None:
            return r.Variable(found.target, span)
        if name == "ENV":
            return r.Const({}, span)
        self.report(f"variable not defined: ${name}", span)
        return r.Empty(span)

    def call(
        self, name: str, args: tuple[tree.Query, ...], scope: Scope | None, span: Span, *, builtin: bool = False
    ) -> r.Node:
        at = None if builtin else scope
        while at is not None:
            self.look()
            if at.name == name and at.arity == len(args):
                if at.kind == "function":
                    return r.CallFunction(at.target, tuple(self.node(arg, scope) for arg in args), span)
                if at.kind == "parameter":
                    return r.CallParameter(at.target, span)
            at = at.outer
        resolved_args = tuple(self.node(arg, scope) for arg in args)
        return self.builtin(name, resolved_args, span)

    def builtin(self, name: str, args: tuple[r.Node, ...], span: Span) -> r.Node:
        """The language's own functions: some are nodes, some Python, the rest is written in jq."""
        match name, len(args):
            case "empty", 0:
                return r.Empty(span)
            case "env", 0:
                return r.Const({}, span)
            case "path", 1:
                return r.PathsOf(args[0], span)
            case "last", 1:
                return r.Last(args[0], span)
            case "builtins", 0:
                return r.Const(all_names(), span)
            case "_range", 3 if self.in_builtin:
                return r.Range(args[0], args[1], args[2], span)
            case (("input" | "inputs"), 0):
                self.report("input(s)/0 is not allowed", span)
                return r.Empty(span)
            case _:
                pass
        native = NATIVES.get((name, len(args)))
        if native is not None and (self.in_builtin or not name.startswith("_")):
            return r.Native(name, native, args, span, _simple(*args))
        function = self.builtins.get((name, len(args)))
        if function is None:
            definition = definition_of(name, len(args))
            if definition is None or (name.startswith("_") and not self.in_builtin):
                self.report(f"function not defined: {name}/{len(args)}", span)
                return r.Empty(span)
            before, self.in_builtin = self.in_builtin, True
            self.function(definition, None, builtin=True)
            self.in_builtin = before
            function = self.builtins[name, len(args)]
        return r.CallFunction(function, args, span)
