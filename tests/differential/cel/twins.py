"""Programs that mean the same in words in which upstream cannot go wrong: what rules compare with (rules.py)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import msgspec

from muster.cel.syntax.tree import Call, Entry, Literal, Tree
from muster.cel.syntax.unparser import unparse
from tests.differential.cel.shrinking import groups, tokens_of

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from muster.cel import Program
    from muster.cel.syntax.tree import CheckedTree

_TYPES: Final = frozenset(("bool", "bytes", "double", "duration", "dyn", "int", "list", "map", "null_type", "string"))
_NAMES: Final = _TYPES | {"timestamp", "type", "uint", "optional_type"}


def types_hidden(text: str) -> str:
    """`[int].map(v, v == type(1))` becomes `[dyn(int)].map(v, v == dyn(type(1)))`."""
    tokens = tokens_of(text)
    closing = dict(groups(tokens))
    written = list(tokens)
    for place, token in enumerate(tokens):
        before = tokens[place - 1].strip() if place else ""
        behind = tokens[place + 1].strip() if place + 1 < len(tokens) else ""
        if token.strip() not in _NAMES or before == ".":
            continue
        if behind != "(":
            written[place] = f" dyn({token.strip()})"
        elif token.strip() == "type" and place + 1 in closing:
            written[place] = " dyn(type"
            written[closing[place + 1]] += ")"
    return "".join(written)


def quantities_written(program: Program, values: Mapping[int, Sequence[Any]]) -> str | None:
    """The program with every sum and difference of quantities written as the quantity that it was; None if there is
    none that was always the same. `values` are those of its parts, by their ids."""
    known: dict[int, str] = {}

    def changed(node: Any) -> Any:
        if isinstance(node, Call) and node.function in ("add", "sub") and node.target is not None:
            seen = {str(value) for value in values.get(node.id, ()) if is_quantity(value)}
            if len(seen) == 1:
                known[node.id] = seen.pop()
                return Call(node.id, "quantity", (Literal(node.id, known[node.id]),))
        return node

    text = _changed(program.tree, changed)
    return text if known else None


def bytes_keys_hidden(checked: CheckedTree) -> str:
    """The program with texts behind dyn() for keys of maps that are written as bytes."""

    def changed(node: Any) -> Any:
        if isinstance(node, Entry) and isinstance(node.key, Literal) and isinstance(node.key.value, bytes):
            return msgspec.structs.replace(node, key=Call(node.key.id, "dyn", (Literal(node.key.id, "k"),)))
        return node

    return _changed(checked, changed)


def _changed(checked: CheckedTree, change: Any) -> str:
    tree = checked.tree
    expr = _rewritten(tree.expr, change)
    calls = {place: _rewritten(call, change) for place, call in tree.macro_calls.items()}
    return unparse(Tree(tree.source, expr, tree.offsets, calls))


def is_quantity(value: Any) -> bool:
    return getattr(getattr(type(value), "cel_type", None), "name", "") == "kubernetes.Quantity"


def _rewritten(node: Any, change: Any) -> Any:
    """The tree with a change made to every node, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(_rewritten(item, change) for item in node)
    if not isinstance(node, msgspec.Struct):
        return node
    fields = {name: getattr(node, name) for name in node.__struct_fields__}
    return change(msgspec.structs.replace(node, **{name: _rewritten(value, change) for name, value in fields.items()}))
