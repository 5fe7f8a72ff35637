"""Tree to text: one spelling for each query, which reads back as the same tree. Used by explain, docs and tests."""

from __future__ import annotations

from typing import assert_never

from muster.jq.syntax import tree
from muster.jq.syntax.lexer import KEYWORDS
from muster.jq.values.encoding import encode_string

# How tightly a form holds together; an operand of a tighter place gets parentheses.
_PIPE, _COMMA, _ALTERNATIVE, _UPDATE, _OR, _AND, _COMPARE, _SUM, _PRODUCT, _POSTFIX = range(10)
_STRENGTH = {
    "//": _ALTERNATIVE,
    **dict.fromkeys(("=", "|=", "+=", "-=", "*=", "/=", "%=", "//="), _UPDATE),
    "or": _OR,
    "and": _AND,
    **dict.fromkeys(("==", "!=", "<", "<=", ">", ">="), _COMPARE),
    "+": _SUM,
    "-": _SUM,
    "*": _PRODUCT,
    "/": _PRODUCT,
    "%": _PRODUCT,
}


def print_query(query: tree.Query) -> str:
    """The query in its one spelling."""
    return _write(query, _PIPE)


def _write(query: tree.Query, place: int) -> str:
    text, strength = _written(query)
    return text if strength >= place else f"({text})"


def _written(query: tree.Query) -> tuple[str, int]:
    """The text, and how tightly it holds together."""
    match query:
        case tree.Identity():
            return ".", _POSTFIX
        case tree.RecurseAll():
            return "..", _POSTFIX
        case tree.Literal(text=text):
            return text, _POSTFIX
        case tree.Text():
            return _text(query), _POSTFIX
        case tree.Format(name=name):
            return name, _POSTFIX
        case tree.Index() | tree.Slice() | tree.Iterate() | tree.Optional():
            return _suffixed(query), _POSTFIX
        case tree.Call(name=name, args=args):
            return f"{name}({'; '.join(map(print_query, args))})" if args else name, _POSTFIX
        case tree.Variable(name=name):
            return f"${name}", _POSTFIX
        case tree.Object(entries=entries):
            return f"{{{', '.join(map(_entry, entries))}}}", _POSTFIX
        case tree.Array(body=body):
            return "[]" if body is None else f"[{print_query(body)}]", _POSTFIX
        case tree.Unary(operator=operator, operand=operand):
            # Its operand takes suffixes, so a suffix behind the sign needs parentheses around it.
            return f"{operator}{_write(operand, _POSTFIX)}", _PRODUCT
        case tree.Binary():
            return _binary(query)
        case tree.Pipe(parts=parts):
            return " | ".join(_write(part, _COMMA) for part in parts), _PIPE
        case tree.Comma(parts=parts):
            return ", ".join(_write(part, _ALTERNATIVE) for part in parts), _COMMA
        case tree.If(branches=branches, otherwise=otherwise):
            tests = (f"if {print_query(condition)} then {print_query(then)}" for condition, then in branches)
            ending = "" if otherwise is None else f" else {print_query(otherwise)}"
            return f"{' el'.join(tests)}{ending} end", _POSTFIX
        case tree.Try(body=body, handler=handler):
            caught = "" if handler is None else f" catch {_write(handler, _POSTFIX)}"
            return f"try {_write(body, _POSTFIX)}{caught}", _PRODUCT
        case tree.Reduce() | tree.Foreach():
            return _fold(query), _POSTFIX
        case tree.Bind(source=source, patterns=patterns, body=body):
            names = " ?// ".join(map(_pattern, patterns))
            return f"{_write(source, _ALTERNATIVE)} as {names} | {print_query(body)}", _PIPE
        case tree.Label(name=name, body=body):
            return f"label ${name} | {print_query(body)}", _PIPE
        case tree.Break(name=name):
            return f"break ${name}", _POSTFIX
        case tree.Define(definitions=definitions, body=body):
            rest = "" if body is None else f" {print_query(body)}"
            return " ".join(map(_definition, definitions)) + rest, _PIPE
        case _:
            assert_never(query)


