"""Queries that make gojq show what a documented difference means. Used by rules.py."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

from muster.jq.syntax import tree
from muster.jq.syntax.parser import parse
from muster.jq.syntax.printer import print_query
from muster.source import Source

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def contained_alternatives(query: str) -> str:
    """The query with every `as … ?// …` gathered before what follows it, so that a later error cannot come back to it.

    `S as P ?// Q | body` becomes `[try (S as P ?// Q | body | [.]) catch {e: .}][] | .[0] or its error`.
    """
    return print_query(_rewritten(parse(Source(query)).body, _contained))


def computed_numbers(query: str) -> str:
    """The query with `(1 | .)` for every constant that is looked into: gojq forgets the look behind a sign and in
    brackets."""
    return print_query(_rewritten(parse(Source(query)).body, _computed))


def explicit_alternatives(query: str) -> str:
    """The query with every `as … ?// …` written as one `try` after the other, all variables null to begin with."""
    return print_query(_rewritten(parse(Source(query)).body, _explicit))


def _rewritten(node: Any, change: Callable[[Any], Any]) -> Any:
    """The tree with a change made to every node, from the leaves up."""
    if isinstance(node, tuple):
        return tuple(_rewritten(item, change) for item in node)
    if not dataclasses.is_dataclass(node) or isinstance(node, type):
        return node
    fields = (getattr(node, field.name) for field in dataclasses.fields(node))
    return change(type(node)(*(_rewritten(value, change) for value in fields)))


def _computed(node: Any) -> Any:
    looks = isinstance(node, tree.Index | tree.Slice | tree.Iterate | tree.Optional)
    if not looks or not isinstance(node.target, tree.Literal | tree.Text):
        return node
    return dataclasses.replace(node, target=tree.Pipe((node.target, tree.Identity())))


def _contained(node: Any) -> Any:
    return _gathered(node) if isinstance(node, tree.Bind) and len(node.patterns) > 1 else node


def _gathered(node: tree.Bind) -> Any:
    text = print_query(tree.Bind(node.source, node.patterns, tree.Pipe((node.body, _query("[.]")))))
    return _query(f'([try ({text}) catch {{e: .}}][] | if type == "array" then .[0] else .e | error end)')


def _explicit(node: Any) -> Any:
    if not isinstance(node, tree.Bind) or len(node.patterns) < 2:
        return node
    names = sorted({name for pattern in node.patterns for name in _names(pattern)})
    nulls = "".join(f"null as ${name} | " for name in names)
    text = ""
    for pattern in reversed(node.patterns):
        bound = print_query(
            tree.Bind(_query("$__s"), (pattern,), tree.Pipe((_query("$__in"), node.body, _query("[.]"))))
        )
        tried = f"[try ({nulls}{bound}) catch {{e: .}}]"
        on = f'| if length > 0 and (last | type) == "object" then .[:-1][], ({text}) else .[] end' if text else "[]"
        text = f"({tried} {on})"
    source = print_query(node.source)
    return _query(f'(. as $__in | ({source}) as $__s | {text} | if type == "array" then .[0] else .e | error end)')


def _names(pattern: Any) -> Iterator[str]:
    match pattern:
        case tree.VariablePattern(name=name):
            yield name
        case tree.ArrayPattern(items=items):
            for item in items:
                yield from _names(item)
        case tree.ObjectPattern(entries=entries):
            for entry in entries:
                if isinstance(entry.key, tree.Variable):
                    yield entry.key.name
                if entry.value is not None:
                    yield from _names(entry.value)


def _query(text: str) -> Any:
    return parse(Source(text)).body
