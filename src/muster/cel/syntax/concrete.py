"""The concrete syntax that `recovery` finds, and its translation into a tree.

A context is one use of a grammar rule, possibly with parts missing because of syntax errors. Translating it finds
the errors that are not about grammar (reserved names, literals out of range, macros), also beside syntax errors.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from muster.cel.syntax.lexer import Token
from muster.cel.syntax.literals import LiteralError, literal_value
from muster.cel.syntax.nodes import RESERVED, Builder
from muster.cel.syntax.tree import Call, Entry, Expr, FieldInit, Ident, ListExpr, Literal, MapExpr, Select, StructExpr
from muster.cel.syntax.walking import finished

if TYPE_CHECKING:
    from collections.abc import Callable

    from muster.cel.syntax.walking import Walk
    from muster.cel.values.value import Value

NOWHERE = -1  # the offset of what was not understood: errors show it before the first column
OPERATORS = {
    "<": "_<_",
    "<=": "_<=_",
    ">=": "_>=_",
    ">": "_>_",
    "==": "_==_",
    "!=": "_!=_",
    "in": "@in",
    "*": "_*_",
    "/": "_/_",
    "%": "_%_",
    "+": "_+_",
    "-": "_-_",
}


@dataclass
class Context:
    """One use of a rule: where it begins, which alternative was taken ("" for none), and its labelled parts."""

    rule: str
    start: Token
    label: str = ""
    parts: dict[str, Value] = field(default_factory=dict)

    def get(self, name: str) -> Value:
        return self.parts.get(name)

    def all(self, name: str) -> list[Value]:
        found: list[Value] = self.parts.get(name, [])
        return found


class TooDeepError(Exception):
    """The tree would be deeper than the recursion limit."""


_SINGLE_PART = {
    "MemberExpr": "member",
    "PrimaryExpr": "primary",
    "Nested": "e",
    "ConstantLiteral": "literal",
}


def _unnested(context: Context | None) -> Context | None:
    """The first context inside that is more than a passage to the next rule."""
    while context is not None:
        match context.rule:
            case "start":
                context = context.get("e")
            case "expr" if context.get("op") is None:
                context = context.get("e")
            case "conditionalOr" | "conditionalAnd" if not context.all("ops"):
                context = context.get("e")
            case "relation" if context.get("op") is None:
                context = context.get("calc")
            case "calc" if context.get("op") is None:
                context = context.get("unary")
            case _ if context.label in _SINGLE_PART:
                context = context.get(_SINGLE_PART[context.label])
            case _:
                return context
    return None


class Translator:
    """Contexts -> nodes, one method per kind of context."""

    def __init__(self, builder: Builder, limit: int) -> None:
        self._builder = builder
        self._limit = limit
        self._depth = 0
        self._methods: dict[str, Callable[[Context], Walk[Expr]]] = {
            "expr": self._conditional,
            "conditionalOr": self._or,
            "conditionalAnd": self._and,
            "relation": self._binary,
            "calc": self._binary,
            "LogicalNot": self._not,
            "Negate": self._negate,
            "Select": self._select,
            "MemberCall": self._member_call,
            "Index": self._index,
            "Ident": self._ident,
            "GlobalCall": self._global_call,
            "CreateList": self._list,
            "CreateStruct": self._map,
            "CreateMessage": self._message,
            "Literal": self._literal,
        }

    def walk(self, context: Context | None) -> Walk[Expr]:
        found = _unnested(context)
        method = None if found is None else self._methods.get(found.label or found.rule)
        if found is None or method is None:  # a syntax error was reported here
            if found is not None and found.rule == "unary":
                return Literal(self._id(found), "<<error>>")
            return self._builder.unknown(NOWHERE)
        counted = found.rule in {"expr", "relation", "calc", "member"}
        if counted:
            self._depth += 1
            if self._depth > self._limit:
                raise TooDeepError
        expr: Expr = yield method(found)
        if counted:
            self._depth -= 1
        return expr

    def _id(self, place: Token | Context | None) -> int:
        match place:
            case Token():
                return self._builder.id_at(place.start)
            case Context():
                return self._builder.id_at(place.start.start)
            case None:
                return self._builder.id_at(0)

    def _missing(self, context: Context) -> Expr:
        return self._builder.unknown(context.start.start)

    def _conditional(self, context: Context) -> Walk[Expr]:
        condition = yield self.walk(context.get("e"))
        node_id = self._id(context.get("op"))
        chosen = yield self.walk(context.get("e1"))
        other = yield self.walk(context.get("e2"))
        return self._builder.call(node_id, "_?_:_", (condition, chosen, other))

    def _or(self, context: Context) -> Walk[Expr]:
        return self._chain(context, "||")

    def _and(self, context: Context) -> Walk[Expr]:
        return self._chain(context, "&&")

    def _chain(self, context: Context, operator: str) -> Walk[Expr]:
        terms = [(yield self.walk(context.get("e")))]
        operator_ids = []
        rest = context.all("e1")
        for index, token in enumerate(context.all("ops")):
            if index >= len(rest):
                return self._builder.report(context.start.start, f"unexpected character, wanted '{operator}'")
            terms.append((yield self.walk(rest[index])))
            operator_ids.append(self._id(token))
        return self._builder.logic(f"_{operator}_", terms, operator_ids)

    def _binary(self, context: Context) -> Walk[Expr]:
        token: Token = context.get("op")
        function = OPERATORS.get(token.text)
        if function is None:
            return self._builder.report(context.start.start, "operator not found")
        left = yield self.walk(context.get("left"))
        node_id = self._id(token)
        right = yield self.walk(context.get("right"))
        return self._builder.call(node_id, function, (left, right))

    def _not(self, context: Context) -> Walk[Expr]:
        return self._prefixed(context, "!_")

    def _negate(self, context: Context) -> Walk[Expr]:
        return self._prefixed(context, "-_")

    def _prefixed(self, context: Context, function: str) -> Walk[Expr]:
        operators = context.all("ops")
        node_id = self._id(operators[0]) if len(operators) % 2 else 0
        operand: Expr = yield self.walk(context.get("member"))
        return self._builder.call(node_id, function, (operand,)) if node_id else operand

    def _field(self, context: Context | None, place: Context) -> str | None:
        """The name of a field; None when it was reported that there is none."""
        if context is not None and context.get("id") is not None:
            text: str = context.get("id").text
            if context.label == "SimpleIdentifier":
                return text
            if self._builder.env.options.identifier_escapes:
                return text[1:-1]
            self._builder.report(place.start.start, "unsupported syntax: '`'")
            return None
        self._builder.report(place.start.start, "unsupported ident kind")
        return None

    def _select(self, context: Context) -> Walk[Expr]:
        operand = yield self.walk(context.get("left"))
        identifier = context.get("id")
        operator = context.get("op")
        if identifier is None or operator is None:
            return self._missing(context)
        name = self._field(identifier, identifier) or ""
        if context.get("opt") is not None:
            if not self._builder.env.options.optional_syntax:
                return self._builder.report(operator.start, "unsupported syntax '.?'")
            literal = Literal(self._id(identifier), name)
            return Call(self._id(operator), "_?._", (operand, literal))
        return Select(self._id(operator), operand, name)

    def _member_call(self, context: Context) -> Walk[Expr]:
        operand = yield self.walk(context.get("left"))
        identifier = context.get("id")
        if identifier is None:
            return self._missing(context)
        node_id = self._id(context.get("open"))
        args = yield self._arguments(context.get("args"))
        return self._builder.member_call(node_id, identifier.text, operand, args)

    def _index(self, context: Context) -> Walk[Expr]:
        operand = yield self.walk(context.get("left"))
        operator = context.get("op")
        if operator is None:
            return self._missing(context)
        node_id = self._id(operator)
        index = yield self.walk(context.get("index"))
        if context.get("opt") is None:
            return self._builder.call(node_id, "_[_]", (operand, index))
        if not self._builder.env.options.optional_syntax:
            return self._builder.report(operator.start, "unsupported syntax '[?'")
        return self._builder.call(node_id, "_[?_]", (operand, index))

    def _name(self, context: Context) -> str | Expr:
        """The name of a variable or function, or the node that stands for a wrong one."""
        identifier = context.get("id")
        if identifier is None:
            return self._missing(context)
        if identifier.text in RESERVED:
            return self._builder.report(context.start.start, f"reserved identifier: {identifier.text}")
        return ("." if context.get("leading_dot") is not None else "") + str(identifier.text)

    def _ident(self, context: Context) -> Walk[Expr]:
        name = self._name(context)
        return finished(Ident(self._id(context.get("id")), name) if isinstance(name, str) else name)

    def _global_call(self, context: Context) -> Walk[Expr]:
        name = self._name(context)
        if not isinstance(name, str):
            return name
        node_id = self._id(context.get("op"))
        args = yield self._arguments(context.get("args"))
        return self._builder.call(node_id, name, args)

    def _arguments(self, context: Context | None) -> Walk[tuple[Expr, ...]]:
        found = []
        for part in () if context is None else context.all("e"):
            found.append((yield self.walk(part)))  # noqa: PERF401 - a comprehension cannot yield
        return tuple(found)

    def _list(self, context: Context) -> Walk[Expr]:
        node_id = self._id(context.get("op"))
        elements: list[Expr] = []
        optional: list[int] = []
        parts: Context | None = context.get("elems")
        for index, part in enumerate(() if parts is None else parts.all("elems")):
            elements.append((yield self.walk(part.get("e"))))
            mark = part.get("opt")
            if mark is not None:
                if self._builder.env.options.optional_syntax:
                    optional.append(index)
                else:
                    self._builder.report(mark.start, "unsupported syntax '?'")
        return ListExpr(node_id, tuple(elements), frozenset(optional))

    def _refused_mark(self, part: Context) -> bool:
        """Whether the part has a `?` that is not allowed; then it is reported."""
        if part.get("opt") is None or self._builder.env.options.optional_syntax:
            return False
        self._builder.report(part.start.start, "unsupported syntax '?'")
        return True

    def _map(self, context: Context) -> Walk[Expr]:
        node_id = self._id(context.get("op"))
        parts: Context = context.get("entries") or Context("", context.start)
        keys, values = parts.all("keys"), parts.all("values")
        entries: list[Entry] = []
        for index, colon in enumerate(parts.all("cols")):
            entry_id = self._id(colon)
            if index >= len(keys) or index >= len(values):
                return MapExpr(node_id, ())
            if self._refused_mark(keys[index]):
                continue
            key = yield self.walk(keys[index].get("e"))
            value = yield self.walk(values[index])
            entries.append(Entry(entry_id, key, value, keys[index].get("opt") is not None))
        return MapExpr(node_id, tuple(entries))

    def _message(self, context: Context) -> Walk[Expr]:
        name = ".".join(token.text for token in context.all("ids"))
        if context.get("leading_dot") is not None:
            name = "." + name
        node_id = self._id(context.get("op"))
        parts: Context = context.get("entries") or Context("", context.start)
        colons, values = parts.all("cols"), parts.all("values")
        fields: list[FieldInit] = []
        for index, part in enumerate(parts.all("fields")):
            if index >= len(colons) or index >= len(values):
                return StructExpr(node_id, name, ())
            field_id = self._id(colons[index])
            if self._refused_mark(part):
                continue
            field_name = self._field(part.get("escape_ident"), parts)
            if field_name is None:
                continue
            value = yield self.walk(values[index])
            fields.append(FieldInit(field_id, field_name, value, part.get("opt") is not None))
        return StructExpr(node_id, name, tuple(fields))

    def _literal(self, context: Context) -> Walk[Expr]:
        token = context.get("tok")
        if token is None:
            return finished(self._missing(context))
        try:
            value = literal_value(token, context.get("sign") is not None)
        except LiteralError as error:
            return finished(self._builder.report(context.start.start, str(error)))
        return finished(Literal(self._id(context), value))
