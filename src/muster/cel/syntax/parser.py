"""Text -> Tree: cel-go's grammar, written for expressions that are right.

`parse` is what everyone calls. This parser gives up on the first thing that is out of the ordinary (a syntax error,
nesting near the limit, syntax that is switched off) and hands the text to `recovery`, which is exact and slower.
Both build the same trees; a test compares them.
"""

from __future__ import annotations

from muster.cel.costs.compile_budget import CompileBudget, budget_of, limited
from muster.cel.environment import AN_ENVIRONMENT, Env
from muster.cel.syntax import lexer
from muster.cel.syntax.lexer import Token, tokenize
from muster.cel.syntax.literals import LiteralError, literal_value
from muster.cel.syntax.nodes import RESERVED, Builder, reported
from muster.cel.syntax.tree import (
    Call,
    Entry,
    Expr,
    FieldInit,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
    Tree,
)
from muster.errors import InvalidExpressionError
from muster.source import Diagnostic, Source
from muster.values.arguments import expected
from muster.values.arguments import text as whole_text

RELATIONS = {
    lexer.LESS: "_<_",
    lexer.LESS_EQUALS: "_<=_",
    lexer.GREATER_EQUALS: "_>=_",
    lexer.GREATER: "_>_",
    lexer.EQUALS: "_==_",
    lexer.NOT_EQUALS: "_!=_",
    lexer.IN: "@in",
}
MULTIPLICATIONS = {lexer.STAR: "_*_", lexer.SLASH: "_/_", lexer.PERCENT: "_%_"}
ADDITIONS = {lexer.PLUS: "_+_", lexer.MINUS: "_-_"}

_MAX_NESTING = 40  # beyond it, `recovery` counts exactly as cel-go does


class _UnusualError(Exception):
    """Not for this parser."""


def parse(text: str | Source, env: Env, budget: CompileBudget | None = None) -> Tree:
    """The tree of an expression. Raises InvalidExpressionError with every diagnostic."""
    source = text if isinstance(text, Source) else Source(whole_text(text, "text", "an expression as text"))
    expected(env, Env, "env", AN_ENVIRONMENT)
    budget = budget_of(budget)
    with limited(budget, source):
        return _parsed(source, env, budget)


def _parsed(source: Source, env: Env, budget: CompileBudget) -> Tree:
    size = len(source.text)
    limit = env.limits.code_points
    if size > limit:
        message = f"expression code point size exceeds limit: size: {size}, limit {limit}"
        raise InvalidExpressionError(source, (Diagnostic(message),))
    tokens, unrecognized = tokenize(source.text)
    if not unrecognized:
        try:
            parser = _Parser(tokens, env, budget)
            expr = parser.start()
        except _UnusualError:
            pass
        else:
            builder = parser.builder
            if builder.diagnostics:
                raise InvalidExpressionError(source, reported(builder.diagnostics))
            return Tree(source, expr, builder.offsets, builder.macro_calls)
    from muster.cel.syntax.recovery import recover  # a second grammar, which most expressions never need

    return recover(source, tokens, unrecognized, env, budget)


