"""Paths that are written out, such as `.a[0]["b"]`: assigning to one is `setpath`, as in gojq."""

from __future__ import annotations

from typing import TYPE_CHECKING

from muster.jq.syntax import tree
from muster.jq.values.numbers import is_number

if TYPE_CHECKING:
    from muster.jq.values.value import Value


def constant_path(query: tree.Query) -> list[Value] | None:
    """The path of `.a[0]["b"][1:2]`, where every step is constant. As in gojq, `(.)[0]` is none."""
    path: list[Value] = []
    start = query.span.start
    while isinstance(query, tree.Index | tree.Slice):
        key: Value
        if isinstance(query, tree.Index):
            key = _constant_key(query.key)
            if key is None:
                return None
        else:
            key = {"start": None, "end": None}
            for name, bound in (("start", query.start), ("end", query.end)):
                if bound is not None:
                    key[name] = _constant_key(bound)
                    if key[name] is None:
                        return None
        path.append(key)
        start = query.span.start
        query = query.target
    return path[::-1] if path and isinstance(query, tree.Identity) and query.span.start == start else None


def _constant_key(query: tree.Query) -> Value:
    match query:
        case tree.Text(format=None):
            return query.constant
        case tree.Literal(value=value) if is_number(value):
            return value
        case tree.Unary(operator=operator, operand=tree.Literal(value=value)) if is_number(value):
            return -value if operator == "-" else value
        case _:
            return None
