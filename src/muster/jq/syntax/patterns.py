"""Patterns of `as`, and the keys that patterns and objects share."""

from __future__ import annotations

from abc import ABC, abstractmethod

from muster.jq.syntax import tree
from muster.jq.syntax.lexer import KEYWORDS
from muster.jq.syntax.token_reader import TokenReader
from muster.source import Span


class PatternParser(TokenReader, ABC):
    """The rules of patterns."""

    @abstractmethod
    def query(self) -> tree.Query:
        """A whole query, in parentheses."""

    @abstractmethod
    def string(self, format_name: str | None) -> tree.Text:
        """A string, with queries in it."""

    def pattern(self) -> tree.Pattern:
        """pattern = variable | "[" pattern ("," pattern)* "]" | "{" entry ("," entry)* "}" """
        if self.token.kind == "variable" and "::" not in self.token.text:
            return tree.VariablePattern(self.advance().text[1:])
        self.deeper()
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
