"""Tokens to tree: gojq's grammar by recursive descent. One function per rule; errors are gojq's, at gojq's token.

Nesting is limited, because every later stage walks the tree. Long chains of `|`, `,`, `and` and `or` do not nest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import InvalidExpressionError
from muster.jq.syntax import tree
from muster.jq.syntax.lexer import KEYWORDS, Lexer
from muster.jq.values.encoding import encode_string
from muster.jq.values.numbers import TooManyDigitsError, parse_number
from muster.source import Diagnostic, Source, Span

if TYPE_CHECKING:
    from muster.jq.syntax.lexer import Token

MAX_LENGTH = 100_000
MAX_TOKENS = 12_000
"""Every stage is about linear in the tokens: so many take up to 0.3 s from text to code."""
MAX_NESTING = 80
MAX_CHAIN = 120
"""Operators of one arithmetic chain, which nest to the left."""

_LONGEST_SHOWN = 200
_UPDATES = frozenset(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="))
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">="))

# Binding strength and associativity of the operators, weakest first.
_BINARY: dict[str, tuple[int, str]] = {
    "//": (1, "right"),
    **dict.fromkeys(_UPDATES, (2, "none")),
    "or": (3, "left"),
    "and": (4, "left"),
    **dict.fromkeys(_COMPARISONS, (5, "none")),
    "+": (6, "left"),
    "-": (6, "left"),
    "*": (7, "left"),
    "/": (7, "left"),
    "%": (7, "left"),
}


def parse(source: Source) -> tree.Program:
    """Read a whole query. Raises InvalidExpressionError with the first fault."""
    if len(source.text) > MAX_LENGTH:
        raise InvalidExpressionError(source, [Diagnostic(f"query is longer than {MAX_LENGTH:,} characters")])
    try:
        return _Parser(source).program()
    except RecursionError:
        raise InvalidExpressionError(source, [Diagnostic("query is nested too deeply")]) from None


def _shown(text: str) -> str:
    return encode_string(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


def _define(definitions: list[tree.Definition], body: tree.Query, span: Span) -> tree.Query:
    """Definitions before definitions are one list, with or without parentheses between them."""
    if isinstance(body, tree.Define):
        return tree.Define((*definitions, *body.definitions), body.body, span)
    return tree.Define(tuple(definitions), body, span)


class _Parser:
    def __init__(self, source: Source) -> None:
        self.source = source
        self.lexer = Lexer(source.text)
        self.nesting = 0
        self.tokens = 0
        self.token = self.lexer.next()

    # ── tokens ──

    def advance(self) -> Token:
        token = self.token
        self.token = self.lexer.next()
        self.tokens += 1
        if self.tokens > MAX_TOKENS:
            raise self.invalid(f"query has more than {MAX_TOKENS:,} words and signs", token.start, token.end)
        return token

    def accept(self, kind: str) -> Token | None:
        return self.advance() if self.token.kind == kind else None

    def expect(self, kind: str) -> Token:
        if self.token.kind != kind:
            raise self.unexpected()
        return self.advance()

    def unexpected(self) -> InvalidExpressionError:
        token = self.token
        match token.kind:
            case "eof":
                message = "unexpected EOF"
            case "invalid":
                message = f"invalid token {_shown(token.text)}"
            case "invalid-escape":
                message = f'invalid escape sequence "{token.text}" in string literal'
            case "unterminated":
                message = "unterminated string literal"
            case _:
                message = f"unexpected token {_shown(token.text)}"
        return self.invalid(message, token.start, token.end)

    def invalid(self, message: str, start: int, end: int) -> InvalidExpressionError:
        return InvalidExpressionError(self.source, [Diagnostic(message, start, max(end - start, 1))])

    def span(self, start: int) -> Span:
        return Span(start, max(self.token.start, start))

    # ── rules ──

    def program(self) -> tree.Program:
        """program = ["module" object ";"] import* (definition* | query)"""
        if self.accept("module"):
            self.constant_object()
            self.expect(";")
        imports = []
        while self.token.kind in ("import", "include"):
            imports.append(self.import_())
        start = self.token.start
        definitions = []
        while self.token.kind == "def":
            definitions.append(self.definition())
        if self.token.kind == "eof":
            return tree.Program(tuple(imports), tree.Define(tuple(definitions), None, Span(start, self.token.end)))
        body = self.query()
        if self.token.kind != "eof":
            raise self.unexpected()
        if definitions:
            body = _define(definitions, body, Span(start, self.token.end))
        return tree.Program(tuple(imports), body)

    def import_(self) -> tree.Import:
        """import = "import" string "as" (name | variable) [object] ";" | "include" string [object] ";" """
        start = self.token.start
        aliased = self.advance().kind == "import"
        path = self.expect("string").value
        if aliased:
            self.expect("as")
            if not (self.accept("name") or self.accept("variable")):
                raise self.unexpected()
        if self.token.kind == "{":
            self.constant_object()
        self.expect(";")
        return tree.Import(path, self.span(start))

    def constant_object(self) -> None:
        """Module metadata: read and forgotten."""
        self.expect("{")
        while not self.accept("}"):
            if self.token.kind not in KEYWORDS and self.token.kind not in ("name", "string"):
                raise self.unexpected()
            self.advance()
            self.expect(":")
            self.constant()
            if self.token.kind != "}":
                self.expect(",")

    def constant(self) -> None:
        if self.token.kind == "{":
            self.constant_object()
        elif self.accept("["):
            if not self.accept("]"):
                self.constant()
                while self.accept(","):
                    self.constant()
                self.expect("]")
        elif not any(self.accept(kind) for kind in ("number", "string", "null", "true", "false")):
            raise self.unexpected()

    def definition(self) -> tree.Definition:
        """definition = "def" name ["(" parameter (";" parameter)* ")"] ":" query ";" """
        start = self.expect("def").start
        if self.token.kind == "name" and "::" in self.token.text:
            raise self.unexpected()
        name = self.expect("name").text
        parameters: list[str] = []
        if self.accept("("):
            parameters.append(self.parameter())
            while self.accept(";"):
                parameters.append(self.parameter())
            self.expect(")")
        self.expect(":")
        body = self.query()
        self.expect(";")
        return tree.Definition(name, tuple(parameters), body, self.span(start))

    def parameter(self) -> str:
        if self.token.kind not in ("name", "variable") or "::" in self.token.text:
            raise self.unexpected()
        return self.advance().text

    def query(self) -> tree.Query:
        """query = commas ("|" query)*, where a definition, a label and `as` take all that follows"""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.invalid("query is nested too deeply", self.token.start, self.token.end)
        start = self.token.start
        stages = [self.commas()]
        while self.accept("|"):
            stages.append(self.commas())
        self.nesting -= 1
        return stages[0] if len(stages) == 1 else tree.Pipe(tuple(stages), self.span(start))

    def commas(self) -> tree.Query:
        """commas = operand ("," operand)*"""
        start = self.token.start
        parts = [self.operand()]
        while self.accept(","):
            parts.append(self.operand())
        return parts[0] if len(parts) == 1 else tree.Comma(tuple(parts), self.span(start))

    def operand(self) -> tree.Query:
        """operand = definition query | "label" variable "|" query | expression ["as" patterns "|" query]"""
        start = self.token.start
        if self.token.kind == "def":
            definitions = [self.definition()]
            while self.token.kind == "def":
                definitions.append(self.definition())
            body = self.query()
            return _define(definitions, body, self.span(start))
        if self.accept("label"):
            name = self.expect("variable").text
            self.expect("|")
            return tree.Label(name[1:], self.query(), self.span(start))
        source = self.expression(0)
        if not self.accept("as"):
            return source
        patterns = [self.pattern()]
        while self.accept("?//"):
            patterns.append(self.pattern())
        self.expect("|")
        return tree.Bind(source, tuple(patterns), self.query(), self.span(start))

    def expression(self, weakest: int) -> tree.Query:
        """expression = postfix (operator postfix)*, by binding strength"""
        start = self.token.start
        left = self.postfix()
        chain = 0
        while True:
            operator = self.token.kind
            strength, associates = _BINARY.get(operator, (0, ""))
            if not strength or strength <= weakest:
                return left
            chain += 1
            if chain > MAX_CHAIN and operator not in ("and", "or"):
                raise self.invalid("query is nested too deeply", self.token.start, self.token.end)
            self.advance()
            right = self.expression(strength - 1 if associates == "right" else strength)
            left = tree.Binary(operator, left, right, self.span(start))
            if associates == "none" and _BINARY.get(self.token.kind, (0, ""))[0] == strength:
                raise self.unexpected()

    def pattern(self) -> tree.Pattern:
        """pattern = variable | "[" pattern ("," pattern)* "]" | "{" entry ("," entry)* "}" """
        if self.token.kind == "variable" and "::" not in self.token.text:
            return tree.VariablePattern(self.advance().text[1:])
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.invalid("query is nested too deeply", self.token.start, self.token.end)
        found: tree.Pattern
        if self.accept("["):
            items = [self.pattern()]
            while self.accept(","):
                items.append(self.pattern())
            self.expect("]")
            found = tree.ArrayPattern(tuple(items))
        else:
            self.expect("{")
            entries = [self.pattern_entry()]
            while self.accept(","):
                entries.append(self.pattern_entry())
            self.expect("}")
            found = tree.ObjectPattern(tuple(entries))
        self.nesting -= 1
        return found

    def pattern_entry(self) -> tree.PatternEntry:
        """entry = variable [":" pattern] | (name | keyword | string | "(" query ")") ":" pattern"""
        key = self.object_key()
        if isinstance(key, tree.Variable):
            return tree.PatternEntry(key, self.pattern() if self.accept(":") else None)
        self.expect(":")
        return tree.PatternEntry(key, self.pattern())

    def object_key(self) -> tree.Query:
        token = self.token
        if (token.kind == "name" and "::" not in token.text) or token.kind in KEYWORDS:
            self.advance()
            return tree.Text((token.text,), None, Span(token.start, token.end))
        if token.kind == "variable" and "::" not in token.text:
            self.advance()
            return tree.Variable(token.text[1:], Span(token.start, token.end))
        if token.kind in ("string", "string-start"):
            return self.string(None)
        self.expect("(")
        key = self.query()
        self.expect(")")
        return key

    def postfix(self) -> tree.Query:
        """postfix = term (field | "." string | ["."] "[" … "]" | "?")*"""
        start = self.token.start
        whole = self.token.kind == "("  # `(a.b)?` protects all of it, `a.b?` the last step
        term = self.term()
        while True:
            token = self.token
            if token.kind == "?" and whole:
                self.advance()
                term = tree.Try(term, None, self.span(start))
                continue
            whole = False
            if token.kind == "field":
                self.advance()
                term = tree.Index(term, tree.Text((token.text[1:],)), self.span(start))
            elif token.kind == "[":
                term = self.bracket(term, start)
            elif token.kind == "?":
                self.advance()
                term = tree.Optional(term, self.span(start))
            elif token.kind == ".":
                self.advance()
                if self.token.kind == "[":
                    term = self.bracket(term, start)
                elif self.token.kind in ("string", "string-start"):
                    term = tree.Index(term, self.string(None), self.span(start))
                else:
                    raise self.unexpected()
            else:
                return term

    def bracket(self, target: tree.Query, start: int) -> tree.Query:
        """ "[" "]" | "[" query "]" | "[" [query] ":" [query] "]" """
        self.expect("[")
        if self.accept("]"):
            return tree.Iterate(target, self.span(start))
        first = None if self.token.kind == ":" else self.query()
        if first is not None and self.accept("]"):
            return tree.Index(target, first, self.span(start))
        self.expect(":")
        last = None if self.token.kind == "]" and first is not None else self.query()
        self.expect("]")
        return tree.Slice(target, first, last, self.span(start))

    def term(self) -> tree.Query:
        token = self.token
        match token.kind:
            case ".":
                return self.dot()
            case "..":
                self.advance()
                return tree.RecurseAll(Span(token.start, token.end))
            case "field":
                self.advance()
                span = Span(token.start, token.end)
                return tree.Index(tree.Identity(span), tree.Text((token.text[1:],), None, span), span)
            case "null" | "true" | "false":
                self.advance()
                value = {"null": None, "true": True, "false": False}[token.kind]
                return tree.Literal(value, token.kind, Span(token.start, token.end))
            case "number":
                self.advance()
                try:
                    number = parse_number(token.text)
                except TooManyDigitsError as fault:
                    raise self.invalid(str(fault), token.start, token.end) from None
                return tree.Literal(number, token.text, Span(token.start, token.end))
            case "string" | "string-start":
                return self.string(None)
            case "format":
                self.advance()
                if self.token.kind in ("string", "string-start"):
                    return self.string(token.text)
                return tree.Format(token.text, Span(token.start, token.end))
            case "name":
                return self.call()
            case "variable":
                self.advance()
                return tree.Variable(token.text[1:], Span(token.start, token.end))
            case "+" | "-":
                return self.unary()
            case "(":
                self.advance()
                inner = self.query()
                self.expect(")")
                return inner
            case "[":
                self.advance()
                if self.accept("]"):
                    return tree.Array(None, self.span(token.start))
                body = self.query()
                self.expect("]")
                return tree.Array(body, self.span(token.start))
            case "{":
                return self.object()
            case "if":
                return self.if_()
            case "try":
                return self.try_()
            case "reduce" | "foreach":
                return self.fold()
            case "break":
                self.advance()
                if "::" in self.token.text:
                    raise self.unexpected()
                return tree.Break(self.expect("variable").text[1:], self.span(token.start))
            case _:
                raise self.unexpected()

    def dot(self) -> tree.Query:
        """ "." | "." string | "." "[" … "]" """
        start = self.advance().start
        here = tree.Identity(Span(start, start + 1))
        if self.token.kind in ("string", "string-start"):
            return tree.Index(here, self.string(None), self.span(start))
        return self.bracket(here, start) if self.token.kind == "[" else here

    def unary(self) -> tree.Query:
        token = self.advance()
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.invalid("query is nested too deeply", self.token.start, self.token.end)
        operand = self.postfix()
        self.nesting -= 1
        return tree.Unary(token.kind, operand, self.span(token.start))

    def call(self) -> tree.Query:
        """name ["(" query (";" query)* ")"]"""
        token = self.advance()
        args: list[tree.Query] = []
        if self.accept("("):
            args.append(self.query())
            while self.accept(";"):
                args.append(self.query())
            self.expect(")")
        return tree.Call(token.text, tuple(args), self.span(token.start) if args else Span(token.start, token.end))

    def string(self, format_name: str | None) -> tree.Text:
        """string = plain | start (piece | "\\(" query ")")* end"""
        token = self.token
        if token.kind == "string":
            self.advance()
            return tree.Text((token.value,) if token.value else (), format_name, Span(token.start, token.end))
        self.expect("string-start")
        parts: list[str | tree.Query] = []
        while self.token.kind != "string-end":
            if self.token.kind == "string":
                parts.append(self.advance().value)
                continue
            self.expect("string-query")
            parts.append(self.query())
            if self.token.kind != ")":
                raise self.unexpected()
            self.lexer.in_string = True  # before the next token is read
            self.advance()
        self.advance()
        return tree.Text(tuple(parts), format_name, self.span(token.start))

    def object(self) -> tree.Query:
        """ "{" [entry ("," entry)* [","]] "}" """
        start = self.expect("{").start
        entries: list[tree.ObjectEntry] = []
        while not self.accept("}"):
            if entries:
                self.expect(",")
                if self.accept("}"):
                    break
            parenthesised = self.token.kind == "("
            key = self.object_key()
            if self.accept(":"):
                entries.append(tree.ObjectEntry(key, self.object_value()))
            elif parenthesised:
                raise self.unexpected()
            else:
                entries.append(tree.ObjectEntry(key, None))
        return tree.Object(tuple(entries), self.span(start))

    def object_value(self) -> tree.Query:
        """value = expression ("|" expression)*"""
        start = self.token.start
        stages = [self.expression(0)]
        while self.accept("|"):
            stages.append(self.expression(0))
        return stages[0] if len(stages) == 1 else tree.Pipe(tuple(stages), self.span(start))

    def if_(self) -> tree.Query:
        """ "if" query "then" query ("elif" query "then" query)* ["else" query] "end" """
        start = self.expect("if").start
        branches = [self.branch()]
        while self.accept("elif"):
            branches.append(self.branch())
        otherwise = self.query() if self.accept("else") else None
        self.expect("end")
        return tree.If(tuple(branches), otherwise, self.span(start))

    def branch(self) -> tuple[tree.Query, tree.Query]:
        condition = self.query()
        self.expect("then")
        return condition, self.query()

    def try_(self) -> tree.Query:
        """ "try" postfix ["catch" postfix]"""
        start = self.expect("try").start
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.invalid("query is nested too deeply", self.token.start, self.token.end)
        body = self.postfix()
        handler = self.postfix() if self.accept("catch") else None
        self.nesting -= 1
        return tree.Try(body, handler, self.span(start))

    def fold(self) -> tree.Query:
        """("reduce" | "foreach") expression "as" pattern "(" query ";" query [";" query] ")" """
        token = self.advance()
        source = self.expression(0)
        self.expect("as")
        pattern = self.pattern()
        self.expect("(")
        start = self.query()
        self.expect(";")
        update = self.query()
        extract = None
        if token.kind == "foreach" and self.accept(";"):
            extract = self.query()
        self.expect(")")
        if token.kind == "reduce":
            return tree.Reduce(source, pattern, start, update, self.span(token.start))
        return tree.Foreach(source, pattern, start, update, extract, self.span(token.start))
