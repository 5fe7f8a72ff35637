"""The tokens of a query one by one, with the errors of gojq at gojq's token, and the limits of what is read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.errors import InvalidExpressionError
from muster.jq.syntax.lexer import Lexer
from muster.jq.values.encoding import encode_string
from muster.source import Diagnostic, Source, Span

if TYPE_CHECKING:
    from muster.jq.syntax.lexer import Token

MAX_TOKENS = 12_000
"""Every stage is about linear in the tokens: so many take up to 0.3 s from text to code."""
MAX_NESTING = 80
_LONGEST_SHOWN = 200


def _shown(text: str) -> str:
    return encode_string(text if len(text) <= _LONGEST_SHOWN else text[:_LONGEST_SHOWN] + "…")


class TokenReader:
    """Reads tokens; the rules of the grammar build on it."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.lexer = Lexer(source.text)
        self.nesting = 0
        self.tokens = 0
        self.token = self.lexer.next()

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

    def deeper(self) -> None:
        """One level of nesting more. Every later stage walks the tree."""
        self.nesting += 1
        if self.nesting > MAX_NESTING:
            raise self.too_deep()

    def too_deep(self) -> InvalidExpressionError:
        return self.invalid("query is nested too deeply", self.token.start, self.token.end)