def _binary(query: tree.Binary) -> tuple[str, int]:
    strength = _STRENGTH[query.operator]
    if query.operator in ("and", "or"):  # chains may be long: no recursion down their left side
        parts: list[str] = []
        at: tree.Query = query
        while isinstance(at, tree.Binary) and at.operator == query.operator:
            parts.append(_write(at.right, strength + 1))
            at = at.left
        parts.append(_write(at, strength))
        return f" {query.operator} ".join(reversed(parts)), strength
    left, right = strength, strength + 1
    if query.operator == "//":
        left, right = strength + 1, strength
    elif strength in (_UPDATE, _COMPARE):
        left = strength + 1
    return f"{_write(query.left, left)} {query.operator} {_write(query.right, right)}", strength


def _suffixed(query: tree.Index | tree.Slice | tree.Iterate | tree.Optional) -> str:
    target = _write(query.target, _POSTFIX)
    match query:
        case tree.Optional():
            return f"{target}?"
        case tree.Iterate():
            return f"{target}[]"
        case tree.Slice(start=start, end=end):
            first = "" if start is None else print_query(start)
            last = "" if end is None else print_query(end)
            return f"{target}[{first}:{last}]"
        case tree.Index(key=key):
            if isinstance(key, tree.Text) and key.format is None:
                name = key.constant
                plain = name is not None and name.isascii() and name.isidentifier()
                # A digit or dot in front would swallow the dot: `1 .a`, `. .a`.
                if isinstance(query.target, tree.Identity):
                    return f".{name if plain else _text(key)}"
                gap = " " if target[-1] in ".0123456789" else ""
                return f"{target}{gap}.{name if plain else _text(key)}"
            return f"{target}[{print_query(key)}]"


def _text(query: tree.Text) -> str:
    inner = "".join(
        encode_string(part)[1:-1] if isinstance(part, str) else f"\\({print_query(part)})" for part in query.parts
    )
    return f'{query.format + " " if query.format else ""}"{inner}"'


def _entry(entry: tree.ObjectEntry) -> str:
    key = _key(entry.key)
    if entry.value is None:
        return key
    return f"{key}: {_object_value(entry.value)}"


def _object_value(value: tree.Query) -> str:
    """Pipes may stand there, if every part is an expression."""
    if isinstance(value, tree.Pipe):
        return " | ".join(_write(part, _ALTERNATIVE) for part in value.parts)
    return _write(value, _ALTERNATIVE)


def _key(key: tree.Query) -> str:
    if isinstance(key, tree.Variable):
        return f"${key.name}"
    if isinstance(key, tree.Text) and key.format is None:
        name = key.constant
        word = name is not None and name.isascii() and (name.isidentifier() or name in KEYWORDS)
        return str(name) if word else _text(key)
    return f"({print_query(key)})"


def _pattern(pattern: tree.Pattern) -> str:
    match pattern:
        case tree.VariablePattern(name=name):
            return f"${name}"
        case tree.ArrayPattern(items=items):
            return f"[{', '.join(map(_pattern, items))}]"
        case tree.ObjectPattern(entries=entries):
            return f"{{{', '.join(map(_pattern_entry, entries))}}}"


def _pattern_entry(entry: tree.PatternEntry) -> str:
    key = _key(entry.key)
    return key if entry.value is None else f"{key}: {_pattern(entry.value)}"


def _fold(query: tree.Reduce | tree.Foreach) -> str:
    word = "reduce" if isinstance(query, tree.Reduce) else "foreach"
    parts = [query.start, query.update]
    if isinstance(query, tree.Foreach) and query.extract is not None:
        parts.append(query.extract)
    inner = "; ".join(map(print_query, parts))
    return f"{word} {_write(query.source, _ALTERNATIVE)} as {_pattern(query.pattern)} ({inner})"


def _definition(definition: tree.Definition) -> str:
    parameters = f"({'; '.join(definition.parameters)})" if definition.parameters else ""
    return f"def {definition.name}{parameters}: {print_query(definition.body)};"