class _Parser:
    """One method per grammar rule; the rule is its docstring."""

    def __init__(self, tokens: list[Token], env: Env, budget: CompileBudget) -> None:
        self.builder = Builder(env, budget)
        self._options = env.options
        self._limit = env.limits.recursion
        self._tokens = tokens
        self._position = 0
        self._nesting = 0
        self._operators = 0  # selections, calls and operators since the last `&&`, `||` or bracket
        self._longest: list[int] = [0] * (_MAX_NESTING + 2)  # the most operators seen, per nesting
        self._too_deep = False

    def start(self) -> Expr:
        """start = expr EOF"""
        expr = self._expr()
        if self._tokens[self._position].kind != lexer.EOF:
            raise _UnusualError
        if self._too_deep and not self.builder.diagnostics:
            self.builder.report(None, "max recursion depth exceeded")
        elif sum(self._longest) > self._limit:
            raise _UnusualError
        return expr

    def _checked_length(self, chain: int) -> None:
        """A chain of operators is as deep as it is long, since each takes all before it as its left operand."""
        if chain > self._limit:
            self._too_deep = True

    def _match(self, kind: int) -> Token:
        token = self._tokens[self._position]
        if token.kind != kind:
            raise _UnusualError
        self._position += 1
        return token

    def _accept(self, kind: int) -> bool:
        if self._tokens[self._position].kind == kind:
            self._position += 1
            return True
        return False

    def _expr(self) -> Expr:
        """expr = or ("?" or ":" expr)?"""
        nesting = self._nesting + 1
        if nesting > _MAX_NESTING:
            raise _UnusualError
        self._nesting = nesting
        outer, self._operators = self._operators, 0
        condition = self._or()
        token = self._tokens[self._position]
        if token.kind == lexer.QUESTIONMARK:
            self._position += 1
            node_id = self.builder.id_at(token.start)
            self._operators += 1
            chosen = self._or()
            self._match(lexer.COLON)
            condition = self.builder.call(node_id, "_?_:_", (condition, chosen, self._expr()))
        self._operators = outer
        self._nesting = nesting - 1
        return condition

    def _or(self) -> Expr:
        """or = and ("||" and)*"""
        first = self._and()
        if self._tokens[self._position].kind != lexer.LOGICAL_OR:
            return first
        return self._chain(first, lexer.LOGICAL_OR, "_||_")

    def _and(self) -> Expr:
        """and = relation ("&&" relation)*"""
        first = self._relation()
        if self._tokens[self._position].kind != lexer.LOGICAL_AND:
            return first
        return self._chain(first, lexer.LOGICAL_AND, "_&&_")

    def _chain(self, first: Expr, operator: int, function: str) -> Expr:
        terms = [first]
        operator_ids = []
        term = self._and if operator == lexer.LOGICAL_OR else self._relation
        while (token := self._tokens[self._position]).kind == operator:
            self._position += 1
            terms.append(term())
            operator_ids.append(self.builder.id_at(token.start))
        return self.builder.logic(function, terms, operator_ids)

    def _relation(self) -> Expr:
        """relation = addition (("<" | "<=" | ">=" | ">" | "==" | "!=" | "in") addition)*"""
        outer, self._operators = self._operators, 0
        left = self._addition()
        chain = 0
        while (token := self._tokens[self._position]).kind in RELATIONS:
            self._position += 1
            self._operators += 1
            chain += 1
            node_id = self.builder.id_at(token.start)
            left = self.builder.call(node_id, RELATIONS[token.kind], (left, self._addition()))
        self._checked_length(chain)
        nesting = self._nesting
        total = self._operators + outer + 1
        if total > self._longest[nesting]:
            self._longest[nesting] = total
        self._operators = outer
        return left

    def _addition(self) -> Expr:
        """addition = multiplication (("+" | "-") multiplication)*"""
        left = self._multiplication()
        chain = 0
        while (token := self._tokens[self._position]).kind in ADDITIONS:
            self._position += 1
            self._operators += 1
            chain += 1
            node_id = self.builder.id_at(token.start)
            left = self.builder.call(node_id, ADDITIONS[token.kind], (left, self._multiplication()))
        self._checked_length(chain)
        return left

    def _multiplication(self) -> Expr:
        """multiplication = unary (("*" | "/" | "%") unary)*"""
        left = self._unary()
        chain = 0
        while (token := self._tokens[self._position]).kind in MULTIPLICATIONS:
            self._position += 1
            self._operators += 1
            chain += 1
            node_id = self.builder.id_at(token.start)
            left = self.builder.call(node_id, MULTIPLICATIONS[token.kind], (left, self._unary()))
        self._checked_length(chain)
        return left

    def _unary(self) -> Expr:
        """unary = member | "!"+ member | "-"+ member"""
        token = self._tokens[self._position]
        kind = token.kind
        if kind not in {lexer.EXCLAM, lexer.MINUS}:
            return self._member()
        if kind == lexer.MINUS and self._tokens[self._position + 1].kind in {lexer.NUM_INT, lexer.NUM_FLOAT}:
            return self._member()  # the sign belongs to the literal
        count = 0
        while self._accept(kind):
            count += 1
        if count % 2 == 0:
            return self._member()
        node_id = self.builder.id_at(token.start)
        self._operators += 1
        return self.builder.call(node_id, "!_" if kind == lexer.EXCLAM else "-_", (self._member(),))

    def _member(self) -> Expr:
        """member = primary ("." "?"? field | "." IDENTIFIER "(" exprList? ")" | "[" "?"? expr "]")*"""
        operand = self._primary()
        tokens = self._tokens
        builder = self.builder
        chain = 0
        while True:
            token = tokens[self._position]
            chain += 1
            if token.kind == lexer.DOT:
                self._operators += 1
                operand = self._selection(operand, token)
            elif token.kind == lexer.LBRACKET:
                self._operators += 1
                self._position += 1
                function = "_[?_]" if self._optional() else "_[_]"
                node_id = builder.id_at(token.start)
                index = self._expr()
                self._match(lexer.RBRACKET)
                operand = builder.call(node_id, function, (operand, index))
            else:
                self._checked_length(chain - 1)
                return operand

    def _selection(self, operand: Expr, dot: Token) -> Expr:
        self._position += 1
        builder = self.builder
        if self._optional():
            field = self._tokens[self._position]
            literal = Literal(builder.id_at(field.start), self._field())
            return Call(builder.id_at(dot.start), "_?._", (operand, literal))
        name = self._field()
        opening = self._tokens[self._position]
        if opening.kind != lexer.LPAREN:
            return Select(builder.id_at(dot.start), operand, name)
        if self._tokens[self._position - 1].kind == lexer.ESC_IDENTIFIER:
            raise _UnusualError
        self._position += 1
        node_id = builder.id_at(opening.start)
        return builder.member_call(node_id, name, operand, self._arguments())

    def _optional(self) -> bool:
        if not self._accept(lexer.QUESTIONMARK):
            return False
        if not self._options.optional_syntax:
            raise _UnusualError
        return True

    def _field(self) -> str:
        """field = IDENTIFIER | ESC_IDENTIFIER"""
        token = self._tokens[self._position]
        self._position += 1
        if token.kind == lexer.IDENTIFIER:
            return token.text
        if token.kind == lexer.ESC_IDENTIFIER and self._options.identifier_escapes:
            return token.text[1:-1]
        raise _UnusualError

    def _arguments(self) -> tuple[Expr, ...]:
        """exprList? ")" after the opening bracket; exprList = expr ("," expr)*"""
        if self._accept(lexer.RPAREN):
            return ()
        found = [self._expr()]
        while self._accept(lexer.COMMA):
            found.append(self._expr())
        self._match(lexer.RPAREN)
        return tuple(found)

    def _primary(self) -> Expr:
        """primary = "."? IDENTIFIER ("(" exprList? ")")? | "(" expr ")" | list | map | message | literal"""
        token = self._tokens[self._position]
        match token.kind:
            case lexer.IDENTIFIER | lexer.DOT:
                return self._name(token)
            case lexer.LPAREN:
                self._position += 1
                expr = self._expr()
                self._match(lexer.RPAREN)
                return expr
            case lexer.LBRACKET:
                return self._list(token)
            case lexer.LBRACE:
                return self._map(token)
            case _:
                return self._literal(token)

    def _name(self, first: Token) -> Expr:
        builder = self.builder
        prefix = "." if first.kind == lexer.DOT else ""
        self._position += len(prefix)
        token = self._match(lexer.IDENTIFIER)
        following = self._tokens[self._position]
        if following.kind == lexer.LPAREN:
            if token.text in RESERVED:
                raise _UnusualError
            self._position += 1
            node_id = builder.id_at(following.start)
            return builder.call(node_id, prefix + token.text, self._arguments())
        if following.kind in {lexer.LBRACE, lexer.DOT}:
            end = self._position
            names = [token.text]
            while self._tokens[end].kind == lexer.DOT and self._tokens[end + 1].kind == lexer.IDENTIFIER:
                names.append(self._tokens[end + 1].text)
                end += 2
            if self._tokens[end].kind == lexer.LBRACE:
                self._position = end + 1
                return self._message(prefix + ".".join(names), self._tokens[end])
        if token.text in RESERVED:
            return builder.report(first.start, f"reserved identifier: {token.text}")
        return Ident(builder.id_at(token.start), prefix + token.text)

    def _message(self, name: str, opening: Token) -> Expr:
        """message = "."? IDENTIFIER ("." IDENTIFIER)* "{" ("?"? field ":" expr) % "," ","? "}" """
        node_id = self.builder.id_at(opening.start)
        fields: list[FieldInit] = []
        while not self._accept(lexer.RBRACE):
            if self._separated(bool(fields), lexer.RBRACE):
                break
            optional = self._optional()
            field = self._field()
            colon = self._match(lexer.COLON)
            field_id = self.builder.id_at(colon.start)
            fields.append(FieldInit(field_id, field, self._expr(), optional))
        return StructExpr(node_id, name, tuple(fields))

    def _separated(self, begun: bool, closing: int) -> bool:
        """Past the comma before an element; True when the comma was the last, which may stand alone as in `[,]`."""
        if begun:
            self._match(lexer.COMMA)
            return self._accept(closing)
        if self._accept(lexer.COMMA):
            self._match(closing)
            return True
        return False

    def _list(self, opening: Token) -> Expr:
        """list = "[" ("?"? expr) % "," ","? "]" """
        self._position += 1
        node_id = self.builder.id_at(opening.start)
        elements: list[Expr] = []
        optional: list[int] = []
        while not self._accept(lexer.RBRACKET):
            if self._separated(bool(elements), lexer.RBRACKET):
                break
            if self._optional():
                optional.append(len(elements))
            elements.append(self._expr())
        return ListExpr(node_id, tuple(elements), frozenset(optional))

    def _map(self, opening: Token) -> Expr:
        """map = "{" ("?"? expr ":" expr) % "," ","? "}" """
        self._position += 1
        node_id = self.builder.id_at(opening.start)
        entries: list[Entry] = []
        while not self._accept(lexer.RBRACE):
            if self._separated(bool(entries), lexer.RBRACE):
                break
            optional = self._optional()
            key = self._expr()
            colon = self._match(lexer.COLON)
            entry_id = self.builder.id_at(colon.start)
            entries.append(Entry(entry_id, key, self._expr(), optional))
        return MapExpr(node_id, tuple(entries))

    def _literal(self, first: Token) -> Expr:
        """literal = "-"? NUM_INT | NUM_UINT | "-"? NUM_FLOAT | STRING | BYTES | "true" | "false" | "null" """
        negative = self._accept(lexer.MINUS)
        token = self._tokens[self._position]
        if negative and token.kind not in {lexer.NUM_INT, lexer.NUM_FLOAT}:
            raise _UnusualError
        self._position += 1
        try:
            value = literal_value(token, negative)
        except LiteralError as error:
            return self.builder.report(first.start, str(error))
        except KeyError:
            raise _UnusualError from None
        return Literal(self.builder.id_at(first.start), value)
