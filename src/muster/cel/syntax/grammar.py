"""cel-go's grammar as data: what `recovery` walks when an expression has a syntax error.

Messages list what was expected, so every point of the grammar must know which tokens may follow; that is computed
here from the rules instead of being written down by hand. Sets of tokens are bit masks over the kinds of `lexer`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from muster.cel.syntax import lexer
from muster.cel.syntax.lexer import DISPLAY

RULE_END = 1 << 62  # in a mask: the rule may end here


def mask_of(*kinds: int) -> int:
    mask = 0
    for kind in kinds:
        mask |= 1 << kind
    return mask


def display(mask: int) -> str:
    """The tokens of a mask as messages list them."""
    names = [name for kind, name in sorted(DISPLAY.items()) if mask >> kind & 1]
    return names[0] if len(names) == 1 else "{" + ", ".join(names) + "}"


@dataclass(eq=False)
class Element:
    """A part of a rule. `look` is what may stand at its beginning, `after` what may stand behind it."""

    look: int = field(default=0, init=False)
    after: int = field(default=0, init=False)


@dataclass(eq=False)
class Tok(Element):
    """One token of some kinds; `label` is where the context keeps it, as a list when it ends with `+`."""

    kinds: tuple[int, ...]
    label: str = ""


@dataclass(eq=False)
class Ref(Element):
    """A rule, with the precedence that its operators must have."""

    rule: str
    label: str = ""
    precedence: int = 0


@dataclass(eq=False)
class Opt(Element):
    body: tuple[Element, ...]


@dataclass(eq=False)
class Loop(Element):
    """Zero or more, or with `at_least_once` one or more. `back` is what may stand where an iteration has ended."""

    body: tuple[Element, ...]
    at_least_once: bool = False
    predictor: str = ""  # names a decision that needs more than one token
    back: int = field(default=0, init=False)


@dataclass(eq=False)
class Alternative:
    """One way to write a rule; `label` names the context that it makes."""

    label: str
    body: tuple[Element, ...]
    precedence: int = 0


@dataclass(eq=False)
class Choice(Element):
    alternatives: tuple[Alternative, ...]
    predictor: str = ""


@dataclass(eq=False)
class LeftRecursion(Element):
    """An operand and then suffixes, each of which takes all that stands before it as its left operand."""

    operand: Alternative
    suffixes: tuple[Alternative, ...]


def _tok(kind: int, label: str = "") -> Tok:
    return Tok((kind,), label)


def _mark() -> Opt:
    return Opt((_tok(lexer.QUESTIONMARK, "opt"),))


def _leading_dot() -> Opt:
    return Opt((_tok(lexer.DOT, "leading_dot"),))


def _comma_ended(opening: int, rule: str, label: str, closing: int) -> tuple[Element, ...]:
    return (
        _tok(opening, "op"),
        Opt((Ref(rule, label),)),
        Opt((_tok(lexer.COMMA),)),
        _tok(closing),
    )


def _arguments(label: str) -> tuple[Element, ...]:
    return (_tok(lexer.LPAREN, label), Opt((Ref("exprList", "args"),)), _tok(lexer.RPAREN))


_RELATIONS = (
    lexer.LESS,
    lexer.LESS_EQUALS,
    lexer.GREATER_EQUALS,
    lexer.GREATER,
    lexer.EQUALS,
    lexer.NOT_EQUALS,
    lexer.IN,
)

RULES: dict[str, tuple[Element, ...]] = {
    "start": (Ref("expr", "e"), _tok(lexer.EOF)),
    "expr": (
        Ref("conditionalOr", "e"),
        Opt(
            (
                _tok(lexer.QUESTIONMARK, "op"),
                Ref("conditionalOr", "e1"),
                _tok(lexer.COLON),
                Ref("expr", "e2"),
            )
        ),
    ),
    "conditionalOr": (
        Ref("conditionalAnd", "e"),
        Loop((_tok(lexer.LOGICAL_OR, "ops+"), Ref("conditionalAnd", "e1+"))),
    ),
    "conditionalAnd": (Ref("relation", "e"), Loop((_tok(lexer.LOGICAL_AND, "ops+"), Ref("relation", "e1+")))),
    "relation": (
        LeftRecursion(
            Alternative("", (Ref("calc", "calc"),)),
            (Alternative("", (Tok(_RELATIONS, "op"), Ref("relation", "right", 2)), 1),),
        ),
    ),
    "calc": (
        LeftRecursion(
            Alternative("", (Ref("unary", "unary"),)),
            (
                Alternative("", (Tok((lexer.STAR, lexer.SLASH, lexer.PERCENT), "op"), Ref("calc", "right", 3)), 2),
                Alternative("", (Tok((lexer.PLUS, lexer.MINUS), "op"), Ref("calc", "right", 2)), 1),
            ),
        ),
    ),
    "unary": (
        Choice(
            (
                Alternative("MemberExpr", (Ref("member", "member"),)),
                Alternative(
                    "LogicalNot", (Loop((_tok(lexer.EXCLAM, "ops+"),), at_least_once=True), Ref("member", "member"))
                ),
                Alternative(
                    "Negate",
                    (
                        Loop((_tok(lexer.MINUS, "ops+"),), at_least_once=True, predictor="minus"),
                        Ref("member", "member"),
                    ),
                ),
            ),
            "unary",
        ),
    ),
    "member": (
        LeftRecursion(
            Alternative("PrimaryExpr", (Ref("primary", "primary"),)),
            (
                Alternative("Select", (_tok(lexer.DOT, "op"), _mark(), Ref("escapeIdent", "id")), 3),
                Alternative(
                    "MemberCall", (_tok(lexer.DOT, "op"), _tok(lexer.IDENTIFIER, "id"), *_arguments("open")), 2
                ),
                Alternative(
                    "Index", (_tok(lexer.LBRACKET, "op"), _mark(), Ref("expr", "index"), _tok(lexer.RBRACKET)), 1
                ),
            ),
        ),
    ),
    "primary": (
        Choice(
            (
                Alternative("Ident", (_leading_dot(), _tok(lexer.IDENTIFIER, "id"))),
                Alternative("GlobalCall", (_leading_dot(), _tok(lexer.IDENTIFIER, "id"), *_arguments("op"))),
                Alternative("Nested", (_tok(lexer.LPAREN), Ref("expr", "e"), _tok(lexer.RPAREN))),
                Alternative("CreateList", _comma_ended(lexer.LBRACKET, "listInit", "elems", lexer.RBRACKET)),
                Alternative("CreateStruct", _comma_ended(lexer.LBRACE, "mapInitializerList", "entries", lexer.RBRACE)),
                Alternative(
                    "CreateMessage",
                    (
                        _leading_dot(),
                        _tok(lexer.IDENTIFIER, "ids+"),
                        Loop((_tok(lexer.DOT, "ops+"), _tok(lexer.IDENTIFIER, "ids+"))),
                        *_comma_ended(lexer.LBRACE, "fieldInitializerList", "entries", lexer.RBRACE),
                    ),
                ),
                Alternative("ConstantLiteral", (Ref("literal", "literal"),)),
            ),
            "primary",
        ),
    ),
    "exprList": (Ref("expr", "e+"), Loop((_tok(lexer.COMMA), Ref("expr", "e+")))),
    "listInit": (
        Ref("optExpr", "elems+"),
        Loop((_tok(lexer.COMMA), Ref("optExpr", "elems+")), predictor="comma before element"),
    ),
    "fieldInitializerList": (
        Ref("optField", "fields+"),
        _tok(lexer.COLON, "cols+"),
        Ref("expr", "values+"),
        Loop(
            (_tok(lexer.COMMA), Ref("optField", "fields+"), _tok(lexer.COLON, "cols+"), Ref("expr", "values+")),
            predictor="comma before field",
        ),
    ),
    "optField": (_mark(), Ref("escapeIdent", "escape_ident")),
    "mapInitializerList": (
        Ref("optExpr", "keys+"),
        _tok(lexer.COLON, "cols+"),
        Ref("expr", "values+"),
        Loop(
            (_tok(lexer.COMMA), Ref("optExpr", "keys+"), _tok(lexer.COLON, "cols+"), Ref("expr", "values+")),
            predictor="comma before element",
        ),
    ),
    "escapeIdent": (
        Choice(
            (
                Alternative("SimpleIdentifier", (_tok(lexer.IDENTIFIER, "id"),)),
                Alternative("EscapedIdentifier", (_tok(lexer.ESC_IDENTIFIER, "id"),)),
            )
        ),
    ),
    "optExpr": (_mark(), Ref("expr", "e")),
    "literal": (
        Choice(
            (
                Alternative("Literal", (Opt((_tok(lexer.MINUS, "sign"),)), _tok(lexer.NUM_INT, "tok"))),
                Alternative("Literal", (_tok(lexer.NUM_UINT, "tok"),)),
                Alternative("Literal", (Opt((_tok(lexer.MINUS, "sign"),)), _tok(lexer.NUM_FLOAT, "tok"))),
                *(
                    Alternative("Literal", (_tok(kind, "tok"),))
                    for kind in (lexer.STRING, lexer.BYTES, lexer.TRUE, lexer.FALSE, lexer.NULL)
                ),
            ),
            "literal",
        ),
    ),
}


def _first(elements: tuple[Element, ...], rest: int, firsts: dict[str, int]) -> int:
    """What may stand at the beginning of the elements, when `rest` may stand behind them."""
    mask = rest
    for element in reversed(elements):
        mask = _first_of(element, mask, firsts)
    return mask


def _first_of(element: Element, rest: int, firsts: dict[str, int]) -> int:
    match element:
        case Tok(kinds=kinds):
            return mask_of(*kinds)
        case Ref(rule=rule):
            return firsts[rule]  # no rule may be empty
        case Opt(body=body):
            return _first(body, 0, firsts) | rest
        case Loop(body=body, at_least_once=once):
            return _first(body, 0, firsts) | (0 if once else rest)
        case Choice(alternatives=alternatives):
            mask = 0
            for alternative in alternatives:
                mask |= _first(alternative.body, rest, firsts)
            return mask
        case LeftRecursion(operand=operand):
            return _first(operand.body, rest, firsts)
        case _:
            raise TypeError(element)


def _annotate(elements: tuple[Element, ...], rest: int, firsts: dict[str, int]) -> None:
    """Set `look` and `after` of every element."""
    mask = rest
    for element in reversed(elements):
        element.after = mask
        mask = _first_of(element, mask, firsts)
        element.look = mask
        match element:
            case Opt(body=body):
                _annotate(body, element.after, firsts)
            case Loop(body=body):
                element.back = _first(body, 0, firsts) | element.after
                _annotate(body, element.back, firsts)
            case Choice(alternatives=alternatives):
                for alternative in alternatives:
                    _annotate(alternative.body, element.after, firsts)
            case LeftRecursion(operand=operand, suffixes=suffixes):
                loop = element.after
                for suffix in suffixes:
                    loop |= _first(suffix.body, 0, firsts)
                for alternative in (operand, *suffixes):
                    _annotate(alternative.body, loop, firsts)
            case _:
                pass


def _prepare() -> dict[str, int]:
    firsts = dict.fromkeys(RULES, 0)
    changed = True
    while changed:
        changed = False
        for name, elements in RULES.items():
            mask = _first(elements, RULE_END, firsts)
            changed = changed or mask != firsts[name]
            firsts[name] = mask
    for elements in RULES.values():
        _annotate(elements, RULE_END, firsts)
    return firsts


FIRST = _prepare()
"""What every rule may begin with. Computing it also sets `look`, `after` and `back` in RULES."""
