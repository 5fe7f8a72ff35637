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


def computed_numbers(query: str) -> str | None:
    """The query with `(1 | .)` for every constant that is looked into, None if there is none: gojq forgets the look
    behind a sign and in brackets."""
    found = parse(Source(query)).body
    changed = _rewritten(found, _computed)
    return None if changed == found else print_query(changed)


def explicit_alternatives(query: str) -> str:
    """The query with every `as … ?// …` written as one `try` after the other, all variables null to begin with.

    `S as P ?// Q | body` becomes `try (S as P | body) catch (S as Q | body)`, over one value of S and the same input:
    what fails behind a `try` does not come back to it, and the input keeps its path.
    """
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


def _explicit(node: Any) -> Any:
    if not isinstance(node, tree.Bind) or len(node.patterns) < 2:
        return node
    names = sorted({name for pattern in node.patterns for name in _names(pattern)})
    nulls = "".join(f"null as ${name} | " for name in names)
    tried = [nulls + print_query(tree.Bind(_query("$__s"), (each,), node.body)) for each in node.patterns]
    text = tried.pop()
    while tried:
        text = f"try ({tried.pop()}) catch ($__in | {text})"
    return _query(f"(. as $__in | ({print_query(node.source)}) as $__s | {text})")


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
