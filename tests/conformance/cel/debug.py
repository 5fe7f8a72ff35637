"""Trees as cel-go's tests print them: the parsed tree with the kind of every node, the checked one with its types."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from muster.cel.checking.unification import displayed
from muster.cel.syntax.tree import (
    Call,
    CheckedTree,
    Comprehension,
    Expr,
    Ident,
    ListExpr,
    Literal,
    MapExpr,
    Select,
    StructExpr,
)
from muster.cel.values import Uint

if TYPE_CHECKING:
    from collections.abc import Callable

_CONSTANTS = {
    bool: "BoolValue",
    int: "Int64Value",
    Uint: "Uint64Value",
    float: "DoubleValue",
    str: "StringValue",
    bytes: "BytesValue",
    type(None): "NullValue",
}
_KINDS: dict[type, str] = {
    Ident: "Expr_IdentExpr",
    Select: "Expr_SelectExpr",
    Call: "Expr_CallExpr",
    ListExpr: "Expr_ListExpr",
    MapExpr: "Expr_StructExpr",
    StructExpr: "Expr_StructExpr",
    Comprehension: "Expr_ComprehensionExpr",
}
_ESCAPES = {"\a": "\\a", "\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\v": "\\v"}


def parsed(expr: Expr) -> str:
    return _printed(expr, _kind, "^#*expr.Expr_CreateStruct_Entry#", "")


def _kind(expr: Expr) -> str:
    name = f"Constant_{_CONSTANTS[type(expr.value)]}" if isinstance(expr, Literal) else _KINDS[type(expr)]
    return f"^#*expr.{name}#"


def checked(tree: CheckedTree) -> str:
    def meaning(expr: Expr) -> str:
        shown = "~" + displayed(tree.types[expr.id]) if expr.id in tree.types else ""
        reference = tree.references.get(expr.id)
        if reference is None or isinstance(expr, Literal | MapExpr | Comprehension):
            return shown
        return shown + "^" + ("|".join(sorted(reference.overload_ids)) or reference.name)

    return _printed(tree.expr, meaning, "", "")


def _quoted(text: str) -> str:
    """Go's strconv.Quote."""
    parts = []
    for character in text:
        if character in {'"', "\\"}:
            parts.append("\\" + character)
        elif character in _ESCAPES:
            parts.append(_ESCAPES[character])
        elif character.isprintable():
            parts.append(character)
        elif ord(character) < 0x80:
            parts.append(f"\\x{ord(character):02x}")
        else:
            parts.append(json.dumps(character)[1:-1])
    return '"' + "".join(parts) + '"'


def _literal(value: object) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Uint():
            return f"{int(value)}u"
        case float():
            return repr(value).removesuffix(".0")
        case str():
            return _quoted(value)
        case bytes():
            text = "".join(
                chr(byte) if 0x20 <= byte < 0x7F or chr(byte) in _ESCAPES else f"\x00{byte:02x}" for byte in value
            )
            return "b" + _quoted(text).replace("\\x00", "\\x")
        case _:
            return str(value)


def _printed(expr: Expr, adorn: Callable[[Expr], str], entry: str, indent: str) -> str:
    inner = indent + "  "

    def sub(child: Expr) -> str:
        return _printed(child, adorn, entry, inner)

    def block(opening: str, items: list[str], closing: str) -> str:
        if not items:
            return opening + closing
        return opening + "\n" + ",\n".join(inner + item for item in items) + "\n" + indent + closing

    end = adorn(expr)
    match expr:
        case Literal(value=value):
            return _literal(value) + end
        case Ident(name=name):
            return name + end
        case Select(operand=operand, field=field, test_only=test_only):
            return _printed(operand, adorn, entry, indent) + "." + field + ("~test-only~" if test_only else "") + end
        case Call(function=function, args=args, target=target):
            before = "" if target is None else _printed(target, adorn, entry, indent) + "."
            return before + block(f"{function}(", [sub(argument) for argument in args], ")") + end
        case ListExpr(elements=elements):
            return block("[", [sub(element) for element in elements], "]") + end
        case MapExpr(entries=entries):
            items = [f"{'?' if e.optional else ''}{sub(e.key)}:{sub(e.value)}{entry}" for e in entries]
            return block("{", items, "}") + end
        case StructExpr(name=name, fields=fields):
            items = [f"{'?' if f.optional else ''}{f.field}:{sub(f.value)}{entry}" for f in fields]
            return block(name + "{", items, "}") + end
        case Comprehension():
            variables = [expr.iter_var, *([expr.iter_var2] if expr.iter_var2 else [])]
            lines = ["// Variable", *(name + "," for name in variables)]
            for title, part in (
                ("Target", sub(expr.iter_range)),
                ("Accumulator", expr.accu_var),
                ("Init", sub(expr.accu_init)),
                ("LoopCondition", sub(expr.loop_condition)),
                ("LoopStep", sub(expr.loop_step)),
                ("Result", sub(expr.result)),
            ):
                lines.extend((f"// {title}", f"{part}{',' if title != 'Result' else ''}"))
            return "__comprehension__(" + "".join("\n" + inner + line for line in lines) + ")" + end
