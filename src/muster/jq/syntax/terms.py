"""Terms: whatever stands between two operators, with the steps that follow it. parser.py has the rules around them."""

from __future__ import annotations

from abc import abstractmethod

from muster.jq.syntax import tree
from muster.jq.syntax.patterns import PatternParser
from muster.jq.values.numbers import TooManyDigitsError, parse_number
from muster.source import Span


class TermParser(PatternParser):
    """The rules of terms."""

    @abstractmethod
    def expression(self, weakest: int) -> tree.Query:
        """Terms with operators between them."""

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
        self.deeper()
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
        self.deeper()
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
