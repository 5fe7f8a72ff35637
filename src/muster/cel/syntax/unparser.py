"""Tree -> text: an expression that parses to the same tree, with macro calls as they were written.

Used where a part of an expression is shown: explanations, diagnostics, tools. Comments and spacing are not kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, get_args

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
    Tree,
)
from muster.cel.syntax.walking import Walk, finished, run
from muster.cel.values import Uint
from muster.values.arguments import expected

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

_CONDITIONAL, _OR, _AND, _RELATION, _ADDITION, _MULTIPLICATION, _UNARY, _MEMBER = range(8)
_BINARY = {
    "_||_": ("||", _OR),
    "_&&_": ("&&", _AND),
    "_<_": ("<", _RELATION),
    "_<=_": ("<=", _RELATION),
    "_>=_": (">=", _RELATION),
    "_>_": (">", _RELATION),
    "_==_": ("==", _RELATION),
    "_!=_": ("!=", _RELATION),
    "@in": ("in", _RELATION),
    "_+_": ("+", _ADDITION),
    "_-_": ("-", _ADDITION),
    "_*_": ("*", _MULTIPLICATION),
    "_/_": ("/", _MULTIPLICATION),
    "_%_": ("%", _MULTIPLICATION),
}
_PREFIX = {"!_": "!", "-_": "-"}
_PLAIN_FIELD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TOKENS_AS_FIELDS = frozenset(("in", "true", "false", "null"))
_ESCAPES = {
    "\a": "\\a",
    "\b": "\\b",
    "\f": "\\f",
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\v": "\\v",
    '"': '\\"',
    "\\": "\\\\",
}


def unparse(tree: Tree | CheckedTree, node: Expr | None = None) -> str:
    """The text of a tree, or of one node of it."""
    parsed = tree.tree if isinstance(tree, CheckedTree) else expected(tree, Tree, "tree", "what parse or check gives")
    if node is not None:
        expected(node, get_args(Expr), "node", "a node of the tree")
    return run(_Unparser(parsed.macro_calls).text(parsed.expr if node is None else node, _CONDITIONAL))


def literal_text(value: object) -> str:
    """A constant as it can be written in an expression."""
    match value:
        case None:
            return "null"
        case bool():
            return "true" if value else "false"
        case Uint():
            return f"{int(value)}u"
        case str():
            return '"' + "".join(map(_character, value)) + '"'
        case bytes():
            return 'b"' + "".join(map(_byte, value)) + '"'
        case _:
            return repr(value)


def _character(character: str) -> str:
    escaped = _ESCAPES.get(character)
    if escaped is not None:
        return escaped
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _byte(byte: int) -> str:
    character = chr(byte)
    escaped = _ESCAPES.get(character)
    if escaped is not None:
        return escaped
    return character if 0x20 <= byte < 0x7F else f"\\x{byte:02x}"


def _field(name: str) -> str:
    return name if _PLAIN_FIELD.fullmatch(name) and name not in _TOKENS_AS_FIELDS else f"`{name}`"


class _Unparser:
    """`text(node, level)` puts the node in brackets when it binds less tightly than the level asks for."""

    def __init__(self, macro_calls: Mapping[int, Expr]) -> None:
        self._macro_calls = macro_calls

    def text(self, node: Expr, level: int) -> Walk[str]:
        written = self._macro_calls.get(node.id, node)
        own, text = yield self._written(written)
        return text if own >= level else f"({text})"

    def _written(self, node: Expr) -> Walk[tuple[int, str]]:
        match node:
            case Literal(value=value):
                return finished((_MEMBER, literal_text(value)))
            case Ident(name=name):
                return finished((_MEMBER, name))
            case Select():
                return self._select(node)
            case Call(function="_&&_" | "_||_", target=None):
                return self._logic(node)
            case Call(function="!_" | "-_", args=(operand,), target=None):
                return self._prefixed(node.function, operand)
            case Call():
                return self._call(node)
            case ListExpr():
                return self._list(node)
            case MapExpr():
                return self._map(node)
            case StructExpr():
                return self._struct(node)
            case Comprehension():
                return self._comprehension(node)

    def _texts(self, nodes: Iterable[Expr], level: int = _CONDITIONAL) -> Walk[list[str]]:
        texts = []
        for node in nodes:
            text: str = yield self.text(node, level)
            texts.append(text)
        return texts

    def _select(self, node: Select) -> Walk[tuple[int, str]]:
        selected = f"{(yield self.text(node.operand, _MEMBER))}.{_field(node.field)}"
        return _MEMBER, f"has({selected})" if node.test_only else selected

    def _list(self, node: ListExpr) -> Walk[tuple[int, str]]:
        texts = yield self._texts(node.elements)
        marked = ("?" + text if index in node.optional_indices else text for index, text in enumerate(texts))
        return _MEMBER, f"[{', '.join(marked)}]"

    def _map(self, node: MapExpr) -> Walk[tuple[int, str]]:
        keys = yield self._texts(entry.key for entry in node.entries)
        values = yield self._texts(entry.value for entry in node.entries)
        parts = (
            f"{'?' if entry.optional else ''}{key}: {value}"
            for entry, key, value in zip(node.entries, keys, values, strict=True)
        )
        return _MEMBER, f"{{{', '.join(parts)}}}"

    def _struct(self, node: StructExpr) -> Walk[tuple[int, str]]:
        values = yield self._texts(item.value for item in node.fields)
        parts = (
            f"{'?' if item.optional else ''}{_field(item.field)}: {value}"
            for item, value in zip(node.fields, values, strict=True)
        )
        return _MEMBER, f"{node.name}{{{', '.join(parts)}}}"

    def _call(self, node: Call) -> Walk[tuple[int, str]]:
        args = node.args
        if node.target is not None:
            target = yield self.text(node.target, _MEMBER)
            texts = yield self._texts(args)
            return _MEMBER, f"{target}.{node.function}({', '.join(texts)})"
        match node.function, len(args):
            case "_?_:_", 3:
                condition = yield self.text(args[0], _OR)
                chosen = yield self.text(args[1], _OR)
                other = yield self.text(args[2], _CONDITIONAL)
                return _CONDITIONAL, f"{condition} ? {chosen} : {other}"
            case "_[_]" | "_[?_]", 2:
                mark = "?" if node.function == "_[?_]" else ""
                operand = yield self.text(args[0], _MEMBER)
                return _MEMBER, f"{operand}[{mark}{(yield self.text(args[1], _CONDITIONAL))}]"
            case "_?._", 2:
                operand = yield self.text(args[0], _MEMBER)
                field = args[1].value if isinstance(args[1], Literal) else ""
                return _MEMBER, f"{operand}.?{_field(str(field))}"
            case function, 2 if function in _BINARY:
                operator, own = _BINARY[function]
                left = yield self.text(args[0], own)
                return own, f"{left} {operator} {(yield self.text(args[1], own + 1))}"
            case function, _:
                texts = yield self._texts(args)
                return _MEMBER, f"{function}({', '.join(texts)})"

    def _prefixed(self, function: str, operand: Expr) -> Walk[tuple[int, str]]:
        """Without brackets a second sign would cancel the first, and a minus would become part of a number."""
        text: str = yield self.text(operand, _MEMBER)
        ambiguous = function == "-_" and (text[0].isdigit() or text[0] == "-")
        return _UNARY, _PREFIX[function] + (f"({text})" if ambiguous else text)

    def _logic(self, node: Call) -> Walk[tuple[int, str]]:
        """A chain as the parser balances it is written without brackets."""
        operator, own = _BINARY[node.function]
        terms = yield self._balanced_terms(node, node.function)
        texts = yield self._texts(node.args if terms is None else terms, own + 1)
        return own, f" {operator} ".join(texts)

    def _balanced_terms(self, node: Expr, function: str) -> Walk[list[Expr] | None]:
        """The terms of a chain that the parser would balance to this very tree, or None."""
        if not isinstance(node, Call) or node.function != function or node.id in self._macro_calls:
            return [node]
        if len(node.args) != 2 or node.target is not None:  # a chain that was never balanced
            return None
        left: list[Expr] | None = yield self._balanced_terms(node.args[0], function)
        right: list[Expr] | None = yield self._balanced_terms(node.args[1], function)
        if left is None or right is None or len(left) - 1 != (len(left) + len(right) - 1) // 2:
            return None
        return left + right

    def _comprehension(self, node: Comprehension) -> Walk[tuple[int, str]]:
        """A fold that no macro stands for has no syntax; this names its parts for the reader."""
        parts = (node.iter_range, node.accu_init, node.loop_condition, node.loop_step, node.result)
        iter_range, init, condition, step, result = yield self._texts(parts)
        variables = f"{node.iter_var}, {node.iter_var2}" if node.iter_var2 else node.iter_var
        return (
            _MEMBER,
            f"__fold__({variables} in {iter_range}, {node.accu_var} = {init}, {condition}, {step}, {result})",
        )
