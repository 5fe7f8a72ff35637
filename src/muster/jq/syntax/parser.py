"""Tokens to tree: gojq's grammar by recursive descent. One function per rule; errors are gojq's, at gojq's token.

Here are whole programs, definitions and operators; terms.py and patterns.py have what is inside. Nesting is limited,
because every later stage walks the tree. Long chains of `|`, `,`, `and` and `or` do not nest.
"""

from __future__ import annotations

from muster.errors import InvalidExpressionError
from muster.jq.syntax import tree
from muster.jq.syntax.module_headers import ModuleHeaderParser
from muster.jq.syntax.terms import TermParser
from muster.source import Diagnostic, Source, Span

MAX_LENGTH = 100_000
MAX_CHAIN = 120
"""Operators of one arithmetic chain, which nest to the left."""

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


def _define(definitions: list[tree.Definition], body: tree.Query, span: Span) -> tree.Query:
    """Definitions before definitions are one list, with or without parentheses between them."""
    if isinstance(body, tree.Define):
        return tree.Define((*definitions, *body.definitions), body.body, span)
    return tree.Define(tuple(definitions), body, span)


class _Parser(TermParser, ModuleHeaderParser):
    """The rules of whole queries."""

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
        self.deeper()
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
                raise self.too_deep()
            self.advance()
            right = self.expression(strength - 1 if associates == "right" else strength)
            left = tree.Binary(operator, left, right, self.span(start))
            if associates == "none" and _BINARY.get(self.token.kind, (0, ""))[0] == strength:
                raise self.unexpected()
