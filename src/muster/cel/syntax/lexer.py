"""Text -> tokens, as cel-go's lexer cuts them: longest match, and text that is no token is reported and skipped.

Called by the parser. Knows nothing of grammar, literal values or escapes' meaning.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

# The kinds of tokens, numbered as in cel-go's grammar: error messages list expected tokens in this order.
EOF = 0
EQUALS, NOT_EQUALS, IN, LESS, LESS_EQUALS, GREATER_EQUALS, GREATER, LOGICAL_AND, LOGICAL_OR = range(1, 10)
LBRACKET, RBRACKET, LBRACE, RBRACE, LPAREN, RPAREN, DOT, COMMA, MINUS, EXCLAM, QUESTIONMARK = range(10, 21)
COLON, PLUS, STAR, SLASH, PERCENT, TRUE, FALSE, NULL = range(21, 29)
NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER, ESC_IDENTIFIER = range(31, 38)

SYMBOLS = {
    "==": EQUALS,
    "!=": NOT_EQUALS,
    "<": LESS,
    "<=": LESS_EQUALS,
    ">=": GREATER_EQUALS,
    ">": GREATER,
    "&&": LOGICAL_AND,
    "||": LOGICAL_OR,
    "[": LBRACKET,
    "]": RBRACKET,
    "{": LBRACE,
    "}": RBRACE,
    "(": LPAREN,
    ")": RPAREN,
    ".": DOT,
    ",": COMMA,
    "-": MINUS,
    "!": EXCLAM,
    "?": QUESTIONMARK,
    ":": COLON,
    "+": PLUS,
    "*": STAR,
    "/": SLASH,
    "%": PERCENT,
}
KEYWORDS = {"in": IN, "true": TRUE, "false": FALSE, "null": NULL}

# How messages name a kind of token.
DISPLAY: dict[int, str] = {
    EOF: "<EOF>",
    **{kind: f"'{text}'" for text, kind in SYMBOLS.items()},
    **{kind: f"'{text}'" for text, kind in KEYWORDS.items()},
    NUM_FLOAT: "NUM_FLOAT",
    NUM_INT: "NUM_INT",
    NUM_UINT: "NUM_UINT",
    STRING: "STRING",
    BYTES: "BYTES",
    IDENTIFIER: "IDENTIFIER",
    ESC_IDENTIFIER: "ESC_IDENTIFIER",
}

_HEX = "[0-9a-fA-F]"
_ESCAPE = rf"""\\(?:[abfnrtv"'\\?`]|[0-3][0-7][0-7]|[xX]{_HEX}{{2}}|u{_HEX}{{4}}|U{_HEX}{{8}})"""
_HALF_ESCAPE = rf"\\(?:[0-3][0-7]?|[xX]{_HEX}?|u{_HEX}{{0,3}}|U{_HEX}{{0,7}})?"
_QUOTED = "|".join(
    (
        rf'"""(?:{_ESCAPE}|[^\\])*?"""',
        rf"'''(?:{_ESCAPE}|[^\\])*?'''",
        rf'"(?:{_ESCAPE}|[^\\"\n\r])*"',
        rf"'(?:{_ESCAPE}|[^\\'\n\r])*'",
        r'[rR]"""[\s\S]*?"""',
        r"[rR]'''[\s\S]*?'''",
        r'[rR]"[^"\n\r]*"',
        r"[rR]'[^'\n\r]*'",
    )
)
_EXPONENT = r"[eE][+-]?[0-9]+"
_TOKEN = re.compile(
    rf"""
      (?P<hidden>[\t \r\n\f]+|//[^\n]*)
    | (?P<quoted>[bB]?(?:{_QUOTED.replace(" ", "[ ]").replace("#", "[#]")}))
    | (?P<identifier>[A-Za-z_][A-Za-z0-9_]*)
    | (?P<float>[0-9]+\.[0-9]+(?:{_EXPONENT})?|[0-9]+{_EXPONENT}|\.[0-9]+(?:{_EXPONENT})?)
    | (?P<uint>(?:0x{_HEX}+|[0-9]+)[uU])
    | (?P<int>0x{_HEX}+|[0-9]+)
    | (?P<symbol>==|!=|<=|>=|&&|\|\||[][{{}}().,?:+*/%<>!-])
    | (?P<escaped>`[A-Za-z0-9_.\-/\x20]+`)
    """,
    re.VERBOSE,
)
# What a token that never ended had got hold of before the character that ended the attempt. Few texts have one.
_HALF_TOKEN = rf"""
      "(?:{_ESCAPE}|[^\\"\n\r])*(?:{_HALF_ESCAPE})?
    | '(?:{_ESCAPE}|[^\\'\n\r])*(?:{_HALF_ESCAPE})?
    | `[A-Za-z0-9_.\-/\x20]*
    | [&|=]
    """
_KINDS = {
    "float": NUM_FLOAT,
    "uint": NUM_UINT,
    "int": NUM_INT,
    "escaped": ESC_IDENTIFIER,
}


class Token(NamedTuple):
    kind: int
    text: str
    start: int


class Unrecognized(NamedTuple):
    """Text that is no token. `before` is how many tokens had been read when it was met."""

    text: str
    start: int
    before: int


def tokenize(text: str) -> tuple[list[Token], list[Unrecognized]]:
    """All tokens, the last one EOF, and all that is no token. Linear in the length of the text."""
    tokens: list[Token] = []
    unrecognized: list[Unrecognized] = []
    position = 0
    end = len(text)
    match_at = _TOKEN.match
    made: Callable[..., Token] = tuple.__new__  # what Token(…) does, without a call of Python's between
    while position < end:
        found = match_at(text, position)
        if found is None:
            half = re.compile(_HALF_TOKEN, re.VERBOSE).match(text, position)  # `re` keeps what it has compiled
            stop = half.end() if half else position
            unrecognized.append(Unrecognized(text[position : stop + 1], position, len(tokens)))
            position = stop + 1
            continue
        group = found.lastgroup
        lexeme = found.group()
        if group == "identifier":
            tokens.append(made(Token, (KEYWORDS.get(lexeme, IDENTIFIER), lexeme, position)))
        elif group == "symbol":
            tokens.append(made(Token, (SYMBOLS[lexeme], lexeme, position)))
        elif group == "quoted":
            tokens.append(made(Token, (BYTES if lexeme[0] in "bB" else STRING, lexeme, position)))
        elif group is not None and group != "hidden":
            tokens.append(made(Token, (_KINDS[group], lexeme, position)))
        position = found.end()
    tokens.append(Token(EOF, "<EOF>", end))
    return tokens, unrecognized
